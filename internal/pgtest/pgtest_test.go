package pgtest

import (
	"strings"
	"testing"
)

func TestMain(m *testing.M) { Main(m) }

func TestDatabase(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		db := s.NewDatabase(t)
		db.Exec(t, `create table t (a int, b text); insert into t values (1, 'x'), (2, null)`)
		if got := db.QueryString(t, `select * from t order by a`); got != "1|x\n2|" {
			t.Errorf("got %q", got)
		}
		if got := db.QueryString(t, `show server_encoding`); got != "UTF8" {
			t.Errorf("server_encoding %s", got)
		}
		if s.Major != s.Version/10000 {
			t.Errorf("major %d of version %d", s.Major, s.Version)
		}
	})
}

func TestStockPrograms(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		from, to := s.NewDatabase(t), s.NewDatabase(t, Options{Suffix: "copy"})
		from.Exec(t, `create table t (a int); insert into t values (7)`)
		file := t.TempDir() + "/x.dump"
		from.MustTool(t, "pg_dump", "-Fc", "-f", file)
		to.MustTool(t, "pg_restore", "-d", to.Name, file)
		if got := to.Psql(t, "-c", "select a from t"); got != "7\n" {
			t.Errorf("got %q", got)
		}
		if _, talk, err := to.Tool(t, "pg_restore", "-d", to.Name, file+".not"); err == nil || !strings.Contains(talk, "No such file") {
			t.Errorf("missing file: %v, %s", err, talk)
		}
	})
}

func TestForVersion(t *testing.T) {
	const text = "a\n--:since 17\nb\n--:end\n--:until 16\nc\n--:end\nd"
	for _, test := range []struct {
		major int
		want  string
	}{
		{16, "a\n\n\n\n\nc\n\nd"},
		{17, "a\n\nb\n\n\n\n\nd"},
	} {
		got, err := forVersion(text, test.major)
		if err != nil || got != test.want {
			t.Errorf("%d: got %q, %v; want %q", test.major, got, err, test.want)
		}
	}
	for _, bad := range []string{"--:since x\n--:end", "--:end", "--:until 3\n"} {
		if _, err := forVersion(bad, 17); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func TestWithDatabase(t *testing.T) {
	for _, test := range []struct{ dsn, want string }{
		{"host=/tmp dbname=postgres", "host=/tmp dbname=postgres dbname=x"},
		{"postgres://u@h:5/postgres", "postgres://u@h:5/x"},
		{"postgresql://u@h:5?sslmode=disable", "postgresql://u@h:5/x?sslmode=disable"},
	} {
		if got := withDatabase(test.dsn, "x"); got != test.want {
			t.Errorf("%s: got %s, want %s", test.dsn, got, test.want)
		}
	}
}
