package ui

import (
	"fmt"
	"io"
	"strings"
	"sync"
)

// Log writes messages as "program: level: text", the form of PostgreSQL's programs
// (src/common/logging.c). Its methods may be called from several goroutines.
type Log struct {
	Program string
	Verbose int // 0: warnings and errors only

	mu     sync.Mutex
	w      io.Writer
	status statusLine // cleared before a message is written, drawn again after
}

// NewLog returns a Log that writes to w.
func NewLog(program string, w io.Writer) *Log { return &Log{Program: program, w: w} }

// statusLine is a line at the end of the output that is drawn over itself.
type statusLine interface {
	clear()
	draw()
}

// Error writes an error.
func (l *Log) Error(format string, args ...any) { l.write("error: ", format, args...) }

// Warn writes a warning.
func (l *Log) Warn(format string, args ...any) { l.write("warning: ", format, args...) }

// Hint writes a way out of the error before it.
func (l *Log) Hint(format string, args ...any) { l.write("hint: ", format, args...) }

// Detail writes more about the error before it.
func (l *Log) Detail(format string, args ...any) { l.write("detail: ", format, args...) }

// Info writes a message that is only wanted with --verbose.
func (l *Log) Info(format string, args ...any) {
	if l.Verbose > 0 {
		l.write("", format, args...)
	}
}

// Note writes a message without a level.
func (l *Log) Note(format string, args ...any) { l.write("", format, args...) }

// write writes one message, above the status line if there is one.
func (l *Log) write(level, format string, args ...any) {
	text := strings.TrimRight(fmt.Sprintf(format, args...), "\n")
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.status != nil {
		l.status.clear()
	}
	fmt.Fprintf(l.w, "%s: %s%s\n", l.Program, level, text)
	if l.status != nil {
		l.status.draw()
	}
}
