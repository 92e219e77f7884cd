package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pghaul/pghaul/internal/drill"
	"github.com/pghaul/pghaul/internal/ui"
)

// maxShown bounds the findings that a text lists; the JSON form has all.
const maxShown = 100

// Text writes the report for a person at a terminal. Its first word is the verdict.
func Text(w io.Writer, r *drill.Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\n", headline(r), r.Archive)
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "  %-10s "+format+"\n", append([]any{name}, args...)...)
	}
	line("database", "%s, of PostgreSQL %s", r.Database, r.SourceVersion)
	line("copy", "on PostgreSQL %s", r.ScratchVersion)
	c := r.Compared
	line("compared", "%s objects, %s rows of %s tables (%s), %s sequences, %s large objects",
		ui.Count(int64(c.Objects)), ui.Count(c.Rows), ui.Count(int64(c.Tables)), ui.Bytes(c.Bytes),
		ui.Count(int64(c.Sequences)), ui.Count(c.LargeObjects))
	if r.Manifest {
		line("with", "the manifest made from the source's snapshot, root %.16s...", r.Root)
	} else {
		line("with", "the archive itself, which has no manifest: this shows that it restores whole,\n"+
			"             not that it was whole when it was made")
	}
	if r.Platform != "" {
		line("platform", "%s", r.Platform)
	}
	if n := len(r.StandIns); n > 0 {
		line("stand-ins", "%s", standIns(r))
	}
	if n := len(r.Checks); n > 0 {
		line("checks", "%s", checks(r))
	}
	if n := len(r.Probes); n > 0 {
		line("policies", "%s", probes(r))
	}
	line("restore", "%s with %s; %s", seconds(r.Restore.Seconds), plural(r.Restore.Jobs, "job"), prediction(r))
	var phases []string
	for _, p := range r.Phases {
		phases = append(phases, p.Name+" "+seconds(p.Seconds))
	}
	line("time", "%s, together %s", strings.Join(phases, ", "), seconds(r.Seconds))

	list(&b, "Differences", r.Differences, drill.Finding.String)
	list(&b, "Failed checks", failed(r), checkText)
	for _, rule := range r.Rules {
		if rule.Count > 0 {
			noted(&b, "Expected by the rule "+rule.Rule, rule.Meaning, expectedBy(r, rule.Rule), findingText)
		}
	}
	for _, rule := range drill.Rules() {
		var names []string
		for _, s := range r.StandIns {
			if s.Rule == rule.Name {
				names = append(names, s.Kind+" "+s.Name)
			}
		}
		noted(&b, "Stand-ins by the rule "+rule.Name, rule.Meaning, names, func(s string) string { return s })
	}
	var broken []string
	for i := range r.Probes {
		if r.Probes[i].Failed() {
			broken = append(broken, r.Probes[i].String())
		}
	}
	list(&b, "Policies that could not be evaluated", broken, func(s string) string { return s })
	if r.Kept != nil {
		fmt.Fprintf(&b, "\nKept for a look: %s\nConnect with: psql %q\n", r.Kept.What, r.Kept.DSN)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// headline is the verdict in capitals.
func headline(r *drill.Report) string {
	switch {
	case r.Verdict == drill.Different:
		return "NOT IDENTICAL"
	case !r.Passed && r.Verdict == drill.Expected:
		return "CHECKS FAILED, the copy differs as expected"
	case !r.Passed:
		return "CHECKS FAILED, the copy is identical"
	case r.Verdict == drill.Expected:
		return "DIFFERS AS EXPECTED"
	}
	return "IDENTICAL"
}

func list[T any](b *strings.Builder, title string, items []T, text func(T) string) {
	noted(b, title, "", items, text)
}

// noted is list with a note under the title.
func noted[T any](b *strings.Builder, title, note string, items []T, text func(T) string) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s (%d):\n", title, len(items))
	if note != "" {
		fmt.Fprintf(b, "%s\n", ui.Wrap(note, 2, 100))
	}
	for i := range min(len(items), maxShown) {
		fmt.Fprintf(b, "  - %s\n", strings.ReplaceAll(strings.TrimSpace(text(items[i])), "\n", "\n    "))
	}
	if n := len(items) - maxShown; n > 0 {
		fmt.Fprintf(b, "  ... and %d more\n", n)
	}
}

// findingText is a finding without the rule, which stands above.
func findingText(f drill.Finding) string {
	f.Rule = ""
	return f.String()
}

func expectedBy(r *drill.Report, rule string) []drill.Finding {
	var out []drill.Finding
	for _, f := range r.Expected {
		if f.Rule == rule {
			out = append(out, f)
		}
	}
	return out
}

func failed(r *drill.Report) []drill.CheckResult {
	var out []drill.CheckResult
	for _, c := range r.Checks {
		if !c.Passed && !c.Skipped {
			out = append(out, c)
		}
	}
	return out
}

func checkText(c drill.CheckResult) string {
	s := c.Name
	if c.File != "" {
		s += fmt.Sprintf(" (%s, line %d)", c.File, c.Line)
	}
	s += ": " + c.Message
	if out := strings.TrimRight(c.Output, "\n"); out != "" {
		s += "\n" + lastLines(out, 20)
	}
	return s
}

func lastLines(s string, n int) string {
	lines := strings.Split(s, "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// checks says how many checks passed.
func checks(r *drill.Report) string {
	passed, skipped := 0, 0
	for _, c := range r.Checks {
		if c.Passed {
			passed++
		} else if c.Skipped {
			skipped++
		}
	}
	if skipped > 0 {
		return fmt.Sprintf("%d not run, since the copy is not what it must be", skipped)
	}
	return fmt.Sprintf("%d of %d passed", passed, len(r.Checks))
}

// standIns counts what stands in, by kind of rule.
func standIns(r *drill.Report) string {
	roles, platformRoles, objects := 0, 0, 0
	for _, s := range r.StandIns {
		switch {
		case s.Kind != "ROLE":
			objects++
		case strings.HasPrefix(s.Rule, "platform"):
			platformRoles++
		default:
			roles++
		}
	}
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{roles, "role"}, {platformRoles, "role of the platform"}, {objects, "object of the platform"}} {
		if p.n > 0 {
			parts = append(parts, plural(p.n, p.what))
		}
	}
	return strings.Join(parts, ", ")
}

// probes says what came of the probes.
func probes(r *drill.Report) string {
	broken := 0
	for i := range r.Probes {
		if r.Probes[i].Failed() {
			broken++
		}
	}
	s := plural(len(r.Probes), "probe") + " of row security"
	if broken > 0 {
		s += fmt.Sprintf(", %d could not be evaluated", broken)
	}
	return s
}

// plural joins a number and a word; of "role of the platform" the first word is changed.
func plural(n int, what string) string {
	if n != 1 {
		first, rest, _ := strings.Cut(what, " ")
		what = strings.TrimRight(first+"s "+rest, " ")
	}
	return ui.Count(int64(n)) + " " + what
}

// prediction says how the restore's time compares with what was expected.
func prediction(r *drill.Report) string {
	p := r.Restore
	if p.PredictedSeconds <= 0 {
		return "not predicted"
	}
	if p.PredictedSeconds < 1 { // so small a time is all overhead
		return "predicted " + seconds(p.PredictedSeconds)
	}
	return fmt.Sprintf("predicted %s, off by %+.0f %%", seconds(p.PredictedSeconds), p.ErrorPercent)
}

func seconds(s float64) string { return ui.Duration(time.Duration(s * float64(time.Second))) }
