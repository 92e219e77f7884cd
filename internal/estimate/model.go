package estimate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/pghaul/pghaul/internal/codec"
	"github.com/pghaul/pghaul/internal/restore"
	"github.com/pghaul/pghaul/pgarchive"
)

// toc makes up the table of contents of a backup of f, as far as it decides how long a restore takes, and the sizes of its data.
func (f *facts) toc(pieceBytes int64) ([]*pgarchive.Entry, map[pgarchive.ID]restore.Size) {
	var pre, data, post []*pgarchive.Entry
	sizes := make(map[pgarchive.ID]restore.Size)
	id := pgarchive.ID(0)
	entry := func(e pgarchive.Entry) *pgarchive.Entry {
		id++
		e.ID = id
		return &e
	}
	for range f.objects {
		pre = append(pre, entry(pgarchive.Entry{Desc: "FUNCTION", Section: pgarchive.SectionPreData, Namespace: "s", Tag: "f()", Defn: ";\n"}))
	}
	byOID := make(map[uint32]*pgarchive.Entry)
	for _, t := range f.tables {
		e := entry(pgarchive.Entry{Desc: "TABLE", Section: pgarchive.SectionPreData, Namespace: t.schema, Tag: t.name, Defn: ";\n"})
		pre, byOID[t.oid] = append(pre, e), e
		n := t.pieces(f.blockSize, pieceBytes)
		for range n {
			d := entry(pgarchive.Entry{Desc: "TABLE DATA", Section: pgarchive.SectionData, Namespace: t.schema, Tag: t.name, HasData: true,
				CopyStmt: "COPY t FROM stdin;\n", DataBytes: t.bytes / n, Dependencies: []pgarchive.ID{e.ID}})
			data = append(data, d)
			sizes[d.ID] = restore.Size{Rows: t.rows / n, Bytes: t.bytes / n}
		}
	}
	if f.largeObjects > 0 {
		d := entry(pgarchive.Entry{Desc: "BLOBS", Section: pgarchive.SectionData, HasData: true, DataBytes: f.largeObjectsB})
		data = append(data, d)
		sizes[d.ID] = restore.Size{Rows: f.largeObjects, Bytes: f.largeObjectsB}
	}
	for i, x := range f.indexes {
		t := byOID[x.table]
		if t == nil { // of a partitioned table: made of those of its partitions
			continue
		}
		columns := "a"
		for range x.columns - 1 {
			columns += ", a"
		}
		e := pgarchive.Entry{Desc: "INDEX", Section: pgarchive.SectionPostData, Namespace: t.Namespace, Tag: fmt.Sprintf("i%d", i),
			Defn: "CREATE INDEX i ON t USING " + x.method + " (" + columns + ");\n", Dependencies: []pgarchive.ID{t.ID}}
		if x.constraint {
			e.Desc, e.Tag = "CONSTRAINT", t.Tag+" "+e.Tag
			e.Defn = "ALTER TABLE ONLY t\n    ADD CONSTRAINT c PRIMARY KEY (" + columns + ");\n"
		}
		post = append(post, entry(e))
	}
	for i, k := range f.keys {
		from, to := byOID[k.from], byOID[k.to]
		if from == nil || to == nil {
			continue
		}
		post = append(post, entry(pgarchive.Entry{Desc: "FK CONSTRAINT", Section: pgarchive.SectionPostData, Namespace: from.Namespace, Tag: fmt.Sprintf("%s k%d", from.Tag, i),
			Defn: "ALTER TABLE ONLY t\n    ADD CONSTRAINT k FOREIGN KEY (a) REFERENCES t(a);\n", Dependencies: []pgarchive.ID{from.ID, to.ID}}))
	}
	return append(append(pre, data...), post...), sizes
}

// pieces is in how many entries the rows of the table go (package dump cuts by the same rule).
func (t *table) pieces(blockSize, pieceBytes int64) int64 {
	if !t.isHeap || pieceBytes <= 0 || t.disk() <= pieceBytes {
		return 1
	}
	return max(1, min((t.disk()+pieceBytes-1)/pieceBytes, t.heap/blockSize, 4096))
}

// restoreTime predicts a restore with that many jobs.
func restoreTime(entries []*pgarchive.Entry, sizes map[pgarchive.ID]restore.Size, jobs int) (time.Duration, error) {
	p, err := restore.NewPlan(imagined{entries}, &restore.Options{Jobs: jobs, Fast: true, Sizes: sizes})
	if err != nil {
		return 0, fmt.Errorf("predict restore: %w", err)
	}
	return p.Predicted(), nil
}

// imagined is an archive of which there is nothing but the table of contents.
type imagined struct{ entries []*pgarchive.Entry }

var _ pgarchive.Reader = imagined{}

var errImagined = errors.New("the archive does not exist yet")

func (a imagined) Header() pgarchive.Header {
	return pgarchive.Header{Compression: codec.Spec{Method: codec.None}}
}
func (a imagined) Properties() pgarchive.Properties { return pgarchive.Properties{} }
func (a imagined) Entries() []*pgarchive.Entry      { return a.entries }
func (a imagined) Data(context.Context, pgarchive.ID) (io.ReadCloser, error) {
	return nil, errImagined
}
func (a imagined) LargeObjects(context.Context, pgarchive.ID) (pgarchive.LargeObjectReader, error) {
	return nil, errImagined
}
func (a imagined) Attachment(string) ([]byte, error) { return nil, pgarchive.ErrNoAttachment }
func (a imagined) Sequential() bool                  { return false }
func (a imagined) NextData(context.Context) (pgarchive.ID, error) {
	return 0, errImagined
}
func (a imagined) Close() error { return nil }
