package dump

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/pgtest"
	"github.com/pghaul/pghaul/pgarchive"
)

// Each table has one column; the schema says whether its type is safe.
const formats = `
CREATE SCHEMA safe; CREATE SCHEMA unsafe;
CREATE TYPE public.mood AS ENUM ('sad', 'glad'); CREATE TYPE public.pair AS (a int, b mood); CREATE DOMAIN public.pos AS int CHECK (VALUE > 0);
CREATE DOMAIN public.moods AS mood[]; CREATE TYPE public.moodrange AS RANGE (subtype = mood); CREATE DOMAIN public.words AS text[];
CREATE TABLE safe.a AS SELECT i AS v FROM generate_series(1, 100) i;
CREATE TABLE safe.b AS SELECT E'a\\tb\n'::text AS v UNION ALL SELECT NULL;
CREATE TABLE safe.c AS SELECT ARRAY['x', NULL, 'y'] AS v;
CREATE TABLE safe.d AS SELECT 'glad'::mood AS v;
CREATE TABLE safe.e AS SELECT 5::pos AS v;
CREATE TABLE safe.f AS SELECT '[1,5)'::int4range AS v;
CREATE TABLE safe.g AS SELECT '{"a": [1, 2.50]}'::jsonb AS v;
CREATE TABLE safe.h AS SELECT ARRAY['a b', 'c']::words AS v;
CREATE TABLE safe.i AS SELECT 1.5::numeric(10, 2) AS v, 'NaN'::float8 AS w, timestamptz '2026-01-01 00:00Z' AS x, gen AS y, '1 day'::interval AS z FROM (SELECT '00000000-0000-0000-0000-000000000001'::uuid) g (gen);
CREATE TABLE safe.j (v int);
CREATE TABLE unsafe.a AS SELECT 'int4'::regtype AS v;
CREATE TABLE unsafe.b AS SELECT ARRAY['sad']::mood[] AS v;
CREATE TABLE unsafe.c AS SELECT ROW(1, 'sad')::pair AS v;
CREATE TABLE unsafe.d AS SELECT ARRAY['sad']::moods AS v;
CREATE TABLE unsafe.e AS SELECT moodrange('sad', 'glad') AS v;
CREATE TABLE unsafe.f ();
CREATE TABLE unsafe.g AS SELECT 'postgres=r/postgres'::aclitem AS v;
CREATE TABLE unsafe.h AS SELECT 12.5::text::money AS v;
`

func TestCopyFormat(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		s.NeedTool(t, "pg_restore")
		db := s.NewDatabase(t)
		db.Exec(t, strings.ReplaceAll(formats, "public.", ""))
		file := filepath.Join(t.TempDir(), "c")
		o := Options{Format: pgarchive.FormatCustom, File: file, Jobs: 2, CopyFormat: CopyAuto, NoSync: true}
		r := mustRun(t, db, o, nil)
		for _, table := range r.Manifest.Tables {
			if (table.CopyFormat == manifest.BinaryCopy) != (table.Namespace == "safe") {
				t.Errorf("%s.%s: copy format %q", table.Namespace, table.Name, table.CopyFormat)
			}
		}
		checkAttached(t, file, r)
		restored := s.NewDatabase(t, pgtest.Options{Suffix: "copy"})
		restored.MustTool(t, "pg_restore", "-d", restored.Name, "-e", "-j2", file)
		same(t, script(t, db), r.Manifest, restored)

		o.CopyFormat, o.File = CopyBinary, filepath.Join(t.TempDir(), "d")
		if _, err := Run(t.Context(), config(t, db), o, nil); err == nil || !strings.Contains(err.Error(), "unsafe.") {
			t.Errorf("binary form of all tables: error %v", err)
		}
		mustNotExist(t, o.File)
		o.ExcludeTableData = []string{"unsafe.*"}
		if m := mustRun(t, db, o, nil).Manifest; len(m.Tables) != 10 {
			t.Errorf("%d tables", len(m.Tables))
		}
		o.Format = pgarchive.FormatPlain
		if _, err := Run(t.Context(), config(t, db), o, nil); err != errPlainBinary {
			t.Errorf("script: error %v", err)
		}
	})
}
