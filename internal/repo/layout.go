package repo

import (
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/seal"
	"github.com/pghaul/pghaul/internal/store"
)

// Names of the objects in a backup's folder beside those of the archive. In an encrypted backup most of them
// have the suffix of package seal.
const (
	ManifestName  = manifest.AttachmentName
	RecoveryName  = "RECOVERY.md"
	GlobalsName   = "globals.sql"
	IndexName     = "index.json"
	SignatureName = IndexName + ".sig"
	tocName       = "toc.dat"
)

const sealedManifest = ManifestName + seal.Suffix

// idLayout is how the name of a backup's folder says when it was begun.
const idLayout = "20060102T150405Z"

// FormatID returns the ID of a backup begun at t.
func FormatID(t time.Time) string { return t.UTC().Format(idLayout) }

// ParseID returns the time of an ID, or false if it is none.
func ParseID(id string) (time.Time, bool) {
	t, err := time.Parse(idLayout, id)
	return t, err == nil && t.Format(idLayout) == id
}

// folderOf returns the name of a database's folder: the database's own if that is plain, else with the
// bytes that not every store keeps as they are written as %XX.
func folderOf(database string) string {
	var b strings.Builder
	for i := range len(database) {
		c := database[i]
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' && i > 0
		if plain {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// databaseOf is the inverse of folderOf, false for what is no database's folder.
func databaseOf(folder string) (string, bool) {
	name, err := url.PathUnescape(folder)
	return name, err == nil && folderOf(name) == folder && name != ""
}

// Backup is a backup in the store, complete or not, as far as a list of its objects tells.
type Backup struct {
	Database string
	ID       string
	Time     time.Time // when it was begun

	Complete  bool
	Encrypted bool
	Signed    bool // by whom, and whether the signature is good, tells only Open

	Objects  int       // of the archive and beside it, without records of drills
	Bytes    int64     // stored
	Modified time.Time // of the newest of them, by the store's clock
	Drills   []Drill   // oldest first
}

// String returns "database/ID", by which Find finds it.
func (b Backup) String() string { return b.Database + "/" + b.ID }

func (b Backup) folder() string { return path.Join(folderOf(b.Database), b.ID) }

func (b Backup) key(name string) string { return b.folder() + "/" + name }

// Drilled reports whether the backup passed its last drill.
func (b Backup) Drilled() bool { return len(b.Drills) > 0 && b.Drills[len(b.Drills)-1].Passed }

// Drill is the record of a drill of a backup.
type Drill struct {
	Time   time.Time `json:"time"`
	Passed bool      `json:"passed"`
}

// name returns the record's name, which says all that a list needs to know; that of an encrypted record has a suffix more.
func (d Drill) name() string {
	result := "failed"
	if d.Passed {
		result = "passed"
	}
	return "drill-" + FormatID(d.Time) + "-" + result + ".json"
}

func parseDrill(name string) (Drill, bool) {
	rest, ok := strings.CutPrefix(name, "drill-")
	if !ok {
		return Drill{}, false
	}
	name = strings.TrimSuffix(name, seal.Suffix)
	id, result, _ := strings.Cut(strings.TrimSuffix(rest, seal.Suffix), "-")
	t, ok := ParseID(id)
	d := Drill{t, result == "passed.json"}
	return d, ok && d.name() == name
}

// Repo is the backups of a store.
type Repo struct {
	s   *store.Store
	now func() time.Time

	opener *seal.Opener
	trust  *seal.Verifier
}

// New returns the backups in a store.
func New(s *store.Store) *Repo { return &Repo{s: s, now: time.Now} }

// Use sets what backups are read with: keys for encrypted ones, and the keys one of which must have signed a backup. A
// nil opener has no keys, with a nil verifier signatures are not looked at.
func (r *Repo) Use(o *seal.Opener, trust *seal.Verifier) { r.opener, r.trust = o, trust }

// String returns the name of the store.
func (r *Repo) String() string { return r.s.String() }
