package pgarchive

import (
	"io"
	"strings"
)

// copyTail remembers the last bytes of COPY data in text form, to tell whether their end mark was there.
type copyTail struct {
	n    int
	last [len(CopyEnd) + 1]byte
}

// add takes the next bytes of the data.
func (t *copyTail) add(p []byte) {
	if len(p) >= len(t.last) {
		t.n = copy(t.last[:], p[len(p)-len(t.last):])
		return
	}
	if over := t.n + len(p) - len(t.last); over > 0 {
		t.n = copy(t.last[:], t.last[over:t.n])
	}
	t.n += copy(t.last[t.n:], p)
}

// missing returns what must be appended for the data to end with CopyEnd, which counts
// only at the beginning of a line: the row "x\." is stored as "x\\.".
func (t *copyTail) missing() string {
	s := string(t.last[:t.n])
	for n := len(CopyEnd); n >= 2; n-- {
		if before, ok := strings.CutSuffix(s, CopyEnd[:n]); ok && (before == "" || before[len(before)-1] == '\n') {
			return CopyEnd[n:]
		}
	}
	return CopyEnd
}

// endChecker finds out whether data that nothing else protects were cut off: the data
// of an entry with a COPY statement have an end of their own.
type endChecker struct {
	r      io.Reader
	binary bool
	tail   copyTail
}

// checkEnd returns r, which is to complain if the data of e have no end.
func checkEnd(e *Entry, r io.Reader) io.Reader {
	if e.CopyStmt == "" {
		return r
	}
	return &endChecker{r: r, binary: binaryCopy(e)}
}

func (c *endChecker) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.tail.add(p[:n])
	if err == io.EOF {
		ok := c.tail.missing() == ""
		if c.binary { // the trailer, a field count of -1
			ok = strings.HasSuffix(string(c.tail.last[:c.tail.n]), "\xff\xff")
		}
		if !ok {
			err = io.ErrUnexpectedEOF
		}
	}
	return n, err
}

// TrimCopyEnd returns r without a CopyEnd at its end: the rows alone, as a server takes
// and gives them. For data in COPY's text form.
func TrimCopyEnd(r io.Reader) io.Reader { return &trimReader{r: r} }

type trimReader struct {
	r    io.Reader
	buf  []byte
	held []byte // read and not yet given: a part of buf, whose last bytes may be the end mark
	err  error
}

func (t *trimReader) Read(p []byte) (int, error) {
	const hold = len(CopyEnd)
	if len(p) == 0 {
		return 0, nil
	}
	for len(t.held) <= hold && t.err == nil {
		if t.buf == nil {
			t.buf = make([]byte, hold+copyBuffer)
		}
		k := copy(t.buf, t.held)
		var n int
		n, t.err = t.r.Read(t.buf[k:])
		t.held = t.buf[:k+n]
		if t.err == io.EOF && strings.HasSuffix(string(t.held[max(len(t.held)-hold, 0):]), CopyEnd) {
			t.held = t.held[:len(t.held)-hold]
		}
	}
	avail := len(t.held)
	if t.err == nil {
		avail -= hold
	}
	if avail == 0 {
		return 0, t.err
	}
	n := copy(p, t.held[:avail])
	t.held = t.held[n:]
	return n, nil
}
