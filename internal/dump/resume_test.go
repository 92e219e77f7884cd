package dump

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pghaul/pghaul/internal/digest"
	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/pgtest"
	"github.com/pghaul/pghaul/pgarchive"
)

// With one job, too, a lost connection costs one table, if it may have a second session.
func TestReconnectWithOneJob(t *testing.T) {
	s := pgtest.Newest(t)
	db := s.NewDatabase(t)
	db.Exec(t, bigTable)
	want := contentsOf(t, db)
	var once sync.Once
	p := &recorder{copied: func(*Item, int64) {
		once.Do(func() {
			db.Exec(t, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE 'COPY%big%'`)
		})
	}}
	r := mustRun(t, db, Options{Format: pgarchive.FormatDirectory, File: filepath.Join(t.TempDir(), "d"), Reconnect: true, PieceBytes: -1}, p)
	if n := p.failed.Load(); n != 1 {
		t.Errorf("%d items were tried again; warnings: %q", n, p.messages.warnings)
	}
	if d := manifest.Compare(want, r.Manifest); len(d) > 0 {
		t.Error(manifest.Report(d))
	}
}

// remembering is an archive that is not kept; it knows what it was given.
type remembering struct {
	nowhere
	mu      sync.Mutex
	written []pgarchive.ID
	adopted []pgarchive.ID
}

func (r *remembering) Data(id pgarchive.ID) (io.WriteCloser, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.written = append(r.written, id)
	return discarding{}, nil
}

func (r *remembering) Adopt(id pgarchive.ID) error {
	r.adopted = append(r.adopted, id)
	return nil
}

// A dump that goes on in the same snapshot writes what is missing, in the same pieces though the table has grown,
// and describes the same; in another snapshot, or after the table was rewritten, it does not.
func TestResume(t *testing.T) {
	s := pgtest.Newest(t)
	db := s.NewDatabase(t)
	db.Exec(t, bigTable+"; CREATE TABLE small (a int); INSERT INTO small VALUES (1)")
	conn := db.Conn(t)
	res, err := conn.Exec(t.Context(), "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT pg_export_snapshot()").ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Format: pgarchive.FormatDirectory, Jobs: 2, PieceBytes: 4 << 20, Snapshot: string(res[1].Rows[0][0])}
	run := func(o Options) (*Result, *remembering, error) {
		w := new(remembering)
		o.Archive = func(pgarchive.WriterOptions) (pgarchive.Writer, error) { return w, nil }
		o.DumpVersion = "18.6"
		r, err := Run(t.Context(), config(t, db), o, nil)
		return r, w, err
	}
	first, all, err := run(o)
	if err != nil {
		t.Fatal(err)
	}
	if len(all.written) < 5 {
		t.Fatalf("%d data entries", len(all.written))
	}
	done := make(map[pgarchive.ID]digest.Sum)
	for _, i := range first.Plan.Items[1:] {
		done[i.Entry.ID] = i.Sum()
	}
	db.Exec(t, "INSERT INTO big TABLE big; UPDATE small SET a = 2")
	o.Resume = &Resume{Checkpoint: first.Plan.Checkpoint(), Done: done}
	second, rest, err := run(o)
	if err != nil {
		t.Fatal(err)
	}
	if len(rest.written) != 1 || rest.written[0] != first.Plan.Items[0].Entry.ID || len(rest.adopted) != len(done) {
		t.Errorf("written %v, adopted %v", rest.written, rest.adopted)
	}
	if d := manifest.Compare(first.Manifest, second.Manifest); len(d) > 0 || first.Manifest.Root != second.Manifest.Root {
		t.Error(manifest.Report(d))
	}
	if !first.Manifest.Snapshot.Time.Equal(second.Manifest.Snapshot.Time) {
		t.Errorf("snapshot of %s became one of %s", first.Manifest.Snapshot.Time, second.Manifest.Snapshot.Time)
	}

	other := o
	other.ExcludeTableData = []string{"small"}
	if _, _, err := run(other); !errors.Is(err, ErrChanged) {
		t.Errorf("another selection: %v", err)
	}
	db.Exec(t, "VACUUM FULL big")
	if _, _, err := run(o); !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), "public.big") {
		t.Errorf("a rewritten table: %v", err)
	}
}
