package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pghaul/pghaul/internal/drill"
	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/pgflags"
	"github.com/pghaul/pghaul/internal/scratch"
	"github.com/pghaul/pghaul/internal/scratch/localpg"
	"github.com/pghaul/pghaul/pgarchive"
)

//go:embed demo.sql
var demoSQL string

func newDemoCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "show the whole loop on a server started for it: dump, drill, and a drill that fails",
		Long: `Starts a PostgreSQL server from the programs on this machine, fills a small database,
dumps it, drills the dump, and drills it once more with one row of the copy
changed, to show that this is found. Everything is removed at the end.`,
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return runDemo(cmd.Context(), env) },
	}
}

// exactArgs refuses any other number of operands than n.
func exactArgs(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == n {
			return nil
		}
		return &pgflags.UsageError{Text: fmt.Sprintf("%d arguments were given, %d wanted: %s", len(args), n, cmd.UseLine()), TryHelp: true}
	}
}

// demo is the state of one run of the demonstration.
type demo struct {
	env    *environment
	source *scratch.Server
	dir    string
}

func runDemo(ctx context.Context, env *environment) (err error) {
	d := &demo{env: env}
	if d.dir, err = os.MkdirTemp("", "pghaul-demo-"); err != nil {
		return err
	}
	defer os.RemoveAll(d.dir)

	d.say("1. A PostgreSQL server is started from the programs on this machine and filled.")
	if d.source, err = new(localpg.Provider).Start(ctx, scratch.Spec{Tuned: true}); err != nil {
		return err
	}
	defer d.source.Stop(ctx)
	if err := d.fill(ctx); err != nil {
		return fmt.Errorf("fill the demonstration's database: %w", err)
	}
	d.say("   It is PostgreSQL %s, with a database named shop.\n", d.source.VersionString)

	archive := filepath.Join(d.dir, "shop.dump")
	d.say("2. pghaul dump -Fd -j2 -Zzstd:1 -f shop.dump shop")
	args := []string{"-Fd", "-j2", "-Zzstd:1", "-f", archive, "-d", d.source.DSN + " dbname=shop"}
	if err := runDump(ctx, env, pgflags.Program{Name: "pghaul dump", Stdin: env.stdin}, args); err != nil {
		return err
	}
	d.say("\n3. pghaul drill shop.dump")
	report, err := d.drill(ctx, archive, nil)
	if err != nil {
		return err
	}
	if !report.Identical {
		return silent{exitFailed}
	}
	d.say("\n4. The same drill, after one of 420,000 rows of the copy was changed:")
	report, err = d.drill(ctx, archive, func(ctx context.Context, c *pg.Config) error {
		return execAt(ctx, c, "UPDATE shop.purchase SET note = 'changed' WHERE id = 4711")
	})
	if err != nil {
		return err
	}
	if report.Identical {
		return fmt.Errorf("the changed row was not found")
	}
	d.say("\nThe first drill proved identity, the second found the changed row. Everything is removed.")
	return nil
}

func (d *demo) say(format string, args ...any) {
	fmt.Fprintf(d.env.stdout, format+"\n", args...)
}

func (d *demo) fill(ctx context.Context) error {
	admin, err := pg.ParseConfig(d.source.DSN, pg.Overrides{})
	if err != nil {
		return err
	}
	if err := execAt(ctx, admin, "CREATE DATABASE shop"); err != nil {
		return err
	}
	return execAt(ctx, admin.WithDatabase("shop"), demoSQL)
}

func execAt(ctx context.Context, c *pg.Config, sql string) error {
	conn, err := pg.Connect(ctx, c)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return conn.Exec(ctx, sql)
}

func (d *demo) drill(ctx context.Context, archive string, change func(context.Context, *pg.Config) error) (*drill.Report, error) {
	r, err := pgarchive.Open(archive, pgarchive.FormatUnknown)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	report, err := drill.Run(ctx, "shop.dump", r, drill.Options{
		Jobs:          2,
		Provider:      &localpg.Provider{},
		Inspect:       inspect,
		BeforeInspect: change,
	})
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(d.env.stdout, "\n"); err != nil {
		return nil, err
	}
	return report, writeReport(d.env.stdout, report, false)
}
