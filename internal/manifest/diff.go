package manifest

import "slices"

// Changes is what lies between two backups, in both directions and with the figures of both sides.
// Unlike [Compare] it is not a judgement about a copy: roles and the server are looked at too, and
// what b has and a has not always counts.
type Changes struct {
	Server       *Pair[Server]       `json:"server,omitempty"`   // nil: the same version
	Database     *Pair[Name]         `json:"database,omitempty"` // nil: the same name
	Objects      []Difference        `json:"objects"`
	Tables       []TableChange       `json:"tables"`
	Sequences    []Difference        `json:"sequences"`
	Extensions   []Difference        `json:"extensions"`
	Roles        []Difference        `json:"roles"`
	Settings     []Difference        `json:"settings"`
	LargeObjects *Pair[LargeObjects] `json:"large_objects,omitempty"` // nil: the same
}

// Pair is a value on both sides.
type Pair[T any] struct {
	A T `json:"a"`
	B T `json:"b"`
}

// Contents are rows: how many, how long, and their digest.
type Contents struct {
	Rows   int64   `json:"rows"`
	Bytes  int64   `json:"bytes"`
	Digest Hash128 `json:"sum"`
}

// TableChange says what became of the rows of one table.
type TableChange struct {
	Change    Change `json:"change"`
	Namespace Name   `json:"namespace"`
	Name      Name   `json:"name"`

	// A and B are what either side has; nil: it has no such table.
	A *Contents `json:"a"`
	B *Contents `json:"b"`

	// Forms differ when one side has the rows in text and the other in binary form: then bytes and
	// digests do not compare, and the table is listed although its rows may be the same.
	Forms *Pair[Name] `json:"copy_format,omitempty"`
	// Filters are the conditions that chose the rows, if they differ.
	Filters *Pair[Name] `json:"filter,omitempty"`

	// Pieces is how many pieces B has, and Changed those of them which A has not with the same digest.
	Pieces  int     `json:"pieces"`
	Changed []Piece `json:"changed_pieces"`
}

// Empty reports whether a and b hold the same. The server's version is not part of that.
func (c *Changes) Empty() bool {
	return c.Database == nil && len(c.Objects)+len(c.Tables)+len(c.Sequences)+len(c.Extensions)+len(c.Roles)+len(c.Settings) == 0 && c.LargeObjects == nil
}

// Diff returns what lies between a and b. Definitions are shown where the manifests' objects have
// them, see [Manifest.Define].
func Diff(a, b *Manifest) *Changes {
	whole := *a
	whole.Complete = true
	out := &Changes{
		Objects: []Difference{}, Tables: []TableChange{}, Sequences: []Difference{},
		Extensions: []Difference{}, Roles: []Difference{}, Settings: []Difference{},
	}
	if a.Server.Version != b.Server.Version {
		out.Server = &Pair[Server]{a.Server, b.Server}
	}
	if a.Database != b.Database {
		out.Database = &Pair[Name]{a.Database, b.Database}
	}
	for _, d := range Compare(&whole, b) {
		switch d.Desc {
		case "SETTING":
			out.Settings = append(out.Settings, d)
		case "SEQUENCE SET":
			out.Sequences = append(out.Sequences, d)
		case "EXTENSION VERSION":
			out.Extensions = append(out.Extensions, d)
		case "TABLE DATA", "BLOBS": // in more detail below
		default:
			out.Objects = append(out.Objects, d)
		}
	}
	out.tables(a.Tables, b.Tables)
	match(a.Roles, b.Roles, func(n *Name) Name { return *n },
		func(change Change, n *Name) {
			out.Roles = append(out.Roles, Difference{Change: change, Desc: "ROLE", Name: *n})
		}, func(*Name, *Name) {})
	if a.LargeObjects != b.LargeObjects {
		out.LargeObjects = &Pair[LargeObjects]{a.LargeObjects, b.LargeObjects}
	}
	return out
}

func (c *Changes) tables(a, b []Table) {
	match(a, b, func(t *Table) [2]Name { return [2]Name{t.Namespace, t.Name} },
		func(change Change, t *Table) {
			d := TableChange{Change: change, Namespace: t.Namespace, Name: t.Name, Changed: []Piece{}}
			if change == Missing {
				d.A = t.size()
			} else {
				d.B, d.Pieces = t.size(), len(t.Pieces)
			}
			c.Tables = append(c.Tables, d)
		},
		func(t, u *Table) {
			if t.Sum() == u.Sum() && t.CopyFormat == u.CopyFormat && t.Filter == u.Filter {
				return
			}
			d := TableChange{Change: Differs, Namespace: t.Namespace, Name: t.Name, A: t.size(), B: u.size(), Pieces: len(u.Pieces)}
			if t.CopyFormat != u.CopyFormat {
				d.Forms = &Pair[Name]{t.copyFormat(), u.copyFormat()}
			}
			if t.Filter != u.Filter {
				d.Filters = &Pair[Name]{Name(t.Filter), Name(u.Filter)}
			}
			d.Changed = changedPieces(t, u)
			c.Tables = append(c.Tables, d)
		})
}

func (t *Table) size() *Contents { return &Contents{t.Rows, t.Bytes, t.Digest} }

// changedPieces are the pieces of u that t has not, wherever they stand: rows that only moved to other
// pages, together, did not change.
func changedPieces(t, u *Table) []Piece {
	have := make(map[Contents]int)
	for i := range t.Pieces {
		p := &t.Pieces[i]
		have[Contents{p.Rows, p.Bytes, p.Digest}]++
	}
	out := []Piece{}
	for i := range u.Pieces {
		p := &u.Pieces[i]
		if k := (Contents{p.Rows, p.Bytes, p.Digest}); have[k] > 0 {
			have[k]--
		} else {
			out = append(out, *p)
		}
	}
	return out
}

// Define gives the manifest's objects their definitions, taken from the objects of an [Inventory]. Those
// that are not there with the same fingerprint stay without.
func (m *Manifest) Define(inventory []Object) {
	known := make(map[Hash]string, len(inventory))
	for i := range inventory {
		known[inventory[i].Fingerprint] = inventory[i].Definition
	}
	m.Objects = slices.Clone(m.Objects)
	for i := range m.Objects {
		m.Objects[i].Definition = known[m.Objects[i].Fingerprint]
	}
}
