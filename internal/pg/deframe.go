package pg

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// CopySink takes the data of a COPY TO STDOUT.
//
// buf holds the contents of CopyData messages one after the other, without headers; in text format a message is a row with its newline.
// ends are the ends of messages in buf, ascending. What comes after the last end is the start of a message longer than
// wholeMessage bytes, which goes on in the next call; shorter messages are never split. Both slices are valid
// only during the call, and buf may be changed in place. An error ends the COPY.
type CopySink interface {
	Rows(buf []byte, ends []int) error
}

// CopySinkFunc makes a CopySink of a function.
type CopySinkFunc func(buf []byte, ends []int) error

// Rows calls f.
func (f CopySinkFunc) Rows(buf []byte, ends []int) error { return f(buf, ends) }

const (
	copyBufSize = 256 << 10
	// wholeMessage is the size up to which a message is handed over in one piece.
	wholeMessage = 64 << 10
	// maxControlMessage bounds messages that are not data: errors and notices can quote a long value.
	maxControlMessage = 16 << 20
)

// deframer takes the messages of the server's answer to a COPY TO STDOUT apart.
//
// It reads the stream in blocks as large as its buffer has room for and moves the contents of CopyData messages left over
// their headers, so that many become one call of the sink. Its buffer looks like this while a block is worked on:
//
//	| contents, moved | gap | not looked at yet | free |
//	0               out    in                  fill
//
// A message that is not complete when the sink is called stays in the buffer if it is short; of a long one the part
// that is there goes along. Messages other than CopyData go to control, after all data before them.
type deframer struct {
	r       io.Reader
	buf     []byte
	sink    func(buf []byte, ends []int) error
	control func(kind byte, body []byte) (done bool, err error) // body is valid during the call

	out, in, fill int
	ends          []int
	size          int   // of the current message's contents
	left          int   // of the current message, not seen yet
	start         int   // where the current message starts in the moved contents
	messages      int64 // complete ones
	bytes         int64
}

// run works until control says done or something fails. Errors of the reader come back wrapped by serverGone.
func (d *deframer) run() error {
	for {
		if err := d.read(); err != nil {
			return err
		}
		for {
			more, done, err := d.next()
			if err != nil || done {
				return err
			}
			if !more {
				break
			}
		}
		if err := d.flush(); err != nil {
			return err
		}
	}
}

// read gets the next block. There is always room: flush has made it.
func (d *deframer) read() error {
	n, err := d.r.Read(d.buf[d.fill:])
	if n > 0 {
		d.fill += n
		return nil // an error comes again
	}
	switch {
	case errors.Is(err, io.EOF):
		return serverGone(io.ErrUnexpectedEOF)
	case err != nil:
		return serverGone(err)
	}
	return nil
}

// next takes one message, or a part of one, out of the block; more says that it is worth calling again.
func (d *deframer) next() (more, done bool, err error) {
	have := d.fill - d.in
	if d.left > 0 {
		k := min(d.left, have)
		if d.out != d.in {
			copy(d.buf[d.out:], d.buf[d.in:d.in+k])
		}
		d.out, d.in, d.left = d.out+k, d.in+k, d.left-k
		if d.left > 0 {
			return false, false, nil
		}
		d.ends = append(d.ends, d.out)
		d.messages++
		d.start = d.out
		return true, false, nil
	}
	if have < 5 {
		return false, false, nil
	}
	kind, length := d.buf[d.in], binary.BigEndian.Uint32(d.buf[d.in+1:])
	if length < 4 || length > 1<<30 {
		return false, false, fmt.Errorf("lost synchronization with server: got message type %q, length %d", kind, int32(length))
	}
	size := int(length) - 4
	if kind == 'd' {
		d.in += 5
		d.size, d.left, d.start = size, size, d.out
		if size == 0 {
			d.ends = append(d.ends, d.out)
			d.messages++
		}
		return true, false, nil
	}
	if size > maxControlMessage {
		return false, false, fmt.Errorf("message of type %q is too long: %d bytes", kind, size)
	}
	if have >= 5+size {
		body := d.buf[d.in+5 : d.in+5+size]
		if err := d.hand(d.out); err != nil {
			return false, false, err
		}
		d.in += 5 + size
		done, err = d.control(kind, body)
		return true, done, err
	}
	if err := d.hand(d.out); err != nil {
		return false, false, err
	}
	if 5+size <= len(d.buf) {
		return false, false, nil // flush moves it to the front, then it fits
	}
	// longer than the buffer: read the rest beside it
	body := make([]byte, size)
	n := copy(body, d.buf[d.in+5:d.fill])
	d.in = d.fill
	if _, err := io.ReadFull(d.r, body[n:]); err != nil {
		return false, false, serverGone(err)
	}
	done, err = d.control(kind, body)
	return true, done, err
}

// hand gives the first n moved bytes to the sink and leaves the rest in front.
func (d *deframer) hand(n int) error {
	if n > 0 || len(d.ends) > 0 {
		d.bytes += int64(n)
		err := d.sink(d.buf[:n], d.ends)
		d.ends = d.ends[:0]
		if err != nil {
			return err
		}
	}
	copy(d.buf, d.buf[n:d.out])
	d.out -= n
	d.start -= n
	return nil
}

// flush ends a block. When the buffer is half full it hands over what is complete, and of a long message what there is:
// servers write 8 KiB at a time, and the sink's part should not be called for each of these. The rest moves together.
func (d *deframer) flush() error {
	if d.out >= len(d.buf)/2 {
		n := d.out
		if d.left > 0 && d.size <= wholeMessage {
			n = d.start
		}
		if err := d.hand(n); err != nil {
			return err
		}
	}
	copy(d.buf[d.out:], d.buf[d.in:d.fill])
	d.fill, d.in = d.out+d.fill-d.in, d.out
	return nil
}
