package restore

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/pgarchive"
)

// Plan is what a restore will do: every entry of the archive, in order, with what is wanted
// of it. It is made without a server, and can be printed.
type Plan struct {
	// Items are the entries in the order of the archive, or of the list file, then the passes.
	// Those of which nothing is wanted are there too: others may depend on them.
	Items []*Item

	// Schema says that definitions are restored. ImpliedNoSchema says that they were asked
	// for and the selection holds none.
	Schema          bool
	ImpliedNoSchema bool

	script   *pgarchive.ScriptOptions
	entries  []*pgarchive.Entry // in order
	selected *pgarchive.Selected
	byID     map[pgarchive.ID]*Item
	jobs     int
	skipped  []Skipped
	header   pgarchive.Header
	sorted   []pgarchive.ID // so that each comes after what it needs; without those on cycles
}

// Item is one entry of a plan.
type Item struct {
	Entry *pgarchive.Entry
	Want  pgarchive.Wanted
	Pass  pgarchive.Pass

	section pgarchive.Section // that of the entries around it, for one that has none
	place   int               // in Plan.Items
	table   *Item             // of a TABLE DATA entry: its TABLE entry, if the archive has it
	data    []*Item           // of a TABLE entry: its TABLE DATA entries
	pieces  int               // entries that hold data of the same table

	created   bool // this restore made the table
	done      bool // also: nothing was to be done
	started   bool // a worker has it or had it
	announced bool // its data came in the stream
	failures  int

	// What the ledger says of an earlier run.
	before   bool // it was done then
	dropped  bool // its statements of Clean were done
	analyzed bool // of a table: its statistics were gathered
	begun    bool // what cannot be in a transaction may be done

	// for the scheduler
	needs []pgarchive.ID // what must be done before, all of it in the archive
	locks []pgarchive.ID // of these: what it locks exclusively
	// ownData are, of what a constraint needs, the data of the table it belongs to, or else the table.
	ownData []*Item
	// tableData are, of what an item needs, the data of tables.
	tableData []*Item
	size      Size      // of its data, or of the data it works on
	known     bool      // size is exact
	cost      float64   // estimate of its work, in seconds
	path      float64   // cost of the longest path that begins with it
	lead      *Item     // it is a piece of a table and is loaded with this one, maybe itself
	split     *splitKey // it is a foreign key to be added first and checked later

	checks bool // it is such a key, and was added
}

// wantAny are the parts a restore acts on.
const wantAny = pgarchive.WantSchema | pgarchive.WantData | pgarchive.WantStats

// entry is the item's entry, also of no item.
func (it *Item) entry() *pgarchive.Entry {
	if it == nil {
		return nil
	}
	return it.Entry
}

// name names the item in messages: TABLE DATA "public.events".
func (it *Item) name() string {
	if it.Entry.Namespace != "" {
		return fmt.Sprintf("%s \"%s.%s\"", it.Entry.Desc, it.Entry.Namespace, it.Entry.Tag)
	}
	return fmt.Sprintf("%s \"%s\"", it.Entry.Desc, it.Entry.Tag)
}

// isLead says whether the item is loaded for itself, or is the first of those that are loaded together.
func (it *Item) isLead() bool { return it.lead == nil || it.lead == it }

// streamed says whether data of the entry are to be read from the archive.
func (it *Item) streamed() bool { return it.Entry.HasData && it.Want&pgarchive.WantData != 0 }

// NewPlan decides what of the archive is wanted. It reads the list file, if there is one.
// Errors are those of contradicting options, of the list file, and of names that must be found.
func NewPlan(r pgarchive.Reader, o *Options) (*Plan, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	script := o.scriptOptions()
	entries := r.Entries()
	if o.ListFile != "" {
		var err error
		if entries, err = o.readList(entries, script); err != nil {
			return nil, err
		}
	}
	entries, skipped, err := o.mapRoles(entries)
	if err != nil {
		return nil, err
	}
	p, err := newPlan(entries, script, o.jobs())
	if err != nil {
		return nil, err
	}
	p.skipped = skipped
	p.header = r.Header()
	p.estimate(o, r.Sequential())
	return p, nil
}

func newPlan(entries []*pgarchive.Entry, script *pgarchive.ScriptOptions, jobs int) (*Plan, error) {
	selected, err := script.Select(entries)
	if err != nil {
		return nil, err
	}
	p := &Plan{
		Items:           make([]*Item, 0, len(entries)),
		Schema:          selected.Schema,
		ImpliedNoSchema: script.DumpSchema && !selected.Schema,
		script:          script,
		entries:         entries,
		selected:        selected,
		byID:            make(map[pgarchive.ID]*Item, len(entries)),
		jobs:            jobs,
	}
	section := pgarchive.SectionPreData
	for _, e := range entries {
		if e.Section != pgarchive.SectionNone {
			section = e.Section
		}
		it := &Item{
			Entry:   e,
			Want:    selected.Wanted(e.ID),
			Pass:    e.RestorePass(),
			section: section,
			place:   len(p.Items),
		}
		p.Items = append(p.Items, it)
		p.byID[e.ID] = it
	}
	type name struct{ schema, table string }
	pieces := make(map[name]int)
	for _, it := range p.Items {
		if it.Entry.Desc == "TABLE DATA" {
			pieces[name{it.Entry.Namespace, it.Entry.Tag}]++
		}
	}
	for _, it := range p.Items {
		it.pieces = pieces[name{it.Entry.Namespace, it.Entry.Tag}]
		if it.Entry.Desc != "TABLE DATA" || len(it.Entry.Dependencies) == 0 {
			continue
		}
		// A table data entry depends on its table first (buildTocEntryArrays).
		if tab := p.byID[it.Entry.Dependencies[0]]; tab != nil && tab.Entry.Desc != "TABLE DATA" {
			it.table = tab
			tab.data = append(tab.data, it)
		}
	}
	p.order()
	p.estimate(new(Options), false)
	return p, nil
}

// readList applies the list file.
func (o *Options) readList(entries []*pgarchive.Entry, script *pgarchive.ScriptOptions) ([]*pgarchive.Entry, error) {
	f, err := os.Open(o.ListFile)
	if err != nil {
		return nil, fmt.Errorf("could not open TOC file \"%s\": %w", o.ListFile, pathCause(err))
	}
	defer f.Close()
	entries, script.IDs, err = pgarchive.ParseList(f, entries, script.Warn)
	return entries, err
}

// scriptOptions are the options as pgarchive takes them.
func (o *Options) scriptOptions() *pgarchive.ScriptOptions {
	s := pgarchive.NewScriptOptions()
	s.DumpSchema, s.DumpData, s.DumpStatistics = o.content()
	s.Sections = o.Sections
	s.SchemaNames, s.SchemaExcludeNames = o.Schemas, o.ExcludeSchemas
	s.TableNames, s.IndexNames, s.FunctionNames, s.TriggerNames = o.Tables, o.Indexes, o.Functions, o.Triggers
	s.NoPrivileges = o.NoPrivileges
	s.NoComments = o.NoComments
	s.NoPolicies = o.NoPolicies
	s.NoPublications = o.NoPublications
	s.NoSecurityLabels = o.NoSecurityLabels
	s.NoSubscriptions = o.NoSubscriptions
	s.CreateDB = o.Create
	s.StrictNames = o.StrictNames
	s.Clean, s.IfExists = o.Clean, o.IfExists
	s.NoOwner, s.NoTablespaces, s.NoTableAM = o.NoOwner, o.NoTablespaces, o.NoTableAM
	s.UseSetSessionAuth = o.UseSetSessionAuthorization
	s.DisableTriggers, s.Superuser, s.Role = o.DisableTriggers, o.Superuser, o.Role
	s.EnableRowSecurity = o.EnableRowSecurity
	s.SingleTransaction, s.TransactionSize = o.SingleTransaction, o.TransactionSize
	s.TargetVersion = o.ServerVersion
	s.RestrictKey, s.Verbose = o.RestrictKey, o.Verbose
	if o.Log != nil {
		s.Warn = func(m string) { o.Log(Warning, m) }
		s.Info = func(m string) { o.Log(Info, m) }
	}
	return s
}

// Totals sums up what is wanted.
func (p *Plan) Totals() Totals {
	var t Totals
	for _, it := range p.Items {
		if it.Want&wantAny == 0 {
			continue
		}
		t.Entries++
		if it.streamed() {
			t.DataEntries++
			t.DataBytes += it.Entry.DataBytes
		}
	}
	return t
}

// Wanted returns the items that are acted on, in the order in which one job does it:
// that of the archive, pass after pass.
func (p *Plan) Wanted() []*Item {
	out := make([]*Item, 0, len(p.Items))
	for pass := pgarchive.PassMain; pass <= pgarchive.PassPostACL; pass++ {
		for _, it := range p.Items {
			if it.Pass == pass && it.Want&wantAny != 0 {
				out = append(out, it)
			}
		}
	}
	return out
}

// Write prints the plan for people and for goldens: the drops, then the phases with
// their entries. It reads like a list of contents, and can be used as a list file.
func (p *Plan) Write(w io.Writer) error {
	var b strings.Builder
	t := p.Totals()
	fmt.Fprintf(&b, "; %d entries, %d of them with data", t.Entries, t.DataEntries)
	if t.DataBytes > 0 {
		fmt.Fprintf(&b, " (%d bytes in the archive)", t.DataBytes)
	}
	b.WriteString("\n")
	if p.jobs > 1 {
		fmt.Fprintf(&b, "; %d jobs: data and post-data run side by side\n", p.jobs)
	}
	if d := p.Predicted(); d >= time.Second {
		fmt.Fprintf(&b, "; about %s on a server like the one the estimates were measured on\n", d.Round(time.Second))
	}
	if p.script.Clean {
		session, err := pgarchive.NewSession(p.entries, p.selected, p.script)
		if err != nil {
			return err
		}
		if drops := session.Drops(p.entries); len(drops) > 0 {
			b.WriteString(";\n; drop\n")
			for _, d := range drops {
				for _, sql := range d.SQL {
					b.WriteString("; " + strings.ReplaceAll(strings.TrimSpace(sql), "\n", "\n; ") + "\n")
				}
			}
		}
	}
	phase := ""
	for _, it := range p.Wanted() {
		if now := it.phase(); now != phase {
			phase = now
			b.WriteString(";\n; " + phase + "\n")
		}
		e := it.Entry
		fmt.Fprintf(&b, "%d; %d %d %s %s %s %s\n", e.ID, e.CatalogID.TableOID, e.CatalogID.OID, e.Desc,
			sqltext.SanitizeLine(e.Namespace, true), sqltext.SanitizeLine(e.Tag, false), sqltext.SanitizeLine(e.Owner, false))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
