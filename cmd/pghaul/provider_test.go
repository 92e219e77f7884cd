package main

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/pgflags"
	"github.com/pghaul/pghaul/internal/scratch"
	"github.com/pghaul/pghaul/internal/scratch/dockerpg"
	"github.com/pghaul/pghaul/internal/scratch/dsnpg"
	"github.com/pghaul/pghaul/internal/scratch/localpg"
)

func TestServerFlags(t *testing.T) {
	for _, c := range []struct {
		flags serverFlags
		usage string
	}{
		{serverFlags{}, ""},
		{serverFlags{Docker: true}, ""},
		{serverFlags{Docker: true, Image: "postgres:17"}, ""},
		{serverFlags{Server: "host=db2 user=drill"}, ""},
		{serverFlags{Server: "host=db2", Docker: true}, "give one of them"},
		{serverFlags{Server: "host=db2", Image: "postgres:17"}, "give one of them"},
		{serverFlags{Server: "hosts=db2"}, "--server: "},
	} {
		p, err := c.flags.provider(nil)
		var usage *pgflags.UsageError
		if c.usage != "" {
			if !errors.As(err, &usage) || !strings.Contains(usage.Text, c.usage) {
				t.Errorf("%+v: got error %v", c.flags, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", c.flags, err)
		}
		var fits bool
		switch p := p.(type) {
		case *dsnpg.Provider:
			fits = p.Config.Hosts[0].Name == "db2" && p.Config.User == "drill"
		case *dockerpg.Provider:
			fits = c.flags.Docker && p.Image == c.flags.Image
		case *localOrContainer:
			fits = c.flags == serverFlags{}
		}
		if !fits {
			t.Errorf("%+v: %T %+v", c.flags, p, p)
		}
	}
}

// TestNoServer has neither programs nor an engine.
func TestNoServer(t *testing.T) {
	p := &localOrContainer{container: &dockerpg.Provider{Program: "no-such-docker"}, say: func(line string) { t.Error(line) }}
	_, err := p.Start(t.Context(), scratch.Spec{Major: 9})
	if !errors.Is(err, localpg.ErrNoPrograms) || !errors.Is(err, dockerpg.ErrNoEngine) {
		t.Fatalf("got error %v", err)
	}
	for _, part := range []string{"no PostgreSQL 9 server programs found", "PGHAUL_PG_BINDIRS", "no-such-docker is not installed", "--server"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is missing in: %v", part, err)
		}
	}
}

// TestContainerInstead has an engine that answers, and no more.
func TestContainerInstead(t *testing.T) {
	engine := t.TempDir() + "/docker"
	script := "#!/bin/sh\ncase $1 in info) echo '{\"ServerVersion\":\"1\",\"MemTotal\":1000000000,\"NCPU\":1}' ;; image | ps | context) ;; *) echo refused >&2; exit 1 ;; esac\n"
	if err := os.WriteFile(engine, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	var said []string
	say := func(line string) { said = append(said, line) }
	p := &localOrContainer{container: &dockerpg.Provider{Program: engine, Report: say}, say: say}
	_, err := p.Start(t.Context(), scratch.Spec{Major: 9})
	if !errors.Is(err, localpg.ErrNoPrograms) || !strings.Contains(err.Error(), "pull image postgres:9 (docker pull: exit status 1): refused") || !strings.Contains(err.Error(), "--image") {
		t.Errorf("got error %v", err)
	}
	if len(said) != 2 || !strings.Contains(said[0], "a container is used") || said[1] != "fetching image postgres:9" {
		t.Errorf("said %q", said)
	}
}
