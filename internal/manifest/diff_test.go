package manifest

import "testing"

func TestDiff(t *testing.T) {
	d := func(b byte) Hash128 { return Hash128{b} }
	a := &Manifest{
		Database: "shop", Roles: []Name{"app", "old"}, Settings: map[string]string{"TimeZone": "UTC"},
		Tables: []Table{
			{Namespace: "s", Name: "binary", Rows: 1, CopyFormat: BinaryCopy, Pieces: []Piece{{Rows: 1}}},
			{Namespace: "s", Name: "cut", Rows: 30, Digest: d(3), Pieces: []Piece{{ID: 1, Rows: 10, Digest: d(1)}, {ID: 2, Rows: 20, Digest: d(2)}}},
			{Namespace: "s", Name: "gone", Rows: 5},
			{Namespace: "s", Name: "same", Rows: 7, Digest: d(7)},
		},
		Objects: []Object{{Desc: "VIEW", Tag: "v", Fingerprint: Hash{1}}},
	}
	b := &Manifest{
		Database: "shop", Roles: []Name{"app", "new"}, Settings: map[string]string{"TimeZone": "Europe/Berlin"}, Server: Server{Version: "18"},
		Tables: []Table{
			{Namespace: "s", Name: "binary", Rows: 1, Pieces: []Piece{{Rows: 1}}},
			{Namespace: "s", Name: "came", Rows: 1, Pieces: []Piece{{}}},
			{Namespace: "s", Name: "cut", Rows: 31, Digest: d(4), Pieces: []Piece{{ID: 8, Rows: 20, Digest: d(2)}, {ID: 9, Rows: 11, Digest: d(9)}}},
			{Namespace: "s", Name: "same", Rows: 7, Digest: d(7)},
		},
		Objects:      []Object{{Desc: "VIEW", Tag: "v", Fingerprint: Hash{2}}, {Desc: "VIEW", Tag: "w"}},
		LargeObjects: LargeObjects{Count: 1},
	}
	b.Define([]Object{{Fingerprint: Hash{2}, Definition: "two"}})
	c := Diff(a, b)
	if c.Empty() || c.Server == nil || c.LargeObjects == nil || len(c.Settings) != 1 || c.Database != nil {
		t.Errorf("changes are %+v", c)
	}
	if len(c.Objects) != 2 || c.Objects[0].B != "two" || c.Objects[1].Change != Extra {
		t.Errorf("objects: %v", c.Objects)
	}
	if len(c.Roles) != 2 || c.Roles[0].Change != Missing || c.Roles[0].Name != "old" || c.Roles[1].Name != "new" {
		t.Errorf("roles: %v", c.Roles)
	}
	want := map[Name]func(x TableChange) bool{
		"binary": func(x TableChange) bool { return x.Forms != nil && x.Forms.A == "binary" && x.Forms.B == "text" },
		"cut": func(x TableChange) bool {
			return x.Pieces == 2 && len(x.Changed) == 1 && x.Changed[0].ID == 9 && x.A.Rows == 30 && x.B.Rows == 31
		},
		"gone": func(x TableChange) bool { return x.Change == Missing && x.B == nil },
		"came": func(x TableChange) bool { return x.Change == Extra && x.A == nil },
	}
	if len(c.Tables) != len(want) {
		t.Errorf("tables: %+v", c.Tables)
	}
	for _, x := range c.Tables {
		if f := want[x.Name]; f == nil || !f(x) {
			t.Errorf("table %s: %+v", x.Name, x)
		}
	}
	newer := *a
	newer.Server.Version = "19"
	if c := Diff(a, &newer); !c.Empty() || c.Server == nil {
		t.Errorf("only the server is newer: %+v", c)
	}
}
