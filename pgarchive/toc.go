package pgarchive

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/pghaul/pghaul/internal/codec"
)

// magic begins a custom archive, and toc.dat of the others.
const magic = "PGDMP"

// readHeader reads the head of an archive (ReadHead) whose format must be want.
// On return r knows the sizes of integers and offsets.
func readHeader(r *wireReader, want Format) (Header, error) {
	h := Header{Format: want}
	var head [len(magic)]byte
	for i := range head {
		head[i] = r.byte()
	}
	if r.err == nil && string(head[:]) != magic {
		return h, errors.New("did not find magic string in file header")
	}
	major, minor := r.byte(), r.byte()
	rev := byte(0)
	if major > 1 || major == 1 && minor > 0 {
		rev = r.byte()
	}
	h.Version = Version(major)<<16 | Version(minor)<<8 | Version(rev)
	if r.err == nil && (h.Version < minVersion || h.Version > maxVersion) {
		return h, fmt.Errorf("unsupported version (%d.%d) in file header", major, minor)
	}
	r.intSize, r.offSize = int(r.byte()), int(r.byte())
	h.IntSize, h.OffSize = r.intSize, r.offSize
	if r.err == nil {
		switch {
		case r.intSize > 32:
			return h, fmt.Errorf("sanity check on integer size (%d) failed", r.intSize)
		case r.intSize < 1:
			return h, fmt.Errorf("integer size %d in file header is too small", r.intSize)
		case r.offSize > 32 || r.offSize < 1:
			return h, fmt.Errorf("offset size %d in file header is out of range", r.offSize)
		}
	}
	stored := want
	if want == FormatDirectory {
		stored = FormatTar // toc.dat is the same in both
	}
	if f := r.byte(); r.err == nil && Format(f) != stored {
		return h, fmt.Errorf("expected format (%d) differs from format found in file (%d)", stored, f)
	}
	if h.Version >= V1_15 {
		h.Compression.Method = codec.Method(r.byte())
		if r.err == nil && !h.Compression.Method.Valid() {
			return h, fmt.Errorf("unknown compression algorithm %d in file header", h.Compression.Method)
		}
	} else if level := r.int(); level != 0 {
		h.Compression = codec.Spec{Method: codec.Gzip, Level: level, HasLevel: level != codec.DefaultGzipLevel}
	}
	sec, minute, hour := r.int(), r.int(), r.int()
	day, month, year := r.int(), r.int(), r.int()
	r.int() // daylight saving, which the place knows
	if inRange(sec, 0, 61) && inRange(minute, 0, 59) && inRange(hour, 0, 23) &&
		inRange(day, 1, 31) && inRange(month, 0, 11) && inRange(year, 0, 8000) {
		h.Created = time.Date(year+1900, time.Month(month+1), day, hour, minute, sec, 0, time.Local)
	}
	h.Database, _ = r.string()
	h.ServerVersion, _ = r.string()
	h.DumpVersion, _ = r.string()
	if r.err != nil {
		return h, fmt.Errorf("read archive header: %w", r.err)
	}
	return h, nil
}

func inRange(v, lo, hi int) bool { return lo <= v && v <= hi }

// writeHeader writes the head of an archive (WriteHead).
func writeHeader(w *wireWriter, h *Header) {
	w.write([]byte(magic))
	w.byte(byte(h.Version.Major()))
	w.byte(byte(h.Version.Minor()))
	w.byte(byte(h.Version.Rev()))
	w.byte(4) // bytes of an integer
	w.byte(8) // bytes of an offset
	f := h.Format
	if f == FormatDirectory {
		f = FormatTar
	}
	w.byte(byte(f))
	switch {
	case h.Version >= V1_15:
		w.byte(byte(h.Compression.Method))
	case h.Compression.Method == codec.None:
		w.int(0)
	default:
		w.int(h.Compression.Effective())
	}
	t := h.Created.Local()
	dst := 0
	if t.IsDST() {
		dst = 1
	}
	for _, v := range []int{t.Second(), t.Minute(), t.Hour(), t.Day(), int(t.Month()) - 1, t.Year() - 1900, dst} {
		w.int(v)
	}
	w.string(h.Database)
	w.stringOrNull(h.ServerVersion, h.ServerVersion != "")
	w.string(h.DumpVersion)
}

// maxEntriesAtOnce is how many entries are made room for before the first is read.
const maxEntriesAtOnce = 1 << 10

// readTOC reads the table of contents (ReadToc).
func readTOC(r *wireReader, h *Header) ([]*Entry, error) {
	n := r.int()
	if r.err == nil && n < 0 {
		return nil, fmt.Errorf("read table of contents: %d entries", n)
	}
	entries := make([]*Entry, 0, min(n, maxEntriesAtOnce))
	seen := make(map[ID]bool)
	for i := range n {
		e, err := readEntry(r, h)
		if err == nil && seen[e.ID] {
			err = fmt.Errorf("entry ID %d is there twice", e.ID)
		}
		if err != nil {
			return nil, fmt.Errorf("read entry %d of %d of the table of contents: %w", i+1, n, err)
		}
		seen[e.ID] = true
		entries = append(entries, e)
	}
	if r.err != nil {
		return nil, fmt.Errorf("read table of contents: %w", r.err)
	}
	return entries, nil
}

func readEntry(r *wireReader, h *Header) (*Entry, error) {
	e := &Entry{set: setRead}
	id := r.int()
	if r.err == nil && (id <= 0 || id > math.MaxInt32) {
		return nil, fmt.Errorf("entry ID %d out of range -- perhaps a corrupt TOC", id)
	}
	e.ID = ID(id)
	e.HasData = r.int() != 0
	e.CatalogID.TableOID = r.number("catalog table OID")
	e.CatalogID.OID = r.number("catalog OID")
	e.Tag, _ = r.string()
	e.Desc, _ = r.string()
	section := r.int()
	if r.err == nil && (section < int(SectionNone) || section > int(SectionPostData)) {
		return nil, fmt.Errorf("unexpected section code %d", section)
	}
	e.Section = Section(section)
	text := func(bit stringSet) string {
		s, ok := r.string()
		if ok {
			e.set |= bit
		}
		return s
	}
	e.Defn = text(setDefn)
	e.DropStmt = text(setDropStmt)
	e.CopyStmt = text(setCopyStmt)
	e.Namespace = text(setNamespace)
	e.Tablespace = text(setTablespace)
	if h.Version >= V1_14 {
		e.TableAM = text(setTableAM)
	}
	if h.Version >= V1_16 {
		kind := r.int()
		if r.err == nil && (kind < 0 || kind > 127) {
			return nil, fmt.Errorf("relation kind %d", kind)
		}
		e.RelKind = byte(kind)
	}
	e.Owner = text(setOwner)
	r.string() // "true" in old archives of tables with OIDs, which no server has any more
	for {
		s, ok := r.string()
		if !ok {
			break
		}
		d, err := strconv.ParseInt(s, 10, 32)
		if err != nil {
			r.fail(fmt.Errorf("dependency \"%.20s\" is no ID", s))
			break
		}
		e.Dependencies = append(e.Dependencies, ID(d))
	}
	if h.Format == FormatCustom {
		e.offset = r.offset()
	} else {
		e.Filename, _ = r.string()
	}
	return e, r.err
}

// number reads a string that holds an OID.
func (r *wireReader) number(what string) uint32 {
	s, _ := r.string()
	if r.err != nil {
		return 0
	}
	v, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		r.fail(fmt.Errorf("%s \"%.20s\" is no number", what, s))
	}
	return uint32(v)
}

// writeTOC writes the table of contents (WriteToc).
func writeTOC(w *wireWriter, h *Header, entries []*Entry) {
	w.int(len(entries))
	for _, e := range entries {
		writeEntry(w, h, e)
	}
}

func writeEntry(w *wireWriter, h *Header, e *Entry) {
	w.int(int(e.ID))
	if e.HasData {
		w.int(1)
	} else {
		w.int(0)
	}
	w.string(strconv.FormatUint(uint64(e.CatalogID.TableOID), 10))
	w.string(strconv.FormatUint(uint64(e.CatalogID.OID), 10))
	w.string(e.Tag)
	w.string(e.Desc)
	w.int(int(e.Section))
	w.stringOrNull(e.Defn, e.stored(setDefn, e.Defn))
	w.stringOrNull(e.DropStmt, e.stored(setDropStmt, e.DropStmt))
	w.stringOrNull(e.CopyStmt, e.stored(setCopyStmt, e.CopyStmt))
	w.stringOrNull(e.Namespace, e.stored(setNamespace, e.Namespace))
	w.stringOrNull(e.Tablespace, e.hasTablespace())
	w.stringOrNull(e.TableAM, e.stored(setTableAM, e.TableAM))
	if h.Version >= V1_16 {
		w.int(int(e.RelKind))
	}
	w.stringOrNull(e.Owner, e.stored(setOwner, e.Owner))
	w.string("false")
	for _, d := range e.Dependencies {
		w.string(strconv.Itoa(int(d)))
	}
	w.int(-1)
	if h.Format == FormatCustom {
		w.offset(e.offset)
	} else {
		w.string(e.Filename)
	}
}
