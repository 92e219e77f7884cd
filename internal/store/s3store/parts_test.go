package s3store

import "testing"

// The parts of an upload reach the largest object that the protocol allows.
func TestPartSizes(t *testing.T) {
	p := plan(Options{PartSize: partSize})
	for n := 1; n <= maxParts; n++ {
		if size := p.Size(n); size < minPart || size > 5<<30 {
			t.Fatalf("part %d has %d bytes", n, size)
		}
	}
	if p.Largest() < 5<<40 {
		t.Errorf("all parts together have %d bytes", p.Largest())
	}
	if p = plan(Options{PartSize: equalParts, EqualParts: true}); p.Size(1) != p.Size(maxParts) {
		t.Error("equal parts are not equal")
	}
}
