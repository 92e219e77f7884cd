package ddl_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/ddl"
	"github.com/pghaul/pghaul/internal/pgtest"
	"github.com/pghaul/pghaul/pgarchive"
)

// largeObjectEntries are the entries that have to do with large objects, one line each.
func largeObjectEntries(t *testing.T, db *pgtest.DB, o catalog.Options) []string {
	t.Helper()
	_, c, ordered := read(t, db, o)
	entries, err := ddl.Entries(c, ordered)
	if err != nil {
		t.Fatal(err)
	}
	tags := map[pgarchive.ID]string{}
	var out []string
	for _, e := range entries {
		tags[e.ID] = e.Tag
		if !slices.Contains([]string{"BLOB", "BLOBS", "BLOB METADATA"}, e.Desc) && !strings.HasPrefix(e.Tag, "LARGE OBJECT") {
			continue
		}
		line := fmt.Sprintf("%d %s %s %q", e.Section, e.Desc, e.Tag, e.Defn)
		for _, d := range e.Dependencies {
			line += " needs " + tags[d]
		}
		out = append(out, line)
	}
	return out
}

// TestLargeObjectGroups checks the entries of large objects in the form of today and in that of PostgreSQL 16 and older.
func TestLargeObjectGroups(t *testing.T) {
	s := pgtest.Newest(t)
	db := s.NewDatabase(t)
	db.Exec(t, `select lo_create(3001); select lo_create(3002); select lo_create(3003);
grant select on large object 3003 to public; comment on large object 3002 is 'c'`)
	acl := `"GRANT SELECT ON LARGE OBJECT 3003 TO PUBLIC;\n"`
	comment := `"COMMENT ON LARGE OBJECT 3002 IS 'c';\n"`
	for _, c := range []struct {
		name string
		o    catalog.Options
		want []string
	}{
		{"groups", catalog.Options{}, []string{
			`3 BLOB METADATA 3001..3002 "3001\n3002\n"`,
			"1 COMMENT LARGE OBJECT 3002 " + comment + " needs 3001..3002",
			`3 BLOB METADATA 3003 "3003\n"`,
			"1 ACL LARGE OBJECT 3003 " + acl + " needs 3003",
			`3 BLOBS 3001..3002 "" needs 3001..3002`,
			`3 BLOBS 3003 "" needs 3003`,
		}},
		{"one by one", catalog.Options{LegacyLargeObjects: true}, []string{
			`2 BLOB 3001 "SELECT pg_catalog.lo_create('3001');\n"`,
			`2 BLOB 3002 "SELECT pg_catalog.lo_create('3002');\n"`,
			"1 COMMENT LARGE OBJECT 3002 " + comment + " needs 3002",
			`2 BLOB 3003 "SELECT pg_catalog.lo_create('3003');\n"`,
			"1 ACL LARGE OBJECT 3003 " + acl + " needs 3003",
			`3 BLOBS BLOBS ""`,
		}},
		{"no data", catalog.Options{NoData: true}, nil},
		{"not wanted", catalog.Options{NoLargeObjects: true}, nil},
		{"one schema", catalog.Options{IncludeSchemas: []string{"public"}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := largeObjectEntries(t, db, c.o)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
		})
	}
}
