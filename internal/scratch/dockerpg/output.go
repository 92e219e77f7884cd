package dockerpg

import (
	"bytes"
	"strings"
	"sync"
)

// tailBuffer keeps the end of what is written to it. It may be used from several goroutines.
type tailBuffer struct {
	mu  sync.Mutex
	buf []byte
}

// tailSize is how much a tailBuffer keeps at least.
const tailSize = 4 << 10

func (b *tailBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.buf = append(b.buf, p...)
	if len(b.buf) > 2*tailSize {
		b.buf = append(b.buf[:0], b.buf[len(b.buf)-tailSize:]...)
	}
	return len(p), nil
}

func (b *tailBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.buf)
}

// lineWriter hands on what is written to it line by line. It may be used from several goroutines.
type lineWriter struct {
	to func(line string)

	mu   sync.Mutex
	part []byte
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.part = append(w.part, p...)
	for {
		line, rest, found := bytes.Cut(w.part, []byte("\n"))
		if !found {
			return len(p), nil
		}
		if text := strings.TrimSpace(string(line)); text != "" {
			w.to(text)
		}
		w.part = rest
	}
}
