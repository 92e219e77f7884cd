package pgflags

import (
	"strings"
	"time"

	"github.com/pghaul/pghaul/pgarchive"
)

// Backup is the command line of pghaul backup: what pg_dump can leave in or out, and a store.
type Backup struct {
	Dump

	To        string // address of the store; empty: not given
	NoGlobals bool

	// KeepSnapshot is how long the snapshot outlives a backup that is killed; 0: not at all.
	KeepSnapshot time.Duration

	Up int64 // bytes per second; 0: no limit

	Locks  Locks
	Beside Beside

	limit string
}

// notForBackup are options of pg_dump that say how a file looks or where it goes.
const notForBackup = " file format no-sync sync-method clean create no-owner no-reconnect superuser binary-upgrade column-inserts" +
	" attribute-inserts disable-triggers if-exists inserts on-conflict-do-nothing restrict-key rows-per-insert" +
	" use-set-session-authorization no-manifest version "

func (b *Backup) table(p Program) []option {
	const own = "The backup"
	t := []option{
		{long: "to", arg: "ADDRESS", group: own, help: "the store: file:///folder, a path, s3://bucket/prefix, gs://bucket/prefix or azure://account/container/prefix; default: the environment's PGHAUL_STORE", set: setString(&b.To)},
		{long: "limit-upload", arg: "SIZE", group: own, help: "send no more than this much a second, such as 20MB", set: setString(&b.limit)},
		{long: "keep-snapshot", arg: "DURATION", group: own, help: "keep the snapshot so long, such as 30m, after the backup was killed or lost a connection, so that the same command goes on with it", set: setDuration(&b.KeepSnapshot, "--keep-snapshot")},
		{long: "no-globals", group: own, help: "without the roles and tablespaces of the server", set: setTrue(&b.NoGlobals)},
	}
	t = append(t, keyOptions("Encryption and signature", b.Locks.Flags())...)
	t = append(t, b.Beside.options()...)
	for _, o := range b.Dump.table(p) {
		if !strings.Contains(notForBackup, " "+o.long+" ") && !strings.Contains(notForBackup, " "+o.same+" ") {
			t = append(t, o)
		}
	}
	return t
}

// ParseBackup reads the command line of pghaul backup.
func ParseBackup(p Program, args []string) (*Backup, error) {
	b := &Backup{Dump: newDump()}
	operands, err := parse(b.table(p), args)
	if err != nil {
		return nil, err
	}
	if len(operands) > 0 && b.DBName == "" {
		b.DBName, operands = operands[0], operands[1:]
	}
	if len(operands) > 0 {
		return nil, tooMany(operands[0])
	}
	if b.limit != "" {
		if b.Up, err = parseSize(b.limit); err != nil {
			return nil, err
		}
	}
	if err := b.Locks.Check(); err != nil {
		return nil, err
	}
	b.format, b.Options.File = "directory", "." // the file is not looked at, the archive goes elsewhere
	if err := b.check(p); err != nil {
		return nil, err
	}
	b.Options.Format, b.Options.File = pgarchive.FormatDirectory, ""
	b.Options.NoManifest = true // it is written when all else is stored
	return b, nil
}

// ParseSize reads a size in bytes, or with a unit as PostgreSQL writes them: kB, MB, GB, TB.
func ParseSize(text string) (int64, error) { return parseSize(text) }

// BackupHelp is the help text of pghaul backup.
func BackupHelp(p Program) string {
	b := &Backup{Dump: newDump()}
	return help(p.Name+" backs a PostgreSQL database up into a store, with roles and a manifest.\n\nUsage:\n  "+
		p.Name+" [OPTION]... --to=ADDRESS [DBNAME]\n", b.table(p), `
DBNAME may be a name, a connection string or a URI, or a name of the
configuration file (--config=FILE, docs/config.md), which has a store and
settings; without it, that of the environment's PGHAUL_DATABASE is meant. Give
passwords by environment (PGPASSWORD) or password file. For S3, credentials come from the
environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY) or ~/.aws/credentials, and
other services than Amazon's are named by AWS_ENDPOINT_URL or in the address:
s3://bucket/prefix?endpoint=https://host&region=auto.

Keys of the platform's S3 endpoint come from PGHAUL_STORAGE_ACCESS_KEY_ID and
PGHAUL_STORAGE_SECRET_ACCESS_KEY.

The backup is complete when its manifest is stored, as the last object. One that
fails is removed; one that was killed is listed as incomplete. The next backup of
the same database with the same selection goes on with it if its snapshot is still
there (--keep-snapshot, --snapshot), else removes it and starts anew.

Exit status: 0 only when the backup is complete; 1 when it failed; 2 if the
command line is wrong; 130 if interrupted.
`)
}
