package drill_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/drill"
	"github.com/pghaul/pghaul/internal/dump"
	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/pgtest"
	"github.com/pghaul/pghaul/internal/scratch"
	"github.com/pghaul/pghaul/pgarchive"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// dumpShop dumps the test database and returns the archive's path.
func dumpShop(t *testing.T, s *pgtest.Server, f pgarchive.Format, compression string) string {
	t.Helper()
	s.EnsureRole(t, "pghaul_e2e_owner", "pghaul_e2e_reader")
	db := s.NewDatabase(t)
	sql, err := os.ReadFile(filepath.Join(pgtest.Root(t), "testdata", "shop.sql"))
	if err != nil {
		t.Fatal(err)
	}
	db.Exec(t, string(sql))
	config, err := pg.ParseConfig(db.DSN, pg.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	spec, err := pgarchive.ParseCompression(compression)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "archive")
	o := dump.Options{Format: f, File: path, Compression: spec, PieceBytes: 1 << 20, NoSync: true}
	if _, err := dump.Run(t.Context(), config, o, dump.NoProgress{}); err != nil {
		t.Fatal(err)
	}
	return path
}

func inspect(ctx context.Context, c *pg.Config, o drill.Inspection) (*manifest.Manifest, error) {
	return dump.Describe(ctx, c, dump.Options{Jobs: o.Jobs, Settings: o.Settings, BinaryTables: o.Binary}, nil)
}

func runDrill(t *testing.T, p scratch.Provider, path string, change func(context.Context, *pg.Config) error) *drill.Report {
	t.Helper()
	r, err := pgarchive.Open(path, pgarchive.FormatUnknown)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	report, err := drill.Run(t.Context(), path, r, drill.Options{
		Provider: p, Inspect: inspect, BeforeInspect: change,
	})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// Whatever is changed in the copy is found, and named.
func TestChangesAreFound(t *testing.T) {
	s := pgtest.Newest(t)
	path := dumpShop(t, s, pgarchive.FormatDirectory, "zstd:1")
	// Each group is planted into one copy: no change of a group hides another.
	type change struct{ sql, want string }
	groups := map[string][]change{"rows": {
		{"UPDATE event SET org = org WHERE id = 1; UPDATE event SET kind = 'logiN' WHERE id = 18000", "TABLE DATA public.event: digest differs"},
		{"INSERT INTO parent VALUES (9, 'x')", "TABLE DATA public.parent: rows differ"},
		{"SELECT lowrite(lo_open(4242, 131072), 'x')", "BLOBS: digest differs"},
		{"SELECT nextval('app.counter')", "SEQUENCE SET app.counter: value differs"},
		{"SELECT setval('event_id_seq', 1)", "SEQUENCE SET public.event_id_seq: value differs"},
	}, "definitions": {
		{"DELETE FROM event WHERE id = 7", "TABLE DATA public.event: rows differ"},
		{"SELECT lo_unlink(4243)", "LARGE OBJECT 4243 is missing"},
		{"DROP INDEX event_kind", "INDEX public.event_kind is missing"},
		{"CREATE INDEX more ON event (org)", "INDEX public.more is extra"},
		{"DROP POLICY own ON app.customer; CREATE POLICY own ON app.customer FOR SELECT TO pghaul_e2e_reader USING (true)", "POLICY app.customer own: definition differs"},
		{"REVOKE SELECT ON app.customer FROM pghaul_e2e_reader", "ACL app.TABLE customer"},
		{"GRANT UPDATE (email) ON app.customer TO pghaul_e2e_reader", "ACL app.COLUMN customer.email is extra"},
		{"ALTER TABLE event ALTER kind SET DEFAULT 'x'", "TABLE public.event: definition differs"},
		{"ALTER TABLE cache ALTER v SET NOT NULL", "TABLE public.cache: definition differs"},
		{"ALTER TABLE app.customer DISABLE TRIGGER customer_touch", "TRIGGER app.customer customer_touch: definition differs"},
		{"ALTER TABLE app.customer DISABLE ROW LEVEL SECURITY", "ROW SECURITY app.customer is missing"},
		{"ALTER TABLE event DROP CONSTRAINT event_org", "CHECK CONSTRAINT public.event event_org is missing"},
		{"CREATE OR REPLACE FUNCTION app.total(bigint) RETURNS numeric LANGUAGE sql STABLE AS 'SELECT 0.0'", "FUNCTION app.total(bigint): definition differs"},
		{"ALTER TABLE event OWNER TO pghaul_e2e_owner", "TABLE public.event: owner differs"},
		{"COMMENT ON TABLE app.purchase IS 'other'", "COMMENT app.TABLE purchase: definition differs"},
		{"ALTER TYPE app.state ADD VALUE 'lost'", "TYPE app.state: definition differs"},
		{"DO $$BEGIN EXECUTE format('ALTER DATABASE %I SET work_mem = ''5MB''', current_database()); END$$", "DATABASE PROPERTIES "},
		{"ALTER SCHEMA app OWNER TO pghaul_e2e_owner", "SCHEMA app: owner differs"},
	}}
	for name, group := range groups {
		t.Run(name, func(t *testing.T) {
			report := runDrill(t, shared{s.DSN}, path, func(ctx context.Context, config *pg.Config) error {
				conn, err := pg.Connect(ctx, config)
				if err != nil {
					return err
				}
				defer conn.Close(ctx)
				for _, c := range group {
					if err := conn.Exec(ctx, c.sql); err != nil {
						return err
					}
				}
				return nil
			})
			if report.Identical {
				t.Error("the copy counts as identical")
			}
			var all []string
			for _, f := range report.Differences {
				all = append(all, f.String())
			}
			text := strings.Join(all, "\n")
			for _, c := range group {
				if !strings.Contains(text, c.want) {
					t.Errorf("after %s: %q is not in the report", c.sql, c.want)
				}
			}
			if t.Failed() {
				t.Log(text)
			}
		})
	}
}
