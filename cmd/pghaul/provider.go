package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/pgflags"
	"github.com/pghaul/pghaul/internal/scratch"
	"github.com/pghaul/pghaul/internal/scratch/dockerpg"
	"github.com/pghaul/pghaul/internal/scratch/dsnpg"
	"github.com/pghaul/pghaul/internal/scratch/localpg"
	"github.com/pghaul/pghaul/internal/ui"
)

// serverFlags say where a throwaway server comes from.
type serverFlags struct {
	Server string
	Docker bool
	Image  string
}

// serverHelp is for the help of commands with serverFlags.
const serverHelp = `The server is started from the PostgreSQL programs on this machine, or, if these lack
the source's major version or an extension, in a container of Docker or Podman. With
--server it is a database of its own on a server that runs already.`

// add adds the flags to a command.
func (s *serverFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.BoolVar(&s.Docker, "docker", false, "start the server in a container (Docker or Podman), of an image chosen by version and extensions")
	f.StringVar(&s.Image, "image", "", "start the server in a container of this `IMAGE`, built on the official image postgres")
	f.StringVar(&s.Server, "server", "", "make a database on the server of this connection string (`DSN`), and drop it at the end")
}

// provider returns what starts the servers. What is unusual is noted in log, unless that is nil.
func (s *serverFlags) provider(log *ui.Log) (scratch.Provider, error) {
	say := func(string) {}
	if log != nil {
		say = func(line string) { log.Note("%s", line) }
	}
	container := &dockerpg.Provider{Image: s.Image, Report: say}
	switch {
	case s.Server != "" && (s.Docker || s.Image != ""):
		return nil, &pgflags.UsageError{Text: "--server names a server that runs already, --docker and --image start one: give one of them", TryHelp: true}
	case s.Server != "":
		config, err := pg.ParseConfig(s.Server, pg.Overrides{AskPassword: askPassword, ApplicationName: "pghaul"})
		if err != nil {
			return nil, &pgflags.UsageError{Text: "--server: " + err.Error()}
		}
		return &dsnpg.Provider{Config: config, Report: say}, nil
	case s.Docker || s.Image != "":
		return container, nil
	}
	return &localOrContainer{container: container, say: say}, nil
}

// localOrContainer starts servers from the programs of this machine, and in
// containers if these do not do.
type localOrContainer struct {
	local     localpg.Provider
	container *dockerpg.Provider
	say       func(line string)
}

// Start implements scratch.Provider.
func (p *localOrContainer) Start(ctx context.Context, spec scratch.Spec) (*scratch.Server, error) {
	server, err := p.local.Start(ctx, spec)
	var missing *scratch.MissingExtensions
	lacks := errors.As(err, &missing)
	if err == nil || ctx.Err() != nil || !lacks && !errors.Is(err, localpg.ErrNoPrograms) {
		return server, err
	}
	if _, none := dockerpg.Find(ctx, p.container.Program); none != nil {
		return nil, fmt.Errorf("%w\nNor is there a way by a container (%w)\nWith --server the drill takes a database on a server that you have.", err, none)
	}
	if lacks {
		p.say(missing.Error() + ": a container is used")
	} else {
		p.say(fmt.Sprintf("there are no programs of PostgreSQL %d on this machine: a container is used", spec.Major))
	}
	server, failed := p.container.Start(ctx, spec)
	if failed != nil {
		return nil, fmt.Errorf("%w\nNor did a container: %w\nWith --image another image is used, with --server a database on a server that you have.", err, failed)
	}
	return server, nil
}
