package repo

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Policy says which backups to keep: the newest ones, and the newest of each of the last days, weeks,
// months and years that have one. Days begin at midnight UTC, weeks on Monday (ISO 8601).
// The zero value keeps nothing but what no policy removes, see Retain.
type Policy struct {
	Last, Daily, Weekly, Monthly, Yearly int

	// MinKeep of the newest complete backups are kept in any case; 0: 1.
	MinKeep int

	// IncompleteAfter is how long after its last sign of life an incomplete backup is taken for dead; 0: 24 h.
	IncompleteAfter time.Duration
}

// IsZero reports whether the policy says nothing about what to keep.
func (p Policy) IsZero() bool { return p.Last+p.Daily+p.Weekly+p.Monthly+p.Yearly == 0 }

// Decision is what becomes of one backup.
type Decision struct {
	Backup  Backup
	Keep    bool
	Reasons []string // why it is kept or removed
}

// String says the decision in one line.
func (d Decision) String() string {
	verb := "remove"
	if d.Keep {
		verb = "keep  "
	}
	return verb + " " + d.Backup.String() + "  " + strings.Join(d.Reasons, ", ")
}

// Retain decides which backups of one database to keep. It returns a decision for each, newest first.
//
// Kept whatever the policy are the MinKeep newest complete backups and the newest that passed its last drill. An
// incomplete backup counts for nothing; it is removed when it shows no sign of life.
func Retain(backups []Backup, p Policy, now time.Time) []Decision {
	backups = slices.Clone(backups)
	slices.SortFunc(backups, func(a, b Backup) int { return b.Time.Compare(a.Time) })
	if p.MinKeep <= 0 {
		p.MinKeep = 1
	}
	if p.IncompleteAfter <= 0 {
		p.IncompleteAfter = 24 * time.Hour
	}
	rules := p.rules()
	var out []Decision
	complete, drilled := 0, false
	for _, b := range backups {
		d := Decision{Backup: b}
		if !b.Complete {
			d.incomplete(p.IncompleteAfter, now)
			out = append(out, d)
			continue
		}
		for _, r := range rules {
			if r.takes(b.Time) {
				d.Reasons = append(d.Reasons, r.reason())
			}
		}
		if complete++; complete <= p.MinKeep && len(d.Reasons) == 0 {
			d.Reasons = append(d.Reasons, "at least "+strconv.Itoa(p.MinKeep)+" must stay")
		}
		if b.Drilled() && !drilled {
			drilled = true
			d.Reasons = append(d.Reasons, "the last that passed a drill")
		}
		if d.Keep = len(d.Reasons) > 0; !d.Keep {
			d.Reasons = []string{"no rule keeps it"}
		}
		out = append(out, d)
	}
	return out
}

func (d *Decision) incomplete(after time.Duration, now time.Time) {
	alive := d.Backup.Time
	if d.Backup.Modified.After(alive) {
		alive = d.Backup.Modified
	}
	if age := now.Sub(alive); age < after {
		d.Keep = true
		d.Reasons = []string{"incomplete, may still be running"}
	} else {
		d.Reasons = []string{fmt.Sprintf("incomplete, without a sign of life for %s", age.Round(time.Hour))}
	}
}

// rule keeps the first backup it sees of each of a number of periods.
type rule struct {
	name   string
	n      int
	period func(time.Time) string // nil: each backup is one of its own
	last   string
	taken  int
}

func (p Policy) rules() []*rule {
	return []*rule{
		{name: "last", n: p.Last},
		{name: "day", n: p.Daily, period: func(t time.Time) string { return t.Format("2006-01-02") }},
		{name: "week", n: p.Weekly, period: func(t time.Time) string {
			year, week := t.ISOWeek()
			return fmt.Sprintf("%d-W%02d", year, week)
		}},
		{name: "month", n: p.Monthly, period: func(t time.Time) string { return t.Format("2006-01") }},
		{name: "year", n: p.Yearly, period: func(t time.Time) string { return t.Format("2006") }},
	}
}

func (r *rule) takes(t time.Time) bool {
	if r.taken >= r.n {
		return false
	}
	if r.period != nil {
		period := r.period(t.UTC())
		if period == r.last {
			return false
		}
		r.last = period
	}
	r.taken++
	return true
}

func (r *rule) reason() string {
	if r.period == nil {
		return fmt.Sprintf("one of the last %d", r.n)
	}
	return r.name + " " + r.last
}
