package files

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
)

// VerifyOptions say how much is read. The zero value reads all packs, two at a time.
type VerifyOptions struct {
	Percent float64 // of the bytes, in packs chosen anew at random each time, at least one; 0 and 100: all
	Jobs    int     // 0: 2

	// Verified is told of each file as it was read; nil is none. It is called from several goroutines.
	Verified func(name string, bytes int64)
}

// Verification is what Verify found.
type Verification struct {
	Files     int      `json:"files"` // of the document
	Bytes     int64    `json:"bytes"`
	Read      int      `json:"files_read"`
	BytesRead int64    `json:"bytes_read"`
	Problems  []string `json:"problems"`
}

// Verify reads files out of their packs and compares them with the document. Damage is a problem of the result; an error means that
// something could not be read.
func Verify(ctx context.Context, src Source, d *Document, o VerifyOptions) (*Verification, error) {
	v := &Verification{Files: len(d.Files), Bytes: d.Bytes, Problems: []string{}}
	if o.Jobs <= 0 {
		o.Jobs = 2
	}
	packs := d.packs()
	var mu sync.Mutex
	problem := func(format string, args ...any) {
		mu.Lock()
		v.Problems = append(v.Problems, fmt.Sprintf(format, args...))
		mu.Unlock()
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(o.Jobs)
	for _, name := range sample(packs, d.Bytes, o.Percent) {
		wanted := packs[name]
		g.Go(func() error {
			err := readPack(src, name, func(path string, size int64, body io.Reader) error {
				if err := ctx.Err(); err != nil {
					return err
				}
				f := wanted[path]
				delete(wanted, path)
				if f == nil {
					problem("%s: %q is not listed, or is there twice", name, path)
					return nil
				}
				h := sha256.New()
				if _, err := io.Copy(h, body); err != nil {
					return err
				}
				mu.Lock()
				v.Read++
				v.BytesRead += size
				mu.Unlock()
				if size != f.Bytes || [sha256.Size]byte(h.Sum(nil)) != f.SHA256 {
					problem("%s is not what was copied", f)
				}
				if o.Verified != nil {
					o.Verified(f.String(), size)
				}
				return nil
			})
			switch {
			case err != nil && ctx.Err() != nil:
				return ctx.Err()
			case isDamage(err):
				problem("%v", err)
			case err != nil:
				return err
			default:
				for _, f := range wanted {
					problem("%s is missing in %s", f, name)
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("verify files: %w", err)
	}
	slices.Sort(v.Problems)
	return v, nil
}

// packs returns the files by pack and name.
func (d *Document) packs() map[string]map[string]*File {
	packs := make(map[string]map[string]*File)
	for i := range d.Files {
		f := &d.Files[i]
		if packs[f.Pack] == nil {
			packs[f.Pack] = make(map[string]*File)
		}
		packs[f.Pack][f.Path] = f
	}
	return packs
}

// sample returns the names of packs with at least so many percent of the bytes, sorted if that is all.
func sample(packs map[string]map[string]*File, total int64, percent float64) []string {
	names := make([]string, 0, len(packs))
	for name := range packs {
		names = append(names, name)
	}
	slices.Sort(names)
	if percent <= 0 || percent >= 100 {
		return names
	}
	rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	var sum int64
	for i, name := range names {
		for _, f := range packs[name] {
			sum += f.Bytes
		}
		if float64(sum) >= float64(total)*percent/100 {
			return names[:i+1]
		}
	}
	return names
}
