package dockerpg

import (
	"bytes"
	"strings"
	"sync"
)

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
