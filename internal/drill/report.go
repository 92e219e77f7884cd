package drill

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/platform"
)

// ReportFormat and ReportVersion name the JSON form of a Report, which docs/drill.md describes.
const (
	ReportFormat  = "pghaul-drill"
	ReportVersion = 1
)

// Verdict is what the comparison of the copy came to.
type Verdict string

// The verdicts.
const (
	Identical Verdict = "identical" // nothing differs, and every statement succeeded
	Expected  Verdict = "expected"  // what differs is explained by rules, each of them named
	Different Verdict = "different" // something differs, or failed, that no rule explains
)

// Report is the answer of a drill. Its JSON form is what --json prints.
type Report struct {
	Format  string `json:"format"`
	Version int    `json:"version"`

	// Passed is the answer: the verdict is Identical or Expected, and all checks passed.
	Passed    bool    `json:"passed"`
	Verdict   Verdict `json:"verdict"`
	Identical bool    `json:"identical"` // the verdict is Identical

	Archive        string     `json:"archive"`
	ArchiveFormat  string     `json:"archive_format"`
	Database       string     `json:"database"`
	SourceVersion  string     `json:"source_version"`
	BackupTime     *time.Time `json:"backup_time,omitempty"` // whose state the backup holds, if it has a manifest
	ScratchVersion string     `json:"scratch_version"`
	Started        time.Time  `json:"started"`
	Seconds        float64    `json:"seconds"`

	// Manifest says whether the archive had one. Without it the copy was compared
	// with the archive, which shows that the archive restores whole, not that it was
	// whole when it was made.
	Manifest bool   `json:"manifest"`
	Root     string `json:"root,omitempty"` // Merkle root of the manifest

	Compared Counts  `json:"compared"`
	Restore  Restore `json:"restore"`

	Differences []Finding     `json:"differences"` // no rule explains them
	Expected    []Finding     `json:"expected"`    // a rule explains them
	Rules       []AppliedRule `json:"rules"`       // that explain something, and those that were allowed

	Tables  []Item        `json:"tables"`  // each table's rows
	Objects []Kind        `json:"objects"` // definitions and the rest, by kind
	Checks  []CheckResult `json:"checks"`

	// Platform names the managed platform whose roles and objects stand in, empty if there is none. Probes are what its roles see
	// of the tables with row security.
	Platform string                 `json:"platform,omitempty"`
	StandIns []StandIn              `json:"stand_ins"` // what was made for the archive to restore, without being in it
	Probes   []platform.ProbeResult `json:"probes"`

	Phases []Phase `json:"phases"`
	Kept   *Kept   `json:"kept,omitempty"`
}

// Counts is how much was compared.
type Counts struct {
	Objects      int   `json:"objects"`
	Tables       int   `json:"tables"`
	Rows         int64 `json:"rows"`
	Bytes        int64 `json:"bytes"`
	Sequences    int   `json:"sequences"`
	LargeObjects int64 `json:"large_objects"`
}

// Restore is what the restore did, and how long that took: the part of a drill that a real loss would need, too.
type Restore struct {
	Jobs             int     `json:"jobs"`
	Rows             int64   `json:"rows"`
	Bytes            int64   `json:"bytes"` // of rows and large objects, uncompressed
	Entries          int     `json:"entries"`
	Seconds          float64 `json:"seconds"`
	PredictedSeconds float64 `json:"predicted_seconds"` // estimated before it began
	// ErrorPercent is by how much the prediction was off: positive when the restore took longer.
	ErrorPercent float64 `json:"error_percent"`
}

// AppliedRule is a rule, with the object it is about, and how many findings it explains.
type AppliedRule struct {
	Rule    string `json:"rule"` // name, and object after a colon
	Meaning string `json:"meaning"`
	Asked   bool   `json:"asked"` // it applies because it was allowed for this drill
	Count   int    `json:"count"`
}

// Item is one thing compared.
type Item struct {
	Namespace manifest.Name `json:"namespace"`
	Name      manifest.Name `json:"name"`
	Rows      int64         `json:"rows"`
	Bytes     int64         `json:"bytes"`
	Verdict   Verdict       `json:"verdict"`
}

// Kind is how the objects of one kind compare.
type Kind struct {
	Desc      string `json:"desc"`
	Count     int    `json:"count"` // expected to be there
	Expected  int    `json:"expected"`
	Different int    `json:"different"`
}

// Verdict says the same in a word.
func (k *Kind) Verdict() Verdict {
	switch {
	case k.Different > 0:
		return Different
	case k.Expected > 0:
		return Expected
	}
	return Identical
}

// StandIn is something made on the throwaway server because the archive refers to it and does not hold it.
type StandIn struct {
	Kind string `json:"kind"` // ROLE, SCHEMA, FUNCTION, ...
	Name string `json:"name"`
	Rule string `json:"rule"`
}

// Phase is one phase of the drill and its time.
type Phase struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
}

// Kept is a server that was left running.
type Kept struct {
	DSN  string `json:"dsn"`  // of the copy, without a password
	What string `json:"what"` // in words, with how to remove it
}

// Stage says where something was found.
type Stage string

// The stages.
const (
	StageRestore Stage = "restore" // a statement of the restore failed
	StageArchive Stage = "archive" // the archive against its manifest
	StageCopy    Stage = "copy"    // the restored copy against the manifest
)

// Finding is one statement that failed, or one difference.
type Finding struct {
	Stage     Stage         `json:"stage"`
	Change    string        `json:"change"` // failed, missing, extra or differs
	Desc      string        `json:"desc"`   // kind of object
	Namespace manifest.Name `json:"namespace"`
	Name      manifest.Name `json:"name"`
	Field     string        `json:"field,omitempty"` // which property differs
	A         manifest.Name `json:"a,omitempty"`     // as it must be
	B         manifest.Name `json:"b,omitempty"`     // as it is
	SQLState  string        `json:"sqlstate,omitempty"`
	Message   string        `json:"message,omitempty"` // of the server
	// Rule explains the finding; Allow is what would have to be allowed for it to be explained.
	Rule  string `json:"rule,omitempty"`
	Allow string `json:"allow,omitempty"`
}

func findingOf(stage Stage, d manifest.Difference) Finding {
	return Finding{Stage: stage, Change: d.Change.String(), Desc: d.Desc, Namespace: d.Namespace, Name: d.Name, Field: d.Field, A: d.A, B: d.B}
}

func (f failure) finding() Finding {
	out := Finding{Stage: StageRestore, Change: "failed", SQLState: f.sqlState, Message: strings.TrimSpace(f.message)}
	if f.entry != nil {
		out.Desc, out.Namespace, out.Name = f.entry.Desc, manifest.Name(f.entry.Namespace), manifest.Name(f.entry.Tag)
	}
	return out
}

// Object names what the finding is about: "INDEX public.event_kind".
func (f *Finding) Object() string {
	if f.Desc == "" {
		return "the restore"
	}
	return strings.TrimRight(f.Desc+" "+qualified(string(f.Namespace), string(f.Name)), " ")
}

// What says in a few words what was found.
func (f *Finding) What() string {
	switch {
	case f.Change == "failed":
		return "could not be restored"
	case f.Change != manifest.Differs.String():
		return "is " + f.Change
	case f.Field == "definition":
		return "definition differs"
	}
	verb := "differs"
	if f.Field == "rows" || f.Field == "bytes" {
		verb = "differ"
	}
	return fmt.Sprintf("%s %s: expected %s, found %s", f.Field, verb, f.A, f.B)
}

// Lines returns, for a definition that differs, the first line in which the two do; both empty for anything else.
func (f *Finding) Lines() (expected, found string) {
	if f.Field != "definition" || f.A == "" || f.B == "" {
		return "", ""
	}
	return firstDifference(string(f.A), string(f.B))
}

// String says the finding in one line, for a failed statement with the server's message, for a definition with the
// first line in which the two differ.
func (f Finding) String() string {
	where := map[Stage]string{StageRestore: "", StageArchive: "in the archive, ", StageCopy: "in the copy, "}[f.Stage]
	s := where + f.Object() + ": " + f.What()
	if strings.HasPrefix(f.What(), "is ") {
		s = where + f.Object() + " " + f.What()
	}
	if f.Message != "" {
		s += "\n" + f.Message
	}
	if expected, found := f.Lines(); expected != found {
		s += "\nexpected: " + expected + "\nfound:    " + found
	}
	if f.Rule != "" {
		s += "\nrule: " + f.Rule
	}
	if f.Allow != "" {
		s += "\nto be expected with --allow " + strings.ReplaceAll(f.Allow, ", ", " --allow ")
	}
	return s
}

func firstDifference(a, b string) (string, string) {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := 0; i < len(as) || i < len(bs); i++ {
		x, y := "(end)", "(end)"
		if i < len(as) {
			x = as[i]
		}
		if i < len(bs) {
			y = bs[i]
		}
		if x != y {
			return strings.TrimSpace(x), strings.TrimSpace(y)
		}
	}
	return "", ""
}

// count notes what is compared, and its verdicts.
func (r *Report) count(m *manifest.Manifest) {
	c := &r.Compared
	c.Objects, c.Tables, c.Sequences = len(m.Objects), len(m.Tables), len(m.Sequences)
	c.LargeObjects, c.Bytes = m.LargeObjects.Count, m.LargeObjects.Bytes
	for i := range m.Tables {
		t := &m.Tables[i]
		c.Rows += t.Rows
		c.Bytes += t.Bytes
		r.Tables = append(r.Tables, Item{t.Namespace, t.Name, t.Rows, t.Bytes, Identical})
	}
	kinds := make(map[string]*Kind)
	kind := func(desc string) *Kind {
		if kinds[desc] == nil {
			kinds[desc] = &Kind{Desc: desc}
		}
		return kinds[desc]
	}
	for i := range m.Objects {
		kind(m.Objects[i].Desc).Count++
	}
	for desc, n := range map[string]int{"SEQUENCE SET": len(m.Sequences), "EXTENSION VERSION": len(m.Extensions), "BLOBS": int(m.LargeObjects.Count)} {
		if n > 0 {
			kind(desc).Count = n
		}
	}
	tables := make(map[[2]manifest.Name]*Item, len(r.Tables))
	for i := range r.Tables {
		tables[[2]manifest.Name{r.Tables[i].Namespace, r.Tables[i].Name}] = &r.Tables[i]
	}
	note := func(list []Finding, v Verdict) {
		for i := range list {
			f := &list[i]
			if t := tables[[2]manifest.Name{f.Namespace, f.Name}]; f.Desc == "TABLE DATA" && t != nil {
				if t.Verdict != Different {
					t.Verdict = v
				}
				continue
			}
			if f.Stage != StageCopy {
				continue // what failed is missing in the copy
			}
			if k := kind(f.Desc); v == Different {
				k.Different++
			} else {
				k.Expected++
			}
		}
	}
	note(r.Differences, Different)
	note(r.Expected, Expected)
	for _, k := range kinds {
		r.Objects = append(r.Objects, *k)
	}
	slices.SortFunc(r.Objects, func(a, b Kind) int { return strings.Compare(a.Desc, b.Desc) })
}

// addRule counts a rule that explains a finding.
func (r *Report) addRule(a applied) {
	for i := range r.Rules {
		if r.Rules[i].Rule == a.String() {
			r.Rules[i].Count++
			return
		}
	}
	r.Rules = append(r.Rules, AppliedRule{Rule: a.String(), Meaning: a.rule.Meaning, Asked: a.rule.Asked, Count: 1})
}

// compared sets the verdict, once everything was compared.
func (r *Report) compared() {
	switch {
	case len(r.Differences) > 0:
		r.Verdict = Different
	case len(r.Expected) > 0:
		r.Verdict = Expected
	default:
		r.Verdict = Identical
	}
	r.Identical = r.Verdict == Identical
}

// checked sets the answer, once the checks were run.
func (r *Report) checked() {
	r.Passed = r.Verdict != Different && !slices.ContainsFunc(r.Checks, func(c CheckResult) bool { return !c.Passed })
}

func (r *Report) finish() {
	r.Format, r.Version = ReportFormat, ReportVersion
	for _, p := range r.Phases {
		r.Seconds += p.Seconds
	}
	slices.SortFunc(r.Rules, func(a, b AppliedRule) int { return strings.Compare(a.Rule, b.Rule) })
	slices.SortStableFunc(r.StandIns, func(a, b StandIn) int { return cmp.Compare(a.Rule, b.Rule) })
	// Lists are never null in JSON.
	r.Differences, r.Expected, r.Rules = list(r.Differences), list(r.Expected), list(r.Rules)
	r.Tables, r.Objects, r.Checks = list(r.Tables), list(r.Objects), list(r.Checks)
	r.StandIns, r.Probes, r.Phases = list(r.StandIns), list(r.Probes), list(r.Phases)
}

func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
