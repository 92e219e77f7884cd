package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/pghaul/pghaul/internal/drill"
	"github.com/pghaul/pghaul/internal/manifest"
)

// The elements of JUnit's XML, as CI servers read it.
type (
	suites struct {
		XMLName  xml.Name `xml:"testsuites"`
		Name     string   `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Skipped  int      `xml:"skipped,attr"`
		Time     string   `xml:"time,attr"`
		Suites   []*suite `xml:"testsuite"`
	}
	suite struct {
		Name      string      `xml:"name,attr"`
		Tests     int         `xml:"tests,attr"`
		Failures  int         `xml:"failures,attr"`
		Errors    int         `xml:"errors,attr"`
		Skipped   int         `xml:"skipped,attr"`
		Time      string      `xml:"time,attr"`
		Timestamp string      `xml:"timestamp,attr"`
		Cases     []*testcase `xml:"testcase"`
	}
	testcase struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Time    string   `xml:"time,attr"`
		Failure *failure `xml:"failure,omitempty"`
		Skipped *skipped `xml:"skipped,omitempty"`
		Output  string   `xml:"system-out,omitempty"`
	}
	failure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
	skipped struct {
		Message string `xml:"message,attr"`
	}
)

// JUnit writes the report as JUnit XML: a test case for the restore, for the rows of each table, for each kind of object and for each
// check. A failure names the objects. What differs as expected is a skipped case that names the rule, since it is
// not proven to be what it was.
func JUnit(w io.Writer, r *drill.Report) error {
	all := suites{Name: "pghaul drill of " + r.Database}
	add := func(name string, took float64, cases []*testcase) {
		if len(cases) == 0 {
			return
		}
		s := &suite{Name: name, Tests: len(cases), Time: junitTime(took), Timestamp: r.Started.Format("2006-01-02T15:04:05"), Cases: cases}
		for _, c := range cases {
			if c.Class = "pghaul." + name; c.Failure != nil {
				s.Failures++
			} else if c.Skipped != nil {
				s.Skipped++
			}
			if c.Time == "" {
				c.Time = junitTime(0)
			}
		}
		all.Suites = append(all.Suites, s)
		all.Tests, all.Failures, all.Skipped = all.Tests+s.Tests, all.Failures+s.Failures, all.Skipped+s.Skipped
	}
	of := func(want func(*drill.Finding) bool) (different, expected []drill.Finding) {
		return filter(r.Differences, want), filter(r.Expected, want)
	}

	restore := &testcase{Name: "every statement succeeds", Time: junitTime(r.Restore.Seconds)}
	restore.judge(of(func(f *drill.Finding) bool { return f.Stage == drill.StageRestore }))
	archive := &testcase{Name: "the archive is that of its manifest"}
	archive.judge(of(func(f *drill.Finding) bool { return f.Stage == drill.StageArchive && f.Desc != "TABLE DATA" }))
	add("restore", r.Restore.Seconds, []*testcase{restore, archive})

	byTable := make(map[[2]manifest.Name][2][]drill.Finding)
	for i, list := range [][]drill.Finding{r.Differences, r.Expected} {
		for _, f := range list {
			if f.Desc == "TABLE DATA" && f.Stage != drill.StageRestore {
				k := [2]manifest.Name{f.Namespace, f.Name}
				v := byTable[k]
				v[i] = append(v[i], f)
				byTable[k] = v
			}
		}
	}
	var tables []*testcase
	for i := range r.Tables {
		t := &r.Tables[i]
		c := &testcase{Name: name(t.Namespace, t.Name)}
		k := [2]manifest.Name{t.Namespace, t.Name}
		c.judge(byTable[k][0], byTable[k][1])
		delete(byTable, k)
		tables = append(tables, c)
	}
	only := slices.SortedFunc(maps.Keys(byTable), func(a, b [2]manifest.Name) int { return slices.Compare(a[:], b[:]) })
	for _, k := range only { // in the copy
		c := &testcase{Name: name(k[0], k[1])}
		c.judge(byTable[k][0], byTable[k][1])
		tables = append(tables, c)
	}
	add("rows", 0, tables)

	var kinds []*testcase
	for _, k := range r.Objects {
		c := &testcase{Name: fmt.Sprintf("%s (%d)", k.Desc, k.Count)}
		c.judge(of(func(f *drill.Finding) bool {
			return f.Stage == drill.StageCopy && f.Desc == k.Desc && f.Desc != "TABLE DATA"
		}))
		kinds = append(kinds, c)
	}
	add("objects", 0, kinds)

	var checks []*testcase
	took := 0.0
	for _, c := range r.Checks {
		took += c.Seconds
		t := &testcase{Name: c.Name, Time: junitTime(c.Seconds), Output: clean(c.Output)}
		switch {
		case c.Skipped:
			t.Skipped = &skipped{"the copy is not what it must be"}
		case !c.Passed:
			t.Failure = &failure{Message: clean(c.Message), Type: c.Kind, Text: clean(checkText(c))}
		}
		checks = append(checks, t)
	}
	add("checks", took, checks)

	all.Time = junitTime(r.Seconds)
	b, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("write JUnit XML: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, b)
	return err
}

// judge sets what came of a case.
func (c *testcase) judge(different, expected []drill.Finding) {
	text := func(list []drill.Finding) (objects, all string) {
		var names, lines []string
		for i := range list {
			if names = append(names, list[i].Object()+" "+list[i].What()); len(names) > 5 {
				names = append(names[:5], "...")
			}
			if len(lines) < maxShown {
				lines = append(lines, list[i].String())
			}
		}
		return clean(strings.Join(names, "; ")), clean(strings.Join(lines, "\n"))
	}
	switch {
	case len(different) > 0:
		objects, all := text(different)
		c.Failure = &failure{Message: objects, Type: "difference", Text: all}
	case len(expected) > 0:
		objects, all := text(expected)
		c.Skipped = &skipped{"differs as expected, rule " + expected[0].Rule + ": " + objects}
		c.Output = all
	}
}

func filter(list []drill.Finding, want func(*drill.Finding) bool) []drill.Finding {
	var out []drill.Finding
	for i := range list {
		if want(&list[i]) {
			out = append(out, list[i])
		}
	}
	return out
}

func name(namespace, name manifest.Name) string {
	if namespace == "" {
		return clean(string(name))
	}
	return clean(string(namespace) + "." + string(name))
}

// clean makes a text that XML and HTML can hold, and that shows what it says: UTF-8, without control characters and
// what turns the direction of writing.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n':
		case unicode.IsControl(r), r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

func junitTime(seconds float64) string {
	return fmt.Sprintf("%.3f", time.Duration(seconds*float64(time.Second)).Seconds())
}
