package pgflags

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pghaul/pghaul/internal/dump"
	"github.com/pghaul/pghaul/pgarchive"
)

var stock = Program{Name: "pg_dump", Stock: true, Stdin: strings.NewReader("")}

func TestParseDump(t *testing.T) {
	for name, c := range map[string]struct {
		args string
		want func(d *Dump)
	}{
		"short options in one word":  {"-Fc -Z3 -f x db", func(d *Dump) { d.Options.Format = pgarchive.FormatCustom; d.Options.File = "x"; d.DBName = "db" }},
		"long options with =":        {"--format=directory --jobs=4 --compress=0 --file=y", func(d *Dump) { d.Options.Format = pgarchive.FormatDirectory; d.Options.Jobs = 4; d.Options.File = "y" }},
		"argument in the next word":  {"--format t --file y db", func(d *Dump) { d.Options.Format = pgarchive.FormatTar; d.Options.File = "y"; d.DBName = "db" }},
		"cluster ending in argument": {"-vFc -fx", func(d *Dump) { d.Verbose = 1; d.Options.Format = pgarchive.FormatCustom; d.Options.File = "x" }},
		"operand between options":    {"db -s -f x", func(d *Dump) { d.DBName = "db"; d.Options.File = "x"; d.Options.NoData = true }},
		"operand after --":           {"-f x -- -db", func(d *Dump) { d.DBName = "-db"; d.Options.File = "x" }},
		"-d wins over nothing":       {"-d host=/tmp", func(d *Dump) { d.DBName = "host=/tmp" }},
		"unique prefix": {"--schema-o --no-pr --quote", func(d *Dump) {
			d.Options.NoData = true
			d.Options.NoPrivileges = true
			d.Options.QuoteAllIdentifiers = true
		}},
		"prefix of two names of one":  {"--no-a", func(d *Dump) { d.Options.NoPrivileges = true }},
		"exact name that is a prefix": {"--schema=a --table=b", func(d *Dump) { d.Options.IncludeSchemas = []string{"a"}; d.Options.IncludeTables = []string{"b"} }},
		"lists":                       {"-t a -t b,c -tpublic.*", func(d *Dump) { d.Options.IncludeTables = []string{"a", "b,c", "public.*"} }},
		"rows per insert":             {"--rows-per-insert=10", func(d *Dump) { d.Options.Inserts = true; d.Options.RowsPerInsert = 10 }},
		"column inserts":              {"--column-inserts", func(d *Dump) { d.Options.Inserts = true; d.Options.ColumnInserts = true }},
		"statistics":                  {"--statistics", func(d *Dump) { d.Options.Statistics = true }},
		"sections": {"--section=pre-data --section=data", func(d *Dump) {
			d.Options.Script.Sections = []pgarchive.Section{pgarchive.SectionPreData, pgarchive.SectionData}
		}},
		"format in capitals": {"-F C -f x", func(d *Dump) { d.Options.Format = pgarchive.FormatCustom; d.Options.File = "x" }},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseDump(stock, strings.Fields(c.args))
			if err != nil {
				t.Fatal(err)
			}
			want := &Dump{Options: dump.Options{Format: pgarchive.FormatPlain, Script: new(pgarchive.ScriptOptions)}}
			c.want(want)
			want.Options.Options.Create = want.Options.Format != pgarchive.FormatPlain
			if d := cmp.Diff(want.Options.Script.Sections, got.Options.Script.Sections); d != "" {
				t.Error(d)
			}
			ignore := cmpopts.IgnoreFields(dump.Options{}, "Compression", "Script")
			if d := cmp.Diff(want, got, ignore, cmpopts.IgnoreUnexported(Dump{}, dump.Options{})); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestUsageErrors(t *testing.T) {
	restore := func(args ...string) error {
		_, err := ParseRestore(Program{Name: "pg_restore", Stock: true}, args)
		return err
	}
	dump := func(args ...string) error { _, err := ParseDump(stock, args); return err }
	for _, c := range []struct {
		err  error
		want string
	}{
		{dump("qqq", "abc"), `too many command-line arguments (first is "abc")`},
		{dump("-s", "-a"), "options -s/--schema-only and -a/--data-only cannot be used together"},
		{dump("-c", "-a"), "options -c/--clean and -a/--data-only cannot be used together"},
		{dump("-j3"), "parallel backup only supported by the directory format"},
		{dump("-j", "-1 "), "-j/--jobs must be in range 1..2147483647"},
		{dump("-j", "x"), `invalid value "x" for option -j/--jobs`},
		{dump("-F", "garbage"), `invalid output format "garbage" specified`},
		{dump("-Z", "15"), `invalid compression specification: compression algorithm "gzip" expects a compression level between 1 and 9 (default at -1)`},
		{dump("-Z", "garbage"), `unrecognized compression algorithm: "garbage"`},
		{dump("--compress", "1", "--format", "tar"), "compression is not supported by tar archive format"},
		{dump("--nonsense"), "unrecognized option '--nonsense'"},
		{dump("--no-s"), "option '--no-s' is ambiguous; possibilities: '--no-sync' '--no-schema' '--no-security-labels' '--no-statistics' '--no-subscriptions'"},
		{dump("--file"), "option '--file' requires an argument"},
		{dump("--clean=1"), "option '--clean' doesn't allow an argument"},
		{dump("-q"), "invalid option -- 'q'"},
		{dump("-f"), "option requires an argument -- 'f'"},
		{restore(), "one of -d/--dbname and -f/--file must be specified"},
		{restore("-d", "xxx", "-f", "xxx"), "options -d/--dbname and -f/--file cannot be used together"},
		{restore("--single-transaction", "-j3", "-f", "-"), "cannot specify both --single-transaction and multiple jobs"},
		{restore("-f", "-", "-F", "garbage"), `unrecognized archive format "garbage"; please specify "c", "d", or "t"`},
		{restore("-C", "-1", "-f", "-"), "options -C/--create and -1/--single-transaction cannot be used together"},
		{restore("--section=all", "-f", "-"), `unrecognized section name: "all"`},
	} {
		var u *UsageError
		if !errors.As(c.err, &u) {
			t.Errorf("got %v, want usage error %q", c.err, c.want)
		} else if u.Text != c.want {
			t.Errorf("got %q, want %q", u.Text, c.want)
		}
	}
}

func TestFilterFile(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []filterItem
		err  string
	}{
		"comments and empty lines": {"# x\n\n  include table a # y\n", []filterItem{{true, "table", "a"}}, ""},
		"no newline at the end":    {"exclude schema s", []filterItem{{false, "schema", "s"}}, ""},
		"spaces beside dots":       {`include table  "a b" . "c""d"`, []filterItem{{true, "table", `"a b"."c""d"`}}, ""},
		"function arguments":       {"include function f ( int , text )", []filterItem{{true, "function", "f(int, text)"}}, ""},
		"name over two lines":      {"include table \"a\nb\"\n", []filterItem{{true, "table", "\"a\nb\""}}, ""},
		"escaped newline":          {`include table "a\nb\\"`, []filterItem{{true, "table", "\"a\nb\\\""}}, ""},
		"words stay apart":         {"include function f(double   precision)", []filterItem{{true, "function", "f(double precision)"}}, ""},
		"unknown command":          {"\nk table a", nil, `on line 2: invalid filter command (expected "include" or "exclude")`},
		"unknown kind":             {"include xxx a", nil, `on line 1: unsupported filter object type: "xxx"`},
		"no kind":                  {"include", nil, "on line 1: missing filter object type"},
		"no pattern":               {"include table", nil, "on line 1: missing object name pattern"},
		"open quote":               {"include table \"a\n", nil, "unexpected end of file"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "filter")
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			var got []filterItem
			err := readFilter(file, nil, func(it filterItem) bool { got = append(got, it); return true })
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) || !strings.Contains(err.Error(), file) {
					t.Fatalf("error %v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got, cmp.AllowUnexported(filterItem{})); d != "" {
				t.Error(d)
			}
		})
	}
}

func FuzzFilterFile(f *testing.F) {
	f.Add("include table a")
	f.Add("exclude schema \"a\nb\"")
	f.Fuzz(func(t *testing.T, text string) {
		_ = readFilter("-", strings.NewReader(text), func(it filterItem) bool {
			if it.pattern == "" && !strings.Contains(text, "#") {
				t.Errorf("empty pattern from %q", text)
			}
			return true
		})
	})
}

// The help of each program names each of its options once and fits a terminal.
func TestHelp(t *testing.T) {
	for _, text := range []string{DumpHelp(stock), RestoreHelp(Program{Name: "pghaul restore"})} {
		for _, line := range strings.Split(text, "\n") {
			if len(line) > 80 {
				t.Errorf("line of %d characters: %s", len(line), line)
			}
		}
		if !strings.Contains(text, "--help") || !strings.Contains(text, "Exit status") {
			t.Errorf("help lacks its essentials:\n%s", text)
		}
	}
}

// The commands of our own have other defaults than pg_dump, and let one file be written by many.
func TestOwnDump(t *testing.T) {
	own := Program{Name: "pghaul dump", Stdin: strings.NewReader("")}
	d, err := ParseDump(own, strings.Fields("-Fc -f x"))
	if err != nil {
		t.Fatal(err)
	}
	o := d.Options
	if o.Compression.String() != "zstd:level=1" || o.OldCompression.String() != "gzip:level=1" || o.Jobs < 1 || !o.FewerJobs {
		t.Errorf("defaults: %v, %v, %d jobs, fewer: %v", o.Compression, o.OldCompression, o.Jobs, o.FewerJobs)
	}
	d, err = ParseDump(own, strings.Fields("-Fc -f x -j3 -Z gzip:5 --copy-format=auto"))
	if err != nil {
		t.Fatal(err)
	}
	if o = d.Options; o.Compression.String() != "gzip:level=5" || o.OldCompression != nil || o.Jobs != 3 || o.FewerJobs || o.CopyFormat != dump.CopyAuto {
		t.Errorf("given: %v, %v, %d jobs, fewer: %v, %v", o.Compression, o.OldCompression, o.Jobs, o.FewerJobs, o.CopyFormat)
	}
	for args, want := range map[string]string{
		"-j2":                                   "parallel backup only supported by the directory and custom formats",
		"-Ft -j2 -f x":                          "parallel backup only supported by the directory and custom formats",
		"--copy-format=auto":                    "cannot stand in a script",
		"-Fc -f x --copy-format=csv":            `invalid copy format "csv"`,
		"-Fc -f x --copy-format=auto --inserts": "cannot be used together",
	} {
		if _, err := ParseDump(own, strings.Fields(args)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}
