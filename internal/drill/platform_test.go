package drill_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/drill"
	"github.com/pghaul/pghaul/internal/dump"
	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/pgtest"
	"github.com/pghaul/pghaul/internal/platform"
	"github.com/pghaul/pghaul/internal/scratch/localpg"
	"github.com/pghaul/pghaul/pgarchive"
)

// Of a project of Supabase, schema public only, a policy that changed is found among the objects, and what only
// the platform's roles notice by their probes.
func TestPlatformProject(t *testing.T) {
	s := pgtest.Newest(t)
	db := s.NewDatabase(t)
	sql, err := os.ReadFile(filepath.Join(pgtest.Root(t), "testdata", "supabase.sql"))
	if err != nil {
		t.Fatal(err)
	}
	db.Exec(t, string(sql))
	source, err := pg.ParseConfig(db.DSN, pg.Overrides{User: "pghaul_supabase"})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "archive")
	o := dump.Options{Format: pgarchive.FormatCustom, File: path, NoSync: true}
	o.IncludeSchemas = []string{"public"}
	if _, err := dump.Run(t.Context(), source, o, nil); err != nil {
		t.Fatal(err)
	}
	p, err := platform.ByName("supabase")
	if err != nil {
		t.Fatal(err)
	}
	claims := []platform.Claims{{Name: "member", Role: "authenticated", Claims: json.RawMessage(`{"sub":"00000000-0000-4000-8000-000000000006"}`)}}
	seen, err := p.Probe(t.Context(), source, platform.ProbeOptions{Claims: claims})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, sql string
		verdict   drill.Verdict
		want      string // in a difference or the check of row security
	}{
		{"policy", "DROP POLICY staff ON todo; CREATE POLICY staff ON todo FOR SELECT TO authenticated USING (true)", drill.Different,
			"POLICY public.todo staff: definition differs"},
		{"function", "CREATE OR REPLACE FUNCTION auth.uid() RETURNS uuid LANGUAGE sql STABLE AS 'SELECT NULL::uuid'", drill.Identical,
			"public.todo as member: 0 rows, expected 80 rows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := pgarchive.Open(path, pgarchive.FormatUnknown)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			report, err := drill.Run(t.Context(), path, r, drill.Options{
				Provider: &localpg.Provider{}, Inspect: inspect, Probes: p.NewProbes(claims, seen),
				BeforeInspect: func(ctx context.Context, config *pg.Config) error {
					conn, err := pg.Connect(ctx, config)
					if err != nil {
						return err
					}
					defer conn.Close(ctx)
					return conn.Exec(ctx, c.sql)
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			for _, f := range report.Differences {
				text.WriteString(f.String() + "\n")
			}
			for _, check := range report.Checks {
				text.WriteString(check.Message + "\n")
			}
			if report.Passed || report.Verdict != c.verdict || !strings.Contains(text.String(), c.want) {
				t.Errorf("passed %t, verdict %s, %q not found in:\n%s", report.Passed, report.Verdict, c.want, text.String())
			}
		})
	}
}
