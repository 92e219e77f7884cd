package restore

import (
	"testing"

	"github.com/pghaul/pghaul/pgarchive"
)

// Builds get the memory that they can use, and together no more than jobs times what the server is set to.
func TestTuner(t *testing.T) {
	const mb = 1 << 10 // kB
	table := func(defn string, s Size) *Item {
		tab := &Item{Entry: &pgarchive.Entry{Desc: "TABLE", Defn: defn}}
		return &Item{Entry: &pgarchive.Entry{Desc: "TABLE DATA"}, table: tab, size: s, known: true}
	}
	index := func(defn string, data *Item) *Item {
		return &Item{Entry: &pgarchive.Entry{Desc: "INDEX", Defn: defn}, size: data.size, known: data.known, tableData: []*Item{data}, cost: 10}
	}
	plain := table("CREATE TABLE t (a integer)", Size{100e6, 3e9})
	vectors := table("CREATE TABLE v (a public.vector(384))", Size{200e3, 900e6})
	loose := table("CREATE TABLE v (a public.vector)", Size{200e3, 900e6})
	guessed := table("CREATE TABLE v (a public.vector(384))", Size{200e3, 900e6})
	guessed.known = false
	nothing := table("CREATE TABLE t (a integer)", Size{})
	nothing.known = false
	const hnsw = "CREATE INDEX i ON v USING hnsw (a public.vector_l2_ops)"
	for _, test := range []struct {
		name      string
		server    tuner
		it        *Item
		running   int
		memory    int64 // in MB
		workers   int
		least, to int64 // share, in MB
	}{
		{"btree", tuner{memory: 960 * mb, jobs: 2, cores: 2, workers: 2, version: 170000, left: 40}, index("CREATE INDEX i ON t USING btree (a)", plain), 1, 93, 0, 90, 95},
		{"size unknown", tuner{memory: 960 * mb, jobs: 2, cores: 2, workers: 2, version: 170000, left: 40}, index("CREATE INDEX i ON t USING btree (a)", nothing), 1, 960, 0, 960, 960},
		{"the last one", tuner{memory: 960 * mb, jobs: 2, cores: 4, workers: 8, version: 170000, left: 10}, index("CREATE INDEX i ON t USING btree (a)", plain), 0, 128, 3, 128, 128},
		{"half of the work", tuner{memory: 960 * mb, jobs: 8, cores: 8, workers: 8, version: 170000, left: 20}, index("CREATE INDEX i ON t USING btree (a)", plain), 7, 128, 3, 128, 128},
		{"more processors than jobs", tuner{memory: 960 * mb, jobs: 2, cores: 8, workers: 2, version: 170000, left: 1000}, index("CREATE INDEX i ON t USING btree (a)", plain), 1, 96, 2, 96, 96},
		{"brin", tuner{memory: 960 * mb, jobs: 2, cores: 2, workers: 2, version: 160000, left: 10}, index("CREATE INDEX i ON t USING brin (a)", plain), 0, 960, 0, 0, 0},
		{"hash", tuner{memory: 960 * mb, jobs: 2, cores: 2, workers: 2, version: 170000, left: 10}, index("CREATE INDEX i ON t USING hash (a)", plain), 0, 16, 0, 16, 16},
		{"gin", tuner{memory: 960 * mb, jobs: 2, cores: 4, workers: 2, version: 170000, left: 10}, index("CREATE INDEX i ON t USING gin (a)", plain), 0, 64, 0, 128, 128},
		{"gin by several", tuner{memory: 960 * mb, jobs: 2, cores: 4, workers: 2, version: 180000, left: 10}, index("CREATE INDEX i ON t USING gin (a)", plain), 0, 384, 2, 768, 768},
		{"graph that fits", tuner{memory: 960 * mb, jobs: 2, cores: 2, workers: 2, version: 170000, left: 10}, index(hnsw, vectors), 0, 960, 0, 440, 470},
		{"graph that needs more", tuner{memory: 64 * mb, jobs: 8, cores: 8, workers: 2, version: 170000, left: 100}, index(hnsw, vectors), 0, 288, 0, 288, 288},
		{"while others run that use nothing", tuner{memory: 64 * mb, jobs: 8, cores: 8, workers: 2, version: 170000, left: 100}, index(hnsw, vectors), 7, 460, 0, 440, 470},
		{"while others have their memory", tuner{memory: 64 * mb, jobs: 8, cores: 8, workers: 2, version: 170000, left: 100, held: 7 * 64 * mb}, index(hnsw, vectors), 7, 64, 0, 64, 64},
		{"while one has more than its part", tuner{memory: 64 * mb, jobs: 8, cores: 8, workers: 2, version: 170000, left: 100, held: 440 * mb}, index("CREATE INDEX i ON t USING btree (a)", plain), 7, 64, 0, 64, 64},
		{"while one has nearly all", tuner{memory: 64 * mb, jobs: 8, cores: 8, workers: 2, version: 170000, left: 100, held: 500 * mb}, index("CREATE INDEX i ON t USING btree (a)", plain), 7, 32, 0, 32, 32},
		{"dimensions unknown", tuner{memory: 960 * mb, jobs: 2, cores: 2, workers: 2, version: 170000, left: 10}, index(hnsw, loose), 0, 1873, 0, 1800, 1900},
		{"rows unknown", tuner{memory: 64 * mb, jobs: 2, cores: 2, workers: 2, version: 170000, left: 10}, index(hnsw, guessed), 0, 64, 0, 64, 64},
		{"graph by several", tuner{memory: 960 * mb, jobs: 2, cores: 8, workers: 4, version: 170000, left: 10}, index(hnsw, vectors), 0, 460, 4, 440, 470},
		{"ivfflat", tuner{memory: 64 * mb, jobs: 2, cores: 2, workers: 2, version: 170000, left: 100, held: 100 * mb}, index("CREATE INDEX i ON v USING ivfflat (a public.vector_l2_ops)", vectors), 1, 64, 0, 64, 64},
	} {
		t.Run(test.name, func(t *testing.T) {
			set, share := test.server.choose(test.it, test.running)
			if got := set.memory / mb; got < test.memory*95/100 || got > test.memory*105/100 || set.workers != test.workers {
				t.Errorf("%d MB and %d workers, want %d and %d", got, set.workers, test.memory, test.workers)
			}
			if got := share / mb; got < test.least || got > test.to {
				t.Errorf("share %d MB, want %d to %d", got, test.least, test.to)
			}
		})
	}
}
