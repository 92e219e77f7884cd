package manifest

import (
	"encoding/hex"
	"time"

	"github.com/pghaul/pghaul/internal/digest"
)

// Format and Version name the document that this package writes. It reads this version and older ones.
const (
	Format  = "pghaul-manifest"
	Version = 1
)

// AttachmentName is the name of the manifest within an archive and in a backup's folder.
const AttachmentName = "manifest.json"

// Manifest is what one backup contains. Lists are sorted by name, so that the
// manifests of equal databases differ only in Tool, Server, Source, Snapshot and dump IDs.
type Manifest struct {
	Format  string `json:"format"`
	Version int    `json:"version"`

	Tool     Tool     `json:"tool"`
	Server   Server   `json:"server"`
	Database Name     `json:"database"`
	Source   *Source  `json:"source,omitempty"` // nil: not known
	Snapshot Snapshot `json:"snapshot"`

	// Complete says that the whole database is in the backup: no pattern, section or
	// switch left anything out. Only then is something that the other side has and
	// this one has not a difference.
	Complete bool `json:"complete"`

	// Settings are the session's settings that fix the text form of values, by name.
	Settings map[string]string `json:"settings"`

	Objects      []Object     `json:"objects"`
	Tables       []Table      `json:"tables"`
	Sequences    []Sequence   `json:"sequences"`
	Extensions   []Extension  `json:"extensions"`
	Roles        []Name       `json:"roles"`
	LargeObjects LargeObjects `json:"large_objects"`

	// Files are the stored objects of a backup in a store, all but the manifest itself. They say
	// nothing about the database, so Root does not depend on them.
	Files []File `json:"files,omitempty"`

	Totals Totals `json:"totals"`
	Root   Hash   `json:"root"` // Merkle root over what is compared, see Seal
}

// SessionSettings returns those of Settings, in a fixed order, that a session of another server must
// have so that its values have the same text form. lc_monetary is not among them: its
// locale may not exist there, and only the type money depends on it.
func (m *Manifest) SessionSettings() [][2]string {
	var out [][2]string
	for _, name := range []string{
		"client_encoding", "DateStyle", "IntervalStyle", "TimeZone", "bytea_output", "extra_float_digits", "xmloption",
	} {
		if v, ok := m.Settings[name]; ok {
			out = append(out, [2]string{name, v})
		}
	}
	return out
}

// Tool is the program that made the backup.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Server is the server the backup was made from.
type Server struct {
	Version    string `json:"version"`     // as it calls itself: "18.6 (Debian 18.6-3)"
	VersionNum int    `json:"version_num"` // 180006
	Standby    bool   `json:"standby"`     // it was in recovery
}

// Source says which database of which cluster the backup is of, so that it is not restored into that one by accident. It names no hosts: they
// change, and are nobody's business. A physical copy of a cluster has the same.
type Source struct {
	System      string `json:"system_identifier"` // of the cluster, decimal digits (pg_control_system)
	DatabaseOID uint32 `json:"database_oid"`
}

// Snapshot is the moment whose state the backup holds.
type Snapshot struct {
	Time time.Time `json:"time"`
	LSN  string    `json:"lsn"` // WAL position about the snapshot ("0/16B3748"), empty if the role may not know it
}

// Object is one object's definition: a TOC entry that is not data.
type Object struct {
	Desc        string `json:"desc"`      // kind of entry: TABLE, INDEX, ACL, COMMENT, ...
	Namespace   Name   `json:"namespace"` // schema, empty if none
	Tag         Name   `json:"tag"`       // name
	Owner       Name   `json:"owner"`
	Tablespace  Name   `json:"tablespace,omitempty"`
	TableAM     Name   `json:"access_method,omitempty"`
	Fingerprint Hash   `json:"fingerprint"`

	// Definition is the statements, when known; it is not part of the document,
	// since the archive has them.
	Definition string `json:"-"`
}

// Table is the rows of one table.
type Table struct {
	Namespace Name    `json:"namespace"`
	Name      Name    `json:"name"`
	Rows      int64   `json:"rows"`
	Bytes     int64   `json:"bytes"` // of the rows in COPY's text or binary form
	Digest    Hash128 `json:"sum"`
	// CopyFormat is the form of the rows that were counted and hashed: empty for text, or BinaryCopy.
	CopyFormat string `json:"copy_format,omitempty"`
	// Filter is the WHERE clause of an extension's configuration table, empty for all rows.
	Filter string  `json:"filter,omitempty"`
	Pieces []Piece `json:"pieces"` // one or more, in the order of their ranges
}

// BinaryCopy is the CopyFormat of rows in COPY's binary form.
const BinaryCopy = "binary"

// Sum returns the table's digest.
func (t *Table) Sum() digest.Sum { return sum(t.Rows, t.Bytes, t.Digest) }

// SetSum sets the table's digest.
func (t *Table) SetSum(s digest.Sum) { t.Rows, t.Bytes, t.Digest = s.Rows, s.Bytes, hash128(s) }

// Piece is a part of a table that is one data entry of the archive.
type Piece struct {
	ID     int32   `json:"id"` // the entry's dump ID
	Rows   int64   `json:"rows"`
	Bytes  int64   `json:"bytes"`
	Digest Hash128 `json:"sum"`
	// What of the table it is; both nil: the whole table.
	Pages *PageRange `json:"pages,omitempty"`
	Keys  *KeyRange  `json:"keys,omitempty"`
}

// Sum returns the piece's digest.
func (p *Piece) Sum() digest.Sum { return sum(p.Rows, p.Bytes, p.Digest) }

// SetSum sets the piece's digest.
func (p *Piece) SetSum(s digest.Sum) { p.Rows, p.Bytes, p.Digest = s.Rows, s.Bytes, hash128(s) }

// KeyRange is the rows whose column, an integer that is never null, is at least From and less than To. nil: no bound.
type KeyRange struct {
	Column Name   `json:"column"`
	From   *int64 `json:"from,omitempty"`
	To     *int64 `json:"to,omitempty"`
}

// PageRange is a range of pages of a table's main fork. To 0 means to the end.
type PageRange struct {
	From uint32 `json:"from"`
	To   uint32 `json:"to,omitempty"` // first page after the range
}

// Sequence is the state of one sequence.
type Sequence struct {
	Namespace Name  `json:"namespace"`
	Name      Name  `json:"name"`
	LastValue int64 `json:"last_value"`
	IsCalled  bool  `json:"is_called"`
}

// Extension is an installed extension.
type Extension struct {
	Name    Name   `json:"name"`
	Version string `json:"version"`
	Schema  Name   `json:"schema"`
}

// LargeObjects are the large objects together; see digest.Objects.
type LargeObjects struct {
	Count  int64   `json:"count"`
	Bytes  int64   `json:"bytes"`
	Digest Hash128 `json:"sum"`
}

// Sum returns the digest of the large objects.
func (l *LargeObjects) Sum() digest.Sum { return sum(l.Count, l.Bytes, l.Digest) }

// SetSum sets the digest of the large objects.
func (l *LargeObjects) SetSum(s digest.Sum) { l.Count, l.Bytes, l.Digest = s.Rows, s.Bytes, hash128(s) }

// Totals are the sums over the lists above.
type Totals struct {
	Objects   int   `json:"objects"`
	Tables    int   `json:"tables"`
	Pieces    int   `json:"pieces"`
	Sequences int   `json:"sequences"`
	Rows      int64 `json:"rows"`
	Bytes     int64 `json:"bytes"` // of table data and large objects
}

// Hash is a SHA-256; in JSON 64 hexadecimal digits.
type Hash [32]byte

// String returns the hash in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText writes hexadecimal digits.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads exactly 64 lower-case hexadecimal digits.
func (h *Hash) UnmarshalText(b []byte) error { return unhex(h[:], b) }

// Hash128 is the hash part of a digest; in JSON 32 hexadecimal digits.
type Hash128 [16]byte

// String returns the hash in hexadecimal.
func (h Hash128) String() string { return hex.EncodeToString(h[:]) }

// MarshalText writes hexadecimal digits.
func (h Hash128) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads exactly 32 lower-case hexadecimal digits.
func (h *Hash128) UnmarshalText(b []byte) error { return unhex(h[:], b) }
