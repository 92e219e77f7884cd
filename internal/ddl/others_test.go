package ddl

import (
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/sqltext"
)

func testRenderer(o catalog.Options) *renderer {
	db := &catalog.Database{Options: o, Info: catalog.Info{Version: 180000, StdStrings: true}}
	return &renderer{db: db, opt: &db.Options, quote: sqltext.Quoter{All: o.QuoteAllIdentifiers}}
}

func TestProcRef(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"-", ""},
		{"eqsel(internal,oid,internal,integer)", "eqsel"},
		{`public."odd (name)"(text,text)`, `public."odd (name)"`},
		{`"a""(b"."c"(integer)`, `"a""(b"."c"`},
		{"noparens", "noparens"},
	} {
		if got := procRef(c.in); got != c.want {
			t.Errorf("procRef(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestFuncBody(t *testing.T) {
	body := "BEGIN ATOMIC\n SELECT 1;\nEND"
	for _, c := range []struct {
		name      string
		noDollars bool
		details   catalog.FuncDetails
		want      string
	}{
		{"source", false, catalog.FuncDetails{Src: "SELECT 'x'"}, "AS $$SELECT 'x'$$"},
		{"dollars inside", false, catalog.FuncDetails{Src: "$$ $_$"}, "AS $_X$$$ $_$$_X$"},
		{"no dollar quoting", true, catalog.FuncDetails{Src: "SELECT 'x'"}, "AS 'SELECT ''x'''"},
		{"library", false, catalog.FuncDetails{Bin: "$libdir/x"}, "AS '$libdir/x'"},
		{"symbol", false, catalog.FuncDetails{Bin: "$libdir/x", Src: "f"}, "AS '$libdir/x', 'f'"},
		{"odd symbol", false, catalog.FuncDetails{Bin: "$libdir/x", Src: `f\`}, `AS '$libdir/x', $$f\$$`},
		{"odd symbol, no dollar quoting", true, catalog.FuncDetails{Bin: "$libdir/x", Src: `f\`}, `AS '$libdir/x', 'f\'`},
		{"SQL body", false, catalog.FuncDetails{SQLBody: &body}, body},
	} {
		r := testRenderer(catalog.Options{DisableDollarQuoting: c.noDollars})
		if got := r.funcBody(&c.details); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestSettingValue(t *testing.T) {
	r := testRenderer(catalog.Options{})
	for _, c := range []struct{ name, value, want string }{
		{"work_mem", "16MB", "'16MB'"},
		{"search_path", `"Odd Path", public, ""`, "'Odd Path', 'public', ''"},
		{"Search_Path", "public", "'public'"},
		{"my.custom", "a 'quoted', value", "'a ''quoted'', value'"},
	} {
		if got := r.settingValue(c.name, c.value); got != c.want {
			t.Errorf("%s = %q: %s, want %s", c.name, c.value, got, c.want)
		}
	}
}

// TestFinalFunc holds what is the default of _MODIFY, also on servers that did not know it yet.
func TestFinalFunc(t *testing.T) {
	for _, c := range []struct {
		kind, modify byte
		want         string
	}{
		{'n', 'r', ""}, {'n', 0, ""}, {'n', 's', "SHAREABLE"}, {'n', 'w', "READ_WRITE"},
		{'o', 'w', ""}, {'o', 0, ""}, {'h', 'r', "READ_ONLY"},
	} {
		a := &catalog.Agg{AggDetails: &catalog.AggDetails{AggKind: c.kind}}
		var b strings.Builder
		if err := finalFunc(&b, a, "FINALFUNC", "f", false, c.modify); err != nil {
			t.Fatal(err)
		}
		want := ",\n    FINALFUNC = f"
		if c.want != "" {
			want += ",\n    FINALFUNC_MODIFY = " + c.want
		}
		if b.String() != want {
			t.Errorf("kind %c, modify %c: %q, want %q", c.kind, c.modify, b.String(), want)
		}
	}
	a := &catalog.Agg{AggDetails: &catalog.AggDetails{AggKind: 'n'}}
	a.Name = "odd"
	err := finalFunc(new(strings.Builder), a, "MFINALFUNC", "f", false, '?')
	if err == nil || err.Error() != `unrecognized aggmfinalmodify value for aggregate "odd"` {
		t.Errorf("unknown value: %v", err)
	}
}

// TestUnknownValues holds that a value that this version does not know stops the dump.
func TestUnknownValues(t *testing.T) {
	r := testRenderer(catalog.Options{})
	f := &catalog.Func{Details: &catalog.FuncDetails{Volatile: '?', Parallel: 'u', Support: "-"}}
	f.Name = "f"
	if err := r.funcAttributes(new(strings.Builder), f); err == nil {
		t.Error("unknown volatility is taken")
	}
	f.Details.Volatile, f.Details.Parallel = 'v', '?'
	if err := r.funcAttributes(new(strings.Builder), f); err == nil {
		t.Error("unknown parallel safety is taken")
	}
	c := &catalog.Collation{Details: &catalog.CollationDetails{Provider: '?'}}
	if err := r.collationDetails(new(strings.Builder), c); err == nil {
		t.Error("unknown collation provider is taken")
	}
}
