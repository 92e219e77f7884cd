package pgarchive

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// tarReader reads a tar archive.
type tarReader struct {
	tocOf
	in    *input
	close io.Closer

	members map[string]tarMember // a file: all of them

	// A stream:
	cur         *tarMember // the member whose data come next
	left        int64      // of its bytes
	pad         int64      // and after them
	unseen      bool       // NextData did not look at cur yet
	curID       ID         // the entry the stream stands at
	taken       bool       // its data were asked for
	group       *Entry     // the entry whose large objects come
	byFile      map[string]*Entry
	atEnd       bool
	endMark     bool        // the last block was one of zeros
	seen        map[ID]bool // entries whose data came
	attachments map[string][]byte
}

var _ Reader = (*tarReader)(nil)

func newTarReader(in *input, close io.Closer) (*tarReader, error) {
	t := &tarReader{in: in, close: close}
	if in.at != nil {
		if err := t.indexMembers(); err != nil {
			return nil, err
		}
		m, ok := t.members[tocName]
		if !ok {
			return nil, errors.New("could not find header for file \"toc.dat\" in tar archive")
		}
		return t, t.readTOC(bufio.NewReaderSize(t.member(m), 64<<10), m.size)
	}
	m, err := t.next()
	for ; err == nil && m.name != tocName; m, err = t.next() {
	}
	if err == io.EOF {
		return nil, errors.New("could not find header for file \"toc.dat\" in tar archive")
	} else if err != nil {
		return nil, err
	}
	return t, t.readTOC(bufio.NewReaderSize(&tarStream{t}, 64<<10), m.size)
}

func (t *tarReader) readTOC(r *bufio.Reader, size int64) error {
	w := &wireReader{r: r, left: size}
	var err error
	if t.header, err = readHeader(w, FormatTar); err != nil {
		return err
	}
	if t.header.Compression.Method != 0 {
		return errTarCompressed
	}
	if t.entries, err = readTOC(w, &t.header); err != nil {
		return err
	}
	if w.n != size {
		return errors.New("bytes after the table of contents")
	}
	t.index()
	t.byFile = make(map[string]*Entry)
	for _, e := range t.entries {
		if !e.HasData || e.isLargeObjects() {
			continue
		}
		t.byFile[e.Filename] = e
		if m, ok := t.members[e.Filename]; ok {
			e.DataBytes = m.size
		}
	}
	return nil
}

// indexMembers goes through the headers of a file.
func (t *tarReader) indexMembers() error {
	t.members = make(map[string]tarMember)
	var h [tarBlock]byte
	ended := false
	for pos := int64(0); pos < t.in.size; {
		if n, err := t.in.at.ReadAt(h[:], pos); n < tarBlock {
			if err == io.EOF {
				return fmt.Errorf("incomplete tar header found (%d bytes)", n)
			}
			return fmt.Errorf("could not read from input file: %w", cause(err))
		}
		pos += tarBlock
		m, ok, err := parseTarHeader(h[:])
		if err != nil {
			return fmt.Errorf("%w file position %d", err, pos-tarBlock)
		}
		if !ok {
			ended = true
			continue
		}
		m.pos = pos
		if m.size > t.in.size-pos {
			return fmt.Errorf("member \"%s\" of %d bytes goes beyond the end of the file", m.name, m.size)
		}
		if _, twice := t.members[m.name]; !twice && m.file {
			t.members[m.name] = m
		}
		pos += m.size + padding(m.size)
	}
	if !ended {
		return errTarEnd
	}
	return nil
}

// errTarEnd: an archive that was cut off between two members looks whole but for that.
var errTarEnd = fmt.Errorf("tar archive has no end mark: %w", io.ErrUnexpectedEOF)

// member reads a member of a file.
func (t *tarReader) member(m tarMember) io.Reader {
	return io.NewSectionReader(t.in.at, m.pos, m.size)
}

func (t *tarReader) Properties() Properties { return Properties{ConcurrentData: t.in.at != nil} }
func (t *tarReader) Sequential() bool       { return t.in.at == nil }

// exactly turns an end before the member's size into an error.
type exactly struct {
	r    io.Reader
	left int64
}

func (x *exactly) Read(p []byte) (int, error) {
	n, err := x.r.Read(p)
	x.left -= int64(n)
	if err == io.EOF && x.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (t *tarReader) Data(ctx context.Context, id ID) (io.ReadCloser, error) {
	e, err := t.dataEntry(id, false)
	if err != nil {
		return nil, err
	}
	if t.in.at == nil {
		if err := t.take(e); err != nil {
			return nil, fmt.Errorf("read data of entry %s: %w", e, err)
		}
		return &entryReader{ctx: ctx, e: e, r: checkEnd(e, &tarStream{t}), close: nothing}, nil
	}
	m, ok := t.members[e.Filename]
	if !ok {
		return nil, fmt.Errorf("read data of entry %s: could not find file \"%s\" in archive", e, e.Filename)
	}
	return &entryReader{ctx: ctx, e: e, r: checkEnd(e, &exactly{t.member(m), m.size}), close: nothing}, nil
}

func nothing() error { return nil }

func (t *tarReader) LargeObjects(ctx context.Context, id ID) (LargeObjectReader, error) {
	e, err := t.dataEntry(id, true)
	if err != nil {
		return nil, err
	}
	if t.in.at == nil {
		if err := t.take(e); err != nil {
			return nil, fmt.Errorf("read data of entry %s: %w", e, err)
		}
		return &tarLOs{t: t, ctx: ctx, e: e, first: true}, nil
	}
	name := fmt.Sprintf("blobs_%d.toc", id)
	m, ok := t.members[name]
	if !ok {
		name = blobsName
		m, ok = t.members[name]
	}
	if !ok {
		return nil, fmt.Errorf("read data of entry %s: could not find file \"%s\" in archive", e, name)
	}
	return &listedLOs{ctx: ctx, e: e, list: bufio.NewReader(t.member(m)), name: name,
		open: func(name string) (io.Reader, func() error, error) {
			m, ok := t.members[name]
			if !ok {
				return nil, nil, fmt.Errorf("could not find file \"%s\" in archive", name)
			}
			return &exactly{t.member(m), m.size}, nothing, nil
		}}, nil
}

// next passes over what is left of the current member and reads the next header; io.EOF at the end.
func (t *tarReader) next() (*tarMember, error) {
	if t.atEnd {
		return nil, io.EOF
	}
	if err := t.in.skip(t.left + t.pad); err != nil {
		return nil, fmt.Errorf("read tar archive: %w", err)
	}
	t.cur, t.left, t.pad = nil, 0, 0
	var h [tarBlock]byte
	for {
		n, err := io.ReadFull(t.in, h[:])
		switch {
		case err == io.EOF && !t.endMark:
			return nil, errTarEnd
		case err == io.EOF:
			t.atEnd = true
			return nil, io.EOF
		case err == io.ErrUnexpectedEOF:
			return nil, fmt.Errorf("incomplete tar header found (%d bytes)", n)
		case err != nil:
			return nil, fmt.Errorf("could not read from input file: %w", cause(err))
		}
		m, ok, err := parseTarHeader(h[:])
		if err != nil {
			return nil, fmt.Errorf("%w file position %d", err, t.in.pos-tarBlock)
		}
		t.endMark = !ok
		if ok {
			t.cur, t.left, t.pad = &m, m.size, padding(m.size)
			return t.cur, nil
		}
	}
}

// tarStream reads the current member of a stream.
type tarStream struct{ t *tarReader }

func (s *tarStream) Read(p []byte) (int, error) {
	if s.t.left == 0 {
		return 0, io.EOF
	}
	n, err := s.t.in.Read(p[:min(int64(len(p)), s.t.left)])
	s.t.left -= int64(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
		if n > 0 {
			err = nil
		}
	}
	return n, err
}

func (t *tarReader) take(e *Entry) error {
	if t.curID != e.ID || t.taken {
		return errors.New("the archive cannot seek, and this is not where it stands")
	}
	t.taken = true
	return nil
}

// blobOID returns the OID in the name of a large object's member.
func blobOID(name string) (uint32, bool) {
	s, ok := strings.CutPrefix(name, "blob_")
	if !ok {
		return 0, false
	}
	s, ok = strings.CutSuffix(s, ".dat")
	v, err := strconv.ParseUint(s, 10, 32)
	return uint32(v), ok && err == nil && v != 0
}

// blobsEntry finds the entry a large object's member belongs to: in 1.16 the tag begins with the first OID.
func (t *tarReader) blobsEntry(oid uint32) *Entry {
	var only *Entry
	n := 0
	for _, e := range t.entries {
		if !e.isLargeObjects() {
			continue
		}
		if first, _, _ := strings.Cut(e.Tag, ".."); first == strconv.FormatUint(uint64(oid), 10) {
			return e
		}
		only = e
		n++
	}
	if n == 1 {
		return only
	}
	return nil
}

func (t *tarReader) NextData(ctx context.Context) (ID, error) {
	if t.in.at != nil {
		return 0, errNotSequential
	}
	t.curID, t.taken = 0, false
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		m := t.cur
		if !t.unseen {
			var err error
			if m, err = t.next(); err == io.EOF {
				if missing := t.missing(t.seen); missing != nil {
					err = missing
				}
			}
			if err != nil {
				return 0, err
			}
		}
		t.unseen = false
		if oid, ok := blobOID(m.name); ok {
			if t.group != nil {
				continue // another of a group that is passed over
			}
			if e := t.blobsEntry(oid); e != nil {
				t.group = e
				return t.stand(e), nil
			}
			continue
		}
		group := t.group
		t.group = nil
		if e := t.listedEntry(m.name); e != nil {
			if group == nil { // no large object came before: there are none
				return t.stand(e), nil
			}
			continue
		}
		if e := t.byFile[m.name]; e != nil {
			return t.stand(e), nil
		}
		if err := t.keepAttachment(m); err != nil {
			return 0, err
		}
	}
}

// stand notes that the stream stands at the data of e.
func (t *tarReader) stand(e *Entry) ID {
	if t.seen == nil {
		t.seen = make(map[ID]bool)
	}
	t.seen[e.ID] = true
	t.curID = e.ID
	return e.ID
}

// listedEntry returns the entry whose list of large objects the member is.
func (t *tarReader) listedEntry(name string) *Entry {
	if !strings.HasPrefix(name, "blobs") {
		return nil
	}
	for _, e := range t.entries {
		if e.isLargeObjects() && (name == blobsName || name == fmt.Sprintf("blobs_%d.toc", e.ID)) {
			return e
		}
	}
	return nil
}

func (t *tarReader) keepAttachment(m *tarMember) error {
	if !m.file || checkAttachmentName(m.name) != nil {
		return nil
	}
	b, err := io.ReadAll(io.LimitReader(&tarStream{t}, maxAttachment))
	if err != nil {
		return fmt.Errorf("read attachment %s: %w", m.name, err)
	}
	if t.attachments == nil {
		t.attachments = make(map[string][]byte)
	}
	if _, twice := t.attachments[m.name]; !twice {
		t.attachments[m.name] = b
	}
	return nil
}

// tarLOs are the large objects of a stream: the members up to one that is none.
type tarLOs struct {
	t     *tarReader
	ctx   context.Context
	e     *Entry
	first bool
	err   error
}

func (l *tarLOs) Next() (uint32, io.Reader, error) {
	if l.err == nil {
		l.err = l.ctx.Err()
	}
	if l.err != nil {
		return 0, nil, l.err
	}
	m := l.t.cur
	if !l.first {
		if m, l.err = l.t.next(); l.err != nil {
			return 0, nil, l.err
		}
	}
	l.first = false
	oid, ok := blobOID(m.name)
	if !ok {
		l.t.unseen = true
		l.err = io.EOF
		return 0, nil, l.err
	}
	return oid, &entryReader{ctx: l.ctx, e: l.e, r: &tarStream{l.t}, close: nothing}, nil
}

func (l *tarLOs) Close() error { return nil }

func (t *tarReader) Attachment(name string) ([]byte, error) {
	if err := checkAttachmentName(name); err != nil {
		return nil, err
	}
	if b, ok := t.attachments[name]; ok {
		return b, nil
	}
	m, ok := t.members[name]
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, ErrNoAttachment)
	}
	b, err := io.ReadAll(io.LimitReader(&exactly{t.member(m), m.size}, maxAttachment))
	if err != nil {
		return nil, fmt.Errorf("read attachment %s: %w", name, err)
	}
	return b, nil
}

func (t *tarReader) Close() error {
	if t.close == nil {
		return nil
	}
	return t.close.Close()
}
