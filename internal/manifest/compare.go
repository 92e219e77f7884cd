package manifest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Change is the kind of a [Difference].
type Change uint8

// The changes.
const (
	Missing Change = iota + 1 // in a and not in b
	Extra                     // in b and not in a
	Differs                   // in both, not the same
)

var changeNames = [...]string{Missing: "missing", Extra: "extra", Differs: "differs"}

// String returns "missing", "extra" or "differs".
func (c Change) String() string {
	if int(c) < len(changeNames) {
		return changeNames[c]
	}
	return "Change(" + strconv.Itoa(int(c)) + ")"
}

// MarshalText writes the name.
func (c Change) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// Difference is one thing in which two manifests do not agree.
type Difference struct {
	Change    Change `json:"change"`
	Desc      string `json:"desc"` // kind of object: an entry's kind, or TABLE DATA, SEQUENCE SET, BLOBS, SETTING, ROLE, EXTENSION VERSION
	Namespace Name   `json:"namespace"`
	Name      Name   `json:"name"`
	// Field says what differs: definition, owner, tablespace, access method, rows,
	// bytes, digest, filter, copy format, value, version, schema. Empty for Missing and Extra.
	Field string `json:"field,omitempty"`
	// A and B are the two sides; definitions may be empty when they are not known.
	A Name `json:"a,omitempty"`
	B Name `json:"b,omitempty"`
}

// String says the difference in one line.
func (d Difference) String() string {
	name := strings.TrimRight(d.Desc+" "+qualified(d.Namespace, d.Name), " ")
	switch {
	case d.Change != Differs:
		return name + " is " + d.Change.String()
	case d.Field == "definition":
		return name + ": definition differs"
	}
	return fmt.Sprintf("%s: %s differs: %s, %s", name, d.Field, d.A, d.B)
}

// Compare returns what of a is missing or not the same in b, and what b has that a has not.
// Extra things count only if a is complete. An empty result is identity: every
// object, row, sequence value, extension and large object is the same.
//
// Things are compared, not texts of the documents: dump IDs, pieces, versions of
// tool and server and the time of the snapshot do not matter. A setting that differs
// is reported, since equal values may then have different digests.
func Compare(a, b *Manifest) []Difference {
	c := &comparison{extra: a.Complete}
	c.settings(a.Settings, b.Settings)
	c.objects(a.Objects, b.Objects)
	c.tables(a.Tables, b.Tables)
	c.sequences(a.Sequences, b.Sequences)
	c.extensions(a.Extensions, b.Extensions)
	c.sum("BLOBS", "", "", a.LargeObjects.Sum().Rows, b.LargeObjects.Sum().Rows, a.LargeObjects.Bytes, b.LargeObjects.Bytes, a.LargeObjects.Digest, b.LargeObjects.Digest)
	return c.out
}

type comparison struct {
	extra bool
	out   []Difference
}

func (c *comparison) only(change Change, desc string, namespace, name, definition Name) {
	d := Difference{Change: change, Desc: desc, Namespace: namespace, Name: name}
	if change == Extra {
		if !c.extra {
			return
		}
		d.B = definition
	} else {
		d.A = definition
	}
	c.out = append(c.out, d)
}

func (c *comparison) field(desc string, namespace, name Name, field string, a, b Name) {
	if a != b {
		c.out = append(c.out, Difference{Differs, desc, namespace, name, field, a, b})
	}
}

func (c *comparison) settings(a, b map[string]string) {
	var names []string
	for n := range a {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		if v, ok := b[n]; ok {
			c.field("SETTING", "", Name(n), "value", Name(a[n]), Name(v))
		}
	}
}

type objectKey struct {
	desc           string
	namespace, tag Name
}

// objects pairs objects of the same kind, schema and name. Several may share these
// three (an ACL of a table and those of its columns, say): then equal ones are
// paired first, the rest in their order.
func (c *comparison) objects(a, b []Object) {
	others := make(map[objectKey][]*Object)
	for i := range b {
		k := objectKey{b[i].Desc, b[i].Namespace, b[i].Tag}
		others[k] = append(others[k], &b[i])
	}
	var keys []objectKey
	mine := make(map[objectKey][]*Object)
	for i := range a {
		k := objectKey{a[i].Desc, a[i].Namespace, a[i].Tag}
		if mine[k] == nil {
			keys = append(keys, k)
		}
		mine[k] = append(mine[k], &a[i])
	}
	for _, k := range keys {
		c.pair(mine[k], others[k])
	}
	for i := range b {
		k := objectKey{b[i].Desc, b[i].Namespace, b[i].Tag}
		if mine[k] == nil {
			c.only(Extra, k.desc, k.namespace, k.tag, Name(b[i].Definition))
		}
	}
}

func (c *comparison) pair(a, b []*Object) {
	var rest []*Object
	for _, o := range a {
		i := slices.IndexFunc(b, o.same)
		if i < 0 {
			rest = append(rest, o)
			continue
		}
		b = slices.Delete(slices.Clone(b), i, i+1)
	}
	for i, o := range rest {
		if i >= len(b) {
			c.only(Missing, o.Desc, o.Namespace, o.Tag, Name(o.Definition))
			continue
		}
		p := b[i]
		c.field(o.Desc, o.Namespace, o.Tag, "owner", o.Owner, p.Owner)
		c.field(o.Desc, o.Namespace, o.Tag, "tablespace", o.Tablespace, p.Tablespace)
		c.field(o.Desc, o.Namespace, o.Tag, "access method", o.TableAM, p.TableAM)
		if !o.sameDefinition(p) {
			c.out = append(c.out, Difference{Differs, o.Desc, o.Namespace, o.Tag, "definition", Name(o.Definition), Name(p.Definition)})
		}
	}
	if len(b) > len(rest) {
		for _, o := range b[len(rest):] {
			c.only(Extra, o.Desc, o.Namespace, o.Tag, Name(o.Definition))
		}
	}
}

func (o *Object) same(p *Object) bool {
	return o.Fingerprint == p.Fingerprint && o.Owner == p.Owner && o.Tablespace == p.Tablespace && o.TableAM == p.TableAM
}

// sameDefinition compares the definitions, by the fingerprints where one is not
// known. The owner is part of a fingerprint: when it differs too and neither
// definition is known, only the owner is reported.
func (o *Object) sameDefinition(p *Object) bool {
	switch {
	case o.Fingerprint == p.Fingerprint:
		return true
	case o.Definition != "" && p.Definition != "":
		return o.Definition == p.Definition
	case p.Definition != "":
		return o.Fingerprint == p.fingerprint(o.Owner)
	case o.Definition != "":
		return p.Fingerprint == o.fingerprint(p.Owner)
	}
	return o.Owner != p.Owner
}

// fingerprint is that of o if owner were its owner.
func (o *Object) fingerprint(owner Name) Hash {
	return fingerprint(o.Desc, string(o.Namespace), string(o.Tag), string(owner), o.Definition)
}

// sum compares two digests; the hash is named only if the counts agree.
func (c *comparison) sum(desc string, namespace, name Name, arows, brows, abytes, bbytes int64, a, b Hash128) {
	num := func(n int64) Name { return Name(strconv.FormatInt(n, 10)) }
	before := len(c.out)
	c.field(desc, namespace, name, "rows", num(arows), num(brows))
	c.field(desc, namespace, name, "bytes", num(abytes), num(bbytes))
	if len(c.out) == before {
		c.field(desc, namespace, name, "digest", Name(a.String()), Name(b.String()))
	}
}

func (c *comparison) tables(a, b []Table) {
	const desc = "TABLE DATA"
	match(a, b, func(t *Table) [2]Name { return [2]Name{t.Namespace, t.Name} },
		func(change Change, t *Table) { c.only(change, desc, t.Namespace, t.Name, "") },
		func(t, u *Table) {
			c.field(desc, t.Namespace, t.Name, "filter", Name(t.Filter), Name(u.Filter))
			if t.CopyFormat != u.CopyFormat { // bytes and digests of different forms do not compare
				c.field(desc, t.Namespace, t.Name, "copy format", t.copyFormat(), u.copyFormat())
				return
			}
			c.sum(desc, t.Namespace, t.Name, t.Rows, u.Rows, t.Bytes, u.Bytes, t.Digest, u.Digest)
		})
}

func (t *Table) copyFormat() Name {
	if t.CopyFormat == "" {
		return "text"
	}
	return Name(t.CopyFormat)
}

func (c *comparison) sequences(a, b []Sequence) {
	const desc = "SEQUENCE SET"
	match(a, b, func(s *Sequence) [2]Name { return [2]Name{s.Namespace, s.Name} },
		func(change Change, s *Sequence) { c.only(change, desc, s.Namespace, s.Name, "") },
		func(s, t *Sequence) {
			c.field(desc, s.Namespace, s.Name, "value", Name(s.value()), Name(t.value()))
		})
}

func (c *comparison) extensions(a, b []Extension) {
	const desc = "EXTENSION VERSION"
	match(a, b, func(e *Extension) Name { return e.Name },
		func(change Change, e *Extension) { c.only(change, desc, "", e.Name, Name(e.Version)) },
		func(e, f *Extension) {
			c.field(desc, "", e.Name, "version", Name(e.Version), Name(f.Version))
			c.field(desc, "", e.Name, "schema", e.Schema, f.Schema)
		})
}

// match calls both for what has the same key in a and b, and only for the rest.
func match[T any, K comparable](a, b []T, key func(*T) K, only func(Change, *T), both func(a, b *T)) {
	others := make(map[K]*T, len(b))
	for i := range b {
		others[key(&b[i])] = &b[i]
	}
	for i := range a {
		k := key(&a[i])
		if o := others[k]; o != nil {
			both(&a[i], o)
			delete(others, k)
		} else {
			only(Missing, &a[i])
		}
	}
	for i := range b {
		if others[key(&b[i])] != nil {
			only(Extra, &b[i])
		}
	}
}

// Report joins the differences, one a line.
func Report(d []Difference) string {
	var b strings.Builder
	for _, x := range d {
		b.WriteString(x.String())
		b.WriteByte('\n')
	}
	return b.String()
}
