package repo

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/store"
)

// VerifyOptions say how much is read. The zero value reads everything, with four requests at a time.
type VerifyOptions struct {
	// Percent of the stored bytes to read, chosen anew at random each time; 0 and 100: all. Whether every object
	// is there in its size is looked at in any case.
	Percent float64
	Jobs    int // 0: 4

	// Verified is told of each object as it was read; nil is none. It is called from several goroutines.
	Verified func(name string, bytes int64)
}

// Verification is what Verify found.
type Verification struct {
	Backup   string   `json:"backup"`
	Objects  int      `json:"objects"` // that the manifest lists
	Bytes    int64    `json:"bytes"`
	Read     int      `json:"objects_read"`
	BytesOf  int64    `json:"bytes_read"`
	Problems []string `json:"problems"`
	// Unknown are objects that the manifest does not list. They do no harm: nothing reads them.
	Unknown []string `json:"unknown"`
}

// Verify reads the objects of a backup and compares them with the manifest. A backup that cannot be opened at all is
// an error; damaged objects are problems of the result.
func (r *Repo) Verify(ctx context.Context, b Backup, o VerifyOptions) (*Verification, error) {
	s, err := r.Open(ctx, b)
	if err != nil {
		return nil, err
	}
	v := &Verification{Backup: s.Backup.String(), Objects: len(s.Manifest.Files), Problems: []string{}, Unknown: s.unknown()}
	for _, f := range s.Manifest.Files {
		v.Bytes += f.Bytes
	}
	if o.Jobs <= 0 {
		o.Jobs = 4
	}
	var mu sync.Mutex
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(o.Jobs)
	for _, f := range sample(s.Manifest.Files, o.Percent) {
		g.Go(func() error {
			err := r.s.Verify(gctx, s.object(f))
			damaged := errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrNotFound)
			if err != nil && !damaged {
				return err
			}
			mu.Lock()
			v.Read++
			v.BytesOf += f.Bytes
			if damaged {
				v.Problems = append(v.Problems, err.Error())
			}
			mu.Unlock()
			if o.Verified != nil {
				o.Verified(f.Name, f.Bytes)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	slices.Sort(v.Problems)
	if _, err := s.Archive(); err != nil && len(v.Problems) == 0 {
		v.Problems = append(v.Problems, err.Error())
	}
	return v, nil
}

func (s *Snapshot) unknown() []string {
	names := []string{}
	for name := range s.found {
		if _, ok := s.files[name]; ok || name == ManifestName {
			continue
		}
		if _, ok := parseDrill(name); !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// sample returns files of at least so many percent of the bytes, but at least one.
func sample(files []manifest.File, percent float64) []manifest.File {
	if percent <= 0 || percent >= 100 {
		return files
	}
	files = slices.Clone(files)
	rand.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	var total int64
	for _, f := range files {
		total += f.Bytes
	}
	var sum int64
	for i, f := range files {
		sum += f.Bytes
		if float64(sum) >= float64(total)*percent/100 {
			return files[:i+1]
		}
	}
	return files
}
