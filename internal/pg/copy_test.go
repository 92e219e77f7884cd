package pg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/pghaul/pghaul/internal/pgtest"
)

func drop([]byte, []int) error { return nil }

func TestCopyTo(t *testing.T) {
	shapes := []struct{ name, sql string }{
		{"empty", "COPY (SELECT 1 WHERE false) TO STDOUT"},
		{"no columns", "COPY (SELECT FROM generate_series(1, 1000)) TO STDOUT"},
		{"one row", "COPY (SELECT 'x') TO STDOUT"},
		{"rows of one byte", "COPY (SELECT 1 FROM generate_series(1, 300000)) TO STDOUT"},
		{"rows of all sizes", "COPY (SELECT repeat(chr(65 + i % 26), i * 7 % 3000) FROM generate_series(1, 5000) AS i) TO STDOUT"},
		{"rows around the buffer", "COPY (SELECT repeat('x', 262144 + i) FROM generate_series(-12, 12) AS i) TO STDOUT"},
		{"rows around the whole-message size", "COPY (SELECT repeat('x', 65536 + i) FROM generate_series(-6, 6) AS i) TO STDOUT"},
		{"long and short rows", "COPY (SELECT repeat('y', CASE WHEN i % 100 = 0 THEN 3000000 ELSE 3 END) FROM generate_series(1, 500) AS i) TO STDOUT"},
		{"a row of 20 MB", "COPY (SELECT repeat('z', 20000000) UNION ALL SELECT 'end') TO STDOUT"},
		{"null, tab, backslash", `COPY (SELECT NULL, E'a\tb\\c\n', '\.') TO STDOUT`},
		{"binary", "COPY (SELECT i, i::text, NULL::int FROM generate_series(1, 10000) AS i) TO STDOUT WITH (FORMAT binary)"},
		{"binary, empty", "COPY (SELECT 1 WHERE false) TO STDOUT WITH (FORMAT binary)"},
		{"csv", "COPY (SELECT i, E'a\nb' FROM generate_series(1, 100) AS i) TO STDOUT WITH (FORMAT csv)"},
	}
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		c := open(t, s)
		for _, shape := range shapes {
			sink := &collect{t: t, whole: wholeMessage}
			rows, err := c.CopyTo(t.Context(), shape.sql, sink)
			if err != nil {
				t.Fatalf("%s: %v", shape.name, err)
			}
			var want bytes.Buffer
			tag, err := c.pg.CopyTo(t.Context(), &want, shape.sql)
			if err != nil {
				t.Fatal(err)
			}
			if tag.RowsAffected() != rows {
				t.Errorf("%s: %d rows, want %d", shape.name, rows, tag.RowsAffected())
			}
			if !bytes.Equal(bytes.Join(sink.messages, nil), want.Bytes()) {
				t.Errorf("%s: data differ from pgconn's", shape.name)
			}
			if !strings.Contains(shape.sql, "binary") && len(sink.messages) != int(rows) {
				t.Errorf("%s: %d messages for %d rows", shape.name, len(sink.messages), rows)
			}
		}
	})
}

func TestCopyToErrors(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		c := open(t, s)
		usable := func(after string) {
			t.Helper()
			if v := value(t, c, "SELECT 'usable'"); v != "usable" {
				t.Errorf("not usable after %s", after)
			}
		}
		const endless = "COPY (SELECT repeat('x', 1000) FROM generate_series(1, 10000) a, generate_series(1, 10000) b) TO STDOUT"

		rows, err := c.CopyTo(t.Context(), "COPY (SELECT 1 / (5000 - i) FROM generate_series(1, 10000) AS i) TO STDOUT", CopySinkFunc(drop))
		if SQLState(err) != "22012" || rows != 4999 {
			t.Errorf("division by zero: %d rows, %v", rows, err)
		}
		usable("an error in the middle")

		_, err = c.CopyTo(t.Context(), "COPY nowhere TO STDOUT", CopySinkFunc(drop))
		if !IsUndefined(err) {
			t.Errorf("no such table: %v", err)
		}
		usable("an error at the start")

		for _, sql := range []string{"SELECT 1", "SET search_path = ''", ""} {
			if _, err = c.CopyTo(t.Context(), sql, CopySinkFunc(drop)); err == nil || !strings.Contains(err.Error(), "statement is not a COPY TO STDOUT") {
				t.Errorf("%q: %v", sql, err)
			}
			usable("another statement")
		}

		exec(t, c, "BEGIN")
		if _, err = c.CopyTo(t.Context(), "COPY (SELECT 1) TO STDOUT", CopySinkFunc(drop)); err != nil || c.TxStatus() != 'T' {
			t.Errorf("in a transaction: status %c, %v", c.TxStatus(), err)
		}
		if _, err = c.CopyTo(t.Context(), "COPY (SELECT 1/0) TO STDOUT", CopySinkFunc(drop)); err == nil || c.TxStatus() != 'E' {
			t.Errorf("in a failed transaction: status %c, %v", c.TxStatus(), err)
		}
		exec(t, c, "ROLLBACK")
		if c.TxStatus() != 'I' {
			t.Errorf("after the transaction: status %c", c.TxStatus())
		}

		full := errors.New("disk full")
		_, err = c.CopyTo(t.Context(), endless, CopySinkFunc(func([]byte, []int) error { return full }))
		if !errors.Is(err, full) || err.Error() != "disk full" {
			t.Errorf("sink fails: %v", err)
		}
		usable("a failing sink")

		ctx, cancel := context.WithCancel(t.Context())
		_, err = c.CopyTo(ctx, endless, CopySinkFunc(func([]byte, []int) error { cancel(); return nil }))
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		usable("a cancelled COPY")
		if _, err = c.CopyTo(ctx, endless, CopySinkFunc(drop)); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled before: %v", err)
		}

		// cancelled while the server says nothing
		ctx, cancel = context.WithCancel(t.Context())
		watch := dial(t, s.DSN, Overrides{})
		done := make(chan error, 1)
		go func() {
			_, err := c.CopyTo(ctx, "COPY (SELECT pg_sleep(600)) TO STDOUT", CopySinkFunc(drop))
			done <- err
		}()
		for value(t, watch, fmt.Sprintf("SELECT count(*) FROM pg_stat_activity WHERE pid = %d AND state = 'active' AND query LIKE 'COPY%%sleep%%'", c.BackendPID())) != "1" {
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled while waiting: %v", err)
		}
		usable("a cancelled wait")

		// killed in the middle
		killed := false
		_, err = c.CopyTo(t.Context(), endless, CopySinkFunc(func([]byte, []int) error {
			if !killed {
				killed = true
				exec(t, watch, fmt.Sprintf("SELECT pg_terminate_backend(%d)", c.BackendPID()))
			}
			return nil
		}))
		if !IsConnectionLost(err) || !c.IsClosed() {
			t.Errorf("killed: %v, closed %v", err, c.IsClosed())
		}
		if _, err := c.CopyTo(t.Context(), "COPY (SELECT 1) TO STDOUT", CopySinkFunc(drop)); !IsConnectionLost(err) {
			t.Errorf("after the end: %v", err)
		}
	})
}

func TestCopyFrom(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		c := open(t, s)
		exec(t, c, "CREATE TABLE t (a int, b text)")
		var data bytes.Buffer
		for i := range 20000 {
			fmt.Fprintf(&data, "%d\t%s\n", i, strings.Repeat("b", i%100))
		}
		for name, r := range map[string]io.Reader{
			"all at once":  bytes.NewReader(data.Bytes()),
			"one by one":   iotest.OneByteReader(bytes.NewReader(data.Bytes())),
			"half by half": iotest.HalfReader(bytes.NewReader(data.Bytes())),
			"data and EOF": iotest.DataErrReader(bytes.NewReader(data.Bytes())),
		} {
			exec(t, c, "TRUNCATE t")
			rows, err := c.CopyFrom(t.Context(), "COPY t FROM STDIN", r)
			if err != nil || rows != 20000 {
				t.Errorf("%s: %d rows, %v", name, rows, err)
			}
			sink := &collect{t: t, whole: wholeMessage}
			if _, err := c.CopyTo(t.Context(), "COPY (SELECT * FROM t ORDER BY a) TO STDOUT", sink); err != nil || !bytes.Equal(bytes.Join(sink.messages, nil), data.Bytes()) {
				t.Errorf("%s: not the same data, %v", name, err)
			}
		}
		if rows, err := c.CopyFrom(t.Context(), "COPY t FROM STDIN", strings.NewReader("")); err != nil || rows != 0 {
			t.Errorf("empty: %d rows, %v", rows, err)
		}

		before := value(t, c, "SELECT count(*) FROM t")
		broken := errors.New("archive is damaged")
		rows, err := c.CopyFrom(t.Context(), "COPY t FROM STDIN", io.MultiReader(strings.NewReader("1\tx\n"), iotest.ErrReader(broken)))
		if rows != 0 || !errors.Is(err, broken) || err.Error() != "read data for COPY: archive is damaged" {
			t.Errorf("reader fails: %d rows, %v", rows, err)
		}
		_, err = c.CopyFrom(t.Context(), "COPY t FROM STDIN", strings.NewReader("1\tx\nzwei\ty\n"))
		if SQLState(err) != "22P02" {
			t.Errorf("bad data: %v", err)
		}
		_, err = c.CopyFrom(t.Context(), "COPY nowhere FROM STDIN", bytes.NewReader(data.Bytes()))
		if !IsUndefined(err) {
			t.Errorf("no such table: %v", err)
		}
		if v := value(t, c, "SELECT count(*) FROM t"); v != before {
			t.Errorf("%s rows after failures, want %s", v, before)
		}
	})
}

func BenchmarkCopyTo(b *testing.B) {
	s := pgtest.Newest(b)
	c, err := ParseConfig(s.DSN, Overrides{})
	if err != nil {
		b.Fatal(err)
	}
	conn, err := Connect(b.Context(), c)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(context.Background())
	if err := conn.Exec(b.Context(), "CREATE TEMP TABLE bench AS SELECT repeat('x', 90) AS x FROM generate_series(1, 200000)"); err != nil {
		b.Fatal(err)
	}
	const sql = "COPY bench TO STDOUT"
	b.Run("raw", func(b *testing.B) {
		b.SetBytes(200000 * 91)
		for b.Loop() {
			if _, err := conn.CopyTo(b.Context(), sql, CopySinkFunc(drop)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("pgconn", func(b *testing.B) {
		b.SetBytes(200000 * 91)
		for b.Loop() {
			if _, err := conn.pg.CopyTo(b.Context(), io.Discard, sql); err != nil {
				b.Fatal(err)
			}
		}
	})
}
