package pgarchive

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// timeLayout is PGDUMP_STRFTIME_FMT.
const timeLayout = "2006-01-02 15:04:05 MST"

// sanitize makes a name fit for a comment or list; the string whose bit is f may be NULL.
func (e *Entry) sanitize(f stringSet, s string, hyphen bool) string {
	if !e.stored(f, s) {
		return sqltext.SanitizeLine("", hyphen)
	}
	if s == "" {
		return ""
	}
	return sqltext.SanitizeLine(s, hyphen)
}

// WriteList writes what pg_restore -l prints: a head about the archive, and a line
// for each entry that o selects, or with o.Verbose for all, and their dependencies.
func WriteList(w io.Writer, h Header, entries []*Entry, o *ScriptOptions) error {
	sel, err := o.Select(entries)
	if err != nil && !o.StrictNames {
		return err
	}
	strict := err
	if strict != nil { // the list comes first, then the complaint
		loose := o.Selection
		loose.StrictNames = false
		if sel, err = loose.Select(entries); err != nil {
			return err
		}
	}
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, ";\n; Archive created at %s\n", h.Created.Format(timeLayout))
	fmt.Fprintf(b, ";     dbname: %s\n;     TOC Entries: %d\n;     Compression: %s\n",
		sqltext.SanitizeLine(h.Database, false), len(entries), h.Compression.Method)
	fmt.Fprintf(b, ";     Dump Version: %s\n;     Format: %s\n;     Integer: %d bytes\n;     Offset: %d bytes\n",
		h.Version, strings.ToUpper(h.Format.String()), h.IntSize, h.OffSize)
	if h.ServerVersion != "" {
		fmt.Fprintf(b, ";     Dumped from database version: %s\n", sqltext.SanitizeLine(h.ServerVersion, false))
	}
	if h.DumpVersion != "" {
		fmt.Fprintf(b, ";     Dumped by pg_dump version: %s\n", sqltext.SanitizeLine(h.DumpVersion, false))
	}
	b.WriteString(";\n;\n; Selected TOC Entries:\n;\n")
	for _, e := range entries {
		if o.Verbose || sel.Wanted(e.ID)&wantSomething != 0 {
			fmt.Fprintf(b, "%d; %d %d %s %s %s %s\n", e.ID, e.CatalogID.TableOID, e.CatalogID.OID,
				sqltext.SanitizeLine(e.Desc, false), e.sanitize(setNamespace, e.Namespace, true), sqltext.SanitizeLine(e.Tag, false),
				e.sanitize(setOwner, e.Owner, false))
		}
		if o.Verbose && len(e.Dependencies) > 0 {
			b.WriteString(";\tdepends on:")
			for _, d := range e.Dependencies {
				fmt.Fprintf(b, " %d", d)
			}
			b.WriteByte('\n')
		}
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write list: %w", err)
	}
	return strict
}

// maxListLine bounds a line of a list file; names are at most 63 bytes, but function tags hold many.
const maxListLine = 16 << 20

// ParseList reads a list file, as pg_restore -L takes it: the IDs at the beginning of
// its lines choose entries and give their order; what follows ";" is comment.
// It returns the entries with the chosen ones moved to the end in that order, and
// the chosen IDs for Selection.IDs. Lines without a usable ID are given to warn (SortTocFromFile).
func ParseList(r io.Reader, entries []*Entry, warn func(msg string)) ([]*Entry, map[ID]bool, error) {
	byID := make(map[ID]*Entry, len(entries))
	maxID := ID(0)
	for _, e := range entries {
		byID[e.ID] = e
		maxID = max(maxID, e.ID)
	}
	ids := make(map[ID]bool)
	var chosen []*Entry
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, maxListLine)
	for sc.Scan() {
		line, _, _ := strings.Cut(sc.Text(), ";")
		if strings.Trim(line, " \t\r\n") == "" {
			continue
		}
		id, ok := leadingNumber(line)
		if !ok || id <= 0 || id > int64(maxID) || ids[ID(id)] {
			if warn != nil {
				warn("line ignored: " + line)
			}
			continue
		}
		e := byID[ID(id)]
		if e == nil {
			return nil, nil, fmt.Errorf("could not find entry for ID %d", id)
		}
		ids[e.ID] = true
		chosen = append(chosen, e)
	}
	if err := sc.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = errors.New("line too long")
		}
		return nil, nil, fmt.Errorf("read TOC file: %w", err)
	}
	rest := slices.DeleteFunc(slices.Clone(entries), func(e *Entry) bool { return ids[e.ID] })
	return append(rest, chosen...), ids, nil
}

// leadingNumber reads the number a line begins with, as strtol does.
func leadingNumber(s string) (int64, bool) {
	s = strings.TrimLeft(s, " \t\n\v\f\r")
	end := 0
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || end == 0 && (s[0] == '-' || s[0] == '+')) {
		end++
	}
	n, err := strconv.ParseInt(s[:end], 10, 64)
	return n, err == nil
}
