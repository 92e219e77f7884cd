// Package tail keeps the end of what a program says: errors tell it, and nobody needs the rest. Writes come in, a text goes out.
package tail

import (
	"bytes"
	"strings"
	"sync"
)

// Tail is an io.Writer that keeps the end of what is written to it. It may be used from several goroutines.
type Tail struct {
	// Keep is how much is kept at least, in bytes. 0: 4 KiB.
	Keep int

	mu  sync.Mutex
	b   []byte
	cut bool
}

// Write never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if len(t.b) > 2*t.keep() {
		t.shorten()
	}
	return len(p), nil
}

func (t *Tail) keep() int {
	if t.Keep == 0 {
		return 4 << 10
	}
	return t.Keep
}

func (t *Tail) shorten() {
	t.b = append(t.b[:0], t.b[len(t.b)-t.keep():]...)
	t.cut = true
}

// String returns what was kept, as UTF-8. If something is missing before it, it begins with a line of dots, and then with a whole line if there is one.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.b) > t.keep() {
		t.shorten()
	}
	b, dots := t.b, ""
	if t.cut {
		dots = "...\n"
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			b = b[i+1:]
		}
	}
	return dots + strings.ToValidUTF8(string(b), "\uFFFD")
}

// Last returns the last line that is not blank.
func (t *Tail) Last() string {
	text := strings.TrimSpace(t.String())
	return text[strings.LastIndexByte(text, '\n')+1:]
}
