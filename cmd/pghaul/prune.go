package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/pghaul/pghaul/internal/pgflags"
	"github.com/pghaul/pghaul/internal/repo"
	"github.com/pghaul/pghaul/internal/store/all"
	"github.com/pghaul/pghaul/internal/ui"
)

// pruneOptions is the command line of pghaul prune.
type pruneOptions struct {
	Policy   repo.Policy
	Database string
	DryRun   bool
	JSON     bool
}

func newPruneCommand(env *environment) *cobra.Command {
	var o pruneOptions
	c := &cobra.Command{
		Use:   "prune [STORE]",
		Short: "remove backups that no rule keeps",
		Long: `Removes the backups of each database that no rule keeps, and incomplete ones that show
no sign of life. A backup stays if any rule keeps it. Whatever the rules, the
newest complete backup and the last one that passed its drill stay.

Exit status: 0 when all that should go is gone; 1 when something could not be
removed; 2 if the command line is wrong; 130 if interrupted.`,
		Args: optionalStore,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runPrune(cmd.Context(), env, operand(args), o)
		},
	}
	f := c.Flags()
	p := &o.Policy
	f.IntVar(&p.Last, "keep-last", 0, "keep so many of the newest backups")
	f.IntVar(&p.Daily, "keep-daily", 0, "keep the newest backup of each of so many days that have one (UTC)")
	f.IntVar(&p.Weekly, "keep-weekly", 0, "likewise for weeks, which begin on Monday")
	f.IntVar(&p.Monthly, "keep-monthly", 0, "likewise for months")
	f.IntVar(&p.Yearly, "keep-yearly", 0, "likewise for years")
	f.IntVar(&p.MinKeep, "min-keep", 1, "keep at least so many complete backups")
	f.DurationVar(&p.IncompleteAfter, "incomplete-after", 24*time.Hour, "remove an incomplete backup when nothing was stored in it for so long")
	f.StringVar(&o.Database, "database", "", "only backups of this database")
	f.BoolVarP(&o.DryRun, "dry-run", "n", false, "print what would be removed, and remove nothing")
	f.BoolVar(&o.JSON, "json", false, "print the decisions as JSON")
	return c
}

func (o *pruneOptions) check() error {
	p := &o.Policy
	switch {
	case min(p.Last, p.Daily, p.Weekly, p.Monthly, p.Yearly) < 0 || p.MinKeep < 1:
		return &pgflags.UsageError{Text: "a number of backups to keep is negative, or --min-keep is below 1", TryHelp: true}
	case p.IsZero():
		return &pgflags.UsageError{Text: "no rule says what to keep: give --keep-last, --keep-daily, --keep-weekly, --keep-monthly or --keep-yearly", TryHelp: true}
	}
	return nil
}

// prunedJSON is one decision in the JSON of pghaul prune --json.
type prunedJSON struct {
	backupJSON
	Keep    bool     `json:"keep"`
	Removed bool     `json:"removed"`
	Reasons []string `json:"reasons"`
}

func runPrune(ctx context.Context, env *environment, address string, o pruneOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	log := ui.NewLog("pghaul prune", env.stderr)
	r, s, err := openRepo(address, all.Options{}, log)
	if err != nil {
		return err
	}
	defer s.Close()
	decisions, err := decide(ctx, r, o)
	if err != nil {
		return err
	}
	out := []prunedJSON{}
	var failed error
	for _, d := range decisions {
		item := prunedJSON{backupJSON: describeBackup(d.Backup), Keep: d.Keep, Reasons: d.Reasons}
		if !o.JSON {
			if _, err := fmt.Fprintln(env.stdout, d); err != nil {
				return err
			}
		}
		if !d.Keep && !o.DryRun {
			if err := r.Delete(ctx, d.Backup); err != nil {
				if ctx.Err() != nil {
					return err
				}
				log.Error("remove backup %s: %v", d.Backup, err)
				failed = errors.Join(failed, err)
			} else {
				item.Removed = true
			}
		}
		out = append(out, item)
	}
	if o.JSON {
		if err := writeJSON(env.stdout, out); err != nil {
			return err
		}
	} else {
		log.Note("%s", pruned(out, o.DryRun))
	}
	if failed != nil {
		return silent{exitFailed}
	}
	return nil
}

// pruned sums up what was removed, or would be.
func pruned(items []prunedJSON, dryRun bool) string {
	removed, kept := 0, 0
	var bytes int64
	for _, i := range items {
		switch {
		case i.Keep:
			kept++
		case i.Removed || dryRun:
			removed++
			bytes += i.Bytes
		}
	}
	text := fmt.Sprintf("removed %d of %d backups, %s; %d are kept", removed, len(items), ui.Bytes(bytes), kept)
	if dryRun {
		text = "dry run, nothing was removed: would have " + text
	}
	return text
}

// decide applies the policy to each database for itself.
func decide(ctx context.Context, r *repo.Repo, o pruneOptions) ([]repo.Decision, error) {
	list, err := r.List(ctx, o.Database)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	var all []repo.Decision
	for len(list) > 0 {
		n := 0
		for n < len(list) && list[n].Database == list[0].Database {
			n++
		}
		all = append(all, repo.Retain(list[:n], o.Policy, now)...)
		list = list[n:]
	}
	return all, nil
}
