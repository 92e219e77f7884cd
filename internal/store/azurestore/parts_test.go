package azurestore

import "testing"

// Blocks stay within the service's limits, and an object can grow to several TiB.
func TestPartSizes(t *testing.T) {
	p := plan(Options{PartSize: partSize})
	if p.Size(1) != partSize || p.Size(maxParts) != largestPart || p.Largest() < 11<<40 {
		t.Errorf("first %d, last %d, together %d", p.Size(1), p.Size(maxParts), p.Largest())
	}
}
