package tail

import (
	"fmt"
	"strings"
	"testing"
)

func TestTail(t *testing.T) {
	var short, long, one Tail
	fmt.Fprint(&short, "one\ntwo\n\n")
	if short.String() != "one\ntwo\n\n" || short.Last() != "two" {
		t.Errorf("%q, last %q", short.String(), short.Last())
	}
	if text := new(Tail).String() + new(Tail).Last(); text != "" {
		t.Errorf("of nothing: %q", text)
	}
	long.Keep = 100
	for i := range 1000 {
		fmt.Fprintf(&long, "line %d\n", i)
	}
	got := long.String()
	if len(got) > 110 || !strings.HasPrefix(got, "...\nline ") || !strings.HasSuffix(got, "line 998\nline 999\n") || long.Last() != "line 999" {
		t.Errorf("%q, last %q", got, long.Last())
	}
	one.Keep = 5 // in the midst of a character, and without a line's end
	fmt.Fprint(&one, "aaaéaaaa")
	if got := one.String(); got != "...\n\uFFFDaaaa" {
		t.Errorf("%q", got)
	}
}
