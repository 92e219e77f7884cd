package catalog_test

import (
	"strconv"
	"testing"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/pgtest"
)

// Every definition of an index is the one that pg_get_indexdef gives, whether it was asked or not.
func TestIndexDefinitions(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		db := s.NewDatabase(t)
		db.Exec(t, `CREATE TYPE mood AS ENUM ('a', 'b'); CREATE DOMAIN pos AS int; CREATE SCHEMA "Odd"; CREATE SCHEMA "order";
CREATE COLLATION mine (provider = libc, locale = 'C');
CREATE TABLE t (a int, b text, c varchar(5), d jsonb, e text COLLATE "C", f text[], g mood, h pos, n name, u uuid, x timestamptz, "select" int, "A" int,
  "key" int, m text COLLATE mine, i inet, v tsvector, p point, o oid);
CREATE TABLE "Odd".t (a int); CREATE INDEX ON "Odd".t (a);
CREATE TABLE "order".t (a int); CREATE INDEX ON "order".t (a);
CREATE TABLE part (a int, b text) PARTITION BY RANGE (a); CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (10); CREATE INDEX ON part (b, a);
CREATE INDEX ON t (a); CREATE UNIQUE INDEX ON t (a, b DESC); CREATE INDEX ON t (b COLLATE "C"); CREATE INDEX ON t (b COLLATE "POSIX", a);
CREATE INDEX ON t (c); CREATE INDEX ON t (b text_pattern_ops); CREATE INDEX ON t (e); CREATE INDEX ON t (e COLLATE "default"); CREATE INDEX ON t (m);
CREATE INDEX ON t (a NULLS FIRST, x DESC NULLS LAST, u DESC NULLS FIRST); CREATE INDEX ON t (n); CREATE INDEX ON t (n COLLATE "default"); CREATE INDEX ON t (g); CREATE INDEX ON t (h); CREATE INDEX ON t (f);
CREATE INDEX ON t USING gin (d); CREATE INDEX ON t USING gin (d jsonb_path_ops); CREATE INDEX ON t USING gin (f); CREATE INDEX ON t USING gin (v);
CREATE INDEX ON t USING hash (u); CREATE INDEX ON t USING hash (b); CREATE INDEX ON t USING hash (a) WITH (fillfactor = 70);
CREATE INDEX ON t USING gist (p); CREATE INDEX ON t USING gist (i inet_ops); CREATE INDEX ON t USING brin (a); CREATE INDEX ON t USING spgist (i);
CREATE INDEX ON t ("select"); CREATE INDEX ON t ("A"); CREATE INDEX ON t ("key"); CREATE INDEX "Name" ON t (a); CREATE INDEX "table" ON t (a);
CREATE INDEX ON t (lower(b)); CREATE INDEX ON t (a) WHERE a > 0; CREATE INDEX ON t (a) WITH (fillfactor = 80); CREATE INDEX ON t (o);
CREATE INDEX ON t (a) INCLUDE (b); ALTER TABLE t DROP COLUMN x; CREATE INDEX ON t (u, a);
CREATE MATERIALIZED VIEW mv AS SELECT a, b FROM t; CREATE UNIQUE INDEX ON mv (a)`)
		if s.Major >= 15 {
			db.Exec(t, `CREATE UNIQUE INDEX ON t (b) NULLS NOT DISTINCT`)
		}
		for _, quote := range []bool{false, true} {
			got, _, err := read(t, db, catalog.Options{QuoteAllIdentifiers: quote}, 3)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, table := range got.Tables {
				for _, x := range table.Indexes {
					n++
					want := db.QueryString(t, "SELECT pg_catalog.set_config('search_path', '', false) || pg_get_indexdef(i.indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relname = $name$"+
						x.Name+"$name$ AND i.indrelid = "+oidText(table.ID.OID))
					if x.Def != want {
						t.Errorf("%s\nserver: %s", x.Def, want)
					}
				}
			}
			if n < 40 {
				t.Errorf("%d indexes", n)
			}
		}
	})
}

func oidText(oid uint32) string { return strconv.FormatUint(uint64(oid), 10) }
