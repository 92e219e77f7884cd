package estimate

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/sqltext"
)

// table is a table with rows.
type table struct {
	oid          uint32
	schema, name string
	columns      string // those that are copied, quoted
	isHeap       bool
	pages        int64 // as last counted by the server
	tuples       float64
	heap, toast  int64 // bytes

	rows   int64 // estimated
	bytes  int64 // of the rows as text
	sample *sample
}

func (t *table) disk() int64 { return t.heap + t.toast }

func (t *table) String() string { return sqltext.Quoter{}.Qualified(t.schema, t.name) }

// index is an index, foreignKey a constraint, of tables that are backed up.
type index struct {
	table      uint32
	method     string
	columns    int
	bytes      int64
	constraint bool
}

type foreignKey struct{ from, to uint32 }

// facts is what the catalogue says.
type facts struct {
	database                    string
	version                     string
	blockSize                   int64
	maxLocks, slots             int64
	relations                   int64 // that a dump locks
	objects                     int64 // definitions beside tables and indexes, about
	tables                      []*table
	indexes                     []index
	keys                        []foreignKey
	largeObjects, largeObjectsB int64
	roundTrip                   time.Duration
}

// userSchema chooses what a dump looks at.
const userSchema = `n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'`

// ofExtension excludes what CREATE EXTENSION makes.
const ofExtension = `NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objid = c.oid AND d.deptype = 'e')`

// read reads the catalogue. wanted decides by schema.
func read(ctx context.Context, c *pg.Conn, wanted func(schema string) bool) (*facts, error) {
	f := &facts{roundTrip: time.Hour}
	for range 5 {
		start := time.Now()
		if err := c.Ping(ctx); err != nil {
			return nil, err
		}
		f.roundTrip = min(f.roundTrip, time.Since(start))
	}
	err := query(ctx, c, "server", `SELECT pg_catalog.current_database(), pg_catalog.current_setting('server_version'), pg_catalog.current_setting('block_size'),
  pg_catalog.current_setting('max_locks_per_transaction'),
  pg_catalog.current_setting('max_connections')::pg_catalog.int4 + pg_catalog.current_setting('max_prepared_transactions')::pg_catalog.int4,
  (SELECT pg_catalog.count(*) FROM pg_catalog.pg_largeobject_metadata), pg_catalog.pg_relation_size('pg_catalog.pg_largeobject')`,
		func(r *row) {
			f.database, f.version, f.blockSize, f.maxLocks, f.slots = r.text(), r.text(), r.int(), r.int(), r.int()
			f.largeObjects, f.largeObjectsB = r.int(), r.int()
		})
	if err != nil {
		return nil, err
	}
	generated, method := "a.attgenerated = ''", "COALESCE((SELECT am.amname = 'heap' FROM pg_catalog.pg_am am WHERE am.oid = c.relam), true)"
	if c.Version() < 120000 {
		generated, method = "true", "true"
	}
	oids := make(map[uint32]bool)
	err = query(ctx, c, "tables", `SELECT c.oid, n.nspname, c.relname, c.relkind, `+method+`, c.relpages, c.reltuples,
  COALESCE(pg_catalog.pg_relation_size(c.oid), 0), COALESCE(pg_catalog.pg_relation_size(NULLIF(c.reltoastrelid, 0)), 0),
  (SELECT COALESCE(pg_catalog.string_agg(pg_catalog.quote_ident(a.attname), ', ' ORDER BY a.attnum), '') FROM pg_catalog.pg_attribute a
   WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND `+generated+`)
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND c.relpersistence IN ('p', 'u') AND `+userSchema+` AND `+ofExtension,
		func(r *row) {
			t := &table{oid: uint32(r.int()), schema: r.text(), name: r.text()}
			kind := r.text()
			t.isHeap, t.pages, t.tuples, t.heap, t.toast, t.columns = r.text() == "t", r.int(), r.float(), r.int(), r.int(), r.text()
			if !wanted(t.schema) {
				return
			}
			f.relations++
			if oids[t.oid] = true; kind == "r" {
				f.tables = append(f.tables, t)
			} else {
				f.objects++
			}
		})
	if err != nil {
		return nil, err
	}
	width := "i.indnkeyatts"
	if c.Version() < 110000 {
		width = "i.indnatts"
	}
	// Asking for the size of very many files takes the server a long time; then what it counted last must do.
	err = query(ctx, c, "indexes", `SELECT i.indrelid, am.amname, `+width+`,
  CASE WHEN (SELECT pg_catalog.count(*) FROM pg_catalog.pg_index) > 20000 THEN c.relpages::pg_catalog.int8 * `+strconv.FormatInt(f.blockSize, 10)+`
  ELSE COALESCE(pg_catalog.pg_relation_size(i.indexrelid), 0) END,
  EXISTS (SELECT 1 FROM pg_catalog.pg_constraint k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x'))
FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid JOIN pg_catalog.pg_am am ON am.oid = c.relam
WHERE c.relkind = 'i'`,
		func(r *row) {
			i := index{table: uint32(r.int()), method: r.text(), columns: int(r.int()), bytes: r.int(), constraint: r.text() == "t"}
			if oids[i.table] {
				f.indexes = append(f.indexes, i)
			}
		})
	if err != nil {
		return nil, err
	}
	err = query(ctx, c, "foreign keys", `SELECT conrelid, confrelid FROM pg_catalog.pg_constraint WHERE contype = 'f'`, func(r *row) {
		k := foreignKey{uint32(r.int()), uint32(r.int())}
		if oids[k.from] {
			f.keys = append(f.keys, k)
		}
	})
	if err != nil {
		return nil, err
	}
	err = query(ctx, c, "other objects", `SELECT n.nspname, pg_catalog.count(*) FROM (
  SELECT relnamespace AS nsp FROM pg_catalog.pg_class WHERE relkind IN ('v', 'm', 'S', 'f', 'c')
  UNION ALL SELECT pronamespace FROM pg_catalog.pg_proc
  UNION ALL SELECT c.relnamespace FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid WHERE NOT t.tgisinternal) AS o
JOIN pg_catalog.pg_namespace n ON n.oid = o.nsp WHERE `+userSchema+` GROUP BY 1`, func(r *row) {
		if schema := r.text(); wanted(schema) {
			f.objects += r.int()
		}
	})
	return f, err
}

// row is the values of one row, read one after the other; the first error stays.
type row struct {
	values [][]byte
	err    error
}

func (r *row) text() string {
	if len(r.values) == 0 {
		r.err = fmt.Errorf("fewer columns than expected")
		return ""
	}
	v := r.values[0]
	r.values = r.values[1:]
	return string(v)
}

func (r *row) int() int64 {
	n, err := strconv.ParseInt(r.text(), 10, 64)
	if err != nil && r.err == nil {
		r.err = err
	}
	return n
}

func (r *row) float() float64 {
	n, err := strconv.ParseFloat(r.text(), 64)
	if err != nil && r.err == nil {
		r.err = err
	}
	return n
}

func query(ctx context.Context, c *pg.Conn, what, sql string, each func(*row)) error {
	err := c.Query(ctx, sql, func(values [][]byte) error {
		r := &row{values: values}
		each(r)
		return r.err
	})
	if err != nil {
		return fmt.Errorf("read %s: %w", what, err)
	}
	return nil
}

// schemas makes the decision by schema out of patterns.
func schemas(include, exclude []string) (func(string) bool, error) {
	for _, p := range append(append([]string{}, include...), exclude...) {
		if strings.Contains(p, ".") {
			return nil, fmt.Errorf("pattern %q: the name of a schema holds no period", p)
		}
		if _, err := sqltext.MatchPattern(p, ""); err != nil {
			return nil, fmt.Errorf("pattern %q: %w", p, err)
		}
	}
	matches := func(patterns []string, name string) bool {
		for _, p := range patterns {
			if ok, _ := sqltext.MatchPattern(p, name); ok {
				return true
			}
		}
		return false
	}
	return func(name string) bool {
		return (len(include) == 0 || matches(include, name)) && !matches(exclude, name)
	}, nil
}
