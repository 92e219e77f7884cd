package bench

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// indexColumn is a table of one column v, which an index is built on.
type indexColumn struct {
	typ, value string // the value is made of i, the number of the row
	rows       int    // at scale 1
}

var indexColumns = map[string]indexColumn{
	"number":  {"bigint", "(random() * 1e15)::bigint", 400_000},
	"text":    {"text", "md5(i::text)", 400_000},
	"time":    {"timestamptz", "timestamptz '2025-03-01 00:00+00' + i * interval '11 s'", 400_000},
	"range":   {"tstzrange", "tstzrange('2025-03-01'::timestamptz + random() * interval '300 d', '2026-01-01'::timestamptz + random() * interval '9 d')", 200_000},
	"point":   {"point", "point(random(), random())", 400_000},
	"address": {"inet", "inet '10.0.0.0' + (random() * 1e7)::int", 200_000},
	"list":    {"text[]", "ARRAY['a' || i % 1000, 'b' || i % 77, md5(i::text)]", 200_000},
	"words":   {"tsvector", "to_tsvector('simple', concat_ws(' ', md5(i::text), md5((i % 5000)::text), 'w' || i % 3000, 'x' || i % 200, 'y' || i % 17))", 200_000},
	"json": {"jsonb", "jsonb_build_object('address', '10.1.' || i % 250 || '.' || i % 253, 'page', '/app/' || md5((i % 4000)::text), 'ms', i % 900, " +
		"'trace', md5(i::text), 'client', 'Mozilla/5.0 (X11; Linux x86_64)')", 200_000},
	"vector": {"vector(384)", "(SELECT array_agg((random() * 2 - 1)::real) FROM generate_series(1, 384) WHERE i = i)::vector", 20_000},
}

// indexCases are the indexes of the group "index".
var indexCases = []struct {
	column, method string
	class          string // operator class; empty: the default one
	extension      string // with the method or the class; empty: none
}{
	{"number", "btree", "", ""},
	{"text", "btree", "", ""},
	{"time", "btree", "", ""},
	{"number", "hash", "", ""},
	{"text", "hash", "", ""},
	{"time", "brin", "", ""},
	{"text", "bloom", "", "bloom"},
	{"list", "gin", "", ""},
	{"words", "gin", "", ""},
	{"json", "gin", "", ""},
	{"json", "gin", "jsonb_path_ops", ""},
	{"text", "gin", "gin_trgm_ops", "pg_trgm"},
	{"point", "gist", "", ""},
	{"range", "gist", "", ""},
	{"words", "gist", "", ""},
	{"address", "gist", "inet_ops", ""},
	{"text", "gist", "gist_trgm_ops", "pg_trgm"},
	{"point", "spgist", "", ""},
	{"text", "spgist", "", ""},
	{"range", "spgist", "", ""},
	{"address", "spgist", "", ""},
	{"vector", "ivfflat", "vector_l2_ops", "vector"},
	{"vector", "hnsw", "vector_l2_ops", "vector"},
}

// indexMemory are the settings of maintenance_work_mem that each index is built with.
var indexMemory = []string{"16MB", "64MB", "256MB", "1GB"}

// indexes measures builds of indexes, each in a session of its own and without parallel workers: a quarter of the rows, then all.
func (s *suite) indexes(ctx context.Context) ([]Line, error) {
	const db = "bench_index"
	if err := s.exec(ctx, s.server, "postgres", "CREATE DATABASE "+db); err != nil {
		return nil, err
	}
	var lines []Line
	made := make(map[string]string) // notes by table
	for _, c := range indexCases {
		if c.extension != "" {
			there, err := s.has(ctx, c.extension)
			if err != nil {
				return nil, err
			}
			if !there {
				continue
			}
			if err := s.exec(ctx, s.server, db, "CREATE EXTENSION IF NOT EXISTS "+c.extension); err != nil {
				return nil, err
			}
		}
		col := indexColumns[c.column]
		all := int(s.o.Scale * float64(col.rows))
		for _, rows := range slices.Compact([]int{max(1, all/4), max(1, all)}) {
			table := fmt.Sprintf("%s_%d", c.column, rows)
			if made[table] == "" {
				bytes, err := s.indexTable(ctx, db, table, col, rows)
				if err != nil {
					return nil, err
				}
				made[table] = fmt.Sprintf("%d rows, %.1f MB as COPY text", rows, float64(bytes)/1e6)
			}
			using := fmt.Sprintf("USING %s (v %s)", c.method, c.class)
			name := strings.TrimSpace(fmt.Sprintf("%s (%s %s", c.method, col.typ, c.class)) + ")"
			line, err := s.builds(ctx, db, name, table, using)
			if err != nil {
				return nil, err
			}
			line.Note = made[table]
			lines = append(lines, line)
		}
	}
	return lines, nil
}

// indexTable makes a table and returns the bytes of its rows in COPY's text format.
func (s *suite) indexTable(ctx context.Context, db, table string, col indexColumn, rows int) (bytes int64, err error) {
	s.o.progress("filling table %s", table)
	conn, err := connect(ctx, s.server, db)
	if err != nil {
		return 0, err
	}
	defer conn.Close(ctx)
	err = conn.Exec(ctx, fmt.Sprintf("SELECT setseed(0.25); CREATE TABLE %s AS SELECT (%s)::%s AS v FROM generate_series(1, %d) i",
		table, col.value, col.typ, rows))
	if err == nil {
		err = conn.Exec(ctx, "VACUUM ANALYZE "+table)
	}
	if err != nil {
		return 0, fmt.Errorf("fill table %s: %w", table, err)
	}
	v, err := conn.Value(ctx, "SELECT sum(octet_length(v::text) + 1) FROM "+table)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(v, 10, 64)
}

// builds measures one index with each setting of memory, in turn. One that the server refuses, as ivfflat, which wants its memory, is an error of the result.
func (s *suite) builds(ctx context.Context, db, name, table, using string) (Line, error) {
	var list []Contender
	for _, memory := range indexMemory {
		list = append(list, Contender{Name: "maintenance_work_mem " + memory, Run: func(ctx context.Context) (Sample, error) {
			return s.build(ctx, db, table, using, memory)
		}})
	}
	return measure(ctx, name, list, &s.o, &s.meter)
}

// build builds the index, measures and drops it. The memory is what the server's process took for itself on top of what it
// had before: buffers that it shares with others are not in it. The session has read the table before, as one that loaded it has: to map the
// buffers for the first time took half of the time of a btree build.
func (s *suite) build(ctx context.Context, db, table, using, memory string) (sample Sample, err error) {
	conn, err := connect(ctx, s.server, db)
	if err != nil {
		return sample, err
	}
	defer conn.Close(ctx)
	err = conn.Exec(ctx, "SET maintenance_work_mem = '"+memory+"'; SET max_parallel_maintenance_workers = 0; SELECT count(*) FROM "+table)
	if err != nil {
		return sample, err
	}
	pid := int(conn.BackendPID())
	before := privateMemory(pid)
	stop := make(chan struct{})
	most := make(chan int64)
	go func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		peak := before
		for {
			select {
			case <-tick.C:
				peak = max(peak, privateMemory(pid))
			case <-stop:
				most <- peak
				return
			}
		}
	}()
	cpu := s.meter.cpu()
	begun := time.Now()
	err = conn.Exec(ctx, "CREATE INDEX built ON "+table+" "+using)
	sample.Seconds = time.Since(begun).Seconds()
	sample.ServerCPU = s.meter.cpu() - cpu
	close(stop)
	sample.Memory = <-most - before
	if err != nil {
		return sample, err
	}
	size, err := conn.Value(ctx, "SELECT pg_relation_size('built')")
	if err != nil {
		return sample, err
	}
	if sample.Output, err = strconv.ParseInt(size, 10, 64); err != nil {
		return sample, err
	}
	return sample, conn.Exec(ctx, "DROP INDEX built")
}
