package catalog

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// Table is a row of pg_class: a table, partitioned table, view, materialized view,
// sequence, foreign table or composite type.
type Table struct {
	Meta
	RelKind     byte // r p v m S f c
	Persistence byte // p u t
	ReplIdent   byte // relreplident: d n f i

	Populated        bool // of materialized views
	HasIndex         bool
	HasRules         bool
	HasTriggers      bool
	HasOIDs          bool // WITH OIDS, before PostgreSQL 12: no longer possible
	RowSec           bool
	ForceRowSec      bool
	IsPartition      bool
	UnsafePartitions bool // hash partitioned by an enum: rows may belong elsewhere after a restore
	IsIdentity       bool // a sequence that belongs to an identity column
	Interesting      bool // needs more than the bare relation to be read
	DummyView        bool // created as a dummy view first, to break a loop
	PostponedDef     bool // a materialized view moved to post-data, to break a loop
	NeedsOverride    bool // has a column GENERATED ALWAYS AS IDENTITY

	NumChecks    int16 // relchecks
	OwningColumn int16 // of sequences: the owning column and its table
	OwningTable  uint32
	OwnerOID     uint32
	TypeOID      uint32 // its row type
	Pages        int32  // relpages, as the catalogue has it: a negative number stands for 2^31 and more
	ToastPages   int32
	AccessMethod string
	Sequence     *Sequence

	Columns []Column
	Parents []*Table
	Checks  []*Constraint // CHECK constraints, inherited ones too
	Indexes []*Index
	DataObj *TableData

	more *TableMore
}

// TableMore is what few relations have.
type TableMore struct {
	Tablespace    string
	Options       []string // reloptions without check_option
	CheckOption   string   // LOCAL or CASCADED, of views
	ToastOptions  []string
	OfTypeOID     uint32 // reloftype
	OfType        string // and its name, for typed tables
	ForeignServer uint32
	ServerName    string
	FTOptions     string    // foreign table options, text as in CREATE FOREIGN TABLE
	PartKeyDef    string    // PARTITION BY text
	PartBound     string    // FOR VALUES text
	ViewDef       string    // pg_get_viewdef of views and materialized views, without the final ";"
	ViewRule      *Rule     // the view's ON SELECT rule
	RelStats      *RelStats // its planner statistics; only of materialized views

	ToastOID uint32

	// Only for binary upgrade.
	FrozenXID, MinMXID           uint32
	ToastFrozenXID, ToastMinMXID uint32

	// Only with statistics.
	Tuples     string // reltuples, as text
	AllVisible int64
	AllFrozen  int64
}

var noTableMore TableMore

// More returns what few relations have, to be read only.
func (t *Table) More() *TableMore { return cmp.Or(t.more, &noTableMore) }

// rare returns what few relations have, to be filled.
func (t *Table) rare() *TableMore { return made(&t.more) }

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
	tables         rowList[tableRow]
	ownedSequences []ownedSequence
	foreignTables  []foreignTable
	accessMethods  map[uint32]string
	tablespaces    map[uint32]string
	inherits       []inheritRow
	columnParts    [][]tableColumns
	columnsRead    chan struct{}       // closed when columnParts are complete
	columnsOf      map[uint32][]Column // of these, by table
	domainBases    map[uint32]uint32
	attrDefParts   []rowList[attrDefRow]
	notNulls       rowList[constraintRow]
	checks         rowList[constraintRow]
	unsafeTables   []uint32
	partKeys       map[uint32]string
	partBounds     map[uint32]string
	indexes        rowList[indexRow]
	indexByOID     map[uint32]*indexRow
	indexNamesRead chan struct{}      // closed when indexByOID is complete
	indexParents   map[uint32]uint32  // partitioned indexes by their parts
	keys           map[uint32]*keyRow // constraints by their index
	keysRead       chan struct{}      // closed when they are complete, but for the definitions of exclusion constraints
	indexStats     map[uint32][][2]int
	indexAttNames  map[uint32][]string
	statsExtRows   []statsExtRow
	fkRows         []constraintRow
	triggerRows    []triggerRow
	ruleRows       []ruleRow
	viewParts      [][]viewRow
	foreignOpts    map[uint32]string
	policyRows     []policyRow
	matviewRefs    map[uint32][]uint32
	sequences      map[uint32]*Sequence
	statRows       map[uint32][]ColumnStats
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
	if err := r.fetchStorageNames(ctx, q); err != nil {
		return err
	}
	statistics, upgrade := r.db.Options.Statistics, r.db.Options.BinaryUpgrade
	// Neither joins nor an order: the server would need more time for these than for the rows.
	sql := `SELECT c.oid, c.relname, c.relnamespace, c.relkind, c.reltype, c.relowner,
	c.relchecks, c.relhasindex, c.relhasrules, c.relhastriggers,
	c.relpages, c.relpersistence, c.relispopulated, c.relreplident, c.relrowsecurity, c.relforcerowsecurity,
	c.relispartition, ` + r.since(12, "false", "c.relhasoids") + `, c.reloftype,
	c.relacl, CASE WHEN ` + hasPrivileges("c.relacl", "c.oid") + `
		THEN pg_catalog.acldefault(CASE c.relkind WHEN 'S' THEN 's'::"char" ELSE 'r'::"char" END, c.relowner) END,
	c.reloptions, c.reltablespace, c.relam, c.reltoastrelid`
	if statistics {
		sql += `, c.reltuples, c.relallvisible, ` + r.since(18, "c.relallfrozen", "0")
	}
	if upgrade {
		sql += `, c.relfrozenxid, c.relminmxid`
	}
	sql += `
FROM pg_catalog.pg_class c
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f', 'c')`
	err := query(ctx, q, sql, func(v *row) {
		x := r.tables.add()
		t := &x.Table
		oid, name := v.oid(), v.str()
		t.Meta = newMeta(KindTable, ID{ClassRelation, oid}, name, nil)
		x.schema = v.oid()
		t.RelKind = v.char()
		t.TypeOID, t.OwnerOID = v.oid(), v.oid()
		t.NumChecks = int16(v.int())
		t.HasIndex, t.HasRules, t.HasTriggers = v.bool(), v.bool(), v.bool()
		t.Pages, t.Persistence, t.Populated, t.ReplIdent = int32(v.int()), v.char(), v.bool(), v.char()
		t.RowSec, t.ForceRowSec, t.IsPartition, t.HasOIDs = v.bool(), v.bool(), v.bool(), v.bool()
		if oid := v.oid(); oid != 0 {
			t.rare().OfTypeOID = oid
		}
		t.objectACL(v)
		t.Has |= Data
		if options, check := splitCheckOption(v.strs()); options != nil || check != "" {
			t.rare().Options, t.rare().CheckOption = options, check
		}
		if name := r.tablespaces[v.oid()]; name != "" {
			t.rare().Tablespace = name
		}
		t.AccessMethod = r.accessMethods[v.oid()]
		x.toast = v.oid()
		if statistics {
			m := t.rare()
			m.Tuples, m.AllVisible, m.AllFrozen = v.str(), v.int64(), v.int64()
		}
		if upgrade {
			t.rare().FrozenXID, t.rare().MinMXID = v.oid(), v.oid()
		}
	})
	if err != nil {
		return err
	}
	if err := r.fetchToast(ctx, q); err != nil {
		return err
	}
	err = query(ctx, q, `SELECT s.seqrelid, own.refobjid, own.refobjsubid, own.deptype = 'i'
FROM pg_catalog.pg_sequence s
JOIN pg_catalog.pg_depend own
	ON own.classid = 1259 AND own.objid = s.seqrelid AND own.objsubid = 0
	AND own.refclassid = 1259 AND own.deptype IN ('a', 'i')`, func(v *row) {
		r.ownedSequences = append(r.ownedSequences, ownedSequence{v.oid(), v.oid(), int16(v.int()), v.bool()})
	})
	if err != nil {
		return err
	}
	return query(ctx, q, `SELECT ft.ftrelid, ft.ftserver, fs.srvname
FROM pg_catalog.pg_foreign_table ft
LEFT JOIN pg_catalog.pg_foreign_server fs ON fs.oid = ft.ftserver`, func(v *row) {
		r.foreignTables = append(r.foreignTables, foreignTable{v.oid(), v.oid(), v.str()})
	})
}

// tableRow is a table and what of its row leads to others.
type tableRow struct {
	Table
	schema, toast uint32
}

type ownedSequence struct {
	sequence, table uint32
	column          int16
	identity        bool
}

type foreignTable struct {
	table, server uint32
	serverName    string
}

// fetchStorageNames reads the names of access methods and tablespaces, which are few.
func (r *reader) fetchStorageNames(ctx context.Context, q Querier) error {
	r.accessMethods, r.tablespaces = make(map[uint32]string), make(map[uint32]string)
	return query(ctx, q, `SELECT 'm', oid, amname FROM pg_catalog.pg_am
UNION ALL SELECT 't', oid, spcname FROM pg_catalog.pg_tablespace`, func(v *row) {
		names := r.tablespaces
		if v.char() == 'm' {
			names = r.accessMethods
		}
		oid := v.oid()
		names[oid] = v.str()
	})
}

// fetchToast reads what is wanted of TOAST tables: their options, and their sizes if there will be rows.
func (r *reader) fetchToast(ctx context.Context, q Querier) error {
	o := &r.db.Options
	sql := `SELECT c.oid, c.relpages, c.relfrozenxid, c.relminmxid, c.reloptions FROM pg_catalog.pg_class c WHERE c.relkind = 't'`
	if o.NoData && !o.BinaryUpgrade {
		sql += ` AND c.reloptions IS NOT NULL`
	}
	var of map[uint32]*Table
	return query(ctx, q, sql, func(v *row) {
		if of == nil {
			of = make(map[uint32]*Table)
			for x := range r.tables.all() {
				if x.toast != 0 && x.RelKind != 'p' {
					of[x.toast] = &x.Table
				}
			}
		}
		oid, pages, frozen, minMulti, options := v.oid(), int32(v.int()), v.oid(), v.oid(), v.strs()
		t := of[oid]
		if t == nil {
			return
		}
		t.ToastPages = pages
		if options != nil {
			t.rare().ToastOptions = options
		}
		if o.BinaryUpgrade {
			m := t.rare()
			m.ToastOID, m.ToastFrozenXID, m.ToastMinMXID = oid, frozen, minMulti
		}
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
	rows := make([]*tableRow, 0, r.tables.len())
	for x := range r.tables.all() {
		rows = append(rows, x)
	}
	slices.SortFunc(rows, func(a, b *tableRow) int { return cmp.Compare(a.ID.OID, b.ID.OID) })
	db.expect(4 * len(rows)) // with their types, indexes and constraints
	db.Tables = make([]*Table, 0, len(rows))
	for _, x := range rows {
		t := &x.Table
		s := r.schemaByOID[x.schema]
		if s == nil {
			return fmt.Errorf("schema with OID %d does not exist", x.schema)
		}
		t.Schema = s
		t.Owner = r.roleName(t.OwnerOID)
		db.Add(t)
		db.Tables = append(db.Tables, t)
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
		if t.Interesting && db.Options.Statistics {
			m := t.More()
			st := r.addRelStats(&t.Meta, t.RelKind, int64(t.Pages), m.Tuples, m.AllVisible, m.AllFrozen)
			if t.RelKind == 'm' {
				t.rare().RelStats = st
			}
		}
	}
	for _, f := range r.foreignTables {
		if t := db.Table(f.table); t != nil {
			t.rare().ForeignServer, t.rare().ServerName = f.server, f.serverName
		}
	}
	for _, o := range r.ownedSequences {
		if t := db.Table(o.sequence); t != nil {
			t.OwningTable, t.OwningColumn, t.IsIdentity = o.table, o.column, o.identity
		}
	}
	r.tables, r.foreignTables, r.ownedSequences = rowList[tableRow]{}, nil, nil

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
	if len(r.more) > 0 {
		n = max(1, min(2*(1+len(r.more)), len(kept)/least))
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
