package pgarchive

import (
	"bytes"
	"fmt"
	"math"
	"strings"
)

// tarBlock is the size of a tar header, and what members are padded to.
const tarBlock = 512

// Places in a tar header (src/include/pgtar.h).
const (
	tarName     = 0 // 100 bytes
	tarMode     = 100
	tarUID      = 108
	tarGID      = 116
	tarSize     = 124 // 12 bytes
	tarMtime    = 136
	tarChecksum = 148
	tarType     = 156
	tarMagic    = 257
	tarVersion  = 263
	tarUname    = 265
	tarGname    = 297
	tarDevMajor = 329
	tarDevMinor = 337
	tarPrefix   = 345
)

// padding is how many bytes follow a member of that size.
func padding(size int64) int64 { return -size & (tarBlock - 1) }

// tarSum is the checksum of a header: the sum of its bytes, those of the checksum taken as blanks.
func tarSum(h []byte) int64 {
	sum := int64(8 * ' ')
	for i, b := range h[:tarBlock] {
		if i < tarChecksum || i >= tarChecksum+8 {
			sum += int64(b)
		}
	}
	return sum
}

// validTarHeader reports whether b begins with a tar header (isValidTarHeader).
func validTarHeader(b []byte) bool {
	sum, err := tarNumber(b[tarChecksum : tarChecksum+8])
	if err != nil || sum != tarSum(b) {
		return false
	}
	m := b[tarMagic:]
	return bytes.HasPrefix(m, []byte("ustar\x00")) || bytes.HasPrefix(m, []byte("ustar  \x00")) ||
		bytes.HasPrefix(m, []byte("ustar00"))
}

// tarNumber reads a number: octal digits, or base 256 if the first byte has its top bit set (read_tar_number).
func tarNumber(b []byte) (int64, error) {
	if b[0]&0x80 != 0 {
		if b[0] != 0x80 {
			return 0, fmt.Errorf("number in tar header is negative")
		}
		v := int64(0)
		for _, c := range b[1:] {
			if v > math.MaxInt64>>8 {
				return 0, fmt.Errorf("number in tar header is too large")
			}
			v = v<<8 | int64(c)
		}
		return v, nil
	}
	v := int64(0)
	for _, c := range b {
		if c < '0' || c > '7' {
			if c == ' ' && v == 0 {
				continue
			}
			break
		}
		v = v<<3 | int64(c-'0') // at most 12 digits
	}
	return v, nil
}

// putTarNumber writes a number as octal digits and a blank, or in base 256 if there are too many (print_tar_number).
func putTarNumber(b []byte, v int64) {
	n := len(b)
	if v < 1<<((n-1)*3) {
		for i := n - 2; i >= 0; i-- {
			b[i] = byte('0' + v&7)
			v >>= 3
		}
		b[n-1] = ' '
		return
	}
	for i := n - 1; i > 0; i-- {
		b[i] = byte(v)
		v >>= 8
	}
	b[0] = 0x80
}

// tarHeader makes a member's header (tarCreateHeader).
func tarHeader(name string, size, mtime int64) ([tarBlock]byte, error) {
	var h [tarBlock]byte
	if len(name) > 99 {
		return h, fmt.Errorf("file name too long for tar format: \"%s\"", name)
	}
	copy(h[tarName:], name)
	putTarNumber(h[tarMode:tarMode+8], 0o600)
	putTarNumber(h[tarUID:tarUID+8], 0o4000)
	putTarNumber(h[tarGID:tarGID+8], 0o2000)
	putTarNumber(h[tarSize:tarSize+12], size)
	putTarNumber(h[tarMtime:tarMtime+12], mtime)
	h[tarType] = '0'
	copy(h[tarMagic:], "ustar\x00")
	copy(h[tarVersion:], "00")
	copy(h[tarUname:], "postgres")
	copy(h[tarGname:], "postgres")
	putTarNumber(h[tarDevMajor:tarDevMajor+8], 0)
	putTarNumber(h[tarDevMinor:tarDevMinor+8], 0)
	putTarNumber(h[tarChecksum:tarChecksum+8], tarSum(h[:]))
	return h, nil
}

// tarMember is a member of a tar archive.
type tarMember struct {
	name string
	pos  int64 // of its data
	size int64
	file bool // a regular file
}

// parseTarHeader reads a header. ok is false for a block of zeros, as at the end of the archive.
func parseTarHeader(h []byte) (m tarMember, ok bool, err error) {
	if len(bytes.Trim(h[:tarBlock], "\x00")) == 0 {
		return m, false, nil
	}
	name, _, _ := bytes.Cut(h[tarName:tarName+100], []byte{0})
	sum, err := tarNumber(h[tarChecksum : tarChecksum+8])
	if computed := tarSum(h); err == nil && sum != computed {
		err = fmt.Errorf("corrupt tar header found in \"%s\" (expected %d, computed %d)", name, sum, computed)
	}
	if err != nil {
		return m, false, err
	}
	m.name = strings.TrimPrefix(string(name), "./")
	if prefix, _, _ := bytes.Cut(h[tarPrefix:tarPrefix+155], []byte{0}); len(prefix) > 0 && bytes.HasPrefix(h[tarMagic:], []byte("ustar\x00")) {
		m.name = string(prefix) + "/" + m.name
	}
	if m.size, err = tarNumber(h[tarSize : tarSize+12]); err != nil {
		return m, false, fmt.Errorf("member \"%s\": %w", name, err)
	}
	m.file = h[tarType] == '0' || h[tarType] == 0
	return m, true, nil
}
