package catalog

import (
	"strings"
	"testing"
)

// TestPassedOver: a row of the catalogue without an object is an error, unless what it belongs to is not wanted.
func TestPassedOver(t *testing.T) {
	r := &reader{db: &Database{}}
	unwanted := &Table{Meta: newMeta(KindTable, ID{ClassRelation, 20000}, "t", nil)}
	r.db.Add(unwanted)
	unwanted.Dump = None
	r.check.rows = []checkRow{
		{"pg_class", unwanted.ID, ID{}},
		{"pg_trigger", ID{ClassTrigger, 20001}, unwanted.ID},
	}
	if err := r.linkSelfCheck(); err != nil {
		t.Errorf("all is accounted for: %v", err)
	}
	unwanted.Dump = AllPart
	r.check.rows = []checkRow{{"pg_trigger", ID{ClassTrigger, 20001}, unwanted.ID}}
	if err := r.linkSelfCheck(); err == nil || !strings.Contains(err.Error(), "object 20001 of catalog pg_trigger was passed over") {
		t.Errorf("error %v, want one about the trigger", err)
	}
}
