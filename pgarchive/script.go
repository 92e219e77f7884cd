package pgarchive

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// restrictChars are what a \restrict key may hold (dumputils.c).
const restrictChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// NewRestrictKey makes a random key for psql's \restrict: 63 letters and digits.
func NewRestrictKey() string {
	var b [63]byte
	rand.Read(b[:]) // never fails
	for i, c := range b {
		b[i] = restrictChars[int(c)%len(restrictChars)]
	}
	return string(b[:])
}

// CheckRestrictKey refuses a key that is empty or holds anything but letters and digits.
func CheckRestrictKey(key string) error {
	if key == "" || strings.Trim(key, restrictChars) != "" {
		return errors.New("invalid restrict key")
	}
	return nil
}

// WriteScript writes the SQL script that restores what o selects of the archive: what pg_restore -f prints.
// Data are read in the order of the script, so a sequential archive must have been written in that order, as pg_dump does.
func WriteScript(ctx context.Context, w io.Writer, r Reader, o *ScriptOptions) error {
	return WriteScriptOrder(ctx, w, r, r.Entries(), o)
}

// WriteScriptOrder is WriteScript with the entries in another order, as ParseList returns them.
func WriteScriptOrder(ctx context.Context, w io.Writer, r Reader, entries []*Entry, o *ScriptOptions) error {
	s, err := newScript(w, r.Header(), entries, o)
	if err != nil {
		return err
	}
	for _, e := range s.order {
		if e.HasData && s.sel.Wanted(e.ID)&WantData != 0 && binaryCopy(e) {
			return fmt.Errorf("entry %s holds binary COPY data, which cannot become a script: restore it with -d", e)
		}
	}
	if err := s.begin(); err != nil {
		return err
	}
	for e, ok := s.nextData(); ok; e, ok = s.nextData() {
		if err := s.copyData(ctx, r, e); err != nil {
			return err
		}
		if err := s.endEntry(); err != nil {
			return err
		}
	}
	return s.end()
}

// BinaryCopy says that the entry's data are in COPY's binary form. Such data cannot stand in a script, and only a server
// of the source's major version is sure to read them.
func (e *Entry) BinaryCopy() bool { return binaryCopy(e) }

// binaryCopy reports whether the entry's data are in COPY's binary form.
func binaryCopy(e *Entry) bool {
	return strings.HasSuffix(strings.TrimRight(e.CopyStmt, ";\n "), "(FORMAT binary)")
}

// copyData puts the data of e where the script is.
func (s *script) copyData(ctx context.Context, r Reader, e *Entry) error {
	if r.Sequential() {
		for {
			id, err := r.NextData(ctx)
			if err == io.EOF {
				return fmt.Errorf("could not find block ID %d in archive -- possibly due to out-of-order restore request, "+
					"which cannot be handled due to non-seekable input file", e.ID)
			} else if err != nil {
				return err
			}
			if id == e.ID {
				break
			}
			if s.laterData(id) {
				return fmt.Errorf("restoring data out of order is not supported in this archive format: "+
					"the data of entry %d are required, but come before those of entry %s in the archive file", id, e)
			}
		}
	}
	if e.isLargeObjects() {
		los, err := r.LargeObjects(ctx, e.ID)
		if err != nil {
			return err
		}
		defer los.Close()
		w := s.largeObjects()
		for {
			oid, data, err := los.Next()
			if err == io.EOF {
				return w.Close()
			} else if err != nil {
				return err
			}
			lo, err := w.Create(oid)
			if err != nil {
				return err
			}
			if _, err := io.Copy(lo, data); err != nil {
				return err
			}
			if err := lo.Close(); err != nil {
				return err
			}
		}
	}
	data, err := r.Data(ctx, e.ID)
	if err != nil {
		return err
	}
	defer data.Close()
	w := s.data(e)
	buf := copyBuffers.Get().(*[copyBuffer]byte)
	defer copyBuffers.Put(buf)
	if _, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{data}, buf[:]); err != nil {
		return err
	}
	return w.Close()
}

// script is a script being written. It goes through the entries in their order, and stops at each
// that has data for someone to write them.
type script struct {
	w       *bufio.Writer
	header  Header
	o       *ScriptOptions
	key     string // of \restrict, empty if none
	entries []*Entry
	order   []*Entry
	next    int    // in order
	cur     *Entry // whose data are being written
	sel     *Selected
	ses     *Session
	count   int  // statements since the last COMMIT, for TransactionSize
	byFile  bool // restore.sql of a tar archive: data stand in files
}

// newScript starts a script; with the archive's header and its entries in the order of the restore.
func newScript(w io.Writer, h Header, entries []*Entry, o *ScriptOptions) (*script, error) {
	sel, err := o.Select(entries)
	if err != nil {
		return nil, err
	}
	ses, err := NewSession(entries, sel, o)
	if err != nil {
		return nil, err
	}
	s := &script{w: bufio.NewWriterSize(w, 256<<10), header: h, o: o, entries: entries, sel: sel, ses: ses}
	s.order = sel.Order(entries)
	if !o.NoRestrict {
		if s.key = o.RestrictKey; s.key == "" {
			s.key = NewRestrictKey()
		}
		if err := CheckRestrictKey(s.key); err != nil {
			return nil, err
		}
	}
	if o.ServerVersion != "" {
		s.header.ServerVersion = o.ServerVersion
	}
	if o.DumpVersion != "" {
		s.header.DumpVersion = o.DumpVersion
	}
	if !o.Created.IsZero() {
		s.header.Created = o.Created
	}
	if o.DumpSchema && !sel.Schema {
		o.info("implied no-schema restore")
	}
	return s, nil
}

func (s *script) print(parts ...string) {
	for _, p := range parts {
		s.w.WriteString(p)
	}
}

func (s *script) pieces(ps []piece) {
	for _, p := range ps {
		s.print(p.sql, p.space)
	}
}

// err returns the first error of the output.
func (s *script) err() error {
	if _, err := s.w.Write(nil); err != nil {
		return fmt.Errorf("could not write to output file: %w", err)
	}
	return nil
}

// begin writes the head of the script and, with Clean, the DROP statements.
func (s *script) begin() error {
	s.print(scriptHead)
	if s.key != "" {
		s.print("\\restrict ", s.key, "\n\n")
	}
	if v := s.header.ServerVersion; v != "" {
		s.print("-- Dumped from database version ", sqltext.SanitizeLine(v, false), "\n")
	}
	if v := s.header.DumpVersion; v != "" {
		s.print("-- Dumped by pg_dump version ", sqltext.SanitizeLine(v, false), "\n")
	}
	s.print("\n")
	if s.o.Verbose {
		s.timestamp("Started on", s.header.Created)
	}
	if s.o.SingleTransaction {
		s.print("BEGIN;\n\n")
	}
	s.start()
	s.ses.drops(s.entries, s.dropEntry)
	return s.err()
}

func (s *script) timestamp(what string, t time.Time) {
	s.print("-- ", what, " ", t.Format(timeLayout), "\n\n")
}

// start writes what begins every session of the script.
func (s *script) start() {
	for _, stmt := range s.ses.Start() {
		s.print(stmt, "\n")
	}
	if s.o.TransactionSize > 0 {
		s.print("\nBEGIN;\n")
		s.count = 0
	}
	s.print("\n")
}

func (s *script) dropEntry(e *Entry, p []piece) {
	n := s.o.TransactionSize
	if n > 0 && isDatabase(e) {
		s.print("COMMIT;\n")
		s.pieces(p)
		s.print("BEGIN;\n")
		s.count = 0
		return
	}
	if e.Desc == descBlobMetadata {
		s.perLargeObject(p)
	} else {
		s.pieces(p)
	}
	if s.count++; n > 0 && s.count >= n {
		s.print("COMMIT;\nBEGIN;\n")
		s.count = 0
	}
}

// perLargeObject writes one statement per large object, and ends transactions in between.
func (s *script) perLargeObject(ps []piece) {
	for i, p := range ps {
		s.print(p.sql, "\n")
		if p.sql != "" {
			s.step(1)
		}
		if i == len(ps)-1 || p.space == "\n\n" {
			s.print("\n")
		}
	}
}

// step counts statements and ends the transaction when there are enough.
func (s *script) step(n int) {
	if s.o.TransactionSize <= 0 {
		return
	}
	if s.count += n; s.count >= s.o.TransactionSize {
		s.print("COMMIT;\nBEGIN;\n\n")
		s.count = 0
	}
}

// nextData writes the entries up to the next whose data are wanted, and what comes
// before its data. The data follow, then endEntry.
func (s *script) nextData() (*Entry, bool) {
	for s.next < len(s.order) {
		e := s.order[s.next]
		s.next++
		if s.entry(e) {
			s.cur = e
			return e, true
		}
	}
	return nil, false
}

// laterData reports whether the data of id will be needed after the current entry.
func (s *script) laterData(id ID) bool {
	for _, e := range s.order[s.next:] {
		if e.ID == id {
			return e.HasData && s.sel.Wanted(id)&WantData != 0
		}
	}
	return false
}

// entry writes an entry (restore_toc_entry) and reports whether data are to follow.
func (s *script) entry(e *Entry) (data bool) {
	w := s.sel.Wanted(e.ID)
	if e.Desc == "WARNING" && e.Defn != "" {
		s.o.warn("warning from original dump file: %s", e.Defn)
	}
	defined := false
	if w&WantSchema != 0 {
		if isDatabase(e) && s.o.TransactionSize > 0 {
			s.print("COMMIT;\n\n")
		}
		if e.Namespace != "" {
			s.o.info("creating %s \"%s.%s\"", e.Desc, e.Namespace, e.Tag)
		} else {
			s.o.info("creating %s \"%s\"", e.Desc, e.Tag)
		}
		s.define(e, "")
		defined = true
		if isDatabase(e) {
			s.o.info("connecting to new database \"%s\"", e.Tag)
			s.reconnect(e.Tag)
		}
	}
	if w&WantData != 0 {
		if e.HasData {
			s.define(e, "Data for ")
			if e.isLargeObjects() || e.Desc == "BLOB COMMENTS" {
				s.o.info("processing %s", e.Desc)
			} else {
				s.o.info("processing data for table \"%s.%s\"", e.Namespace, e.Tag)
			}
			s.pieces(s.ses.beginData(e))
			if !e.isLargeObjects() {
				s.print(e.CopyStmt)
			}
			if s.byFile {
				s.dataFile(e)
				s.cur = e
				s.finishEntry(w)
				return false
			}
			return true
		}
		if !defined {
			s.o.info("executing %s %s", e.Desc, e.Tag)
			s.define(e, "")
		}
	}
	s.finishEntry(w)
	return false
}

// endEntry writes what comes after the data of the entry nextData stopped at.
func (s *script) endEntry() error {
	s.finishEntry(s.sel.Wanted(s.cur.ID))
	return s.err()
}

func (s *script) finishEntry(w Wanted) {
	if e := s.cur; e != nil {
		s.pieces(s.ses.endData(e))
		s.cur = nil
	}
	if w&WantStats != 0 {
		s.define(s.order[s.next-1], "Statistics for ")
	}
	if w&wantSomething != 0 {
		s.step(1)
	}
}

// define writes an entry's comment and its definition (_printTocEntry). The data's definition is only a remark.
func (s *script) define(e *Entry, prefix string) {
	s.pieces(s.ses.prepare(e))
	s.print("--\n")
	if s.o.Verbose {
		fmt.Fprintf(s.w, "-- TOC entry %d (class %d OID %d)\n", e.ID, e.CatalogID.TableOID, e.CatalogID.OID)
		if len(e.Dependencies) > 0 {
			s.print("-- Dependencies:")
			for _, d := range e.Dependencies {
				fmt.Fprintf(s.w, " %d", d)
			}
			s.print("\n")
		}
	}
	owner := sqltext.SanitizeLine("", true)
	if !s.o.NoOwner {
		owner = e.sanitize(setOwner, e.Owner, true)
	}
	s.print("-- ", prefix, "Name: ", sqltext.SanitizeLine(e.Tag, false), "; Type: ", sqltext.SanitizeLine(e.Desc, false),
		"; Schema: ", e.sanitize(setNamespace, e.Namespace, true), "; Owner: ", owner)
	if e.Tablespace != "" && !s.o.NoTablespaces {
		s.print("; Tablespace: ", sqltext.SanitizeLine(e.Tablespace, false))
	}
	s.print("\n")
	if s.o.Verbose {
		switch s.header.Format {
		case FormatCustom:
			fmt.Fprintf(s.w, "-- Data Pos: %d\n", e.offset.pos)
		case FormatDirectory, FormatTar:
			if e.Filename != "" {
				s.print("-- File: ", sqltext.SanitizeLine(e.Filename, false), "\n")
			}
		}
	}
	s.print("--\n\n")
	p := s.ses.define(e)
	if e.Desc == descBlobMetadata || isLargeObjectsACL(e) {
		s.perLargeObject(p)
		return
	}
	s.pieces(p)
	if s.o.TransactionSize > 0 && e.Desc != "FUNCTION" && e.Desc != "PROCEDURE" {
		s.count += max(strings.Count(e.Defn, ";")-1, 0)
	}
}

// reconnect goes on in another database (_reconnectToDB).
func (s *script) reconnect(database string) {
	cmd, err := sqltext.PsqlConnect(sqltext.Quoter{All: s.o.QuoteAll}, database)
	if err != nil {
		s.o.warn("%s", err)
		return
	}
	if s.key != "" {
		s.print("\\unrestrict ", s.key, "\n")
	}
	s.print(cmd)
	if s.key != "" {
		s.print("\\restrict ", s.key, "\n\n")
	}
	s.ses.Reset()
	s.start()
}

// end writes what is left and the foot of the script.
func (s *script) end() error {
	if e, ok := s.nextData(); ok {
		return fmt.Errorf("write script: the data of entry %s are missing", e)
	}
	if s.o.SingleTransaction || s.o.TransactionSize > 0 {
		s.print("COMMIT;\n\n")
	}
	if s.o.Verbose {
		s.timestamp("Completed on", time.Now())
	}
	s.print("--\n-- PostgreSQL database dump complete\n--\n\n")
	if s.key != "" {
		s.print("\\unrestrict ", s.key, "\n\n")
	}
	if err := s.w.Flush(); err != nil {
		return fmt.Errorf("could not write to output file: %w", err)
	}
	return nil
}

// data returns the writer of an entry's data. COPY data that lack their end mark get it.
func (s *script) data(e *Entry) io.WriteCloser { return &scriptData{s: s, copy: e.CopyStmt != ""} }

type scriptData struct {
	s    *script
	copy bool
	tail copyTail
}

func (d *scriptData) Write(p []byte) (int, error) {
	if d.copy {
		d.tail.add(p)
	}
	n, err := d.s.w.Write(p)
	if err != nil {
		err = fmt.Errorf("could not write to output file: %w", err)
	}
	return n, err
}

func (d *scriptData) Close() error {
	if d.copy {
		d.s.print(d.tail.missing())
	}
	return d.s.err()
}

// loBuffer is how many bytes of a large object go into one statement (LOBBUFSIZE in pg_backup_archiver.h).
const loBuffer = 16 << 10

// largeObjects returns a writer that makes statements of large objects (StartRestoreLOs and the rest of that family).
func (s *script) largeObjects() *scriptLOs {
	w := &scriptLOs{s: s, own: !s.o.SingleTransaction && s.o.TransactionSize <= 0}
	if w.own {
		s.print("BEGIN;\n\n")
	}
	return w
}

type scriptLOs struct {
	s   *script
	own bool // the transaction
	n   int
}

func (w *scriptLOs) Create(oid uint32) (io.WriteCloser, error) {
	w.n++
	w.s.o.info("restoring large object with OID %d", oid)
	fmt.Fprintf(w.s.w, "SELECT pg_catalog.lo_open('%d', 131072);\n", oid)
	return &scriptLO{s: w.s}, w.s.err()
}

func (w *scriptLOs) Close() error {
	if w.own {
		w.s.print("COMMIT;\n\n")
	}
	if w.n == 1 {
		w.s.o.info("restored 1 large object")
	} else {
		w.s.o.info("restored %d large objects", w.n)
	}
	return w.s.err()
}

type scriptLO struct {
	s   *script
	buf []byte
}

func (lo *scriptLO) Write(p []byte) (int, error) {
	n := len(p)
	for len(lo.buf)+len(p) > loBuffer {
		k := loBuffer - len(lo.buf)
		lo.buf = append(lo.buf, p[:k]...)
		p = p[k:]
		lo.flush()
	}
	lo.buf = append(lo.buf, p...)
	return n, lo.s.err()
}

func (lo *scriptLO) flush() {
	if len(lo.buf) > 0 {
		lo.s.print("SELECT pg_catalog.lowrite(0, ", sqltext.ByteaLiteral(lo.buf, lo.s.ses.set.StdStrings), ");\n")
		lo.buf = lo.buf[:0]
	}
}

func (lo *scriptLO) Close() error {
	lo.flush()
	lo.s.print("SELECT pg_catalog.lo_close(0);\n\n")
	return lo.s.err()
}

// dataFile writes how restore.sql of a tar archive takes the data from their file.
func (s *script) dataFile(e *Entry) {
	const stdin = " FROM stdin;\n"
	if e.CopyStmt == "" {
		s.print("\\i $$PATH$$/", e.Filename, "\n\n")
		return
	}
	s.print("\\.\n", strings.TrimSuffix(e.CopyStmt, stdin), " FROM '$$PATH$$/", e.Filename, "';\n\n")
}
