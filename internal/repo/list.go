package repo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/seal"
	"github.com/pghaul/pghaul/internal/store"
)

// listsAtOnce is how many folders are listed at a time.
const listsAtOnce = 8

// Databases returns the names of the databases that have backups or rests of such, sorted.
func (r *Repo) Databases(ctx context.Context) ([]string, error) {
	folders, err := r.s.Folders(ctx, "")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range folders {
		if name, ok := databaseOf(f); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// List returns the backups of a database, or of all if it is "", complete or not, by
// database and then oldest first.
func (r *Repo) List(ctx context.Context, database string) ([]Backup, error) {
	databases := []string{database}
	if database == "" {
		var err error
		if databases, err = r.Databases(ctx); err != nil {
			return nil, err
		}
	}
	var all []Backup
	for _, d := range databases {
		ids, err := r.s.Folders(ctx, folderOf(d))
		if err != nil {
			return nil, err
		}
		slices.Sort(ids)
		for _, id := range ids {
			if t, ok := ParseID(id); ok {
				all = append(all, Backup{Database: d, ID: id, Time: t})
			}
		}
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(listsAtOnce)
	for i := range all {
		g.Go(func() error {
			c, err := r.contents(gctx, all[i])
			if err == nil {
				c.describe(&all[i])
			}
			return err
		})
	}
	return all, g.Wait()
}

// contents are the objects in a backup's folder by name.
type contents map[string]store.Info

func (r *Repo) contents(ctx context.Context, b Backup) (contents, error) {
	c := make(contents)
	folder := b.folder()
	for o, err := range r.s.List(ctx, folder) {
		if err != nil {
			return nil, err
		}
		c[strings.TrimPrefix(o.Key, folder+"/")] = o
	}
	return c, nil
}

// describe fills in what the objects tell.
func (c contents) describe(b *Backup) {
	*b = Backup{Database: b.Database, ID: b.ID, Time: b.Time}
	sealed := false
	for name, o := range c {
		if d, ok := parseDrill(name); ok {
			b.Drills = append(b.Drills, d)
			continue
		}
		b.Objects++
		b.Bytes += o.Size
		if o.Modified.After(b.Modified) {
			b.Modified = o.Modified
		}
		b.Complete = b.Complete || name == ManifestName || name == sealedManifest
		b.Signed = b.Signed || name == SignatureName
		sealed = sealed || strings.HasSuffix(name, seal.Suffix)
	}
	_, clear := c[ManifestName]
	b.Encrypted = sealed && !clear
	slices.SortFunc(b.Drills, func(x, y Drill) int { return x.Time.Compare(y.Time) })
}

// missing says which of the files are not there, or not in their size.
func (c contents) missing(files []manifest.File) error {
	var bad []string
	for _, f := range files {
		switch o, ok := c[f.Name]; {
		case !ok:
			bad = append(bad, f.Name+" is missing")
		case o.Size != f.Bytes:
			bad = append(bad, fmt.Sprintf("%s has %d bytes, %d were put", f.Name, o.Size, f.Bytes))
		}
	}
	if len(bad) == 0 {
		return nil
	}
	const shown = 3
	text := strings.Join(bad[:min(len(bad), shown)], ", ")
	if len(bad) > shown {
		text += fmt.Sprintf(", and %d more", len(bad)-shown)
	}
	return fmt.Errorf("%w: %s", store.ErrDamaged, text)
}

// ErrNoBackup says that there is no such backup.
var ErrNoBackup = errors.New("no such backup")

// Find returns the backup that the selector names: "latest" or "" is the newest complete one, "ID"
// the one of that ID, "database" the newest complete one of that database; "database/latest"
// and "database/ID" name both. The database must be named if there are several.
func (r *Repo) Find(ctx context.Context, selector string) (Backup, error) {
	database, id := splitSelector(selector)
	if database == "" {
		names, err := r.Databases(ctx)
		if err != nil {
			return Backup{}, err
		}
		switch len(names) {
		case 0:
			return Backup{}, fmt.Errorf("%w: there is none in %s", ErrNoBackup, r.s)
		case 1:
			database = names[0]
		default:
			return Backup{}, fmt.Errorf("%s has backups of %d databases: name one, as in --snapshot %s; there are %s",
				r.s, len(names), shell(names[0]+"/latest"), strings.Join(names, ", "))
		}
	}
	if id != latest {
		t, _ := ParseID(id)
		b := Backup{Database: database, ID: id, Time: t}
		c, err := r.contents(ctx, b)
		if err != nil {
			return b, err
		}
		if len(c) == 0 {
			return b, fmt.Errorf("%w: there is no %s in %s", ErrNoBackup, b, r.s)
		}
		c.describe(&b)
		return b, nil
	}
	all, err := r.List(ctx, database)
	if err != nil {
		return Backup{}, err
	}
	for _, b := range slices.Backward(all) {
		if b.Complete {
			return b, nil
		}
	}
	if len(all) > 0 {
		return Backup{}, fmt.Errorf("%w: of database %s there are only incomplete ones in %s", ErrNoBackup, database, r.s)
	}
	return Backup{}, fmt.Errorf("%w: there is none of database %s in %s", ErrNoBackup, database, r.s)
}

const latest = "latest"

func splitSelector(s string) (database, id string) {
	if i := strings.LastIndexByte(s, '/'); i >= 0 {
		last := s[i+1:]
		if _, ok := ParseID(last); ok || last == latest {
			return s[:i], last
		}
	}
	if _, ok := ParseID(s); ok {
		return "", s
	}
	if s == "" || s == latest {
		return "", latest
	}
	return s, latest
}

// Delete removes a backup: its manifest first, so that what is left when it is interrupted is no backup.
func (r *Repo) Delete(ctx context.Context, b Backup) error {
	c, err := r.contents(ctx, b)
	if err != nil {
		return err
	}
	var keys []string
	for name := range c {
		keys = append(keys, b.key(name))
	}
	slices.Sort(keys)
	for _, name := range []string{ManifestName, sealedManifest} {
		if _, ok := c[name]; ok {
			if err := r.s.Delete(ctx, b.key(name)); err != nil {
				return err
			}
		}
	}
	if err := r.s.Delete(ctx, keys...); err != nil {
		return err
	}
	_, err = r.s.Sweep(ctx, b.folder(), r.now())
	return err
}
