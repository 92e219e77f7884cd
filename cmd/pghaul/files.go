package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pghaul/pghaul/internal/files"
	"github.com/pghaul/pghaul/internal/pgflags"
	"github.com/pghaul/pghaul/internal/store/all"
	"github.com/pghaul/pghaul/internal/ui"
)

// filesOptions are the flags that the commands about files share.
type filesOptions struct {
	Snapshot string
	Keys     pgflags.Keys
	Down     sizeFlag
	JSON     bool
	Quiet    bool
}

func (o *filesOptions) addFlags(c *cobra.Command, progress bool) {
	snapshotFlag(c, &o.Snapshot)
	addKeyFlags(c, &o.Keys)
	c.Flags().Var(&o.Down, "limit-download", "get no more than this much a second from the store, such as 20MB")
	if !progress {
		c.Flags().BoolVar(&o.JSON, "json", false, "print the result as JSON")
		return
	}
	c.Flags().BoolVar(&o.JSON, "json", false, "print the result as JSON, and progress as JSON lines on standard error")
	c.Flags().BoolVar(&o.Quiet, "quiet", false, "no progress")
}

// open opens the backup and its list of files.
func (o *filesOptions) open(ctx context.Context, address string, log *ui.Log) (*storedArchive, *files.Document, error) {
	a, err := openStored(ctx, address, o.Snapshot, all.Options{Down: int64(o.Down)}, &o.Keys, log)
	if err != nil {
		return nil, nil, err
	}
	if !a.snapshot.Has(files.DocumentName) {
		return nil, nil, errors.Join(fmt.Errorf("backup %s has no files of a platform's storage: back up with --storage-endpoint", a.snapshot.Backup), a.Close())
	}
	d, err := readDocument(a.snapshot)
	if err != nil {
		return nil, nil, errors.Join(err, a.Close())
	}
	return a, d, nil
}

func newFilesCommand(env *environment) *cobra.Command {
	c := &cobra.Command{
		Use:   "files",
		Short: "list, verify and restore the files of a platform's storage that are in a backup",
		Long: `A backup of a database of Supabase may hold the files of its storage, too: pghaul
backup copies them when it is given their S3 endpoint with --storage-endpoint. These
commands list them, verify them and bring them back.`,
	}
	c.AddCommand(newFilesListCommand(env), newFilesVerifyCommand(env), newFilesRestoreCommand(env))
	return c
}

func newFilesListCommand(env *environment) *cobra.Command {
	var o filesOptions
	c := &cobra.Command{
		Use:   "list [STORE]",
		Short: "list the files in a backup",
		Long: `Lists the files of a platform's storage in a backup: bytes, content type, bucket and key. Files
that the database spoke of and that were not there are listed as missing.

Exit status: 0 if there is a list; 1 if not; 2 if the command line is wrong; 130 if interrupted.`,
		Args: optionalStore,
		RunE: func(cmd *cobra.Command, args []string) error {
			a, d, err := o.open(cmd.Context(), operand(args), ui.NewLog("pghaul files list", env.stderr))
			if err != nil {
				return err
			}
			defer a.Close()
			if o.JSON {
				return writeJSON(env.stdout, d)
			}
			return writeFiles(env.stdout, d)
		},
	}
	o.addFlags(c, false)
	return c
}

func writeFiles(w io.Writer, d *files.Document) error {
	var b strings.Builder
	for i := range d.Files {
		f := &d.Files[i]
		fmt.Fprintf(&b, "%12d  %-24s  %s\n", f.Bytes, f.ContentType, f)
	}
	for _, r := range d.Missing {
		fmt.Fprintf(&b, "%12s  %-24s  %s\n", "-", "missing", r)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func newFilesVerifyCommand(env *environment) *cobra.Command {
	var o filesOptions
	var percent float64
	c := &cobra.Command{
		Use:   "verify [STORE]",
		Short: "read the files in a backup and compare each with its hash",
		Long: `Reads the files of a platform's storage in a backup and compares each with the SHA-256 it had
when it was copied. (pghaul verify compares the objects they are packed in.)

Exit status: 0 when all that was read is as it was copied; 1 when anything differs, is missing, or
could not be read; 2 if the command line is wrong; 130 if interrupted.`,
		Args: optionalStore,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runFilesVerify(cmd.Context(), env, operand(args), &o, percent)
		},
	}
	o.addFlags(c, true)
	c.Flags().Float64Var(&percent, "percent", 100, "read only so many percent of the bytes, chosen at random")
	return c
}

func runFilesVerify(ctx context.Context, env *environment, address string, o *filesOptions, percent float64) error {
	if percent <= 0 || percent > 100 {
		return &pgflags.UsageError{Text: fmt.Sprintf("--percent is %g, and must be above 0 and at most 100", percent), TryHelp: true}
	}
	log := ui.NewLog("pghaul files verify", env.stderr)
	a, d, err := o.open(ctx, address, log)
	if err != nil {
		return err
	}
	defer a.Close()
	meter := ui.NewMeter("verifying", ui.ModeFor(env.stderr, o.JSON, o.Quiet), env.stderr, log)
	meter.Total(int64(float64(d.Bytes)*percent/100), 0)
	v, err := files.Verify(ctx, a.snapshot, d, files.VerifyOptions{Percent: percent, Verified: fileProgress(meter)})
	meter.Stop()
	if err != nil {
		return err
	}
	if o.JSON {
		err = writeJSON(env.stdout, v)
	} else {
		verdict := "INTACT"
		if len(v.Problems) > 0 {
			verdict = "DAMAGED"
		}
		_, err = fmt.Fprintf(env.stdout, "%s: %s, %s of %s files read, %s of %s\n%s", verdict, a.snapshot.Backup,
			ui.Count(int64(v.Read)), ui.Count(int64(v.Files)), ui.Bytes(v.BytesRead), ui.Bytes(v.Bytes), listed(v.Problems))
	}
	if err == nil && len(v.Problems) > 0 {
		err = silent{exitFailed}
	}
	return err
}

func fileProgress(m *ui.Meter) func(name string, bytes int64) {
	return func(name string, bytes int64) {
		m.Start(name)
		m.Add(bytes, 0)
		m.Finish()
	}
}

func listed(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString("  - " + l + "\n")
	}
	return b.String()
}

// filesRestoreOptions is the rest of the command line of pghaul files restore.
type filesRestoreOptions struct {
	filesOptions
	Endpoint, Region string
	Options          files.RestoreOptions
}

func newFilesRestoreCommand(env *environment) *cobra.Command {
	var o filesRestoreOptions
	c := &cobra.Command{
		Use:   "restore [STORE]",
		Short: "upload the files in a backup to a platform's storage",
		Long: `Uploads the files in a backup, with content type, cache control, content encoding and the
user's metadata, to an S3 endpoint, which --storage-endpoint or the environment's
PGHAUL_STORAGE_ENDPOINT names; the keys are PGHAUL_STORAGE_ACCESS_KEY_ID and
PGHAUL_STORAGE_SECRET_ACCESS_KEY. Buckets that are not there are made, as private ones.

Files that are there already, the same in contents and metadata, are passed over: a restore that
was interrupted goes on where it was. If a file is there that differs, nothing is
changed, unless --overwrite is given. Files that are not in the backup stay as they are.

Exit status: 0 when all files are there; 1 if not; 2 if the command line is wrong;
130 if interrupted.`,
		Args: optionalStore,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runFilesRestore(cmd.Context(), env, operand(args), &o)
		},
	}
	o.addFlags(c, true)
	f := c.Flags()
	f.StringVar(&o.Endpoint, "storage-endpoint", "", "the S3 endpoint, such as https://project.storage.supabase.co/storage/v1/s3")
	f.StringVar(&o.Region, "storage-region", "", "its region; default: the environment's PGHAUL_STORAGE_REGION, else us-east-1")
	f.StringArrayVar(&o.Options.Buckets, "storage-bucket", nil, "only the files of this `BUCKET` (repeat for more)")
	f.IntVarP(&o.Options.Jobs, "jobs", "j", 8, "files uploaded at the same time")
	f.BoolVar(&o.Options.Overwrite, "overwrite", false, "replace files that are there and differ")
	f.BoolVar(&o.Options.DryRun, "dry-run", false, "only say what would be done")
	return c
}

func runFilesRestore(ctx context.Context, env *environment, address string, o *filesRestoreOptions) error {
	log := ui.NewLog("pghaul files restore", env.stderr)
	target, err := openEndpoint(o.Endpoint, o.Region, log)
	if err != nil {
		return err
	}
	if target == nil {
		return &pgflags.UsageError{Text: "no target is given: name its S3 endpoint with --storage-endpoint, or set " + storageEndpointVariable, TryHelp: true}
	}
	a, d, err := o.open(ctx, address, log)
	if err != nil {
		return err
	}
	defer a.Close()
	meter := ui.NewMeter("restoring", ui.ModeFor(env.stderr, o.JSON, o.Quiet), env.stderr, log)
	o.Options.Planned = func(files int, bytes int64) { meter.Total(bytes, files) }
	o.Options.Uploaded = fileProgress(meter)
	res, err := files.Restore(ctx, a.snapshot, d, target, o.Options)
	meter.Stop()
	var different *files.DifferentError
	if errors.As(err, &different) {
		return fmt.Errorf("%w; --overwrite replaces them, --dry-run lists them", err)
	}
	if err != nil {
		return err
	}
	if o.JSON {
		return writeJSON(env.stdout, res)
	}
	if err := writeRestored(env.stdout, res, o.Options, target); err != nil || o.Options.DryRun {
		return err
	}
	for _, b := range d.Buckets {
		if b.Public && !o.Quiet {
			log.Hint("Bucket %s was public at the source; the storage's settings say whether it is here.", b.Name)
		}
	}
	return nil
}

func writeRestored(w io.Writer, res *files.Restored, o files.RestoreOptions, target *files.Client) error {
	did := "uploaded"
	if o.DryRun {
		did = "would upload"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s files, %s, to %s; %s are there already\n", did, ui.Count(int64(res.Uploaded)), ui.Bytes(res.Bytes), target, ui.Count(int64(res.Identical)))
	for _, name := range res.Buckets {
		fmt.Fprintf(&b, "  new bucket %s\n", name)
	}
	what := "replaced"
	if !o.Overwrite {
		what = "differs, stops a restore without --overwrite"
	}
	for _, name := range res.Different {
		fmt.Fprintf(&b, "  %s: %s\n", what, name)
	}
	if res.Foreign > 0 {
		fmt.Fprintf(&b, "  %s files there are not in the backup, and stay\n", ui.Count(int64(res.Foreign)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
