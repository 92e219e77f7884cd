package restore

import (
	"strings"
	"testing"

	"github.com/pghaul/pghaul/pgarchive"
)

// Rows in the binary form are for servers of their own version.
func TestBinaryVersion(t *testing.T) {
	text := &Item{Want: pgarchive.WantData, Entry: &pgarchive.Entry{ID: 1, Desc: "TABLE DATA", Tag: "a", HasData: true, CopyStmt: "COPY a FROM stdin;\n"}}
	binary := &Item{Want: pgarchive.WantData, Entry: &pgarchive.Entry{ID: 2, Desc: "TABLE DATA", Tag: "b", HasData: true, CopyStmt: "COPY b FROM stdin WITH (FORMAT binary);\n"}}
	p := &Plan{Items: []*Item{text, binary}, header: pgarchive.Header{ServerVersion: "17.5 (Debian 17.5-1)"}}
	if err := p.CheckBinary(170005); err != nil {
		t.Errorf("the same version: %v", err)
	}
	if err := p.CheckBinary(180000); err == nil || !strings.Contains(err.Error(), "binary form of PostgreSQL 17.5") {
		t.Errorf("another version: %v", err)
	}
	binary.Want = pgarchive.WantSchema
	if err := p.CheckBinary(180000); err != nil {
		t.Errorf("another version without these rows: %v", err)
	}
}
