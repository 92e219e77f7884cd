package restore

import (
	"math"
	"regexp"
	"strconv"
)

// space is memory in bytes: that a build takes for itself, for each row and each byte of the table's COPY text.
type space work

// buildSpace is how much a build can use of maintenance_work_mem, by access method; brin, spgist and bloom, which are not there, use none of it.
// Upper bounds of what was measured (see docs/benchmarks-restore.md); "" is the check of a foreign key, a hash join.
var buildSpace = map[string]space{
	"":        {1 << 20, 64, 0},
	"btree":   {1 << 20, 80, 0}, // the keys, to be sorted: 42 bytes for a number, 73 for a text of 32 letters
	"hash":    {1 << 20, 32, 0},
	"gist":    {1 << 20, 56, 1}, // the same, of classes that can be sorted, such as that of points; others use none
	"gin":     {1 << 20, 320, 2},
	"ivfflat": {18 << 20, 100, 1},
	"hnsw":    {4 << 20, 800, 2}, // all of the graph, see graph
}

// enough is, in kB, what an access method does best with by so many processes, for a build that can use need kB; 0: the more the better.
func enough(method string, need int64, processes int64) int64 {
	switch method {
	case "btree":
		// What is sorted at a time should stay in the processor's cache: 1.6 million texts took 3.5 s with 16 MB, the sorted runs merged at the end, and 5.8 s with 1 GB.
		// All runs are to be merged at once: each takes a quarter of a megabyte of the memory (tuplesort_merge_order in tuplesort.c).
		if processes > 1 {
			return processes * workerMemory
		}
		return max(8<<10, 2*int64(math.Sqrt(float64(need)*272)))
	case "hash":
		// It sorts only what will be larger than the memory, and puts everything else where it belongs one by one (hashbuild in hash.c): 1.35 million rows took 2.0 s sorted
		// and 4.2 s otherwise.
		return 16 << 10
	case "gin":
		// Entries are gathered in a tree that is slower the less of it is in the processor's cache, and the index comes out smaller: 78 MB against 111 MB with 960 MB of memory.
		if processes > 1 {
			return 2 * processes * ginMemory // 18 divides it, and each process gathers in one half and sorts in the other
		}
		return ginMemory
	}
	return 0
}

// In kB.
const (
	ginMemory    = 64 << 10
	workerMemory = 32 << 10 // without which no parallel worker is started (plan_create_index_workers in planner.c)
)

// leastMemory is kept for each job, in kB: sorts get by with it at next to no loss.
const leastMemory = 32 << 10

// ginExcess is by how much GIN exceeds its memory at most (gin_trgm_ops: 1.9).
const ginExcess = 2

// parallelSince has the access methods that can be built by several processes, with the first version of the server that does it.
var parallelSince = map[string]int{"btree": 110000, "brin": 170000, "gin": 180000, "hnsw": 110000, "ivfflat": 110000}

// builds says whether the memory of an item is that of maintenance_work_mem.
func (it *Item) builds() bool {
	switch it.Entry.Desc {
	case "INDEX", "CONSTRAINT", "FK CONSTRAINT":
		return true
	}
	return false
}

// method is the access method of the index that an item makes; "": it makes none.
func (it *Item) method() string {
	if it.Entry.Desc == "FK CONSTRAINT" {
		return ""
	}
	if am := accessMethod(it.Entry.Defn); am != "" {
		return am
	}
	return "btree"
}

// memory is how much a build can use, in kB; known says that the size of its tables is no guess.
func (it *Item) memory(method string) (kB int64, known bool) {
	if n := it.graph(); method == "hnsw" && n > 0 {
		return n >> 10, it.known
	}
	sp, ok := buildSpace[method]
	switch {
	case !ok:
		return 0, it.known
	case !it.known && it.size.Bytes == 0: // the archive does not say, or has no data
		return math.MaxInt32, false
	}
	return int64(work(sp).of(it.size)) >> 10, it.known
}

// graph is the bytes that an HNSW index needs for its graph, if the definition of its table says how many dimensions the vectors have; 0 if not.
// Of each vector there is itself, and for m neighbours (of twice as many in the lowest layer) 16 bytes; 2275 bytes were measured with 384 dimensions and m = 16.
func (it *Item) graph() int64 {
	dimensions := 0
	for _, d := range it.tableData {
		if d.table != nil {
			for _, m := range vectorType.FindAllStringSubmatch(d.table.Entry.Defn, -1) {
				n, _ := strconv.Atoi(m[1])
				dimensions = max(dimensions, n)
			}
		}
	}
	if dimensions == 0 {
		return 0
	}
	m := 16
	if x := graphOption.FindStringSubmatch(it.Entry.Defn); x != nil {
		m, _ = strconv.Atoi(x[1])
	}
	return 4<<20 + it.size.Rows*int64(4*dimensions+34*m+300)
}

var (
	vectorType  = regexp.MustCompile(`\b(?:vector|halfvec)\((\d+)\)`)
	graphOption = regexp.MustCompile(`[ (]m='?(\d+)'?[,)]`)
)
