package faultstore_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/pghaul/pghaul/internal/store/driver"
	"github.com/pghaul/pghaul/internal/store/faultstore"
	"github.com/pghaul/pghaul/internal/store/memstore"
	"github.com/pghaul/pghaul/internal/store/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, storetest.Harness{New: func(*testing.T) driver.Store {
		return faultstore.New(memstore.New(), func(faultstore.Op, string, int) faultstore.Fault { return faultstore.Fault{} })
	}})
}

func TestFaults(t *testing.T) {
	errTest := errors.New("a fault")
	data := storetest.Bytes(1, 1000)
	var next faultstore.Fault
	s := faultstore.New(memstore.New(), func(faultstore.Op, string, int) faultstore.Fault { return next })
	put := func() error { return s.Put(t.Context(), "x", bytes.NewReader(data), driver.PutOptions{}) }

	next = faultstore.Fault{Err: errTest, After: 500}
	if err := put(); !errors.Is(err, errTest) {
		t.Errorf("put: %v", err)
	}
	next = faultstore.Fault{}
	if _, err := s.Stat(t.Context(), "x"); !errors.Is(err, driver.ErrNotFound) {
		t.Errorf("after a failed put: %v", err)
	}
	next = faultstore.Fault{Err: errTest, Late: true}
	if err := put(); !errors.Is(err, errTest) {
		t.Errorf("put whose reply is lost: %v", err)
	}
	for _, c := range []struct {
		f    faultstore.Fault
		n    int
		same bool
		err  error
	}{
		{faultstore.Fault{}, 1000, true, nil},
		{faultstore.Fault{Err: errTest, After: 10}, 10, true, errTest},
		{faultstore.Fault{Cut: true, After: 10}, 10, true, nil},
		{faultstore.Fault{Flip: true, After: 10}, 1000, false, nil},
	} {
		next = c.f
		got, err := storetest.Get(t.Context(), s, "x", 0, -1)
		if len(got) != c.n || !errors.Is(err, c.err) || bytes.Equal(got, data[:len(got)]) != c.same {
			t.Errorf("%+v: %d bytes, %v", c.f, len(got), err)
		}
	}
}
