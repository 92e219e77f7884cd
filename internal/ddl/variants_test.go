package ddl_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/pgtest"
	"github.com/pghaul/pghaul/pgarchive"
)

// dumpVariants are ways to dump that change the text of relations or the choice of them.
var dumpVariants = []struct {
	name string
	variant
}{
	{"upgrade", variant{[]string{"-s", "--binary-upgrade", "--sequence-data"}, func(o *catalog.Options, s *pgarchive.ScriptOptions) {
		schemaOnly.adjust(o, s)
		o.BinaryUpgrade, s.BinaryUpgrade = true, true
		o.SequenceData, s.SequenceData = true, true
	}}},
	{"quote all", variant{[]string{"-s", "--quote-all-identifiers"}, func(o *catalog.Options, s *pgarchive.ScriptOptions) {
		schemaOnly.adjust(o, s)
		o.QuoteAllIdentifiers, s.QuoteAll = true, true
	}}},
	{"clean", variant{[]string{"-s", "-c", "--if-exists"}, func(o *catalog.Options, s *pgarchive.ScriptOptions) {
		schemaOnly.adjust(o, s)
		o.Clean, s.Clean, o.IfExists, s.IfExists = true, true, true, true
	}}},
	{"data only", variant{[]string{"-a"}, func(o *catalog.Options, s *pgarchive.ScriptOptions) {
		o.NoSchema, s.DumpSchema = true, false
	}}},
	{"inserts", variant{[]string{"--inserts", "--load-via-partition-root"}, func(o *catalog.Options, s *pgarchive.ScriptOptions) {
		o.Inserts, o.LoadViaPartitionRoot = true, true
	}}},
	{"column inserts", variant{[]string{"-a", "--column-inserts", "--rows-per-insert=2", "--on-conflict-do-nothing"},
		func(o *catalog.Options, s *pgarchive.ScriptOptions) {
			o.NoSchema, s.DumpSchema = true, false
			o.ColumnInserts, o.RowsPerInsert, o.OnConflictDoNothing = true, 2, true
		}}},
	{"some tables", variant{[]string{"-t", "app.*", "-T", "app.*t*", "--no-unlogged-table-data", "--no-toast-compression"},
		func(o *catalog.Options, s *pgarchive.ScriptOptions) {
			o.IncludeTables, o.NoUnloggedTableData, o.NoToastCompression = []string{"app.*"}, true, true
			o.ExcludeTables = []string{"app.*t*"}
		}}},
	{"excluded", variant{[]string{"-T", "app.*l*", "--exclude-table-data=app.*e*", "--exclude-table-data-and-children=app.by_enum"},
		func(o *catalog.Options, s *pgarchive.ScriptOptions) {
			o.ExcludeTables, o.ExcludeTableData = []string{"app.*l*"}, []string{"app.*e*"}
			o.ExcludeTableDataAndChildren = []string{"app.by_enum"}
		}}},
	{"statistics", variant{[]string{"--statistics"}, func(o *catalog.Options, s *pgarchive.ScriptOptions) {
		o.Statistics, s.DumpStatistics = true, true
	}}},
}

// TestVariants compares the text of dumps that are more, less or other than -s with pg_dump's, those of
// some schema files on the newest server. PGHAUL_TEST_SCHEMAS names other schema files, separated by commas, or all of
// them with "all", to compare on all servers.
func TestVariants(t *testing.T) {
	names := []string{"partition", "tabledata", "notnull"}
	list := os.Getenv("PGHAUL_TEST_SCHEMAS")
	switch list {
	case "":
	case "all":
		files, err := filepath.Glob(filepath.Join(pgtest.Root(t), "testdata", "schemas", "*.sql"))
		if err != nil {
			t.Fatal(err)
		}
		names = nil
		for _, f := range files {
			names = append(names, strings.TrimSuffix(filepath.Base(f), ".sql"))
		}
	default:
		names = strings.Split(list, ",")
	}
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		if list == "" && s.Major != pgtest.Newest(t).Major {
			return
		}
		for _, name := range names {
			t.Run(name, func(t *testing.T) {
				db := s.NewDatabase(t, pgtest.Options{Suffix: "v_" + name})
				db.LoadSchema(t, name)
				for _, v := range dumpVariants {
					if v.name == "some tables" && !hasApp(t, db) {
						continue
					}
					t.Run(v.name, func(t *testing.T) {
						want, ok := oracleScript(t, db, v.variant)
						if !ok {
							pgtest.Missing(t, "pg_dump 18")
							return
						}
						got := script(t, db, v.variant)
						if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
							t.Errorf("pg_dump %s (-pg_dump +ours):\n%s", strings.Join(v.args, " "), diff)
						}
					})
				}
			})
		}
	})
}

// hasApp says whether there are relations in the schema app, which -t app.* would else complain of.
func hasApp(t *testing.T, db *pgtest.DB) bool {
	return db.QueryString(t, `select 1 from pg_class c join pg_namespace n on n.oid = c.relnamespace
		where n.nspname = 'app' and c.relkind in ('r', 'p', 'v', 'm', 'S', 'f') limit 1`) != ""
}

// TestDatabase compares dumps of a database that exists already with pg_dump's: that named by
// PGHAUL_TEST_DATABASE, on each server that has it.
func TestDatabase(t *testing.T) {
	name := os.Getenv("PGHAUL_TEST_DATABASE")
	if name == "" {
		t.Skip("PGHAUL_TEST_DATABASE does not name a database to compare the dumps of")
	}
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		db := s.Database(t, name)
		for _, v := range dumpVariants {
			if v.name == "some tables" && !hasApp(t, db) {
				continue
			}
			t.Run(v.name, func(t *testing.T) {
				want, ok := oracleScript(t, db, v.variant)
				if !ok {
					pgtest.Missing(t, "pg_dump 18")
					return
				}
				// No diff of whole scripts: they may be long.
				got, lines := strings.Split(script(t, db, v.variant), "\n"), strings.Split(want, "\n")
				wrong := 0
				for i := 0; i < max(len(got), len(lines)) && wrong < 10; i++ {
					var ours, theirs string
					if i < len(got) {
						ours = got[i]
					}
					if i < len(lines) {
						theirs = lines[i]
					}
					if ours != theirs {
						wrong++
						t.Errorf("line %d\npg_dump: %s\nours:    %s", i+1, theirs, ours)
					}
				}
				if dir := os.Getenv("PGHAUL_TEST_KEEP_SCRIPTS"); wrong > 0 && dir != "" {
					file := filepath.Join(dir, strings.ReplaceAll(v.name, " ", "-"))
					if err := os.WriteFile(file+".ours", []byte(strings.Join(got, "\n")), 0o644); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(file+".pg_dump", []byte(want), 0o644); err != nil {
						t.Fatal(err)
					}
				}
			})
		}
	})
}
