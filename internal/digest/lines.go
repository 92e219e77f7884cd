package digest

import (
	"bytes"
	"errors"
)

// Lines takes the data of a TABLE DATA entry in the text format, as an archive
// holds them, and sums their rows as [Rows] does for the stream of a server. It
// knows the end marker and that only empty lines follow it. The zero value is ready;
// it keeps at most the hash state of a row that has not ended.
type Lines struct {
	sum   Sum
	part  partial
	held  int // bytes of the end marker seen at the start of a line and not yet hashed
	ended bool
}

// endMarker is the line after the last row.
const endMarker = "\\.\n"

// Errors of [Lines].
var (
	ErrNoEndMarker = errors.New("digest rows: the end marker is missing")
	ErrAfterEnd    = errors.New("digest rows: data after the end marker")
)

// Write takes the next bytes of the data, cut anywhere.
func (l *Lines) Write(b []byte) (int, error) {
	n := len(b)
	if !l.ended {
		b = l.rows(b)
	}
	if len(b) > 0 && len(bytes.Trim(b, "\n")) > 0 {
		return 0, ErrAfterEnd
	}
	return n, nil
}

// rows takes the rows of b and returns what follows the end marker.
func (l *Lines) rows(b []byte) []byte {
	for l.held > 0 && len(b) > 0 {
		if b[0] != endMarker[l.held] {
			l.part.add([]byte(endMarker[:l.held]))
			l.held = 0
			break
		}
		l.held++
		b = b[1:]
		if l.held == len(endMarker) {
			l.held, l.ended = 0, true
			return b
		}
	}
	if l.held > 0 {
		return nil
	}
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			break
		}
		line := b[:i+1]
		b = b[i+1:]
		if len(line) == len(endMarker) && l.part.size == 0 && string(line) == endMarker {
			l.ended = true
			return b
		}
		l.part.end(&l.sum, line)
	}
	if l.part.size == 0 && len(b) < len(endMarker) && string(b) == endMarker[:len(b)] {
		l.held = len(b)
	} else {
		l.part.add(b)
	}
	return nil
}

// Close reports whether the data were whole: [ErrNoEndMarker] when they end before the end marker.
func (l *Lines) Close() error {
	if !l.ended {
		return ErrNoEndMarker
	}
	return nil
}

// Sum returns the digest of the rows that have ended.
func (l *Lines) Sum() Sum { return l.sum }
