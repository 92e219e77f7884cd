package pgflags

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The options of the stock programs of version 18: "short/long", "=" behind those with an argument. Options that are other
// names of one, or that mean nothing any more, are among them.
const (
	dumpNames = `
a/data-only b/large-objects /blobs B/no-large-objects /no-blobs c/clean C/create d/dbname= e/extension= E/encoding= f/file= F/format=
h/host= j/jobs= n/schema= N/exclude-schema= O/no-owner p/port= R/no-reconnect s/schema-only S/superuser= t/table= T/exclude-table=
U/username= v/verbose V/version w/no-password W/password x/no-privileges /no-acl Z/compress= ?/help
/attribute-inserts /binary-upgrade /column-inserts /disable-dollar-quoting /disable-triggers /enable-row-security
/exclude-extension= /exclude-table-and-children= /exclude-table-data= /exclude-table-data-and-children= /extra-float-digits= /filter=
/if-exists /include-foreign-data= /inserts /load-via-partition-root /lock-wait-timeout= /no-comments /no-data /no-policies
/no-publications /no-schema /no-security-labels /no-statistics /no-subscriptions /no-sync /no-table-access-method /no-tablespaces
/no-toast-compression /no-unlogged-table-data /on-conflict-do-nothing /quote-all-identifiers /restrict-key= /role= /rows-per-insert=
/section= /sequence-data /serializable-deferrable /snapshot= /statistics /statistics-only /strict-names /sync-method=
/table-and-children= /use-set-session-authorization`

	restoreNames = `
1/single-transaction a/data-only c/clean C/create d/dbname= e/exit-on-error f/file= F/format= h/host= I/index= j/jobs= l/list
L/use-list= n/schema= N/exclude-schema= O/no-owner p/port= P/function= R/no-reconnect s/schema-only S/superuser= t/table= T/trigger=
U/username= v/verbose V/version w/no-password W/password x/no-privileges /no-acl ?/help
/disable-triggers /enable-row-security /filter= /if-exists /no-comments /no-data /no-data-for-failed-tables /no-policies
/no-publications /no-schema /no-security-labels /no-statistics /no-subscriptions /no-table-access-method /no-tablespaces
/restrict-key= /role= /section= /statistics /statistics-only /strict-names /transaction-size= /use-set-session-authorization`

	dumpallNames = `
a/data-only c/clean d/dbname= E/encoding= f/file= g/globals-only h/host= l/database= O/no-owner p/port= r/roles-only s/schema-only
S/superuser= t/tablespaces-only U/username= v/verbose V/version w/no-password W/password x/no-privileges /no-acl ?/help
/attribute-inserts /binary-upgrade /column-inserts /disable-dollar-quoting /disable-triggers /exclude-database= /extra-float-digits=
/filter= /if-exists /inserts /load-via-partition-root /lock-wait-timeout= /no-comments /no-data /no-policies /no-publications
/no-role-passwords /no-schema /no-security-labels /no-statistics /no-subscriptions /no-sync /no-table-access-method /no-tablespaces
/no-toast-compression /no-unlogged-table-data /on-conflict-do-nothing /quote-all-identifiers /restrict-key= /role= /rows-per-insert=
/sequence-data /statistics /statistics-only /use-set-session-authorization`
)

// TestTables holds that each program takes the options of the stock program of its name, and, called by that name, no others.
func TestTables(t *testing.T) {
	for name, c := range map[string]struct {
		names string
		table func(Program) []option
	}{
		"pg_dump":    {dumpNames, new(Dump).table},
		"pg_restore": {restoreNames, new(Restore).table},
		"pg_dumpall": {dumpallNames, new(Dumpall).table},
	} {
		want := strings.Fields(c.names)
		var got []string
		for _, o := range c.table(Program{Name: name, Stock: true}) {
			s := "/" + o.long
			if o.short != 0 {
				s = string(o.short) + s
			}
			if o.arg != "" {
				s += "="
			}
			got = append(got, s)
		}
		slices.Sort(want)
		slices.Sort(got)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-stock +ours):\n%s", name, d)
		}
		// Our own commands take them, too.
		for _, o := range c.table(Program{Name: "pghaul"}) {
			s := "/" + o.long
			if o.short != 0 {
				s = string(o.short) + s
			}
			if o.arg != "" {
				s += "="
			}
			if i, ok := slices.BinarySearch(want, s); ok {
				want = slices.Delete(want, i, i+1)
			}
		}
		if len(want) > 0 {
			t.Errorf("pghaul's own %s lacks %s", name, want)
		}
	}
}

// TestHelpAndVersion: they are found wherever they stand, and before the others are checked.
func TestHelpAndVersion(t *testing.T) {
	dump := func(args ...string) error { _, err := ParseDump(stock, args); return err }
	restore := func(args ...string) error {
		_, err := ParseRestore(Program{Name: "pg_restore", Stock: true}, args)
		return err
	}
	dumpall := func(args ...string) error {
		_, err := ParseDumpall(Program{Name: "pg_dumpall", Stock: true}, args)
		return err
	}
	for name, parse := range map[string]func(...string) error{"dump": dump, "restore": restore, "dumpall": dumpall} {
		for _, c := range []struct {
			args string
			want error
		}{
			{"-?", ErrHelp}, {"--help", ErrHelp}, {"-a -?", ErrHelp}, {"-s --verbose --help", ErrHelp}, {"-a -s -v?", ErrHelp},
			{"-V", ErrVersion}, {"--version", ErrVersion}, {"-a -V", ErrVersion}, {"-h host --version", ErrVersion},
		} {
			if err := parse(strings.Fields(c.args)...); !errors.Is(err, c.want) {
				t.Errorf("%s %s: %v, want %v", name, c.args, err, c.want)
			}
		}
	}
	var u *UsageError
	if err := dump("--ver"); !errors.As(err, &u) || !strings.Contains(u.Text, "ambiguous") {
		t.Errorf("pg_dump --ver: %v", err)
	}
	for name, err := range map[string]error{"pg_restore": restore("--ver", "-f", "-"), "pg_dumpall": dumpall("--ver")} {
		if err != nil {
			t.Errorf("%s --ver, which is --verbose: %v", name, err)
		}
	}
	if err := dumpall("--he"); !errors.As(err, &u) || u.Text != "unrecognized option '--he'" {
		t.Errorf("pg_dumpall --he: %v", err)
	}
}
