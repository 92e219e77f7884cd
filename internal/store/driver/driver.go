// Package driver says what a store of named objects must be able to do, and nothing
// more: bytes under keys. What comes in are keys and streams, what goes out are the
// same streams. Package store makes it convenient; drivers and wrappers implement
// [Store], and package storetest holds each of them to the promises made here.
package driver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// A Store keeps objects under keys. Its methods may be called from several goroutines.
//
// A key is a list of non-empty names joined by slashes, in UTF-8; no name is "." or "..", and none
// has control characters or a backslash. Package store checks this; a driver may rely on it.
//
// Every method returns soon after ctx is done, with an error that wraps ctx's. Of an object that is not there an
// error wraps [ErrNotFound]. An error that no second try would mend wraps one of the
// sentinels of this package or was made by [Permanent]; every other may be tried again.
type Store interface {
	// Put stores all that body holds under the key, whatever its size, and returns
	// when it is stored durably. Nobody sees the object before it is complete. After an error,
	// from body too, the key holds what it held before, unless the error came after the store had accepted the object
	// (a lost reply). An object of that key is replaced, at once and not in parts, unless o says otherwise.
	// Put reads body from one goroutine at a time and not after it returned; it reads to the end (io.EOF) for success.
	Put(ctx context.Context, key string, body io.Reader, o PutOptions) error

	// Get returns length bytes of the object from offset on, all that follow if length is
	// negative. What lies beyond the object's end is left out; an offset beyond it gives no bytes
	// or an error. A stream that breaks gives an error, never an early io.EOF.
	// The caller closes it; ctx ends it.
	Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error)

	// Stat returns what is known of an object.
	Stat(ctx context.Context, key string) (Info, error)

	// List returns objects whose keys begin with r.Prefix, in the order of their keys,
	// byte by byte. It shows what was put before it was called, and no unfinished object. A folder that is not there is empty.
	List(ctx context.Context, r ListRequest) (Page, error)

	// Delete removes an object. One that is not there is no error.
	Delete(ctx context.Context, key string) error

	// Close gives back what the store holds.
	Close() error
}

// A Sweeper is a store in which a Put that is killed can leave something behind that no
// method of Store shows: an unfinished upload, a temporary file.
type Sweeper interface {
	// Sweep removes such rests below the prefix that were begun before the given time, and returns
	// how many there were.
	Sweep(ctx context.Context, prefix string, before time.Time) (int, error)
}

// PutOptions says how to put. The zero value replaces what is there.
type PutOptions struct {
	// IfAbsent stores the object only if its key is free; otherwise the error
	// wraps ErrExists. Of several such calls at a time one wins. A store that cannot promise that
	// returns an error that wraps errors.ErrUnsupported, and stores nothing.
	IfAbsent bool
}

// Info is what is known of an object.
type Info struct {
	Key      string
	Size     int64
	Modified time.Time // when it was put, by the store's clock
}

// ListRequest says what to list.
type ListRequest struct {
	Prefix string // "" or ending in a slash
	// Folders lists only objects directly below the prefix, and the names of the
	// folders beside them.
	Folders bool
	After   string // only what comes after this, a Page's Next
	Limit   int    // at most so many objects and folders together; 0: as the store likes
}

// Page is one part of a list.
type Page struct {
	Objects []Info
	Folders []string // whole prefixes, ending in a slash
	Next    string   // After of the next page; "" if this is the last
}

// Sentinels, asked for with errors.Is.
var (
	ErrNotFound = errors.New("not found")
	ErrExists   = errors.New("exists already")
	ErrDenied   = errors.New("access denied")
)

// Permanent marks an error that no second try would mend.
func Permanent(err error) error { return permanent{err} }

type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// GaveUp marks an error after which something was tried again as often as makes sense: the store cannot be used at present. It is
// permanent. Those who know no store find it by its method Unreachable.
func GaveUp(err error) error { return Permanent(gaveUp{err}) }

type gaveUp struct{ error }

func (g gaveUp) Unwrap() error     { return g.error }
func (g gaveUp) Unreachable() bool { return true }

// IsPermanent reports whether trying again is of no use.
func IsPermanent(err error) bool {
	var p permanent
	return errors.As(err, &p) || errors.Is(err, ErrNotFound) || errors.Is(err, ErrExists) || errors.Is(err, ErrDenied) ||
		errors.Is(err, errors.ErrUnsupported) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// ExpectLength is r, of which exactly n bytes must come: an end before gives io.ErrUnexpectedEOF.
func ExpectLength(r io.ReadCloser, n int64) io.ReadCloser { return &exact{r, n} }

type exact struct {
	io.ReadCloser
	left int64
}

func (e *exact) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	e.left -= int64(n)
	switch {
	case e.left < 0:
		return n, fmt.Errorf("%d bytes more than expected", -e.left)
	case err == io.EOF && e.left > 0:
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// CheckRange says how many bytes a reply to a request for length bytes from offset on has (negative: all that follow), by
// its Content-Range header. A reply with other bytes than were asked for is an error.
func CheckRange(contentRange string, offset, length int64) (int64, error) {
	var from, to int64
	if _, err := fmt.Sscanf(contentRange, "bytes %d-%d/", &from, &to); err != nil {
		return 0, fmt.Errorf("the service was asked for bytes from %d on and replied with the range %q", offset, contentRange)
	}
	n := to - from + 1
	if from != offset || n < 0 || length >= 0 && n > length {
		return 0, fmt.Errorf("the service was asked for %d bytes from %d on and replied with the range %q", length, offset, contentRange)
	}
	return n, nil
}
