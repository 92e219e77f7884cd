package drill_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/drill"
	"github.com/pghaul/pghaul/internal/dump"
	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/pgtest"
	"github.com/pghaul/pghaul/internal/scratch"
	"github.com/pghaul/pghaul/internal/scratch/localpg"
	"github.com/pghaul/pghaul/pgarchive"
)

// dumpOf dumps a database with this in it.
func dumpOf(t *testing.T, s *pgtest.Server, sql string) string {
	t.Helper()
	db := s.NewDatabase(t)
	db.Exec(t, sql)
	config, err := pg.ParseConfig(db.DSN, pg.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "archive")
	if _, err := dump.Run(t.Context(), config, dump.Options{Format: pgarchive.FormatCustom, File: path, NoSync: true}, dump.NoProgress{}); err != nil {
		t.Fatal(err)
	}
	return path
}

// shared gives out a running server, by its connection string, as if it was started for the drill: many drills then take no time
// to speak of.
type shared struct{ dsn string }

func (p shared) Start(ctx context.Context, spec scratch.Spec) (*scratch.Server, error) {
	err := scratch.CheckExtensions(spec.Extensions, "the server", func(sql string, add func(string)) error {
		config, err := pg.ParseConfig(p.dsn, pg.Overrides{})
		if err != nil {
			return err
		}
		conn, err := pg.Connect(ctx, config)
		if err != nil {
			return err
		}
		defer conn.Close(ctx)
		return conn.Query(ctx, sql, func(values [][]byte) error {
			add(string(values[0]))
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return scratch.NewServer(scratch.Info{DSN: p.dsn}, endless{}), nil
}

type endless struct{}

func (endless) Stop(context.Context, bool) error { return nil }
func (endless) Done() <-chan struct{}            { return nil }
func (endless) Err() error                       { return nil }

// changedReader is an archive with other entries, and without a manifest.
type changedReader struct {
	pgarchive.Reader
	change func(*pgarchive.Entry)
}

func (r changedReader) Entries() []*pgarchive.Entry {
	var out []*pgarchive.Entry
	for _, e := range r.Reader.Entries() {
		c := *e
		r.change(&c)
		out = append(out, &c)
	}
	return out
}

func (changedReader) Attachment(string) ([]byte, error) { return nil, pgarchive.ErrNoAttachment }

func open(t *testing.T, path string) pgarchive.Reader {
	t.Helper()
	r, err := pgarchive.Open(path, pgarchive.FormatUnknown)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func allow(t *testing.T, texts ...string) (list []drill.Allowance) {
	t.Helper()
	for _, s := range texts {
		a, err := drill.ParseAllowance(s)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, a)
	}
	return list
}

// objects are the findings' objects, sorted, each once.
func objects(list []drill.Finding) []string {
	var out []string
	for i := range list {
		out = append(out, list[i].Object())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// What depends on an extension that the server lacks is allowed to be missing if the rule says so, and nothing else is.
func TestExtensionNotAvailable(t *testing.T) {
	s := pgtest.Newest(t)
	s.Need(t, 18) // extension_control_path
	s.NeedExtension(t, "citext")
	path := dumpOf(t, s, `
CREATE EXTENSION citext;
CREATE TABLE apart (id int PRIMARY KEY);
INSERT INTO apart VALUES (1);
CREATE TABLE person (id int PRIMARY KEY, email citext UNIQUE DEFAULT 'x');
INSERT INTO person VALUES (1, 'a@b');
COMMENT ON COLUMN person.email IS 'address';
CREATE TABLE letter (person int REFERENCES person, apart int REFERENCES apart);
CREATE VIEW emails AS SELECT email FROM person;
CREATE FUNCTION of(citext) RETURNS int LANGUAGE sql AS 'SELECT 1';
GRANT SELECT ON person TO pg_monitor;
REVOKE ALL ON FUNCTION citext(boolean) FROM PUBLIC;`)
	server, err := new(localpg.Provider).Start(t.Context(), scratch.Spec{Major: s.Major, Settings: map[string]string{"extension_control_path": "/nowhere"}})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop(context.Background())
	nothing := shared{server.DSN}
	run := func(t *testing.T, allowed ...string) (*drill.Report, error) {
		return drill.Run(t.Context(), path, open(t, path), drill.Options{Provider: nothing, Inspect: inspect, Allow: allow(t, allowed...)})
	}
	if _, err := run(t, "extension-not-available:hstore"); err == nil || !strings.Contains(err.Error(), "--allow extension-not-available:citext") {
		t.Errorf("not allowed: %v", err)
	}
	report, err := run(t, "extension-not-available:citext")
	if err != nil {
		t.Fatal(err)
	}
	if report.Verdict != drill.Expected || !report.Passed {
		t.Errorf("%s, differences %v", report.Verdict, report.Differences)
	}
	want := []string{
		"ACL public.FUNCTION citext(boolean)", "ACL public.TABLE person", "COMMENT EXTENSION citext", "COMMENT public.COLUMN person.email",
		"CONSTRAINT public.person person_email_key", "CONSTRAINT public.person person_pkey", "EXTENSION VERSION citext", "EXTENSION citext",
		"FK CONSTRAINT public.letter letter_person_fkey", "FUNCTION public.of(public.citext)", "TABLE DATA public.person", "TABLE public.person", "VIEW public.emails",
	}
	if got := objects(report.Expected); !slices.Equal(got, want) {
		t.Errorf("expected by rule:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, f := range report.Expected {
		if f.Rule != "extension-not-available:citext" {
			t.Errorf("%v", f)
		}
	}

	// Something else that is missing is not excused by it.
	report, err = drill.Run(t.Context(), path, open(t, path), drill.Options{
		Provider: nothing, Inspect: inspect, Allow: allow(t, "extension-not-available"),
		BeforeInspect: func(ctx context.Context, c *pg.Config) error {
			return execAll(ctx, c, "ALTER TABLE letter DROP CONSTRAINT letter_apart_fkey")
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := objects(report.Differences); report.Passed || !slices.Equal(got, []string{"FK CONSTRAINT public.letter letter_apart_fkey"}) {
		t.Errorf("passed %v, differences %v", report.Passed, got)
	}
}

func execAll(ctx context.Context, c *pg.Config, sql ...string) error {
	conn, err := pg.Connect(ctx, c)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, s := range sql {
		if err := conn.Exec(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// A locale that the server lacks, a function in C whose library it lacks, and a label whose provider it lacks.
func TestOtherLacks(t *testing.T) {
	s := pgtest.Newest(t)
	path := dumpOf(t, s, "CREATE TABLE t (a text); INSERT INTO t VALUES ('ä'); CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'; CREATE VIEW v AS SELECT f();"+
		"SET allow_system_table_mods = on; INSERT INTO pg_seclabel VALUES ('t'::regclass, 'pg_class'::regclass, 0, 'nobody', 'secret')")
	elsewhere := func() pgarchive.Reader {
		return changedReader{open(t, path), func(e *pgarchive.Entry) {
			e.Defn = strings.Replace(e.Defn, "LOCALE = 'C.UTF-8'", "LOCALE = 'xx_YY.UTF-8'", 1)
			if e.Desc == "FUNCTION" {
				e.Defn = "CREATE FUNCTION public.f() RETURNS integer\n    LANGUAGE c\n    AS '/nowhere/lib', 'f';\n"
			}
		}}
	}
	run := func(allowed ...string) (*drill.Report, error) {
		return drill.Run(t.Context(), path, elsewhere(), drill.Options{Provider: shared{s.DSN}, Inspect: inspect, Allow: allow(t, allowed...)})
	}
	if _, err := run("locale-not-available:zz"); err == nil || !strings.Contains(err.Error(), "--allow locale-not-available:xx_YY.UTF-8") {
		t.Errorf("not allowed: %v", err)
	}
	report, err := run("locale-not-available")
	if err != nil {
		t.Fatal(err)
	}
	var hints []string
	for _, f := range report.Differences {
		hints = append(hints, f.Object()+" "+f.Allow)
	}
	slices.Sort(hints)
	want := []string{"FUNCTION public.f() library-not-available:public.f()", "SECURITY LABEL public.TABLE t label-provider-not-available:nobody", "VIEW public.v library-not-available:public.f()"}
	if got := slices.Compact(hints); report.Passed || !slices.Equal(got, want) {
		t.Errorf("passed %v, differences %q", report.Passed, got)
	}
	if report, err = run("locale-not-available", "library-not-available", "label-provider-not-available:nobody"); err != nil || report.Verdict != drill.Expected {
		t.Errorf("%v %+v", err, report)
	}
}

func TestExtensionVersion(t *testing.T) {
	s := pgtest.Newest(t)
	s.NeedExtension(t, "citext")
	path := dumpOf(t, s, "CREATE EXTENSION citext; CREATE TABLE t (a citext); INSERT INTO t VALUES ('x')")
	for allowed, want := range map[string]drill.Verdict{
		"": drill.Different, "extension-version:hstore": drill.Different, "extension-version:citext": drill.Expected, "extension-version": drill.Expected,
	} {
		var list []drill.Allowance
		if allowed != "" {
			list = allow(t, allowed)
		}
		report, err := drill.Run(t.Context(), path, open(t, path), drill.Options{
			Provider: shared{s.DSN}, Inspect: inspect, Allow: list,
			BeforeInspect: func(ctx context.Context, c *pg.Config) error {
				return execAll(ctx, c, "UPDATE pg_extension SET extversion = '0.5' WHERE extname = 'citext'")
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		found := append(objects(report.Differences), objects(report.Expected)...)
		if report.Verdict != want || report.Passed != (want == drill.Expected) || !slices.Equal(found, []string{"EXTENSION VERSION citext"}) {
			t.Errorf("allowed %q: %s, found %v", allowed, report.Verdict, found)
		}
	}
}

func TestParseAllowance(t *testing.T) {
	for text, want := range map[string]string{
		"extension-version":         "",
		"extension-version:pg_cron": "",
		"extension-version:":        "no extension",
		"tablespace-default":        "always applies",
		"nonsense:x":                "there is no rule",
		"":                          "there is no rule",
	} {
		a, err := drill.ParseAllowance(text)
		if want == "" && (err != nil || a.String() != text) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, %v", text, a, err)
		}
	}
}
