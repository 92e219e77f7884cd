package drill

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/platform"
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

	// Allow are rules that apply beside those that always do; see Rules.
	Allow []Allowance

	// Checks are the user's own, run in the copy after it was compared, in this order.
	Checks       []Check
	CheckTimeout time.Duration // of one command or one file, default DefaultCheckTimeout

	// Progress follows the restore; nil is none.
	Progress restore.Progress
	// Phase is told the name of each phase as it begins; nil is none.
	Phase func(name string)

	// BeforeInspect runs between restore and inspection with the copy's connection,
	// for a look or a change; nil is none.
	BeforeInspect func(ctx context.Context, c *pg.Config) error

	// Platform names the managed platform that the source was on, see platform.ByName: its roles and objects that the archive refers to are made
	// first, and its roles probe row security. Empty: the archive tells; NoPlatform: none.
	Platform string

	// Probes is what the roles of the platform saw of the source's tables with row security; nil: that was not recorded.
	Probes *platform.Probes

	// Files compares files that are stored beside the archive, and says what came of it; Kind and Seconds are filled in. nil: there are none.
	Files func(ctx context.Context) (CheckResult, error)

	// Keep leaves the server running when the drill does not pass.
	Keep bool
}

// NoPlatform is the Platform of a source that was on none.
const NoPlatform = "none"

// Run restores the archive into a throwaway server and compares. A drill that does not
// pass is an answer, not an error: see Report.Passed. An error means that
// there is no answer, also when ctx was cancelled. The server is gone in every case,
// unless it is to be kept: then Report.Kept or the error says how to get at it.
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
	profile  *platform.Profile  // nil: none
	stubs    []platform.Stub
	checks   []loaded
	phase    string
	began    time.Time

	given    string    // name of the database that was given to restore into; empty: one is created
	locale   string    // locale of the source that the server lacks; empty: none
	failures []failure // statements of the restore
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
	var err error
	if d.checks, err = loadChecks(d.o.Checks); err != nil {
		return err
	}
	d.archive = newDigestReader(archive)
	if err := d.open(); err != nil {
		return err
	}
	if err := d.checkFiles(ctx); err != nil {
		return err
	}
	d.begin("start")
	server, err := d.start(ctx)
	if err != nil {
		return err
	}
	d.given = server.Database
	d.report.ScratchVersion = server.VersionString
	err = d.onServer(ctx, server)
	var kept *Kept
	if d.o.Keep && ctx.Err() == nil && server.Err() == nil && (err != nil || !d.report.Passed) {
		server.Keep()
		kept = d.kept(server)
		d.report.Kept = kept
	}
	d.begin("stop")
	// The server must go also when ctx is done; then it is killed.
	stopErr := server.Stop(ctx)
	switch {
	case err == nil:
		err = stopErr
	case kept != nil && stopErr == nil:
		err = fmt.Errorf("%w\nKept for a look: %s\nConnect with: psql %q", err, kept.What, kept.DSN)
	}
	d.begin("")
	return err
}

// kept says how to get at a server that is left running.
func (d *drill) kept(server *scratch.Server) *Kept {
	k := &Kept{What: server.Kept}
	if c, err := pg.ParseConfig(server.DSN, pg.Overrides{}); err == nil {
		k.DSN = c.WithDatabase(d.database()).String()
	}
	return k
}

// open reads what the archive says of itself.
func (d *drill) open() error {
	h := d.archive.Header()
	d.report.Database = h.Database
	d.report.SourceVersion = h.ServerVersion
	d.report.ArchiveFormat = h.Format.String()
	if d.archive.Sequential() {
		return errors.New("drill an archive: it comes from a pipe; a drill needs a file or a folder")
	}
	if d.archive.inserts() {
		return errors.New("drill an archive: its rows are INSERT statements, which cannot be compared; dump without --inserts")
	}
	if d.makesPublic() {
		d.archive.keepPublic()
	}
	if err := d.choosePlatform(); err != nil {
		return err
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
	d.report.BackupTime = &d.manifest.Snapshot.Time
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

// start starts the server. Extensions that it lacks are done without if that is allowed.
func (d *drill) start(ctx context.Context) (*scratch.Server, error) {
	spec := d.spec()
	server, err := d.o.Provider.Start(ctx, spec)
	var missing *scratch.MissingExtensions
	if !errors.As(err, &missing) {
		return server, err
	}
	for _, name := range missing.Names {
		if !(applied{rule(ruleExtension), name}).allowed(d.o.Allow) {
			return nil, fmt.Errorf("%w\nInstall it there, drill on a server that has it, or do without it and what depends on it with --allow %s",
				err, Allowance{ruleExtension, name})
		}
	}
	spec.Extensions = slices.DeleteFunc(spec.Extensions, func(name string) bool { return slices.Contains(missing.Names, name) })
	return d.o.Provider.Start(ctx, spec)
}

// extensions are the names of the extensions that the archive creates, and of those that it needs of the platform's.
func (d *drill) extensions() []string {
	var names []string
	for _, s := range d.stubs {
		if s.Kind == "EXTENSION" {
			names = append(names, s.Name)
		}
	}
	for _, e := range d.archive.source() {
		if e.Desc == "EXTENSION" {
			names = append(names, e.Tag)
		}
	}
	return names
}

func (d *drill) spec() scratch.Spec {
	return scratch.Spec{
		Extensions: d.extensions(),
		Major:      d.major(),
		Tuned:      true,
		Jobs:       d.o.Jobs,
		// Each relation may take a lock of its own in the inspection's transaction.
		NeedLocks: len(d.archive.Entries()),
		// A command may use a driver that knows no sockets.
		TCP: slices.ContainsFunc(d.o.Checks, func(c Check) bool { return c.Command != "" }),
	}
}

func (d *drill) onServer(ctx context.Context, server *scratch.Server) error {
	d.begin("restore")
	target, err := pg.ParseConfig(server.DSN, pg.Overrides{})
	if err != nil {
		return err
	}
	if d.given == "" {
		target = target.WithDatabase("template1")
	}
	if err := d.createRoles(ctx, server, target); err != nil {
		return serverOr(server, err)
	}
	if err := d.restore(ctx, target); err != nil {
		return serverOr(server, err)
	}
	// What the archive's own data do not show must be known before anything is read back.
	copyOf := target.WithDatabase(d.database())
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
	if d.makesPublic() {
		if err := describePublic(ctx, copyOf, found); err != nil {
			return serverOr(server, err)
		}
	}
	d.begin("compare")
	d.compare(found)
	if err := d.probe(ctx, copyOf); err != nil {
		return serverOr(server, err)
	}
	if len(d.checks) > 0 {
		d.begin("check")
		if err := d.runChecks(ctx, server, copyOf, d.report.Verdict == Different); err != nil {
			return serverOr(server, err)
		}
	}
	d.report.checked()
	return nil
}

// serverOr prefers the reason why the server ended over the error that this led to.
func serverOr(server *scratch.Server, err error) error {
	if serr := server.Err(); serr != nil {
		return fmt.Errorf("%w (%w)", serr, err)
	}
	return err
}

// database is the name of the copy.
func (d *drill) database() string {
	if d.given != "" {
		return d.given
	}
	return d.archive.Header().Database
}

// restore restores everything. Statements that fail are findings of the report; what
// makes further work senseless is an error.
func (d *drill) restore(ctx context.Context, target *pg.Config) error {
	create := errors.New("create the database")
	var refused *restore.EntryError
	o := restore.Options{
		Jobs: d.o.Jobs,
		// The database is dropped if it is there (its name may be postgres), and created.
		Clean:    d.given == "",
		IfExists: d.given == "",
		Create:   d.given == "",
		Fast:     true,
		// A tablespace is a folder of the source's machine.
		NoTablespaces: true,
		Sizes:         d.sizes(),
		OnError: func(e *restore.EntryError) error {
			if e.Entry != nil && e.Entry.Desc == "DATABASE" {
				refused = e
				return create
			}
			d.failures = append(d.failures, newFailure(e))
			return nil
		},
	}
	run := func() (*restore.Result, error) {
		return restore.Run(ctx, platform.Adapt(d.archive, d.stubs), target, o, d.o.Progress)
	}
	res, err := run()
	if errors.Is(err, create) && d.otherLocale(refused) {
		res, err = run()
	}
	if errors.Is(err, create) {
		err = d.noDatabase(refused)
	}
	if err != nil {
		return fmt.Errorf("restore the archive: %w", err)
	}
	r := &d.report.Restore
	r.Jobs, r.Rows, r.Bytes, r.Entries = d.o.Jobs, res.Rows, res.Bytes, res.Entries
	r.Seconds, r.PredictedSeconds = res.Duration.Seconds(), res.Predicted.Seconds()
	if r.PredictedSeconds > 0 {
		r.ErrorPercent = 100 * (r.Seconds - r.PredictedSeconds) / r.PredictedSeconds
	}
	return d.archive.drain(ctx)
}

// sizes are the sizes of the data entries that the manifest knows.
func (d *drill) sizes() map[pgarchive.ID]restore.Size {
	if d.manifest == nil {
		return nil
	}
	m := make(map[pgarchive.ID]restore.Size)
	for i := range d.manifest.Tables {
		for _, p := range d.manifest.Tables[i].Pieces {
			m[pgarchive.ID(p.ID)] = restore.Size{Rows: p.Rows, Bytes: p.Bytes}
		}
	}
	return m
}

// otherLocale changes the archive's CREATE DATABASE to the server's own locale, if the server refused the locale and the rule for that
// is allowed.
func (d *drill) otherLocale(e *restore.EntryError) bool {
	locale := localeOf(e.Entry.Defn)
	if d.locale != "" || !isLocaleRefused(e, locale) || !(applied{rule(ruleLocale), locale}).allowed(d.o.Allow) {
		return false
	}
	d.locale = locale
	other := withoutLocale(e.Entry.Defn)
	if d.manifest != nil && d.manifest.Settings["server_encoding"] != "UTF8" || !strings.Contains(other, "ENCODING = 'UTF8'") {
		// Of all locales only C goes with any encoding.
		other = strings.Replace(other, ";", " LOCALE = 'C';", 1)
	}
	d.archive.changeDatabase(other)
	return true
}

// isLocaleRefused says whether a CREATE DATABASE was refused for its locale, or for its provider of locales:
// wrong_object_type or, before 16, for ICU and for builtin locales, invalid_parameter_value; feature_not_supported for a server without ICU.
func isLocaleRefused(e *restore.EntryError, locale string) bool {
	return locale != "" && (e.SQLState == "42809" || e.SQLState == invalidParameterValue || e.SQLState == "0A000")
}

func (d *drill) noDatabase(e *restore.EntryError) error {
	if locale := localeOf(e.Entry.Defn); isLocaleRefused(e, locale) {
		return fmt.Errorf("%w\nThe server lacks the locale %q. Install it there, or accept another one with --allow %s", e, locale, Allowance{ruleLocale, locale})
	}
	return e
}
