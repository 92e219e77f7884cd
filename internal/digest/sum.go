package digest

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"
)

// Sum is the digest of a set of rows. The zero value is that of no rows. Sums are
// equal exactly when == says so.
type Sum struct {
	Rows  int64 // number of rows
	Bytes int64 // bytes of all rows, newlines included
	Hi    uint64
	Lo    uint64 // sum of the rows' hashes modulo 2^128
}

// AddRow adds one whole row, its newline included.
func (s *Sum) AddRow(row []byte) {
	s.addHash(xxh3.Hash128(row), int64(len(row)))
}

// Add adds the rows of o to s.
func (s *Sum) Add(o Sum) {
	var carry uint64
	s.Rows += o.Rows
	s.Bytes += o.Bytes
	s.Lo, carry = bits.Add64(s.Lo, o.Lo, 0)
	s.Hi, _ = bits.Add64(s.Hi, o.Hi, carry)
}

func (s *Sum) addHash(h xxh3.Uint128, size int64) {
	var carry uint64
	s.Rows++
	s.Bytes += size
	s.Lo, carry = bits.Add64(s.Lo, h.Lo, 0)
	s.Hi, _ = bits.Add64(s.Hi, h.Hi, carry)
}

// Hash returns the sum of the hashes as 32 hexadecimal digits.
func (s Sum) Hash() string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], s.Hi)
	binary.BigEndian.PutUint64(b[8:], s.Lo)
	return hex.EncodeToString(b[:])
}

// String returns rows, bytes and hash joined by colons; [Parse] reads it.
func (s Sum) String() string {
	return strconv.FormatInt(s.Rows, 10) + ":" + strconv.FormatInt(s.Bytes, 10) + ":" + s.Hash()
}

// Parse reads the form that String gives.
func Parse(text string) (Sum, error) {
	s, err := parse(text)
	if err != nil {
		return Sum{}, fmt.Errorf("parse digest %q: %w", text, err)
	}
	return s, nil
}

func parse(text string) (s Sum, err error) {
	f := strings.Split(text, ":")
	if len(f) != 3 {
		return s, errors.New("not of the form rows:bytes:hash")
	}
	if s.Rows, err = parseCount(f[0]); err != nil {
		return s, err
	}
	if s.Bytes, err = parseCount(f[1]); err != nil {
		return s, err
	}
	return s, s.setHash(f[2])
}

func parseCount(text string) (int64, error) {
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, fmt.Errorf("%q is not a count", text)
	}
	return int64(n), nil
}

func (s *Sum) setHash(text string) error {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != 16 || strings.ToLower(text) != text {
		return fmt.Errorf("hash %q is not 32 lower-case hexadecimal digits", text)
	}
	s.Hi, s.Lo = binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])
	return nil
}

type sumJSON struct {
	Rows  *int64  `json:"rows"`
	Bytes *int64  `json:"bytes"`
	Sum   *string `json:"sum"`
}

// MarshalJSON writes {"rows": n, "bytes": n, "sum": "32 hexadecimal digits"}.
func (s Sum) MarshalJSON() ([]byte, error) {
	h := s.Hash()
	return json.Marshal(sumJSON{&s.Rows, &s.Bytes, &h})
}

// UnmarshalJSON reads what MarshalJSON writes; all three members are required.
func (s *Sum) UnmarshalJSON(b []byte) error {
	var j sumJSON
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.DisallowUnknownFields()
	if err := d.Decode(&j); err != nil {
		return fmt.Errorf("read digest: %w", err)
	}
	if j.Rows == nil || j.Bytes == nil || j.Sum == nil {
		return errors.New("read digest: rows, bytes or sum is missing")
	}
	if *j.Rows < 0 || *j.Bytes < 0 {
		return errors.New("read digest: negative count")
	}
	n := Sum{Rows: *j.Rows, Bytes: *j.Bytes}
	if err := n.setHash(*j.Sum); err != nil {
		return fmt.Errorf("read digest: %w", err)
	}
	*s = n
	return nil
}
