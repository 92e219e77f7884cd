package report

import (
	"bytes"
	"encoding/xml"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pghaul/pghaul/internal/drill"
	"github.com/pghaul/pghaul/internal/platform"
)

var update = flag.Bool("update", false, "rewrite golden files")

// hostile is a name that breaks out of whatever does not escape it.
const hostile = `</td></title><script>alert(1)</script>"' onload=x & {{.}} <!-- ]]> \ % \x00` + "\x01\xff\u202e"

// sample is a report with something of everything.
func sample() *drill.Report {
	at := time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC)
	return &drill.Report{
		Format: drill.ReportFormat, Version: drill.ReportVersion, Verdict: drill.Different,
		Archive: "s3://backups/prod shop/20261130T030000Z", ArchiveFormat: "directory", Database: "shop",
		SourceVersion: "18.6", ScratchVersion: "18.6 (Debian 18.6-3)", BackupTime: &at, Started: at.Add(5 * time.Hour), Seconds: 61.2,
		Manifest: true, Root: strings.Repeat("0123456789abcdef", 4), Platform: "Supabase",
		Compared: drill.Counts{Objects: 412, Tables: 2, Rows: 1_350_000, Bytes: 810 << 20, Sequences: 7, LargeObjects: 3},
		Restore:  drill.Restore{Jobs: 2, Rows: 1_350_000, Bytes: 810 << 20, Entries: 500, Seconds: 38.5, PredictedSeconds: 35, ErrorPercent: 10},
		Differences: []drill.Finding{
			{Stage: drill.StageCopy, Change: "differs", Desc: "TABLE DATA", Namespace: "public", Name: "event", Field: "rows", A: "20000", B: "19999"},
			{Stage: drill.StageCopy, Change: "differs", Desc: "INDEX", Namespace: "public", Name: "event_kind", Field: "definition",
				A: "CREATE INDEX event_kind ON public.event USING btree (kind);\n", B: "CREATE INDEX event_kind ON public.event USING hash (kind);\n"},
			{Stage: drill.StageRestore, Change: "failed", Desc: "EXTENSION", Name: "postgis", SQLState: "0A000", Message: "ERROR:  extension \"postgis\" is not available",
				Allow: "extension-not-available:postgis"},
		},
		Expected: []drill.Finding{
			{Stage: drill.StageCopy, Change: "differs", Desc: "EXTENSION VERSION", Name: "vector", Field: "version", A: "0.8.0", B: "0.8.1", Rule: "extension-version:vector"},
		},
		Rules: []drill.AppliedRule{{Rule: "extension-version:vector", Meaning: "The drill's server has another version of an extension.", Asked: true, Count: 1}},
		Tables: []drill.Item{
			{Namespace: "public", Name: "org", Rows: 500, Bytes: 12000, Verdict: drill.Identical},
			{Namespace: "public", Name: "event", Rows: 20000, Bytes: 3 << 20, Verdict: drill.Different},
		},
		Objects: []drill.Kind{{Desc: "EXTENSION VERSION", Count: 1, Expected: 1}, {Desc: "INDEX", Count: 12, Different: 1}, {Desc: "TABLE", Count: 2}},
		Checks: []drill.CheckResult{
			{Kind: "sql", Name: "every order has a customer", File: "checks.sql", Line: 3, Passed: true, Seconds: 0.1},
			{Kind: "command", Name: "make smoke", Seconds: 2.5, Message: "exit status 2", Output: "one\ntwo\n"},
			{Kind: "sql", Name: "later.sql:1", File: "later.sql", Line: 1, Skipped: true},
		},
		StandIns: []drill.StandIn{{Kind: "ROLE", Name: "anon", Rule: "platform-role-stubbed"}, {Kind: "FUNCTION", Name: "auth.uid()", Rule: "platform-object-stubbed"}},
		Probes: []platform.ProbeResult{
			{Schema: "public", Table: "todo", Claims: "anon", Rows: 3},
			{Schema: "public", Table: "todo", Claims: "a user", State: "42883", Message: "function x() does not exist"},
		},
		Phases: []drill.Phase{{Name: "start", Seconds: 1.2}, {Name: "restore", Seconds: 40}, {Name: "inspect", Seconds: 20}},
	}
}

// passed is the sample as it is when all is well.
func passed(r *drill.Report) *drill.Report {
	r.Passed, r.Identical, r.Verdict = true, true, drill.Identical
	r.Differences, r.Expected, r.Rules, r.Checks, r.Objects[0].Expected, r.Objects[1].Different = nil, nil, nil, r.Checks[:1], 0, 0
	r.Tables[1].Verdict = drill.Identical
	return r
}

func TestGolden(t *testing.T) {
	expected := sample()
	expected.Passed, expected.Verdict, expected.Differences, expected.Checks = true, drill.Expected, nil, expected.Checks[:1]
	checksFailed := passed(sample())
	checksFailed.Passed, checksFailed.Checks = false, sample().Checks[:2]
	bare := passed(sample())
	bare.Manifest, bare.Root, bare.BackupTime, bare.Platform, bare.StandIns, bare.Probes, bare.Checks = false, "", nil, "", nil, nil, nil
	bare.Kept = &drill.Kept{DSN: "host=/tmp/x dbname=shop", What: "a server"}
	for name, r := range map[string]*drill.Report{
		"different": sample(), "passed": passed(sample()), "expected": expected, "checks": checksFailed, "bare": bare,
	} {
		for ext, write := range map[string]func(io.Writer, *drill.Report) error{"txt": Text, "xml": JUnit, "html": HTML} {
			if ext == "html" && name != "different" && name != "bare" {
				continue
			}
			t.Run(name+"."+ext, func(t *testing.T) {
				var b bytes.Buffer
				if err := write(&b, r); err != nil {
					t.Fatal(err)
				}
				file := filepath.Join("testdata", name+"."+ext)
				if *update {
					if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(string(want), b.String()); d != "" {
					t.Error(d)
				}
			})
		}
	}
}

// Names of any kind stay text in every form.
func TestHostileNames(t *testing.T) {
	r := sample()
	r.Database, r.Archive, r.ScratchVersion = hostile, hostile, hostile
	r.Tables[1].Name = hostile
	for i := range r.Differences {
		f := &r.Differences[i]
		f.Namespace, f.Name, f.A, f.B, f.Message, f.Allow = hostile, hostile, hostile, hostile+"x", hostile, hostile
	}
	for i := range r.Expected {
		r.Expected[i].Name = hostile
	}
	for i := range r.Checks {
		r.Checks[i].Name, r.Checks[i].Message, r.Checks[i].Output = hostile, hostile, hostile
	}
	r.StandIns[0].Name, r.Objects[0].Desc, r.Phases[0].Name = hostile, hostile, hostile
	r.Probes[1].Message, r.Probes[1].Table = hostile, hostile
	r.Kept = &drill.Kept{DSN: hostile, What: hostile}

	var page bytes.Buffer
	if err := HTML(&page, r); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<script", "</td></title>", "<!--", "\x00", "\x01", "\xff", "http://", "https://", "src=", "url("} {
		if strings.Contains(page.String(), bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if n := strings.Count(page.String(), "</title>"); n != 1 {
		t.Errorf("%d titles end", n)
	}

	var junit bytes.Buffer
	if err := JUnit(&junit, r); err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(&junit)
	found := 0
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			for _, a := range e.Attr {
				if strings.Contains(a.Value, "<script>alert(1)</script>") {
					found++
				}
			}
		}
	}
	if found < 5 {
		t.Errorf("the name is in %d attributes", found)
	}
	if err := Text(io.Discard, r); err != nil {
		t.Fatal(err)
	}
}
