package dockerpg

import (
	"errors"
	"slices"
	"testing"
)

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		major      int
		extensions []string
		want       string
		missing    []string
	}{
		{major: 17, want: "postgres:17"},
		{major: 18, extensions: []string{"plpgsql", "uuid-ossp", "pg_trgm"}, want: "postgres:18"},
		{major: 16, extensions: []string{"hstore", "vector"}, want: "pgvector/pgvector:pg16"},
		{major: 17, extensions: []string{"postgis"}, want: "postgis/postgis:17-3.5"},
		{major: 18, extensions: []string{"postgis", "fuzzystrmatch", "postgis_tiger_geocoder"}, want: "postgis/postgis:18-3.6"},
		{major: 15, extensions: []string{"timescaledb"}, want: "timescale/timescaledb-ha:pg15"},
		{major: 17, extensions: []string{"postgis", "vector"}, want: "timescale/timescaledb-ha:pg17"},
		{major: 17, extensions: []string{"hstore", "pg_graphql", "vector"}, missing: []string{"pg_graphql", "vector"}},
		{major: 17, extensions: []string{"plperl"}, missing: []string{"plperl"}},
	} {
		got, err := Choose(c.major, c.extensions)
		var none *NoImageError
		if errors.As(err, &none) && !slices.Equal(none.Extensions, c.missing) {
			t.Errorf("%d %v: missing %v, want %v", c.major, c.extensions, none.Extensions, c.missing)
		}
		if got != c.want || (err == nil) != (c.missing == nil) {
			t.Errorf("%d %v: %q %v, want %q", c.major, c.extensions, got, err, c.want)
		}
	}
}

func TestFarEngine(t *testing.T) {
	for endpoint, want := range map[string]string{
		"unix:///var/run/docker.sock":      "",
		"npipe:////./pipe/docker_engine":   "",
		"tcp://127.0.0.1:2375":             "",
		"tcp://localhost:2375":             "",
		"tcp://docker:2376":                "docker",
		"ssh://me@build.example":           "build.example",
		"unix:///home/me/.docker/run/sock": "",
	} {
		if host, far := farEngine(endpoint); host != want || far != (want != "") {
			t.Errorf("%s: %q %v", endpoint, host, far)
		}
	}
}
