package drill

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/restore"
	"github.com/pghaul/pghaul/internal/scratch"
	"github.com/pghaul/pghaul/pgarchive"
)

// Inspector reads a database as a dump would and describes all of it: every object,
// every row, every sequence value.
type Inspector func(ctx context.Context, c *pg.Config, o Inspection) (*manifest.Manifest, error)

// Inspection says how to read a database.
type Inspection struct {
	Jobs int
	// Settings are to be set in the sessions, so that values have the form that they had in the dump.
	Settings [][2]string
	// Binary says of which tables the rows are to be read in COPY's binary form.
	Binary func(namespace, name string) bool
}

// Options of a drill. The zero value is a drill with two jobs.
type Options struct {
	Jobs int // sessions that restore and inspect, default 2

	Provider scratch.Provider // where the throwaway server comes from; required
	Inspect  Inspector        // required

	// Progress follows the restore; nil is none.
	Progress restore.Progress
	// Phase is told the name of each phase as it begins; nil is none.
	Phase func(name string)

	// BeforeInspect runs between restore and inspection with the copy's connection,
	// for a look or a change; nil is none.
	BeforeInspect func(ctx context.Context, c *pg.Config) error

	// Keep leaves the folder of the server in place when the drill does not pass.
	Keep bool
}

// Run restores the archive into a throwaway server and compares. A drill that finds
// differences is an answer, not an error: see Report.Identical. An error means that
// there is no answer, also when ctx was cancelled. The server is gone in every case.
func Run(ctx context.Context, name string, archive pgarchive.Reader, o Options) (*Report, error) {
	d := &drill{
		o:      o,
		report: &Report{Archive: name, Started: time.Now().UTC()},
	}
	if d.o.Jobs <= 0 {
		d.o.Jobs = 2
	}
	err := d.run(ctx, archive)
	if err != nil {
		return nil, err
	}
	d.report.finish()
	return d.report, nil
}

type drill struct {
	o      Options
	report *Report

	archive  *digestReader
	manifest *manifest.Manifest // nil: the archive has none
	phase    string
	began    time.Time
}

// begin ends the phase before and begins the next.
func (d *drill) begin(name string) {
	now := time.Now()
	if d.phase != "" {
		d.report.Phases = append(d.report.Phases, Phase{d.phase, now.Sub(d.began).Seconds()})
	}
	d.phase, d.began = name, now
	if name != "" && d.o.Phase != nil {
		d.o.Phase(name)
	}
}

func (d *drill) run(ctx context.Context, archive pgarchive.Reader) error {
	d.begin("open")
	d.archive = newDigestReader(archive)
	if err := d.open(); err != nil {
		return err
	}
	d.begin("start")
	server, err := d.o.Provider.Start(ctx, d.spec())
	if err != nil {
		return err
	}
	d.report.ScratchVersion = server.VersionString
	err = d.onServer(ctx, server)
	if d.o.Keep && (err != nil || len(d.report.Differences)+len(d.report.RestoreErrors) > 0) {
		server.Keep()
		d.report.KeptIn = server.Dir
	}
	d.begin("stop")
	// The server must go also when ctx is done; then it is killed.
	if stopErr := server.Stop(ctx); err == nil && stopErr != nil {
		err = stopErr
	}
	d.begin("")
	return err
}

// open reads what the archive says of itself.
func (d *drill) open() error {
	h := d.archive.Header()
	d.report.Database = h.Database
	d.report.SourceVersion = h.ServerVersion
	d.report.Format = h.Format.String()
	if d.archive.Sequential() {
		return errors.New("drill an archive: it comes from a pipe; a drill needs a file or a folder")
	}
	if d.archive.inserts() {
		return errors.New("drill an archive: its rows are INSERT statements, which cannot be compared; dump without --inserts")
	}
	b, err := d.archive.Attachment(manifest.AttachmentName)
	switch {
	case errors.Is(err, pgarchive.ErrNoAttachment):
		return nil
	case err != nil:
		return fmt.Errorf("read manifest of the archive: %w", err)
	}
	if d.manifest, err = manifest.Decode(b); err != nil {
		return fmt.Errorf("read manifest of the archive: %w", err)
	}
	d.report.Manifest = true
	d.report.Root = d.manifest.Root.String()
	return nil
}

// major returns the major version of the archive's server.
func (d *drill) major() int {
	if d.manifest != nil {
		return d.manifest.Server.VersionNum / 10000
	}
	n, _ := strconv.Atoi(regexp.MustCompile(`^\d+`).FindString(d.archive.Header().ServerVersion))
	return n
}

func (d *drill) spec() scratch.Spec {
	return scratch.Spec{
		Major: d.major(),
		Tuned: true,
		Jobs:  d.o.Jobs,
		// Each relation may take a lock of its own in the inspection's transaction.
		NeedLocks: len(d.archive.Entries()),
	}
}

func (d *drill) onServer(ctx context.Context, server *scratch.Server) error {
	d.begin("restore")
	admin, err := pg.ParseConfig(server.DSN, pg.Overrides{Database: "template1"})
	if err != nil {
		return err
	}
	if err := d.createRoles(ctx, admin); err != nil {
		return err
	}
	if err := d.restore(ctx, admin); err != nil {
		return serverOr(server, err)
	}
	// What the archive's own data do not show must be known before anything is read back.
	copyOf := admin.WithDatabase(d.database())
	if d.o.BeforeInspect != nil {
		if err := d.o.BeforeInspect(ctx, copyOf); err != nil {
			return err
		}
	}
	d.begin("inspect")
	var settings [][2]string
	if d.manifest != nil {
		settings = d.manifest.SessionSettings()
	}
	found, err := d.o.Inspect(ctx, copyOf, Inspection{Jobs: d.o.Jobs, Settings: settings, Binary: d.archive.binaryTable})
	if err != nil {
		return serverOr(server, fmt.Errorf("inspect the restored database: %w", err))
	}
	d.begin("compare")
	d.compare(found)
	return nil
}

// serverOr prefers the reason why the server ended over the error that this led to.
func serverOr(server *scratch.Server, err error) error {
	if serr := server.Err(); serr != nil {
		return fmt.Errorf("%w (%w)", serr, err)
	}
	return err
}

// database is the name under which the copy is created.
func (d *drill) database() string { return d.archive.Header().Database }

// restore restores everything. Statements that fail are findings of the report; what
// makes further work senseless is an error.
func (d *drill) restore(ctx context.Context, admin *pg.Config) error {
	o := restore.Options{
		Jobs:     d.o.Jobs,
		Clean:    true, // of the database only, since Create is set
		IfExists: true,
		Create:   true,
		Fast:     true,
		// A tablespace is a folder of the source's machine.
		NoTablespaces: true,
		OnError: func(e *restore.EntryError) error {
			text := e.Error()
			if e.Entry != nil {
				text = e.Entry.String() + ": " + text
			}
			d.report.RestoreErrors = append(d.report.RestoreErrors, text)
			return nil
		},
	}
	res, err := restore.Run(ctx, d.archive, admin, o, d.o.Progress)
	if err != nil {
		return fmt.Errorf("restore the archive: %w", err)
	}
	d.report.RestoredRows, d.report.RestoredBytes = res.Rows, res.Bytes
	return d.archive.drain(ctx)
}
