package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"time"

	"github.com/pghaul/pghaul/internal/drill"
	"github.com/pghaul/pghaul/internal/ui"
)

//go:embed report.html
var page string

var pageTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"count":   func(n any) string { return ui.Count(asInt(n)) },
	"bytes":   ui.Bytes,
	"seconds": seconds,
	"when":    func(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") },
	"text":    func(s any) string { return clean(fmt.Sprint(s)) },
	"word":    verdictWord,
	"lines":   lines,
	"last":    func(s string) string { return clean(lastLines(s, 40)) },
}).Parse(page))

func asInt(n any) int64 {
	switch n := n.(type) {
	case int:
		return int64(n)
	case int64:
		return n
	}
	return 0
}

// lines shows where two definitions begin to differ, "" if that is not known.
func lines(f drill.Finding) string {
	expected, found := f.Lines()
	if expected == found {
		return ""
	}
	return clean("expected: " + expected + "\nfound:    " + found)
}

// verdictWord is a verdict as a table shows it.
func verdictWord(v drill.Verdict) string {
	switch v {
	case drill.Identical:
		return "identical"
	case drill.Expected:
		return "as expected"
	}
	return "different"
}

// maxTables bounds the tables that the page lists.
const maxTables = 1000

// view is what the page shows beside the report itself.
type view struct {
	*drill.Report
	State    string // passed, expected or failed: the colour
	Verdict  string // two or three words
	Sentence string
	Age      string // of the backup when it was drilled, "" if it is not known
	Checked  string
	Failed   []drill.CheckResult
	Groups   []group
	Tables   []drill.Item
	Hidden   int // tables that are not listed
	Bars     []bar
	Folded   bool // long lists are closed at first
	Broken   int  // probes that could not be evaluated
}

// group is what one rule explains.
type group struct {
	Rule     drill.AppliedRule
	Findings []drill.Finding
	More     int
}

// bar is one phase in the picture of times.
type bar struct {
	Name    string
	Seconds float64
	Percent float64 // of the longest
}

// HTML writes the report as one page that needs nothing else: no script, no font, no picture. The first screen says
// what was proven and how long a restore takes; details follow.
func HTML(w io.Writer, r *drill.Report) error {
	v := view{Report: r, Checked: checks(r), Failed: failed(r), Folded: len(r.Tables) > 40}
	v.Verdict, v.Sentence, v.State = judge(r)
	if r.BackupTime != nil {
		v.Age = age(r.Started.Sub(*r.BackupTime))
	}
	for _, rule := range r.Rules {
		if g := (group{Rule: rule, Findings: expectedBy(r, rule.Rule)}); len(g.Findings) > 0 {
			g.More = max(0, len(g.Findings)-maxShown)
			g.Findings = g.Findings[:min(len(g.Findings), maxShown)]
			v.Groups = append(v.Groups, g)
		}
	}
	v.Tables = slices.Clone(r.Tables)
	rank := map[drill.Verdict]int{drill.Different: 0, drill.Expected: 1, drill.Identical: 2}
	slices.SortStableFunc(v.Tables, func(a, b drill.Item) int { return rank[a.Verdict] - rank[b.Verdict] })
	if v.Hidden = len(v.Tables) - maxTables; v.Hidden > 0 {
		v.Tables = v.Tables[:maxTables]
	}
	longest := 0.0
	for _, p := range r.Phases {
		longest = math.Max(longest, p.Seconds)
	}
	for _, p := range r.Phases {
		v.Bars = append(v.Bars, bar{p.Name, p.Seconds, 100 * p.Seconds / math.Max(longest, 1e-9)})
	}
	for i := range r.Probes {
		if r.Probes[i].Failed() {
			v.Broken++
		}
	}
	if err := pageTemplate.Execute(w, &v); err != nil {
		return fmt.Errorf("write HTML: %w", err)
	}
	return nil
}

// Shown is the differences that the page lists.
func (v *view) Shown() []drill.Finding { return v.Differences[:min(len(v.Differences), maxShown)] }

// MoreDifferences is how many differences the page does not list.
func (v *view) MoreDifferences() int { return max(0, len(v.Differences)-maxShown) }

// judge puts the answer into words.
func judge(r *drill.Report) (verdict, sentence, state string) {
	source := "what the database had when the backup was made"
	if !r.Manifest {
		source = "what the archive holds"
	}
	switch {
	case r.Verdict == drill.Different:
		return "Drill failed", fmt.Sprintf("This backup does not restore to %s: %s found.", source, plural(len(r.Differences), "difference")), "failed"
	case !r.Passed:
		return "Checks failed", fmt.Sprintf("The backup restores, but %s of the restored copy failed.", plural(len(r.Checks)-passedChecks(r), "check")), "failed"
	case r.Verdict == drill.Expected:
		return "Passed, with expected differences", fmt.Sprintf("This backup restores. Every object and every row was compared with %s; "+
			"%s found, each explained by a rule that is named below.", source, plural(len(r.Expected), "difference")), "expected"
	}
	return "Passed", "This backup restores. Every object and every row of the copy is " + source + ".", "passed"
}

func passedChecks(r *drill.Report) int {
	n := 0
	for _, c := range r.Checks {
		if c.Passed {
			n++
		}
	}
	return n
}

// age writes a time span in the unit that a person would take.
func age(d time.Duration) string {
	switch {
	case d < 0:
		return ""
	case d < 2*time.Hour:
		return plural(max(1, int(d.Minutes())), "minute")
	case d < 48*time.Hour:
		return plural(int(d.Hours()), "hour")
	}
	return plural(int(d.Hours()/24), "day")
}
