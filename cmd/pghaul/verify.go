package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pghaul/pghaul/internal/pgflags"
	"github.com/pghaul/pghaul/internal/repo"
	"github.com/pghaul/pghaul/internal/store/all"
	"github.com/pghaul/pghaul/internal/ui"
)

// verifyOptions is the command line of pghaul verify.
type verifyOptions struct {
	Snapshot string
	All      bool
	Percent  float64
	Jobs     int
	Down     sizeFlag
	Rows     bool
	Keys     pgflags.Keys
	JSON     bool
	Quiet    bool
}

// snapshotFlag adds the flag that names a backup.
func snapshotFlag(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "snapshot", "latest", "which backup: latest, ID, DATABASE/latest or DATABASE/ID")
}

func newVerifyCommand(env *environment) *cobra.Command {
	var o verifyOptions
	c := &cobra.Command{
		Use:   "verify [STORE]",
		Short: "read the objects of a backup and compare them with its manifest",
		Long: `Reads the objects of a backup and compares their sizes and SHA-256 with the manifest.
That shows that the store still holds what was put. With --rows the data in them are
read as well, as a restore would read them, and every table's rows and all large
objects compared with the manifest. Whether it restores, and to the same database,
shows a drill.

` + keyHelp + `
Without any key, as on a host that only makes backups, the objects of an encrypted
backup are compared with its index, which is stored beside them in the clear.

Exit status: 0 when all that was read is as it was put; 1 when anything differs, is
missing, or could not be read; 2 if the command line is wrong; 130 if interrupted.`,
		Args: optionalStore,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runVerify(cmd.Context(), env, operand(args), o)
		},
	}
	f := c.Flags()
	snapshotFlag(c, &o.Snapshot)
	f.BoolVar(&o.All, "all", false, "all complete backups, not one")
	f.Float64Var(&o.Percent, "percent", 100, "read only so many percent of the bytes, chosen at random; sizes are compared of all objects")
	f.IntVarP(&o.Jobs, "jobs", "j", 4, "objects read at the same time")
	f.Var(&o.Down, "limit-download", "get no more than this much a second, such as 20MB")
	f.BoolVar(&o.Rows, "rows", false, "compare the rows in the objects, too")
	addKeyFlags(c, &o.Keys)
	f.BoolVar(&o.JSON, "json", false, "print the result as JSON, and progress as JSON lines on standard error")
	f.BoolVar(&o.Quiet, "quiet", false, "no progress")
	return c
}

func runVerify(ctx context.Context, env *environment, address string, o verifyOptions) error {
	if o.Percent <= 0 || o.Percent > 100 {
		return &pgflags.UsageError{Text: fmt.Sprintf("--percent is %g, and must be above 0 and at most 100", o.Percent), TryHelp: true}
	}
	log := ui.NewLog("pghaul verify", env.stderr)
	r, s, err := openRead(address, all.Options{Down: int64(o.Down)}, &o.Keys, log)
	if err != nil {
		return err
	}
	defer s.Close()
	backups, err := toVerify(ctx, r, o)
	if err != nil {
		return err
	}
	meter := ui.NewMeter("verifying", ui.ModeFor(env.stderr, o.JSON, o.Quiet), env.stderr, log)
	results, bad, err := verifyEach(ctx, r, backups, o, meter)
	meter.Stop()
	if err != nil {
		return err
	}
	if o.JSON {
		err = writeJSON(env.stdout, results)
	} else {
		err = writeVerified(env.stdout, results)
	}
	if err == nil && bad {
		err = silent{exitFailed}
	}
	return err
}

func toVerify(ctx context.Context, r *repo.Repo, o verifyOptions) ([]repo.Backup, error) {
	if !o.All {
		b, err := r.Find(ctx, o.Snapshot)
		return []repo.Backup{b}, err
	}
	list, err := r.List(ctx, "")
	var complete []repo.Backup
	for _, b := range list {
		if b.Complete {
			complete = append(complete, b)
		}
	}
	if err == nil && len(complete) == 0 {
		err = fmt.Errorf("%w: there is no complete one in %s", repo.ErrNoBackup, r)
	}
	return complete, err
}

func verifyEach(ctx context.Context, r *repo.Repo, backups []repo.Backup, o verifyOptions, meter *ui.Meter) (results []*repo.Verification, bad bool, err error) {
	var total int64
	objects := 0
	for _, b := range backups {
		total += b.Bytes
		objects += b.Objects
	}
	meter.Total(int64(float64(total)*o.Percent/100), objects)
	for _, b := range backups {
		v, err := r.Verify(ctx, b, repo.VerifyOptions{Percent: o.Percent, Jobs: o.Jobs, Rows: o.Rows, Verified: func(name string, bytes int64) {
			meter.Start(name)
			meter.Add(bytes, 0)
			meter.Finish()
		}})
		switch {
		case err != nil && len(backups) == 1 || ctx.Err() != nil:
			return nil, true, err
		case err != nil: // the others are still looked at
			v = &repo.Verification{Backup: b.String(), Problems: []string{err.Error()}, Unknown: []string{}}
		}
		bad = bad || len(v.Problems) > 0
		results = append(results, v)
	}
	return results, bad, nil
}

func writeVerified(w io.Writer, results []*repo.Verification) error {
	var b strings.Builder
	for _, v := range results {
		verdict := "INTACT"
		if len(v.Problems) > 0 {
			verdict = "DAMAGED"
		}
		fmt.Fprintf(&b, "%s: %s, %s of %s objects read, %s of %s\n", verdict, v.Backup,
			ui.Count(int64(v.Read)), ui.Count(int64(v.Objects)), ui.Bytes(v.BytesOf), ui.Bytes(v.Bytes))
		if v.Pieces > 0 {
			fmt.Fprintf(&b, "  rows: %s in %s data entries are those of the manifest\n", ui.Count(v.Rows), ui.Count(int64(v.Pieces)))
		}
		if v.SignedBy != "" {
			fmt.Fprintf(&b, "  signed by %s\n", v.SignedBy)
		}
		if v.Encrypted && !v.Opened && len(v.Problems) == 0 {
			b.WriteString("  encrypted, and not opened: no key was given, so what is stored was compared with the index\n")
		}
		for _, p := range v.Problems {
			fmt.Fprintf(&b, "  - %s\n", p)
		}
		for _, u := range v.Unknown {
			fmt.Fprintf(&b, "  not part of the backup: %s\n", u)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
