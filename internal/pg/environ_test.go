package pg

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEnvironAndURI(t *testing.T) {
	for _, c := range []struct {
		dsn string
		env []string
		uri string
	}{
		{
			dsn: "host=127.0.0.1 port=5433 user=postgres password='a b/@' dbname=postgres sslmode=disable",
			env: []string{"HOME=/root", "PGDATABASE=odd name", "PGHOST=127.0.0.1", "PGPASSWORD=a b/@", "PGPORT=5433", "PGSSLMODE=disable", "PGUSER=postgres"},
			uri: "postgresql://postgres:a%20b%2F%40@127.0.0.1:5433/odd%20name?sslmode=disable",
		},
		{
			dsn: "host='/tmp/a folder' user=postgres sslmode=disable",
			env: []string{"HOME=/root", "PGDATABASE=odd name", "PGHOST=/tmp/a folder", "PGPORT=5432", "PGSSLMODE=disable", "PGUSER=postgres"},
			uri: "postgresql://postgres@/odd%20name?host=%2Ftmp%2Fa%20folder&port=5432&sslmode=disable",
		},
	} {
		config, err := parseConfig(c.dsn, Overrides{}, environment{lookup: func(string) (string, bool) { return "", false }, home: func() string { return "" }})
		if err != nil {
			t.Fatal(err)
		}
		config = config.WithDatabase("odd name")
		got := config.Environ([]string{"HOME=/root", "PGHOST=elsewhere", "PGSERVICE=prod", "PGPASSWORD=secret", "PGOPTIONS=-c x=y"})
		slices.Sort(got)
		if d := cmp.Diff(c.env, got); d != "" {
			t.Errorf("%s: environment (-want +got):\n%s", c.dsn, d)
		}
		if got := config.URI(); got != c.uri {
			t.Errorf("%s: URI %s, want %s", c.dsn, got, c.uri)
		}
		back, err := parseConfig(config.URI(), Overrides{}, environment{lookup: func(string) (string, bool) { return "", false }, home: func() string { return "" }})
		if err != nil || back.String() != config.String() {
			t.Errorf("%s: read back %v, %v, want %v", c.uri, back, err, config)
		}
	}
}
