package manifest

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"github.com/pghaul/pghaul/pgarchive"
)

// Inventory returns the objects that the entries of an archive define, sorted. Data
// entries are left out, also sequence values, which are Sequences of the manifest,
// and the entries that only set up a session. Comments and privileges are objects.
//
// Planner statistics are left out too: they describe how a database was used rather
// than what is in it.
//
// An archive gathers large objects into groups as they happen to have the same owner and
// privileges, or not, depending on its version. Here each is an object LARGE OBJECT of its own, with an ACL of
// its own; if there are very many, one object stands for all.
func Inventory(entries []*pgarchive.Entry) []Object {
	var out []Object
	los := largeObjects{byID: make(map[pgarchive.ID][]string)}
	for _, e := range entries {
		switch {
		case los.add(e) || !isObject(e):
		default:
			out = append(out, object(e, e.Desc, e.Tag, e.Defn))
		}
	}
	out = append(out, los.objects()...)
	sortObjects(out)
	return out
}

// CountObjects is the length of the Inventory, or about it: large objects that have
// privileges in common count as a group.
func CountObjects(entries []*pgarchive.Entry) int {
	n := 0
	for _, e := range entries {
		if isObject(e) {
			n++
		}
	}
	return n
}

func object(e *pgarchive.Entry, desc, tag, defn string) Object {
	return Object{
		Desc: desc, Namespace: Name(e.Namespace), Tag: Name(tag), Owner: Name(e.Owner),
		Tablespace: Name(e.Tablespace), TableAM: Name(e.TableAM),
		Fingerprint: fingerprint(desc, e.Namespace, tag, e.Owner, defn),
		Definition:  defn,
	}
}

func isObject(e *pgarchive.Entry) bool {
	switch e.Desc {
	case "TABLE DATA", "BLOBS", "SEQUENCE SET", "ENCODING", "STDSTRINGS", "SEARCHPATH", "STATISTICS DATA":
		return false
	}
	return true
}

// manyLargeObjects is how many large objects are listed; of more, one object is made.
const manyLargeObjects = 10_000

// largeObjects takes the entries about owners and privileges of large objects apart.
type largeObjects struct {
	byID map[pgarchive.ID][]string // the OIDs of a BLOB METADATA entry
	meta []*pgarchive.Entry
	acls []*pgarchive.Entry
	n    int
}

// add takes e if it is about large objects as a group.
func (l *largeObjects) add(e *pgarchive.Entry) bool {
	switch {
	case e.Desc == "BLOB":
		l.byID[e.ID] = []string{e.Tag}
	case e.Desc == "BLOB METADATA":
		l.byID[e.ID] = strings.Fields(e.Defn)
	case e.Desc == "ACL" && strings.HasPrefix(e.Tag, "LARGE OBJECT"):
		l.acls = append(l.acls, e)
		return true
	default:
		return false
	}
	l.meta = append(l.meta, e)
	l.n += len(l.byID[e.ID])
	return true
}

func (l *largeObjects) objects() []Object {
	var out []Object
	for _, e := range l.meta {
		for _, oid := range l.byID[e.ID] {
			out = append(out, object(e, "LARGE OBJECT", oid, ""))
		}
	}
	for _, e := range l.acls {
		out = append(out, l.acl(e)...)
	}
	if l.n <= manyLargeObjects {
		return out
	}
	sortObjects(out)
	h := sha256.New()
	for i := range out {
		h.Write(out[i].Fingerprint[:])
	}
	all := Object{Desc: "LARGE OBJECTS", Tag: Name(strconv.Itoa(l.n))}
	h.Sum(all.Fingerprint[:0])
	return []Object{all}
}

// acl makes the privileges of each large object of those of a group. The statements name the first.
func (l *largeObjects) acl(e *pgarchive.Entry) []Object {
	oids, isGroup := strings.CutPrefix(e.Tag, "LARGE OBJECTS ")
	first, _, _ := strings.Cut(oids, "..")
	var group []string
	for _, d := range e.Dependencies {
		group = append(group, l.byID[d]...)
	}
	if !isGroup || len(group) == 0 {
		return []Object{object(e, e.Desc, e.Tag, e.Defn)}
	}
	var out []Object
	for _, oid := range group {
		defn := strings.ReplaceAll(e.Defn, " LARGE OBJECT "+first+" ", " LARGE OBJECT "+oid+" ")
		out = append(out, object(e, "ACL", "LARGE OBJECT "+oid, defn))
	}
	return out
}

// fingerprint hashes the parts of an object, each with its length before it, so that
// no two lists of parts give the same input.
func fingerprint(parts ...string) (h Hash) {
	w := sha256.New()
	for _, p := range parts {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(p)))
		w.Write(n[:])
		w.Write([]byte(p))
	}
	w.Sum(h[:0])
	return h
}

func sortObjects(o []Object) {
	slices.SortFunc(o, func(a, b Object) int {
		return cmp.Or(
			strings.Compare(a.Desc, b.Desc),
			strings.Compare(string(a.Namespace), string(b.Namespace)),
			strings.Compare(string(a.Tag), string(b.Tag)),
			strings.Compare(string(a.Owner), string(b.Owner)),
			slices.Compare(a.Fingerprint[:], b.Fingerprint[:]),
		)
	})
}
