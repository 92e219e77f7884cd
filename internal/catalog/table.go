package catalog

import (
	"context"
	"fmt"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// Table is a row of pg_class: a table, partitioned table, view, materialized view,
// sequence, foreign table or composite type.
type Table struct {
	Meta
	RelKind          byte // r p v m S f c
	Persistence      byte // p u t
	Populated        bool // of materialized views
	ReplIdent        byte // relreplident: d n f i
	Tablespace       string
	AccessMethod     string
	Options          []string // reloptions without check_option
	CheckOption      string   // LOCAL or CASCADED, of views
	ToastOptions     []string
	HasIndex         bool
	HasRules         bool
	HasTriggers      bool
	HasOIDs          bool // WITH OIDS, before PostgreSQL 12: no longer possible
	RowSec           bool
	ForceRowSec      bool
	IsPartition      bool
	UnsafePartitions bool // hash partitioned by an enum: rows may belong elsewhere after a restore
	NumChecks        int  // relchecks
	OwnerOID         uint32
	ToastOID         uint32
	TypeOID          uint32 // its row type
	OfTypeOID        uint32 // reloftype
	OfType           string // and its name, for typed tables
	ForeignServer    uint32
	ServerName       string
	FTOptions        string // foreign table options, text as in CREATE FOREIGN TABLE

	// Of sequences: the owning column.
	OwningTable  uint32
	OwningColumn int
	IsIdentity   bool
	Sequence     *Sequence

	FrozenXID, MinMXID           uint32
	ToastFrozenXID, ToastMinMXID uint32

	Pages      int64 // relpages, as the catalogue has it: a negative number stands for 2^31 and more
	ToastPages int64
	Tuples     string // reltuples, as text
	AllVisible int64
	AllFrozen  int64

	Interesting  bool // needs more than the bare relation to be read
	DummyView    bool // created as a dummy view first, to break a loop
	PostponedDef bool // a materialized view moved to post-data, to break a loop

	Columns       []Column
	NeedsOverride bool // has a column GENERATED ALWAYS AS IDENTITY
	Parents       []*Table

	PartKeyDef string // PARTITION BY text
	PartBound  string // FOR VALUES text
	ViewDef    string // pg_get_viewdef of views and materialized views, without the final ";"
	ViewRule   *Rule  // the view's ON SELECT rule

	Checks   []*Constraint // CHECK constraints, inherited ones too
	Indexes  []*Index
	Stats    []*StatsExt
	Triggers []*Trigger
	AttachTo *TableAttach
	DataObj  *TableData
	RelStats *RelStats // its planner statistics; only of materialized views
}

// DataPages returns the size of the table and its TOAST table in pages.
func (t *Table) DataPages() int64 {
	return int64(uint32(t.Pages)) + int64(uint32(t.ToastPages))
}

// Root returns the topmost partitioned table of a partition, and t itself if it is none.
func (t *Table) Root() *Table {
	for t.IsPartition && len(t.Parents) > 0 {
		t = t.Parents[0]
	}
	return t
}

// LoadViaRoot says that the rows of t must be loaded through the root of its
// partition tree: by option, or because an ancestor is partitioned by the hash
// of an enum, whose values get other OIDs and so other hashes.
func (t *Table) LoadViaRoot(o *Options) bool {
	if !t.IsPartition || len(t.Parents) == 0 {
		return false
	}
	if o.LoadViaPartitionRoot {
		return true
	}
	for p := t; p.IsPartition && len(p.Parents) > 0; {
		p = p.Parents[0]
		if p.UnsafePartitions {
			return true
		}
	}
	return false
}

// newMeta returns the Meta of an object as all begin: everything of it is wanted,
// and it has a definition.
func newMeta(kind Kind, id ID, name string, schema *Schema) Meta {
	return Meta{Kind: kind, ID: id, Name: name, Schema: schema, Dump: AllPart, Contains: AllPart, Has: Definition}
}

// newTableMeta returns the Meta of an object that belongs to a table: its schema and owner.
func newTableMeta(kind Kind, id ID, name string, t *Table) Meta {
	m := newMeta(kind, id, name, t.Schema)
	m.Owner = t.Owner
	return m
}

// relationRows is what the fetches of the kinds around relations found.
type relationRows struct {
	tables        []*Table
	tableSchemas  []uint32 // of tables, by index
	inherits      []inheritRow
	columnParts   [][]tableColumns
	columnsRead   chan struct{}       // closed when columnParts are complete
	columnsOf     map[uint32][]Column // of these, by table
	domainBases   map[uint32]uint32
	attrDefParts  []rowList[attrDefRow]
	notNulls      rowList[constraintRow]
	checks        rowList[constraintRow]
	unsafeTables  []uint32
	partKeys      map[uint32]string
	partBounds    map[uint32]string
	indexParts    []rowList[indexRow]
	indexStats    map[uint32][][2]int
	indexAttNames map[uint32][]string
	statsExtRows  []statsExtRow
	fkRows        []constraintRow
	triggerRows   []triggerRow
	ruleRows      []ruleRow
	viewParts     [][]viewRow
	foreignOpts   map[uint32]string
	policyRows    []policyRow
	matviewRefs   map[uint32][]uint32
	sequences     map[uint32]*Sequence
	statRows      map[uint32][]ColumnStats
}

// tablesStage reads all relations (not indexes) and decides which of them are wanted.
// The system's own are among them, since a user's table may inherit from one.
//
// Nothing is locked yet, so only plain catalogue columns may be read here: functions
// such as pg_get_partkeydef may fail under concurrent DDL. Ownership of sequences and
// inheritance belong to this round, because they too decide which relations the
// second round reads more about.
func (r *reader) tablesStage() stage {
	return stage{
		name: "tables",
		fetch: func(ctx context.Context, q Querier) error {
			if err := r.fetchTables(ctx, q); err != nil {
				return err
			}
			return r.fetchInherits(ctx, q)
		},
		link: r.linkTables,
	}
}

func (r *reader) fetchTables(ctx context.Context, q Querier) error {
	sql := `SELECT c.oid, c.relname, c.relnamespace, c.relkind, c.reltype, c.relowner,
	c.relchecks, c.relhasindex, c.relhasrules, c.relhastriggers,
	c.relpages, c.reltuples, c.relallvisible, ` + r.since(18, "c.relallfrozen", "0") + `,
	c.relpersistence, c.relispopulated, c.relreplident, c.relrowsecurity, c.relforcerowsecurity,
	c.relispartition, ` + r.since(12, "false", "c.relhasoids") + `, c.reloftype, c.relfrozenxid, c.relminmxid,
	c.relacl, CASE WHEN ` + hasPrivileges("c.relacl", "c.oid") + `
		THEN pg_catalog.acldefault(CASE c.relkind WHEN 'S' THEN 's'::"char" ELSE 'r'::"char" END, c.relowner) END,
	c.reloptions, sp.spcname, am.amname,
	toast.oid, toast.relpages, toast.relfrozenxid, toast.relminmxid, toast.reloptions,
	own.refobjid, own.refobjsubid, own.deptype = 'i',
	ft.ftserver, fs.srvname
FROM pg_catalog.pg_class c
LEFT JOIN pg_catalog.pg_tablespace sp ON sp.oid = c.reltablespace
LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam
LEFT JOIN pg_catalog.pg_class toast
	ON toast.oid = c.reltoastrelid AND toast.relkind = 't' AND c.relkind <> 'p'
LEFT JOIN pg_catalog.pg_depend own
	ON c.relkind = 'S' AND own.classid = 1259 AND own.objid = c.oid AND own.objsubid = 0
	AND own.refclassid = 1259 AND own.deptype IN ('a', 'i')
LEFT JOIN pg_catalog.pg_foreign_table ft ON c.relkind = 'f' AND ft.ftrelid = c.oid
LEFT JOIN pg_catalog.pg_foreign_server fs ON fs.oid = ft.ftserver
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f', 'c')
ORDER BY c.oid`
	return query(ctx, q, sql, func(v *row) {
		t := &Table{}
		oid, name := v.oid(), v.str()
		t.Meta = newMeta(KindTable, ID{ClassRelation, oid}, name, nil)
		r.tableSchemas = append(r.tableSchemas, v.oid())
		t.RelKind = v.char()
		t.TypeOID, t.OwnerOID = v.oid(), v.oid()
		t.NumChecks = v.int()
		t.HasIndex, t.HasRules, t.HasTriggers = v.bool(), v.bool(), v.bool()
		t.Pages, t.Tuples, t.AllVisible, t.AllFrozen = v.int64(), v.str(), v.int64(), v.int64()
		t.Persistence, t.Populated, t.ReplIdent = v.char(), v.bool(), v.char()
		t.RowSec, t.ForceRowSec, t.IsPartition, t.HasOIDs = v.bool(), v.bool(), v.bool(), v.bool()
		t.OfTypeOID, t.FrozenXID, t.MinMXID = v.oid(), v.oid(), v.oid()
		acl, hasACL := v.strNull()
		t.ACL = ACL{Items: acl, Default: v.str()}
		t.Has |= Data
		if hasACL {
			t.Has |= ACLPart
		}
		t.Options, t.CheckOption = splitCheckOption(v.strs())
		t.Tablespace, t.AccessMethod = v.str(), v.str()
		t.ToastOID, t.ToastPages = v.oid(), v.int64()
		t.ToastFrozenXID, t.ToastMinMXID, t.ToastOptions = v.oid(), v.oid(), v.strs()
		t.OwningTable, t.OwningColumn, t.IsIdentity = v.oid(), v.int(), v.bool()
		t.ForeignServer, t.ServerName = v.oid(), v.str()
		r.tables = append(r.tables, t)
	})
}

// splitCheckOption takes a view's check_option out of its options, because it is
// written as WITH ... CHECK OPTION.
func splitCheckOption(options []string) (rest []string, check string) {
	for _, o := range options {
		switch o {
		case "check_option=local":
			check = "LOCAL"
		case "check_option=cascaded":
			check = "CASCADED"
		default:
			rest = append(rest, o)
		}
	}
	return rest, check
}

func (r *reader) linkTables() error {
	db := r.db
	for i, t := range r.tables {
		s := r.schemaByOID[r.tableSchemas[i]]
		if s == nil {
			return fmt.Errorf("schema with OID %d does not exist", r.tableSchemas[i])
		}
		t.Schema = s
		t.Owner = r.roleName(t.OwnerOID)
		db.Add(t)
		if t.RelKind == 'c' {
			t.Dump = None
		} else {
			r.selectTable(t)
		}
		t.Interesting = t.Dump&(Definition|Data|Statistics) != 0
		if t.HasOIDs && t.Dump&Definition != 0 {
			quote := sqltext.Quoter{All: db.Options.QuoteAllIdentifiers}
			r.warnf("WITH OIDS is not supported anymore (table \"%s\")", quote.Ident(t.Name))
		}
		if t.Interesting {
			st := r.addRelStats(&t.Meta, t.RelKind, t.Pages, t.Tuples, t.AllVisible, t.AllFrozen)
			if t.RelKind == 'm' {
				t.RelStats = st
			}
		}
	}
	db.Tables = r.tables
	r.tables, r.tableSchemas = nil, nil

	if err := r.linkOwnedSequences(); err != nil {
		return err
	}
	if err := r.linkParents(); err != nil {
		return err
	}
	// Rows of extensions' configuration tables may be dumped although the tables are not.
	for _, e := range db.Extensions {
		for _, oid := range e.Config {
			if t := db.Table(oid); t != nil {
				t.Interesting = true
			}
		}
	}
	return nil
}

// linkOwnedSequences makes sequences that belong to a column go with its table. An
// identity sequence is part of the table, so exactly the same of it is dumped; of
// other owned sequences, what is dumped of the table and what is wanted anyway.
func (r *reader) linkOwnedSequences() error {
	for _, seq := range r.db.Tables {
		if seq.OwningTable == 0 {
			continue
		}
		owner := r.db.Table(seq.OwningTable)
		if owner == nil {
			return fmt.Errorf("failed sanity check, parent table with OID %d of sequence with OID %d not found",
				seq.OwningTable, seq.ID.OID)
		}
		if seq.IsIdentity {
			seq.Dump = owner.Dump
		} else {
			seq.Dump |= owner.Dump
		}
		if seq.Dump != None {
			seq.Interesting = true
			owner.Interesting = true
		}
	}
	return nil
}

// ownedSequencesStage has nothing left to do: ownership is read with the tables.
func (r *reader) ownedSequencesStage() stage { return stage{name: "owned sequences"} }

// tableOIDs lists the OIDs of the relations that keep accepts as an oid[] literal,
// and says whether there are any.
func (r *reader) tableOIDs(keep func(t *Table) bool) (list string, found bool) {
	oids := r.tablesKept(keep)
	return oidList(oids), len(oids) > 0
}

// tablesKept are the OIDs of the relations that keep accepts.
func (r *reader) tablesKept(keep func(t *Table) bool) []uint32 {
	var kept []uint32
	for _, t := range r.db.Tables {
		if keep(t) {
			kept = append(kept, t.ID.OID)
		}
	}
	return kept
}

// tableParts is tableOIDs in several lists, of consecutive OIDs and about equal length, for queries
// whose functions look at each relation: they run over all sessions. There is none if there
// are no such relations.
func (r *reader) tableParts(keep func(t *Table) bool) []string {
	const least = 256 // relations in a part
	kept := r.tablesKept(keep)
	n := 1
	if len(r.sessions) > 1 {
		n = max(1, min(2*len(r.sessions), len(kept)/least))
	}
	var lists []string
	for i := range n {
		if part := kept[len(kept)*i/n : len(kept)*(i+1)/n]; len(part) > 0 {
			lists = append(lists, oidList(part))
		}
	}
	return lists
}

// tableOf returns the relation a row belongs to.
func (r *reader) tableOf(oid uint32) (*Table, error) {
	if t := r.db.Table(oid); t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("unrecognized table OID %d", oid)
}
