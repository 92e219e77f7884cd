package manifest

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"strconv"
	"strings"
)

// Seal sorts the lists and computes Totals and Root.
//
// Root is the root of a Merkle tree (RFC 9162, section 2.1.1, with SHA-256) whose
// leaves are, in this order, the objects, tables, sequences, extensions, roles and
// the large objects: what describes the contents of the database. How they were cut
// into pieces, when and by whom does not enter.
func (m *Manifest) Seal() {
	m.Format, m.Version = Format, Version
	m.sort()
	m.Totals = m.Count()
	m.Root = merkle(m.leaves())
}

func (m *Manifest) sort() {
	sortObjects(m.Objects)
	byName := func(an, a, bn, b Name) int {
		return cmp.Or(strings.Compare(string(an), string(bn)), strings.Compare(string(a), string(b)))
	}
	slices.SortFunc(m.Tables, func(a, b Table) int { return byName(a.Namespace, a.Name, b.Namespace, b.Name) })
	slices.SortFunc(m.Sequences, func(a, b Sequence) int { return byName(a.Namespace, a.Name, b.Namespace, b.Name) })
	slices.SortFunc(m.Extensions, func(a, b Extension) int { return strings.Compare(string(a.Name), string(b.Name)) })
	slices.Sort(m.Roles)
	slices.SortFunc(m.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
}

// Count returns the sums over the lists, which Seal sets as Totals.
func (m *Manifest) Count() Totals {
	t := Totals{Objects: len(m.Objects), Tables: len(m.Tables), Sequences: len(m.Sequences), Bytes: m.LargeObjects.Bytes}
	for i := range m.Tables {
		t.Pieces += len(m.Tables[i].Pieces)
		t.Rows += m.Tables[i].Rows
		t.Bytes += m.Tables[i].Bytes
	}
	return t
}

// leaves returns the hashes of the leaves; each is the fingerprint of the texts named here.
func (m *Manifest) leaves() []Hash {
	var out []Hash
	leaf := func(parts ...string) {
		h := fingerprint(parts...)
		out = append(out, sha256.Sum256(append([]byte{0}, h[:]...)))
	}
	for i := range m.Objects {
		o := &m.Objects[i]
		leaf("object", o.Desc, string(o.Namespace), string(o.Tag), string(o.Owner), string(o.Tablespace), string(o.TableAM), o.Fingerprint.String())
	}
	for i := range m.Tables {
		t := &m.Tables[i]
		parts := []string{"table", string(t.Namespace), string(t.Name), t.Filter, t.Sum().String()}
		if t.CopyFormat != "" {
			parts = append(parts, t.CopyFormat)
		}
		leaf(parts...)
	}
	for _, s := range m.Sequences {
		leaf("sequence", string(s.Namespace), string(s.Name), s.value())
	}
	for _, e := range m.Extensions {
		leaf("extension", string(e.Name), e.Version, string(e.Schema))
	}
	for _, r := range m.Roles {
		leaf("role", string(r))
	}
	leaf("large objects", m.LargeObjects.Sum().String())
	return out
}

func (s Sequence) value() string {
	return strconv.FormatInt(s.LastValue, 10) + "," + strconv.FormatBool(s.IsCalled)
}

// merkle hashes the leaves up to the root. A tree of n leaves is split after the
// greatest power of two below n.
func merkle(leaves []Hash) Hash {
	switch len(leaves) {
	case 0:
		return sha256.Sum256(nil)
	case 1:
		return leaves[0]
	}
	k := 1
	for 2*k < len(leaves) {
		k *= 2
	}
	left, right := merkle(leaves[:k]), merkle(leaves[k:])
	b := make([]byte, 0, 1+len(left)+len(right))
	b = append(b, 1)
	b = append(b, left[:]...)
	return sha256.Sum256(append(b, right[:]...))
}
