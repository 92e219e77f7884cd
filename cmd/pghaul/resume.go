package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/pghaul/pghaul/internal/digest"
	"github.com/pghaul/pghaul/internal/dump"
	"github.com/pghaul/pghaul/internal/keeper"
	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/pgflags"
	"github.com/pghaul/pghaul/internal/repo"
	"github.com/pghaul/pghaul/internal/ui"
	"github.com/pghaul/pghaul/pgarchive"
)

// keeperCommand is the command that a backup starts for itself.
const keeperCommand = "keep-snapshot"

func newKeeperCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:    keeperCommand,
		Short:  "keep the snapshot of a backup; started by pghaul backup --keep-snapshot",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return keeper.Serve(cmd.Context(), env.stdin, env.stdout)
		},
	}
}

// resumption is the part of a backup that finds an incomplete one to go on with, and records how far this one comes.
type resumption struct {
	repo  *repo.Repo
	flags *pgflags.Backup
	log   *ui.Log
	start func(repo.Start) repo.Start // adds what the command line says

	fresh  bool     // incomplete backups were looked for already
	conn   *pg.Conn // the session that holds the dump's snapshot, and the lock
	keeper *keeper.Keeper
	key    []byte // of the record's state; nil: it need not be secret
	rest   *repo.Rest
	writer *repo.Writer

	putting sync.Mutex // held while the record is stored
	known   bool       // the keeper was told that it is; guarded by putting
	mu      sync.Mutex // for the rest
	record  repo.Progress
	planned bool
	left    int           // data entries that are not stored
	timer   *time.Timer   // until the record is stored; nil: all is in it
	took    time.Duration // to store it
	over    bool          // it is not stored any more
}

// source is how a record says where the backup is from.
type source struct {
	pg.Identity
	Version string `json:"version"`
}

func (b *resumption) note(format string, args ...any) {
	if !b.flags.Quiet {
		b.log.Note(format, args...)
	}
}

// prepare is dump.Options.Prepare.
func (b *resumption) prepare(ctx context.Context, c *pg.Conn, o *dump.Options) error {
	b.conn = c
	if err := c.NoticeLostClient(ctx); err != nil {
		return err
	}
	id, err := c.Identity(ctx)
	if err != nil {
		return err
	}
	if b.record.Source, err = json.Marshal(source{id, c.VersionString()}); err != nil {
		return err
	}
	if b.record.Selection, err = selection(o); err != nil {
		return err
	}
	if !b.fresh {
		b.fresh = true
		if err := b.lookForRest(ctx, c, id, o); err != nil {
			return err
		}
	}
	if b.rest == nil {
		if err := b.begin(ctx, c); err != nil {
			return err
		}
	}
	if b.flags.KeepSnapshot > 0 {
		if err := b.keep(ctx, c, o); err != nil {
			return err
		}
	}
	b.record.State.Snapshot = o.Snapshot
	if o.Snapshot != "" {
		if b.record.State.Visible, err = visible(ctx, c, o.Snapshot); err != nil {
			return err
		}
	}
	if b.rest == nil || b.keeper == nil {
		return nil
	}
	// The record first, so that there is always a keeper that it names.
	if err := b.writer.Record(b.record, b.key); err != nil {
		return err
	}
	endKeepers(ctx, c, b.record.Lock, b.keeper.PID)
	return nil
}

// begin prepares a backup that is none of those that are there.
func (b *resumption) begin(ctx context.Context, c *pg.Conn) error {
	b.record.Lock, b.record.State = rand.Int64N(1<<62)+1, repo.State{}
	if b.start(repo.Start{}).Secret() {
		b.key = repo.NewProgressKey()
		if err := saveKey(b.record.Lock, b.key); err != nil && b.flags.KeepSnapshot > 0 {
			b.log.Warn("if the backup is killed, it cannot be gone on with: %v", err)
		}
	}
	if ok, err := lock(ctx, c, b.record.Lock); err != nil {
		return err
	} else if !ok {
		return errors.New("somebody else holds the lock of a backup that was begun this moment")
	}
	return nil
}

// selection identifies what is to be in the backup, apart from compression and encryption.
func selection(o *dump.Options) (string, error) {
	wanted := o.Options
	wanted.LockWaitTimeout = ""
	b, err := json.Marshal(struct {
		Wanted     any
		Entries    pgarchive.Selection
		Role       string
		Encoding   string
		Digits     *int
		CopyFormat dump.CopyFormat
		Settings   [][2]string
	}{wanted, o.Script.Selection, o.Role, o.Encoding, o.ExtraFloatDigits, o.CopyFormat, o.Settings})
	if err != nil {
		return "", fmt.Errorf("describe the selection: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16]), nil
}

// lookForRest takes over an incomplete backup whose snapshot lives, the newest if there are several, and removes
// those whose does not. Those that another program works on, or that are of another database or selection, are left alone.
func (b *resumption) lookForRest(ctx context.Context, c *pg.Conn, id pg.Identity, o *dump.Options) error {
	rests, err := b.repo.Rests(ctx, id.Database)
	if err != nil {
		return err
	}
	for _, rest := range slices.Backward(rests) {
		var from source
		if json.Unmarshal(rest.Source, &from) != nil || !from.Same(id) || rest.Selection != b.record.Selection {
			continue
		}
		got, err := lock(ctx, c, rest.Lock)
		if err != nil {
			return err
		}
		if !got {
			b.note("backup %s is still being written by another program: leaving it alone", rest.Backup)
			continue
		}
		now, ok, err := b.repo.Reread(ctx, rest)
		if err != nil {
			return err
		}
		if !ok { // completed or removed meanwhile
			unlock(ctx, c, rest.Lock)
			continue
		}
		if b.rest == nil {
			err := b.takeOver(ctx, c, now, from.Started == id.Started, o)
			if err == nil {
				continue
			}
			if ctx.Err() != nil || pg.IsConnectionLost(err) {
				return err
			}
			b.note("incomplete backup %s cannot be gone on with, it is removed and a new one is begun: %v", now.Backup, err)
		} else {
			b.note("incomplete backup %s is removed", now.Backup)
		}
		if err := b.remove(ctx, c, now); err != nil {
			return err
		}
		unlock(ctx, c, rest.Lock)
	}
	return nil
}

// remove removes the rest of a backup and ends who keeps its snapshot.
func (b *resumption) remove(ctx context.Context, c *pg.Conn, rest repo.Rest) error {
	endKeepers(ctx, c, rest.Lock, 0)
	removeKey(rest.Lock)
	if err := b.repo.Delete(ctx, rest.Backup); err != nil {
		return fmt.Errorf("remove incomplete backup %s: %w", rest.Backup, err)
	}
	return nil
}

var errSnapshotGone = errors.New("its snapshot is gone")

// takeOver makes the options go on with a rest; its lock is held. An error says why that is not possible.
func (b *resumption) takeOver(ctx context.Context, c *pg.Conn, rest repo.Rest, sameStart bool, o *dump.Options) error {
	key, err := loadKey(rest.Lock)
	if err != nil {
		return err
	}
	if err := rest.Open(key); err != nil {
		return err
	}
	s := &rest.State
	if !sameStart || s.Snapshot == "" {
		return errSnapshotGone
	}
	snapshot := o.Snapshot // the user's own comes first, if it shows the same
	if snapshot == "" {
		snapshot = s.Snapshot
	}
	sees, err := visible(ctx, c, snapshot)
	switch {
	case err != nil && o.Snapshot == "" && pg.IsSnapshotGone(err):
		return errSnapshotGone
	case err != nil:
		return err
	case sees != s.Visible:
		return errors.New("the snapshot is another one")
	}
	var point dump.Checkpoint
	if string(s.Dump) == "null" || json.Unmarshal(s.Dump, &point) != nil {
		return errors.New("nothing of it is stored")
	}
	if secret := b.start(repo.Start{}).Secret(); secret != (key != nil) {
		return errors.New("it is not encrypted and signed as this one is to be")
	}
	w, done, err := b.repo.Resume(ctx, rest, b.start(repo.Start{}))
	if err != nil {
		return err
	}
	sums := make(map[pgarchive.ID]digest.Sum)
	var size int64
	for _, d := range done {
		if sums[pgarchive.ID(d.ID)], err = digest.Parse(d.Sum); err != nil {
			return err
		}
		size += d.File.Bytes
	}
	w.Keep(true)
	b.rest, b.writer, b.key = &rest, w, key
	b.record.Lock, b.record.State = rest.Lock, *s
	b.record.State.Done = done
	o.Snapshot, o.Resume = snapshot, &dump.Resume{Checkpoint: point, Done: sums}
	b.note("going on with backup %s in its snapshot of %s: %s data entries are stored already, %s",
		rest.Backup, point.Time.Local().Format(time.DateTime), ui.Count(int64(len(done))), ui.Bytes(size))
	return nil
}

// visible returns the content of a snapshot.
func visible(ctx context.Context, c *pg.Conn, snapshot string) (string, error) {
	err := c.BeginDump(ctx, pg.DumpTx{ImportSnapshot: snapshot})
	var text string
	if err == nil {
		text, err = c.SnapshotText(ctx)
	}
	if pg.IsConnectionLost(err) {
		return "", err
	}
	return text, errors.Join(err, c.Exec(ctx, "ROLLBACK"))
}

// keep starts the process that keeps the snapshot.
func (b *resumption) keep(ctx context.Context, c *pg.Conn, o *dump.Options) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	b.keeper, err = keeper.Start(ctx, self, []string{keeperCommand}, c.SameHost(), keeper.Spec{
		Snapshot: o.Snapshot, SerializableDeferrable: o.SerializableDeferrable, Role: o.Role,
		Label: keeperLabel(b.record.Lock), Linger: b.flags.KeepSnapshot,
	})
	if err != nil {
		return err
	}
	o.Snapshot = b.keeper.Snapshot
	o.Locked = func(_ context.Context, statements []string) error {
		missed, err := b.keeper.Lock(statements)
		if missed > 0 {
			b.log.Warn("other sessions wait to lock tables: if the backup is killed and these are changed, it cannot be gone on with")
		}
		return err
	}
	return nil
}

// keeperLabel is the application_name of the session that keeps the snapshot of a backup.
func keeperLabel(lock int64) string { return fmt.Sprintf("pghaul keeps a snapshot %016x", lock) }

// endKeepers ends the sessions, and with them the processes, that keep the snapshot of a backup, but for one of them.
// What may not be ended ends by itself.
func endKeepers(ctx context.Context, c *pg.Conn, lock int64, but uint32) {
	_ = c.Exec(ctx, fmt.Sprintf("SELECT pg_catalog.pg_terminate_backend(pid) FROM pg_catalog.pg_stat_activity "+
		"WHERE datname = pg_catalog.current_database() AND application_name = '%s' AND pid <> %d", keeperLabel(lock), but))
}

// lockPatience is how long to wait for the lock of a backup: its session may be ending.
const lockPatience = "3s"

// lock takes a backup's lock, which its session holds to the end; false: somebody else has it.
func lock(ctx context.Context, c *pg.Conn, key int64) (bool, error) {
	err := c.Exec(ctx, fmt.Sprintf("SET statement_timeout = 0; SET lock_timeout = '%s'; SELECT pg_catalog.pg_advisory_lock(%d)", lockPatience, key))
	if pg.IsLockNotAvailable(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("lock the backup: %w", err)
	}
	return true, nil
}

func unlock(ctx context.Context, c *pg.Conn, key int64) {
	_ = c.Exec(ctx, fmt.Sprintf("SELECT pg_catalog.pg_advisory_unlock(%d)", key)) // the session's end does it too
}

// archive is dump.Options.Archive.
func (b *resumption) archive(ctx context.Context, wo pgarchive.WriterOptions) (pgarchive.Writer, error) {
	if b.writer == nil {
		h := wo.Header
		w, err := b.repo.Begin(ctx, b.start(repo.Start{
			Database: h.Database, ServerVersion: h.ServerVersion, Compression: h.Compression.Method.String(), Tool: "pghaul " + version(),
		}))
		if err != nil {
			return nil, err
		}
		w.Keep(true) // until it is known what becomes of it
		b.writer = w
		if err := w.Record(b.record, b.key); err != nil {
			return nil, err
		}
	}
	return pgarchive.NewDirectoryWriter(b.writer, wo)
}

// outlives says that the snapshot may be there when this program is not.
func (b *resumption) outlives() bool { return b.record.State.Snapshot != "" }

// dumpRecorder is the progress of a dump that is also recorded in the store.
type dumpRecorder struct {
	dumpProgress
	b *resumption
}

// Planned shows what is left to do.
func (r dumpRecorder) Planned(plan *dump.Plan) {
	bytes, items := plan.Bytes, len(plan.Items)
	for _, i := range plan.Items {
		if plan.Adopted(i) {
			bytes -= i.Bytes
			items--
		}
	}
	r.m.Total(bytes, items)
	r.b.plan(plan, items)
}

// Finished records an entry that is stored.
func (r dumpRecorder) Finished(i *dump.Item, err error) {
	r.dumpProgress.Finished(i, err)
	if err == nil {
		r.b.finished(i)
	}
}

func (b *resumption) plan(p *dump.Plan, left int) {
	b.mu.Lock()
	b.planned, b.left = true, left
	text, err := json.Marshal(p.Checkpoint())
	record := err == nil && b.outlives()
	if record {
		b.record.State.Dump = text
	}
	b.mu.Unlock()
	if record {
		b.put()
	}
}

// The record is stored when something is not in it for so long, but not so often that it takes more than a tenth of the
// time, and when all data are stored.
const (
	recordEvery  = 2 * time.Second
	recordFactor = 10
)

func (b *resumption) finished(i *dump.Item) {
	if !b.outlives() {
		return
	}
	b.mu.Lock()
	b.left--
	last := b.left == 0
	f, ok := b.writer.Stored(int32(i.Entry.ID))
	if ok && i.Table != nil { // large objects are written again
		b.record.State.Done = append(b.record.State.Done, repo.Stored{ID: int32(i.Entry.ID), Sum: i.Sum().String(), File: f})
	}
	if !last && b.timer == nil {
		b.timer = time.AfterFunc(max(recordEvery, recordFactor*b.took), b.put)
	}
	b.mu.Unlock()
	if last {
		b.put()
	}
}

// put stores the record. If that fails, so will the rest of the backup, or the next time will do.
func (b *resumption) put() {
	b.putting.Lock()
	defer b.putting.Unlock()
	b.mu.Lock()
	b.timer = nil
	record, over := b.record, b.over
	b.mu.Unlock()
	if over {
		return
	}
	began := time.Now()
	err := b.writer.Record(record, b.key)
	if err == nil && b.keeper != nil && !b.known {
		b.known = true
		err = b.keeper.Known()
	}
	if err != nil {
		b.log.Warn("%v", err)
	}
	b.mu.Lock()
	b.took = time.Since(began)
	b.mu.Unlock()
}

// stopRecording returns when no record is stored any more.
func (b *resumption) stopRecording() {
	b.mu.Lock()
	b.over = true
	b.mu.Unlock()
	b.putting.Lock() // when the last one is there
	defer b.putting.Unlock()
}

// failed decides what becomes of what is stored when the backup failed: it stays if another run can go on with it.
func (b *resumption) failed(ctx context.Context, err error) error {
	b.stopRecording()
	server := pg.SQLState(err) != "" && !pg.IsConnectionLost(err)
	if b.writer != nil && b.planned && b.outlives() && ctx.Err() == nil && !server && !errors.Is(err, dump.ErrChanged) {
		for_ := "while snapshot " + b.record.State.Snapshot + " is there"
		if b.keeper != nil {
			for_ = "within " + ui.Duration(b.flags.KeepSnapshot)
		}
		b.log.Hint("What is stored is kept: the same command goes on with backup %s %s.", b.writer.Backup(), for_)
		return err
	}
	return errors.Join(err, b.giveUp(ctx))
}

// finish completes the backup, while its lock is held.
func (b *resumption) finish(ctx context.Context, res *dump.Result) error {
	b.stopRecording()
	if err := b.writer.Finish(res.Manifest); err != nil {
		return err
	}
	if b.rest != nil && b.keeper == nil {
		endKeepers(ctx, b.conn, b.record.Lock, 0) // those of the run that was killed
	}
	return nil
}

// giveUp removes what is stored, and ends the process that keeps the snapshot.
func (b *resumption) giveUp(ctx context.Context) error {
	b.stopRecording()
	b.end()
	if b.rest != nil && b.keeper == nil {
		b.endOld(ctx)
	}
	if b.writer == nil {
		return nil
	}
	b.writer.Keep(false)
	return b.writer.Abort()
}

// endOld ends who keeps the snapshot for the run that was killed, over a connection of its own: the dump's are closed.
// What is not reached ends by itself.
func (b *resumption) endOld(ctx context.Context) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer stop()
	if c, err := pg.Connect(ctx, b.conn.SameHost()); err == nil {
		endKeepers(ctx, c, b.record.Lock, 0)
		c.Close(ctx)
	}
}

// end ends what outlives the program, if it is killed.
func (b *resumption) end() {
	b.keeper.End()
	if b.key != nil {
		removeKey(b.record.Lock)
	}
}

// changed says that an incomplete backup turned out to be one that cannot be gone on with.
func (b *resumption) changed(err error) bool {
	return b.rest != nil && (errors.Is(err, dump.ErrChanged) || pg.IsUndefined(err))
}

// startAnew forgets the incomplete backup.
func (b *resumption) startAnew(ctx context.Context, err error) error {
	b.note("incomplete backup %s cannot be gone on with, it is removed and a new one is begun: %v", b.rest.Backup, err)
	if err := b.giveUp(ctx); err != nil {
		return err
	}
	b.keeper, b.known, b.key, b.rest, b.writer, b.planned, b.over = nil, false, nil, nil, nil, false, false
	return nil
}

// keyFile is where the key of a record is, on this machine only.
func keyFile(lock int64) (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a place for the key of its record: %w", err)
	}
	return filepath.Join(dir, "pghaul", fmt.Sprintf("resume-%016x.key", lock)), nil
}

func saveKey(lock int64, key []byte) error {
	name, err := keyFile(lock)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return os.WriteFile(name, key, 0o600)
}

// loadKey returns the key of a record, nil if there is none.
func loadKey(lock int64) ([]byte, error) {
	name, err := keyFile(lock)
	if err != nil {
		return nil, nil
	}
	b, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case len(b) != 32:
		return nil, fmt.Errorf("%s holds no key", name)
	}
	return b, nil
}

func removeKey(lock int64) {
	if name, err := keyFile(lock); err == nil {
		os.Remove(name)
	}
}
