package manifest

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/pghaul/pghaul/pgarchive"
)

// Inventory returns the objects that the entries of an archive define, sorted. Data
// entries are left out, also sequence values, which are Sequences of the manifest,
// and the entries that only set up a session. Comments and privileges are objects.
//
// Planner statistics are left out too: they describe how a database was used rather
// than what is in it.
func Inventory(entries []*pgarchive.Entry) []Object {
	var out []Object
	for _, e := range entries {
		if !isObject(e) {
			continue
		}
		out = append(out, Object{
			Desc: e.Desc, Namespace: Name(e.Namespace), Tag: Name(e.Tag), Owner: Name(e.Owner),
			Tablespace: Name(e.Tablespace), TableAM: Name(e.TableAM),
			Fingerprint: fingerprint(e.Desc, e.Namespace, e.Tag, e.Owner, e.Defn),
			Definition:  e.Defn,
		})
	}
	sortObjects(out)
	return out
}

func isObject(e *pgarchive.Entry) bool {
	switch e.Desc {
	case "TABLE DATA", "BLOBS", "BLOB", "SEQUENCE SET", "ENCODING", "STDSTRINGS", "SEARCHPATH", "STATISTICS DATA":
		return false
	}
	return true
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
