package pgarchive_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/pgtest"
	"github.com/pghaul/pghaul/pgarchive"
)

// shuffledList makes a list file out of what pg_restore -l prints: some lines commented out, the
// others from last to first, and some nonsense.
func shuffledList(list string) string {
	lines := strings.Split(strings.TrimSpace(list), "\n")
	slices.Reverse(lines)
	for i := range lines {
		if i%5 == 4 {
			lines[i] = ";" + lines[i]
		}
	}
	return "nonsense\n\n  \t\r\n0; zero\n" + strings.Join(lines, "\n") + "\n" + lines[0] + "\n"
}

// A script in the order of a list file is that of pg_restore -L.
func TestUseListLikeStock(t *testing.T) {
	restore := pgtest.Version(t, 18).NeedTool(t, "pg_restore")
	archives := zoo(t)
	for _, name := range []string{"pg15-none.dir", "pg17-lz4.dir", "pg18-gzip.custom"} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "list")
			if err := os.WriteFile(file, []byte(shuffledList(stock(t, restore, "-l", archives[name]))), 0o666); err != nil {
				t.Fatal(err)
			}
			want := stock(t, restore, "-f", "-", "--restrict-key="+testKey, "-L", file, archives[name])

			r, err := pgarchive.Open(archives[name], 0)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			f, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			var warnings []string
			entries, ids, err := pgarchive.ParseList(f, r.Entries(), func(m string) { warnings = append(warnings, m) })
			if err != nil {
				t.Fatal(err)
			}
			if len(warnings) != 3 {
				t.Errorf("warnings: %q", warnings)
			}
			o := pgarchive.NewScriptOptions()
			o.RestrictKey, o.IDs = testKey, ids
			var b bytes.Buffer
			if err := pgarchive.WriteScriptOrder(ctx, &b, r, entries, o); err != nil {
				t.Fatal(err)
			}
			if b.String() != want {
				t.Errorf("script differs from pg_restore's (-stock +ours):\n%s", clipDiff(want, b.String()))
			}
		})
	}
}

func TestParseListUnknownID(t *testing.T) {
	entries := []*pgarchive.Entry{{ID: 1}, {ID: 9}}
	if _, _, err := pgarchive.ParseList(strings.NewReader("5; x\n"), entries, nil); err == nil || err.Error() != "could not find entry for ID 5" {
		t.Errorf("error %v", err)
	}
}

// With StrictNames every name must match something, with pg_restore's words; the list is printed all the same.
func TestStrictNames(t *testing.T) {
	r, err := pgarchive.Open(zoo(t)["pg18-schema.custom"], 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, c := range []struct {
		set  func(o *pgarchive.ScriptOptions)
		want string
	}{
		{func(o *pgarchive.ScriptOptions) { o.TableNames = []string{"item", "nothing"} }, `table "nothing" not found`},
		{func(o *pgarchive.ScriptOptions) { o.SchemaNames = []string{"nowhere"} }, `schema "nowhere" not found`},
		{func(o *pgarchive.ScriptOptions) { o.IndexNames = []string{"i"} }, `index "i" not found`},
		{func(o *pgarchive.ScriptOptions) { o.FunctionNames = []string{"add()"} }, `function "add()" not found`},
		{func(o *pgarchive.ScriptOptions) { o.TriggerNames = []string{"tr"} }, `trigger "tr" not found`},
		{func(o *pgarchive.ScriptOptions) { o.TableNames = []string{"item"} }, ``},
	} {
		o := pgarchive.NewScriptOptions()
		o.StrictNames = true
		c.set(o)
		_, err := o.Select(r.Entries())
		if fmt.Sprint(err) != c.want && !(err == nil && c.want == "") {
			t.Errorf("Select: error %v; want %s", err, c.want)
		}
		var b bytes.Buffer
		if lerr := pgarchive.WriteList(&b, r.Header(), r.Entries(), o); fmt.Sprint(lerr) != fmt.Sprint(err) || !strings.Contains(b.String(), "Selected TOC Entries") {
			t.Errorf("WriteList: error %v; want %v", lerr, err)
		}
	}
}

// The script of an archive read as a stream is that of the same archive in a file.
func TestScriptFromStream(t *testing.T) {
	archives := zoo(t)
	for _, name := range slices.Sorted(maps.Keys(archives)) {
		if strings.HasSuffix(name, ".dir") {
			continue
		}
		for _, c := range scriptCases {
			switch c.name {
			case "plain", "schema-only", "table", "exclude-schema", "post-data":
			default:
				continue
			}
			t.Run(name+"/"+c.name, func(t *testing.T) {
				want := writeScript(t, archives[name], c.options())
				f, err := os.Open(archives[name])
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				r, err := pgarchive.NewReader(io.MultiReader(f), 0)
				if err != nil {
					t.Fatal(err)
				}
				var b bytes.Buffer
				if err := pgarchive.WriteScript(ctx, &b, r, c.options()); err != nil {
					t.Fatal(err)
				}
				if b.String() != want {
					t.Errorf("script of the stream differs (-file +stream):\n%s", clipDiff(want, b.String()))
				}
			})
		}
	}
}
