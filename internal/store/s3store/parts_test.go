package s3store

import "testing"

// The parts of an upload reach the largest object that the protocol allows.
func TestPartSizes(t *testing.T) {
	s := &Store{o: Options{PartSize: partSize}}
	var sum int64
	for n := 1; n <= maxParts; n++ {
		if size := s.size(n); size < minPart || size > 5<<30 {
			t.Fatalf("part %d has %d bytes", n, size)
		}
		sum += s.size(n)
	}
	if sum < 5<<40 {
		t.Errorf("all parts together have %d bytes", sum)
	}
	s.o.EqualParts = true
	if s.size(1) != s.size(maxParts) {
		t.Error("equal parts are not equal")
	}
}
