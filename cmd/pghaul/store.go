package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/pghaul/pghaul/internal/pgflags"
	"github.com/pghaul/pghaul/internal/repo"
	"github.com/pghaul/pghaul/internal/store"
	"github.com/pghaul/pghaul/internal/store/all"
	"github.com/pghaul/pghaul/internal/ui"
	"github.com/pghaul/pghaul/pgarchive"
)

// storeVariable names the store that is meant when none is given.
const storeVariable = "PGHAUL_STORE"

// openRepo opens the backups of a store. The caller closes the store.
func openRepo(address string, o all.Options, log *ui.Log) (*repo.Repo, *store.Store, error) {
	if address == "" {
		address = os.Getenv(storeVariable)
	}
	if address == "" {
		return nil, nil, &pgflags.UsageError{Text: "no store is given: name its address, or set " + storeVariable, TryHelp: true}
	}
	o.Retry.Notify = func(op, key string, err error, wait time.Duration) {
		log.Warn("%s %s failed, trying again in %s: %v", op, key, ui.Duration(wait), err)
	}
	s, err := all.Open(address, o)
	if err != nil {
		return nil, nil, err
	}
	return repo.New(s), s, nil
}

// storedArchive is the archive of a backup in a store.
type storedArchive struct {
	pgarchive.Reader
	store    *store.Store
	repo     *repo.Repo
	snapshot *repo.Snapshot
}

// Close closes the archive and its store.
func (a *storedArchive) Close() error { return errors.Join(a.Reader.Close(), a.store.Close()) }

// name is what a report calls the archive.
func (a *storedArchive) name() string { return a.repo.String() + " " + a.snapshot.Backup.String() }

// optionalStore takes one operand or none.
func optionalStore(cmd *cobra.Command, args []string) error {
	if len(args) <= 1 {
		return nil
	}
	return &pgflags.UsageError{Text: fmt.Sprintf("%d arguments were given, at most one wanted: %s", len(args), cmd.UseLine()), TryHelp: true}
}

func operand(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// sizeFlag is a flag that takes a size.
type sizeFlag int64

func (f *sizeFlag) String() string {
	if *f == 0 {
		return ""
	}
	return ui.Bytes(int64(*f))
}

func (f *sizeFlag) Type() string { return "SIZE" }

func (f *sizeFlag) Set(text string) error {
	n, err := pgflags.ParseSize(text)
	*f = sizeFlag(n)
	return err
}

// backupJSON is how JSON results describe a backup.
type backupJSON struct {
	Database string       `json:"database"`
	ID       string       `json:"id"`
	Time     time.Time    `json:"time"`
	Complete bool         `json:"complete"`
	Objects  int          `json:"objects"`
	Bytes    int64        `json:"bytes"`
	Drills   []repo.Drill `json:"drills"`

	Encrypted bool `json:"encrypted"`
	Signed    bool `json:"signed"` // that there is a signature, not whose
}

func describeBackup(b repo.Backup) backupJSON {
	drills := b.Drills
	if drills == nil {
		drills = []repo.Drill{}
	}
	return backupJSON{b.Database, b.ID, b.Time, b.Complete, b.Objects, b.Bytes, drills, b.Encrypted, b.Signed}
}

// protection says in a word whether a backup is encrypted and signed.
func protection(b repo.Backup) string {
	switch {
	case b.Encrypted && b.Signed:
		return "encrypted, signed"
	case b.Encrypted:
		return "encrypted"
	case b.Signed:
		return "signed"
	}
	return "none"
}

// drillState says in a word what is known of the drills of a backup.
func drillState(b repo.Backup) string {
	if len(b.Drills) == 0 {
		return "not drilled"
	}
	last := b.Drills[len(b.Drills)-1]
	state := "failed a drill"
	if last.Passed {
		state = "drilled"
	}
	return state + " " + last.Time.Format("2006-01-02 15:04")
}

// openRead is openRepo for what reads backups, with the keys for that.
func openRead(address string, o all.Options, k *pgflags.Keys, log *ui.Log) (*repo.Repo, *store.Store, error) {
	r, s, err := openRepo(address, o, log)
	if err != nil {
		return nil, nil, err
	}
	if err := useKeys(r, k); err != nil {
		s.Close()
		return nil, nil, err
	}
	return r, s, nil
}

// openStored opens the archive of a backup in a store.
func openStored(ctx context.Context, address, selector string, o all.Options, k *pgflags.Keys, log *ui.Log) (*storedArchive, error) {
	r, s, err := openRead(address, o, k, log)
	if err != nil {
		return nil, err
	}
	a := &storedArchive{store: s, repo: r}
	b, err := r.Find(ctx, selector)
	if err == nil {
		a.snapshot, err = r.Open(ctx, b)
	}
	if err == nil {
		a.Reader, err = a.snapshot.Archive()
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return a, nil
}
