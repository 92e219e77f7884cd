package manifest

import (
	"errors"
	"fmt"

	"github.com/pghaul/pghaul/internal/digest"
)

// check says what is wrong with the shape of m.
func (m *Manifest) check() error {
	if m.Format != Format || m.Version != Version {
		return fmt.Errorf("document is %q version %d, expected %q version %d", m.Format, m.Version, Format, Version)
	}
	if m.Database == "" {
		return errors.New("database name is missing")
	}
	if m.Server.VersionNum < 80000 || m.Server.VersionNum > 9999999 {
		return fmt.Errorf("server version number %d is not valid", m.Server.VersionNum)
	}
	if m.Snapshot.Time.IsZero() {
		return errors.New("snapshot time is missing")
	}
	for i := range m.Objects {
		if m.Objects[i].Desc == "" {
			return fmt.Errorf("object %d has no kind", i+1)
		}
	}
	ids := make(map[int32]bool)
	seen := make(map[[2]Name]bool)
	for i := range m.Tables {
		t := &m.Tables[i]
		if err := once(seen, "table", t.Namespace, t.Name); err != nil {
			return err
		}
		if err := t.check(ids); err != nil {
			return fmt.Errorf("table %s: %w", qualified(t.Namespace, t.Name), err)
		}
	}
	seen = make(map[[2]Name]bool)
	for i := range m.Sequences {
		if err := once(seen, "sequence", m.Sequences[i].Namespace, m.Sequences[i].Name); err != nil {
			return err
		}
	}
	seen = make(map[[2]Name]bool)
	for i := range m.Extensions {
		if err := once(seen, "extension", "", m.Extensions[i].Name); err != nil {
			return err
		}
	}
	seen = make(map[[2]Name]bool)
	for _, r := range m.Roles {
		if err := once(seen, "role", "", r); err != nil {
			return err
		}
	}
	if m.LargeObjects.Count < 0 || m.LargeObjects.Bytes < 0 {
		return errors.New("large objects: negative count")
	}
	return checkFiles(m.Files)
}

func once(seen map[[2]Name]bool, what string, namespace, name Name) error {
	if name == "" {
		return fmt.Errorf("a %s has no name", what)
	}
	key := [2]Name{namespace, name}
	if seen[key] {
		return fmt.Errorf("%s %s is listed twice", what, qualified(namespace, name))
	}
	seen[key] = true
	return nil
}

func (t *Table) check(ids map[int32]bool) error {
	if len(t.Pieces) == 0 {
		return errors.New("no piece")
	}
	if t.CopyFormat != "" && t.CopyFormat != BinaryCopy {
		return fmt.Errorf("copy format %q is not known", t.CopyFormat)
	}
	var total digest.Sum
	for i := range t.Pieces {
		p := &t.Pieces[i]
		switch {
		case p.ID < 1:
			return fmt.Errorf("piece %d: dump ID %d is not valid", i+1, p.ID)
		case ids[p.ID]:
			return fmt.Errorf("piece %d: dump ID %d is used twice", i+1, p.ID)
		case p.Rows < 0 || p.Bytes < 0:
			return fmt.Errorf("piece %d: negative count", i+1)
		}
		ids[p.ID] = true
		if err := t.checkRange(i); err != nil {
			return err
		}
		total.Add(p.Sum())
	}
	if total != t.Sum() {
		return fmt.Errorf("digest %v is not the sum of its pieces %v", t.Sum(), total)
	}
	return nil
}

// checkRange checks that the pieces cover the table's pages, or the values of its key, without gap or overlap.
func (t *Table) checkRange(i int) error {
	p := &t.Pieces[i]
	last := i == len(t.Pieces)-1
	switch {
	case p.Pages == nil && p.Keys == nil:
		if len(t.Pieces) > 1 {
			return fmt.Errorf("piece %d: it does not say which part of the table it is", i+1)
		}
		return nil
	case p.Pages != nil && p.Keys != nil:
		return fmt.Errorf("piece %d: it is a range of pages and one of keys", i+1)
	case p.Pages != nil:
		var from uint32
		if i > 0 && t.Pieces[i-1].Pages != nil {
			from = t.Pieces[i-1].Pages.To
		}
		if r := p.Pages; r.From != from || last != (r.To == 0) || !last && r.To <= r.From {
			return fmt.Errorf("piece %d: pages %d to %d leave a gap or overlap", i+1, r.From, r.To)
		}
		return nil
	}
	var before *int64
	r := p.Keys
	if i > 0 {
		k := t.Pieces[i-1].Keys
		if k == nil || k.Column != r.Column || k.To == nil {
			return fmt.Errorf("piece %d: its range of keys does not go on from the piece before", i+1)
		}
		before = k.To
	}
	if (r.From == nil) != (before == nil) || before != nil && *r.From != *before || (r.To == nil) != last || r.From != nil && r.To != nil && *r.To <= *r.From {
		return fmt.Errorf("piece %d: the ranges of keys leave a gap or overlap", i+1)
	}
	return nil
}

// qualified joins schema and name for messages.
func qualified(namespace, name Name) string {
	if namespace == "" {
		return string(name)
	}
	return string(namespace) + "." + string(name)
}
