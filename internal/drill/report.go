package drill

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pghaul/pghaul/internal/manifest"
)

// Report is the answer of a drill. Its JSON form is what --json prints.
type Report struct {
	Archive        string    `json:"archive"`
	Format         string    `json:"format"`
	Database       string    `json:"database"`
	SourceVersion  string    `json:"source_version"`
	ScratchVersion string    `json:"scratch_version"`
	Started        time.Time `json:"started"`
	Seconds        float64   `json:"seconds"`

	// Identical is the answer: every object and every row of the copy is that of the source.
	Identical bool `json:"identical"`

	// Manifest says whether the archive had one. Without it the copy was compared
	// with the archive, which shows that the archive restores whole, not that it was
	// whole when it was made.
	Manifest bool   `json:"manifest"`
	Root     string `json:"root,omitempty"` // Merkle root of the manifest

	Compared      Counts `json:"compared"`
	RestoredRows  int64  `json:"restored_rows"`
	RestoredBytes int64  `json:"restored_bytes"`

	RestoreErrors []string  `json:"restore_errors"` // statements that failed
	Differences   []Finding `json:"differences"`
	Allowed       []Finding `json:"allowed"` // differences that a named rule expects

	Roles  []string `json:"roles_created,omitempty"`
	Phases []Phase  `json:"phases"`
	KeptIn string   `json:"kept_in,omitempty"` // folder of the server, if it was kept
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

// Phase is one phase of the drill and its time.
type Phase struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
}

// Stage says which comparison found something.
type Stage string

// The stages.
const (
	StageArchive Stage = "archive" // the archive against its manifest
	StageCopy    Stage = "copy"    // the restored copy against the manifest
)

// Finding is one difference.
type Finding struct {
	Stage Stage `json:"stage"`
	manifest.Difference
	Rule string `json:"rule,omitempty"` // why it is allowed
}

func (r *Report) count(m *manifest.Manifest) {
	c := &r.Compared
	c.Objects, c.Tables, c.Sequences = len(m.Objects), len(m.Tables), len(m.Sequences)
	c.LargeObjects, c.Bytes = m.LargeObjects.Count, m.LargeObjects.Bytes
	for i := range m.Tables {
		c.Rows += m.Tables[i].Rows
		c.Bytes += m.Tables[i].Bytes
	}
}

func (r *Report) finish() {
	for _, p := range r.Phases {
		r.Seconds += p.Seconds
	}
	r.Identical = len(r.Differences) == 0 && len(r.RestoreErrors) == 0
	// Lists are never null in JSON.
	if r.Differences == nil {
		r.Differences = []Finding{}
	}
	if r.Allowed == nil {
		r.Allowed = []Finding{}
	}
	if r.RestoreErrors == nil {
		r.RestoreErrors = []string{}
	}
}

// maxShown bounds the findings that the text form lists; the JSON form has all.
const maxShown = 100

// WriteText writes the report for a person. Sizes and times are written by the functions given.
func (r *Report) WriteText(w io.Writer, size func(int64) string, count func(int64) string, duration func(time.Duration) string) error {
	var b strings.Builder
	verdict := "NOT IDENTICAL"
	if r.Identical {
		verdict = "IDENTICAL"
	}
	fmt.Fprintf(&b, "%s: %s\n\n", verdict, r.Archive)
	fmt.Fprintf(&b, "  database   %s, of PostgreSQL %s\n", r.Database, r.SourceVersion)
	fmt.Fprintf(&b, "  copy       on PostgreSQL %s\n", r.ScratchVersion)
	fmt.Fprintf(&b, "  compared   %s objects, %s rows of %s tables (%s), %s sequences, %s large objects\n",
		count(int64(r.Compared.Objects)), count(r.Compared.Rows), count(int64(r.Compared.Tables)), size(r.Compared.Bytes),
		count(int64(r.Compared.Sequences)), count(r.Compared.LargeObjects))
	if r.Manifest {
		fmt.Fprintf(&b, "  with       the manifest made from the source's snapshot, root %.16s...\n", r.Root)
	} else {
		b.WriteString("  with       the archive itself, which has no manifest: this shows that it restores whole,\n" +
			"             not that it was whole when it was made\n")
	}
	b.WriteString("  time      ")
	for _, p := range r.Phases {
		fmt.Fprintf(&b, " %s %s,", p.Name, duration(time.Duration(p.Seconds*float64(time.Second))))
	}
	fmt.Fprintf(&b, " together %s\n", duration(time.Duration(r.Seconds*float64(time.Second))))
	list(&b, "Statements that failed", len(r.RestoreErrors), func(i int) string { return r.RestoreErrors[i] })
	list(&b, "Differences", len(r.Differences), func(i int) string { return r.Differences[i].String() })
	list(&b, "Expected differences", len(r.Allowed), func(i int) string { return r.Allowed[i].String() })
	if r.KeptIn != "" {
		fmt.Fprintf(&b, "\nThe server's folder was kept: %s\n", r.KeptIn)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func list(b *strings.Builder, title string, n int, item func(int) string) {
	if n == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s (%d):\n", title, n)
	for i := range min(n, maxShown) {
		fmt.Fprintf(b, "  - %s\n", strings.ReplaceAll(strings.TrimSpace(item(i)), "\n", "\n    "))
	}
	if n > maxShown {
		fmt.Fprintf(b, "  ... and %d more\n", n-maxShown)
	}
}

// String says the finding in one line, for a definition with the first line in which
// the two differ.
func (f Finding) String() string {
	where := "in the copy, "
	if f.Stage == StageArchive {
		where = "in the archive, "
	}
	s := where + f.Difference.String()
	if f.Field == "definition" && f.A != "" && f.B != "" {
		a, b := firstDifference(string(f.A), string(f.B))
		s += "\nexpected: " + a + "\nfound:    " + b
	}
	if f.Rule != "" {
		s += "\nrule: " + f.Rule
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
