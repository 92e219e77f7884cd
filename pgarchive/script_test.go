package pgarchive_test

import (
	"bytes"
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pghaul/pghaul/internal/pgtest"
	"github.com/pghaul/pghaul/pgarchive"
)

const testKey = "zoo"

// scriptCase is a call of pg_restore and the same in our options.
type scriptCase struct {
	name string
	args []string
	set  func(o *pgarchive.ScriptOptions)
}

var scriptCases = []scriptCase{
	{"plain", nil, func(o *pgarchive.ScriptOptions) {}},
	{"clean", []string{"--clean", "--if-exists"}, func(o *pgarchive.ScriptOptions) { o.Clean, o.IfExists = true, true }},
	{"clean-only", []string{"--clean"}, func(o *pgarchive.ScriptOptions) { o.Clean = true }},
	{"create", []string{"--create", "--clean", "--if-exists"}, func(o *pgarchive.ScriptOptions) { o.CreateDB, o.Clean, o.IfExists = true, true, true }},
	{"create-transactions", []string{"--create", "--clean", "--transaction-size=3"}, func(o *pgarchive.ScriptOptions) { o.CreateDB, o.Clean, o.TransactionSize = true, true, 3 }},
	{"no-owner", []string{"-O", "-x", "--no-tablespaces", "--no-table-access-method"}, func(o *pgarchive.ScriptOptions) {
		o.NoOwner, o.NoPrivileges, o.NoTablespaces, o.NoTableAM = true, true, true, true
	}},
	{"session-auth", []string{"--use-set-session-authorization", "--role=zoo reader"}, func(o *pgarchive.ScriptOptions) {
		o.UseSetSessionAuth, o.Role = true, "zoo reader"
	}},
	{"data-only", []string{"-a", "--disable-triggers", "-S", "o'boss"}, func(o *pgarchive.ScriptOptions) {
		o.DumpSchema, o.DumpStatistics, o.DisableTriggers, o.Superuser = false, false, true, "o'boss"
	}},
	{"schema-only", []string{"-s"}, func(o *pgarchive.ScriptOptions) { o.DumpData, o.DumpStatistics = false, false }},
	{"no-schema", []string{"--no-schema", "--enable-row-security"}, func(o *pgarchive.ScriptOptions) { o.DumpSchema, o.EnableRowSecurity = false, true }},
	{"statistics-only", []string{"--statistics-only"}, func(o *pgarchive.ScriptOptions) { o.DumpSchema, o.DumpData = false, false }},
	{"single-transaction", []string{"-1", "--clean"}, func(o *pgarchive.ScriptOptions) { o.SingleTransaction, o.Clean = true, true }},
	{"transaction-size", []string{"--transaction-size=2", "--clean", "--if-exists"}, func(o *pgarchive.ScriptOptions) {
		o.TransactionSize, o.Clean, o.IfExists = 2, true, true
	}},
	{"verbose", []string{"-v"}, func(o *pgarchive.ScriptOptions) { o.Verbose = true }},
	{"pre-data", []string{"--section=pre-data"}, func(o *pgarchive.ScriptOptions) { o.Sections = []pgarchive.Section{pgarchive.SectionPreData} }},
	{"data-section", []string{"--section=data"}, func(o *pgarchive.ScriptOptions) { o.Sections = []pgarchive.Section{pgarchive.SectionData} }},
	{"post-data", []string{"--section=post-data", "--section=data"}, func(o *pgarchive.ScriptOptions) {
		o.Sections = []pgarchive.Section{pgarchive.SectionPostData, pgarchive.SectionData}
	}},
	{"table", []string{"-t", "item", "-t", "moods"}, func(o *pgarchive.ScriptOptions) { o.TableNames = []string{"item", "moods"} }},
	{"objects", []string{"-I", "item_name", "-P", "add(integer, integer)", "-T", "item item_trig"}, func(o *pgarchive.ScriptOptions) {
		o.IndexNames, o.FunctionNames, o.TriggerNames = []string{"item_name"}, []string{"add(integer, integer)"}, []string{"item item_trig"}
	}},
	{"schema", []string{"-n", "app"}, func(o *pgarchive.ScriptOptions) { o.SchemaNames = []string{"app"} }},
	{"exclude-schema", []string{"-N", "app"}, func(o *pgarchive.ScriptOptions) { o.SchemaExcludeNames = []string{"app"} }},
	{"no-kinds", []string{"--no-comments", "--no-policies", "--no-publications", "--no-security-labels", "--no-subscriptions"}, func(o *pgarchive.ScriptOptions) {
		o.NoComments, o.NoPolicies, o.NoPublications, o.NoSecurityLabels, o.NoSubscriptions = true, true, true, true, true
	}},
	{"no-policies", []string{"--no-policies", "--no-publications"}, func(o *pgarchive.ScriptOptions) { o.NoPolicies, o.NoPublications = true, true }},
}

func (c scriptCase) options() *pgarchive.ScriptOptions {
	o := pgarchive.NewScriptOptions()
	o.RestrictKey = testKey
	c.set(o)
	return o
}

func writeScript(t testing.TB, path string, o *pgarchive.ScriptOptions) string {
	t.Helper()
	r, err := pgarchive.Open(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var b bytes.Buffer
	if err := pgarchive.WriteScript(context.Background(), &b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// stock runs a stock program and returns what it prints.
func stock(t testing.TB, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	var out, msg bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &msg
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s", filepath.Base(program), strings.Join(args, " "), err, msg.String())
	}
	return out.String()
}

// withoutTime drops the comment that says when a restore ended.
func withoutTime(s string) string {
	i := strings.LastIndex(s, "-- Completed on ")
	if i < 0 {
		return s
	}
	j := strings.IndexByte(s[i:], '\n')
	return s[:i] + s[i+j+1:]
}

// The script of every archive of the zoo is the one of the stock pg_restore 18, byte for byte.
func TestScriptLikeStock(t *testing.T) {
	restore := pgtest.Version(t, 18).NeedTool(t, "pg_restore")
	archives := zoo(t)
	for _, name := range slices.Sorted(maps.Keys(archives)) {
		for _, c := range scriptCases {
			switch name {
			case "pg15-gzip.custom", "pg15-inserts.custom", "pg17-none.tar", "pg18-gzip.custom", "pg18-gzip.dir", "pg18-statistics.custom":
			default: // differ from these in how the data are stored
				if c.name != "clean" && c.name != "verbose" {
					continue
				}
			}
			t.Run(name+"/"+c.name, func(t *testing.T) {
				path := archives[name]
				want := stock(t, restore, append([]string{"-f", "-", "--restrict-key=" + testKey}, append(c.args, path)...)...)
				if got := writeScript(t, path, c.options()); withoutTime(got) != withoutTime(want) {
					t.Errorf("script differs from pg_restore's (-stock +ours):\n%s", clipDiff(want, got))
				}
			})
		}
	}
}

// clipDiff shows the difference of two texts, not too much of it.
func clipDiff(want, got string) string {
	d := cmp.Diff(strings.SplitAfter(want, "\n"), strings.SplitAfter(got, "\n"))
	if len(d) > 4000 {
		d = d[:4000] + "…"
	}
	return d
}

// The list is that of pg_restore -l.
func TestListLikeStock(t *testing.T) {
	restore := pgtest.Version(t, 18).NeedTool(t, "pg_restore")
	archives := zoo(t)
	for _, name := range slices.Sorted(maps.Keys(archives)) {
		for _, c := range []scriptCase{
			{"all", nil, func(o *pgarchive.ScriptOptions) {}},
			{"verbose", []string{"-v"}, func(o *pgarchive.ScriptOptions) { o.Verbose = true }},
			{"table", []string{"-t", "item"}, func(o *pgarchive.ScriptOptions) { o.TableNames = []string{"item"} }},
			{"create", []string{"-C"}, func(o *pgarchive.ScriptOptions) { o.CreateDB = true }},
		} {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				path := archives[name]
				want := stock(t, restore, append([]string{"-l"}, append(c.args, path)...)...)
				r, err := pgarchive.Open(path, 0)
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				var b bytes.Buffer
				if err := pgarchive.WriteList(&b, r.Header(), r.Entries(), c.options()); err != nil {
					t.Fatal(err)
				}
				if got := b.String(); got != want {
					t.Errorf("list differs from pg_restore's (-stock +ours):\n%s", clipDiff(want, got))
				}
			})
		}
	}
}

// The scripts of a few archives, as files to look at; TestScriptLikeStock says that they are right.
func TestScriptGolden(t *testing.T) {
	archives := zoo(t)
	for _, name := range []string{"pg18-gzip.custom", "pg15-none.tar"} {
		for _, c := range scriptCases {
			switch c.name {
			case "clean", "create-transactions", "session-auth", "table", "post-data":
			default:
				continue
			}
			t.Run(name+"/"+c.name, func(t *testing.T) {
				got := writeScript(t, archives[name], c.options())
				file := filepath.Join("testdata", "script", name+"."+c.name+".sql")
				if *update {
					if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if got != string(want) {
					t.Errorf("script differs from %s (-file +ours), see -update:\n%s", file, clipDiff(string(want), got))
				}
			})
		}
	}
}
