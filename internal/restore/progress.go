package restore

import (
	"time"

	"github.com/pghaul/pghaul/pgarchive"
)

// Progress is told what a restore does. The methods are called by several goroutines
// at a time and should be quick.
type Progress interface {
	// Plan is called once, before anything is done.
	Plan(Totals)

	// EntryStarted and EntryDone frame the work on one entry. err is the last error of the
	// entry, if any; the restore may go on after it.
	EntryStarted(e *pgarchive.Entry)
	EntryDone(e *pgarchive.Entry, err error)

	// Data says that so many more uncompressed bytes and rows of an entry were taken from
	// the archive. Rows are 0 where they are not counted.
	Data(e *pgarchive.Entry, bytes, rows int64)
}

// Totals is the size of a plan.
type Totals struct {
	Entries     int   // entries to be restored
	DataEntries int   // of these, with data
	DataBytes   int64 // sum of the sizes of their data as the archive knows them; 0: not known
}

// NoProgress is told and says nothing.
type NoProgress struct{}

// Plan, EntryStarted, EntryDone and Data do nothing.
func (NoProgress) Plan(Totals)                         {}
func (NoProgress) EntryStarted(*pgarchive.Entry)       {}
func (NoProgress) EntryDone(*pgarchive.Entry, error)   {}
func (NoProgress) Data(*pgarchive.Entry, int64, int64) {}

var _ Progress = NoProgress{}

// Result says what a restore did.
type Result struct {
	Entries      int   // entries restored, failed ones included
	Resumed      int   // entries that an interrupted run had restored before
	Rows         int64 // rows the server took from table data
	Bytes        int64 // uncompressed bytes of table data and large objects
	LargeObjects int

	// Resumable says that the restore came to no end and that its ledger stays in the target.
	Resumable bool

	Skipped []Skipped // statements left out because of Options.SkipRoles

	// Errors are the errors, in order of time. Ignored is how many of them the restore went on after.
	Errors  []*EntryError
	Ignored int

	Started   time.Time
	Duration  time.Duration
	Predicted time.Duration // how long it was expected to take on this server
	Phases    []Phase       // in order of their beginning
	Timings   []Timing
}

// Phase is the span of time in which entries of one kind were worked on. With
// several jobs phases overlap.
type Phase struct {
	Name       string // "drop", "pre-data", "data", "post-data", "acl", "post-acl"
	Begin, End time.Time
	Entries    int
}

// Timing is the work on one entry.
type Timing struct {
	Entry    *pgarchive.Entry
	Begin    time.Time
	Duration time.Duration
	Rows     int64 // as in Result
	Bytes    int64
	Failures int // errors of the entry
}

// phase names the phase an item belongs to.
func (it *Item) phase() string {
	switch {
	case it.Pass == pgarchive.PassACL:
		return "acl"
	case it.Pass == pgarchive.PassPostACL:
		return "post-acl"
	}
	switch it.section {
	case pgarchive.SectionData:
		return "data"
	case pgarchive.SectionPostData:
		return "post-data"
	}
	return "pre-data"
}

// finished books the work on an item. The caller holds nothing.
func (r *run) finished(it *Item, t Timing) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t.Failures = it.failures
	r.res.Entries++
	r.res.Rows += t.Rows
	r.res.Bytes += t.Bytes
	r.res.Timings = append(r.res.Timings, t)
	r.phase(it.phase(), t.Begin, t.Begin.Add(t.Duration))
}

// phase widens a phase. The caller holds mu.
func (r *run) phase(name string, begin, end time.Time) {
	for i := range r.res.Phases {
		if p := &r.res.Phases[i]; p.Name == name {
			if begin.Before(p.Begin) {
				p.Begin = begin
			}
			if end.After(p.End) {
				p.End = end
			}
			p.Entries++
			return
		}
	}
	r.res.Phases = append(r.res.Phases, Phase{Name: name, Begin: begin, End: end, Entries: 1})
}
