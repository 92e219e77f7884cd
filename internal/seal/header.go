package seal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// The outer form of an age file: a header in lines of text, whose last one begins with three dashes, a nonce, and chunks with a tag each.
const (
	headerIntro = "age-encryption.org/v1\n"
	headerEnd   = "---"
	nonceSize   = 16
	chunkSize   = 64 << 10
	tagSize     = 16

	maxHeader     = 1 << 20
	maxHeaderLine = 16 << 10
)

// readHeader reads the header of an age file, as it stands.
func readHeader(r *bufio.Reader) ([]byte, error) {
	var header []byte
	for {
		line, err := r.ReadSlice('\n')
		switch {
		case err == io.EOF:
			return nil, errors.New("it ends within the header of an age file")
		case err == bufio.ErrBufferFull || len(header)+len(line) > maxHeader:
			return nil, errors.New("its header is too long for an age file")
		case err != nil:
			return nil, err
		case header == nil && string(line) != headerIntro:
			return nil, errors.New("it is not an age file")
		}
		header = append(header, line...)
		if bytes.HasPrefix(line, []byte(headerEnd)) {
			return header, nil
		}
	}
}

// plainSize returns how many bytes are encrypted in what follows the header, which has n bytes.
func plainSize(n int64) (int64, error) {
	n -= nonceSize
	chunks := max(1, (n+chunkSize+tagSize-1)/(chunkSize+tagSize))
	if n -= chunks * tagSize; n < 0 {
		return 0, fmt.Errorf("it is too short for an age file")
	}
	return n, nil
}
