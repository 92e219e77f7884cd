package spelling

import (
	"slices"
	"testing"
)

func TestNear(t *testing.T) {
	known := []string{"store", "stores", "jobs", "Orders", "order_items"}
	for _, c := range []struct {
		word    string
		letters int
		want    []string
	}{
		{"stroe", 2, []string{"store"}},
		{"store", 1, []string{"store", "stores"}},
		{"orders", 1, []string{"Orders"}},
		{"order", 1, []string{"Orders"}},
		{"nothing", 2, nil},
		{"", 2, nil},
	} {
		if got := Near(c.word, known, c.letters); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.word, got, c.want)
		}
	}
	if d := distance("kitten", "sitting"); d != 3 {
		t.Errorf("distance is %d", d)
	}
}
