package drill

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pghaul/pghaul/internal/digest"
	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/pgarchive"
)

// compare compares archive and copy with what is expected of them.
func (d *drill) compare(found *manifest.Manifest) {
	inArchive := d.archive.describe()
	expected := inArchive
	x := newExplainer(d)
	for _, f := range d.failures {
		d.add(f.finding(), x.failure(f))
	}
	if d.manifest != nil {
		expected = d.manifest
		expected.Objects = withDefinitions(expected.Objects, inArchive.Objects)
		for _, v := range d.compareArchive(inArchive) {
			d.add(findingOf(StageArchive, v), x.difference(StageArchive, v))
		}
	} else {
		found.Extensions = nil // an archive does not tell versions
	}
	for _, v := range manifest.Compare(expected, found) {
		d.add(findingOf(StageCopy, v), x.difference(StageCopy, v))
	}
	d.report.compared()
	d.report.count(expected)
}

// add notes a finding. It is to be expected if everything that explains it is allowed, and then counts for
// the first of these.
func (d *drill) add(f Finding, why []applied) {
	var asked []string
	for _, a := range why {
		if !a.allowed(d.o.Allow) {
			asked = append(asked, a.String())
		}
	}
	if len(why) > 0 && len(asked) == 0 {
		f.Rule = why[0].String()
		d.report.addRule(why[0])
		d.report.Expected = append(d.report.Expected, f)
		return
	}
	f.Allow = strings.Join(asked, ", ")
	d.report.Differences = append(d.report.Differences, f)
}

// compareArchive compares what was read from the archive with its manifest: the
// definitions, and the digest of every single piece.
func (d *drill) compareArchive(in *manifest.Manifest) []manifest.Difference {
	want := *d.manifest
	// Versions of extensions stand in no entry.
	want.Extensions, want.Settings = nil, nil
	in.Complete = true
	return append(manifest.Compare(&want, in), d.comparePieces()...)
}

func (d *drill) comparePieces() []manifest.Difference {
	var out []manifest.Difference
	for i := range d.manifest.Tables {
		t := &d.manifest.Tables[i]
		for j := range t.Pieces {
			p := &t.Pieces[j]
			got, ok := d.archive.rows[pgarchive.ID(p.ID)]
			if !ok || got != p.Sum() {
				out = append(out, manifest.Difference{
					Change: manifest.Differs, Desc: "TABLE DATA", Namespace: t.Namespace, Name: t.Name,
					Field: fmt.Sprintf("piece %d", p.ID),
					A:     manifest.Name(p.Sum().String()), B: manifest.Name(got.String()),
				})
			}
		}
	}
	return out
}

// withDefinitions adds to the objects of a manifest, which has only fingerprints, the
// definitions that the archive has for them, so that a difference can be shown.
func withDefinitions(objects, archived []manifest.Object) []manifest.Object {
	known := make(map[manifest.Hash]string, len(archived))
	for i := range archived {
		known[archived[i].Fingerprint] = archived[i].Definition
	}
	out := slices.Clone(objects)
	for i := range out {
		out[i].Definition = known[out[i].Fingerprint]
	}
	return out
}

// inserts reports whether the rows are INSERT commands.
func (r *digestReader) inserts() bool {
	return slices.ContainsFunc(r.source(), func(e *pgarchive.Entry) bool {
		return e.Desc == "TABLE DATA" && e.HasData && e.CopyStmt == ""
	})
}

// describe makes a manifest of what the archive's entries and data say.
func (r *digestReader) describe() *manifest.Manifest {
	m := &manifest.Manifest{
		Complete: true,
		Objects:  manifest.Inventory(r.source()),
	}
	type name struct{ namespace, tag string }
	tables := make(map[name]digest.Sum)
	binary := make(map[name]bool)
	var large digest.Sum
	for _, e := range r.source() {
		switch {
		case e.Desc == "BLOBS":
			large.Add(r.los[e.ID])
		case e.Desc == "TABLE DATA" && e.HasData:
			s := tables[name{e.Namespace, e.Tag}]
			s.Add(r.rows[e.ID])
			tables[name{e.Namespace, e.Tag}] = s
			binary[name{e.Namespace, e.Tag}] = r.binary[e.ID]
		case e.Desc == "SEQUENCE SET":
			if s, ok := sequenceOf(e); ok {
				m.Sequences = append(m.Sequences, s)
			}
		}
	}
	for n, s := range tables {
		t := manifest.Table{Namespace: manifest.Name(n.namespace), Name: manifest.Name(n.tag)}
		t.SetSum(s)
		if binary[n] {
			t.CopyFormat = manifest.BinaryCopy
		}
		m.Tables = append(m.Tables, t)
	}
	slices.SortFunc(m.Tables, func(a, b manifest.Table) int {
		return cmp.Or(strings.Compare(string(a.Namespace), string(b.Namespace)), strings.Compare(string(a.Name), string(b.Name)))
	})
	m.LargeObjects.SetSum(large)
	return m
}

var setval = regexp.MustCompile(`(?s)^SELECT pg_catalog\.setval\(.*', (-?\d+), (true|false)\);\n$`)

// sequenceOf reads the value out of a SEQUENCE SET entry.
func sequenceOf(e *pgarchive.Entry) (manifest.Sequence, bool) {
	v := setval.FindStringSubmatch(e.Defn)
	if v == nil {
		return manifest.Sequence{}, false
	}
	last, err := strconv.ParseInt(v[1], 10, 64)
	return manifest.Sequence{
		Namespace: manifest.Name(e.Namespace), Name: manifest.Name(e.Tag),
		LastValue: last, IsCalled: v[2] == "true",
	}, err == nil
}

// binaryTable says whether the rows of a table have COPY's binary form in the archive.
func (r *digestReader) binaryTable(namespace, name string) bool {
	return r.binaryNames[[2]string{namespace, name}]
}
