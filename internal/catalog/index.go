package catalog

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// Index is a row of pg_index with its pg_class.
type Index struct {
	Meta
	Table            *Table
	Def              string      // pg_get_indexdef; empty if the index serves a constraint
	Keys             []int16     // indkey
	Constraint       *Constraint // the constraint it serves, or nil
	ParentOID        uint32      // the partitioned index it is attached to
	NKeyAtts         int16
	NAtts            int16
	Clustered        bool
	ReplIdent        bool
	NullsNotDistinct bool
	Valid            bool

	more *IndexMore
}

// IndexMore is what few indexes have.
type IndexMore struct {
	Tablespace   string
	Options      []string
	StatCols     []int // columns with a statistics target, and the targets
	StatVals     []int
	AttachObj    *IndexAttach   // its attachment to a partitioned index
	PartAttaches []*IndexAttach // of a partitioned index: the attachments of its parts

	// Only with statistics.
	Pages                 int64 // relpages
	Tuples                string
	AllVisible, AllFrozen int64
	AttNames              []string // names of its columns, if one is an expression
}

var noIndexMore IndexMore

// More returns what few indexes have, to be read only.
func (x *Index) More() *IndexMore { return cmp.Or(x.more, &noIndexMore) }

// rare returns what few indexes have, to be filled.
func (x *Index) rare() *IndexMore { return made(&x.more) }

// IndexAttach is ALTER INDEX ... ATTACH PARTITION.
type IndexAttach struct {
	Meta
	Parent, Partition *Index
}

// indexRow is an index and what is needed of it until it is linked.
type indexRow struct {
	Index
	table    uint32 // 0: it is not wanted
	method   uint32
	group    int32 // of the definitions that the server is asked for
	unique   bool
	ordinary bool // not a partitioned one
}

type keyRow struct {
	oid                          uint32
	conType                      byte
	deferrable, deferred, period bool
	name, def                    string
}

// indexesStage reads the indexes of the interesting tables, and the primary key, unique
// and exclusion constraints made of them. An invalid index is read only if it belongs to a
// partitioned table: there it waits for parts to be attached.
//
// What pg_class, pg_index and pg_constraint have of them is put together here and not by the server: it would need
// more time for that than for all the rest.
func (r *reader) indexesStage() stage {
	s := stage{name: "indexes", fetch: r.fetchIndexColumns, link: r.linkIndexes}
	lists := r.tableParts(hasIndexes)
	if len(lists) == 0 {
		return s
	}
	r.indexNamesRead, r.keysRead = make(chan struct{}), make(chan struct{})
	r.inParts(s.name, r.fetchIndexNames)
	r.inParts(s.name, r.fetchKeys)
	for _, oids := range lists {
		r.inParts(s.name, func(ctx context.Context, q Querier) error { return r.fetchIndexes(ctx, q, oids) })
	}
	r.inParts(s.name, r.fetchExclusions)
	return s
}

func hasIndexes(t *Table) bool { return t.HasIndex && t.Interesting }

// fetchIndexNames reads the pg_class rows of indexes, of all if most are wanted.
func (r *reader) fetchIndexNames(ctx context.Context, q Querier) error {
	statistics := r.db.Options.Statistics
	sql := `SELECT ic.oid, ic.relname, ic.reltablespace, ic.reloptions, ic.relam, ic.relkind = 'i'`
	if statistics {
		sql += `, ic.relpages, ic.reltuples, ic.relallvisible, ` + r.since(18, "ic.relallfrozen", "0")
	}
	kept := r.tablesKept(hasIndexes)
	if len(kept) > len(r.db.Tables)/8 {
		sql += `
FROM pg_catalog.pg_class ic
WHERE ic.relkind IN ('i', 'I')`
	} else {
		sql += `
FROM pg_catalog.unnest(` + oidList(kept) + `) AS src(tbloid)
JOIN pg_catalog.pg_index i ON i.indrelid = src.tbloid
JOIN pg_catalog.pg_class ic ON ic.oid = i.indexrelid`
	}
	r.indexByOID = make(map[uint32]*indexRow, len(kept))
	err := query(ctx, q, sql, func(v *row) {
		x := r.indexes.add()
		x.ID = ID{ClassRelation, v.oid()}
		r.indexByOID[x.ID.OID] = x
		x.Name = v.str()
		if name := r.tablespaces[v.oid()]; name != "" {
			x.rare().Tablespace = name
		}
		if options := v.strs(); options != nil {
			x.rare().Options = options
		}
		x.method, x.ordinary = v.oid(), v.bool()
		if statistics {
			m := x.rare()
			m.Pages, m.Tuples, m.AllVisible, m.AllFrozen = v.int64(), v.str(), v.int64(), v.int64()
		}
	})
	if err == nil {
		close(r.indexNamesRead)
	}
	return err
}

func (r *reader) fetchIndexes(ctx context.Context, q Querier, oids string) error {
	sql := `SELECT i.indexrelid, i.indrelid, i.indkey, ` + r.since(11, "i.indnkeyatts", "i.indnatts") + `, i.indnatts,
	i.indisclustered, i.indisreplident, ` + r.since(15, "i.indnullsnotdistinct", "false") + `, i.indisvalid, i.indisready, i.indisunique,
	i.indclass, i.indcollation, i.indoption, i.indexprs, i.indpred
FROM pg_catalog.unnest(` + oids + `) AS src(tbloid)
JOIN pg_catalog.pg_index i ON i.indrelid = src.tbloid`
	facts, err := fetchIndexFacts(ctx, q)
	if err != nil {
		return err
	}
	if err := await(ctx, r.columnsRead); err != nil {
		return err
	}
	if err := await(ctx, r.indexNamesRead); err != nil {
		return err
	}
	if err := await(ctx, r.keysRead); err != nil {
		return err
	}
	define := indexDefiner{facts: facts, reader: r}
	var keys []int16 // of all indexes, one after the other
	err = query(ctx, q, sql, func(v *row) {
		oid, table := v.oid(), v.oid()
		x, t := r.indexByOID[oid], r.db.Table(table)
		if x == nil || t == nil {
			v.fail("index with OID %d of table with OID %d is not in pg_class", oid, table)
			v.next = len(v.values)
			return
		}
		k := &define.indexKeys
		k.key = v.take()
		x.NKeyAtts, x.NAtts = int16(v.int()), int16(v.int())
		x.Clustered, x.ReplIdent, x.NullsNotDistinct, x.Valid = v.bool(), v.bool(), v.bool(), v.bool()
		ready := v.bool()
		x.unique = v.bool()
		k.class, k.collation, k.option, k.expressions, k.predicate = v.take(), v.take(), v.take(), v.take(), v.take()
		if !ready || !x.Valid && t.RelKind != 'p' {
			return
		}
		x.table = table
		if cap(keys)-len(keys) < int(x.NAtts) {
			keys = make([]int16, 0, max(1024, int(x.NAtts)))
		}
		n := len(keys)
		if keys, err = appendInt16s(keys, k.key); err != nil {
			v.fail("%v", err)
		}
		x.Keys = keys[n:len(keys):len(keys)]
		define.row(v, x, t)
	})
	if err != nil {
		return err
	}
	return define.finish(ctx, q)
}

// fetchKeys reads the constraints that are made of indexes.
func (r *reader) fetchKeys(ctx context.Context, q Querier) error {
	oids, _ := r.tableOIDs(hasIndexes)
	r.keys = make(map[uint32]*keyRow)
	var keys rowList[keyRow]
	err := query(ctx, q, `SELECT con.conindid, con.oid, con.contype, con.conname, con.condeferrable, con.condeferred, `+
		r.since(18, "con.conperiod", "false")+`
FROM pg_catalog.unnest(`+oids+`) AS src(tbloid)
JOIN pg_catalog.pg_constraint con ON con.conrelid = src.tbloid
WHERE con.contype IN ('p', 'u', 'x')`, func(v *row) {
		k := keys.add()
		r.keys[v.oid()] = k
		k.oid, k.conType, k.name = v.oid(), v.char(), v.str()
		k.deferrable, k.deferred, k.period = v.bool(), v.bool(), v.bool()
	})
	if err == nil {
		close(r.keysRead)
	}
	return err
}

// fetchExclusions reads the definitions of exclusion constraints.
func (r *reader) fetchExclusions(ctx context.Context, q Querier) error {
	if err := await(ctx, r.keysRead); err != nil {
		return err
	}
	exclusions := make(map[uint32]*keyRow)
	for _, k := range r.keys {
		if k.conType == 'x' {
			exclusions[k.oid] = k
		}
	}
	if len(exclusions) == 0 {
		return nil
	}
	if err := r.awaitLock(ctx); err != nil {
		return err
	}
	return details(ctx, q, exclusions, `SELECT oid, pg_catalog.pg_get_constraintdef(oid) FROM pg_catalog.unnest(%OIDS%) AS src(oid)`,
		func(k *keyRow, v *row) { k.def = v.str() })
}

// fetchIndexColumns reads, with statistics, the names of columns of indexes with expressions.
func (r *reader) fetchIndexColumns(ctx context.Context, q Querier) error {
	if !r.db.Options.Statistics || !slices.ContainsFunc(r.db.Tables, hasIndexes) {
		return nil
	}
	oids, _ := r.tableOIDs(hasIndexes)
	r.indexAttNames = make(map[uint32][]string)
	return query(ctx, q, `SELECT a.attrelid, a.attname
FROM pg_catalog.unnest(`+oids+`) AS src(tbloid)
JOIN pg_catalog.pg_index i ON i.indrelid = src.tbloid AND i.indexprs IS NOT NULL
JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indexrelid
ORDER BY a.attrelid, a.attnum`, func(v *row) {
		oid := v.oid()
		r.indexAttNames[oid] = append(r.indexAttNames[oid], v.str())
	})
}

func (r *reader) linkIndexes() error {
	for x := range r.indexes.all() {
		if x.table == 0 {
			continue
		}
		t, err := r.tableOf(x.table)
		if err != nil {
			return err
		}
		t.Indexes = append(t.Indexes, &x.Index)
	}
	r.indexes, r.indexByOID = rowList[indexRow]{}, nil
	var objects rowList[Constraint]
	for _, t := range r.db.Tables {
		slices.SortFunc(t.Indexes, func(a, b *Index) int { return strings.Compare(a.Name, b.Name) })
		for _, x := range t.Indexes {
			r.linkIndex(t, x, &objects)
		}
	}
	r.indexStats, r.indexAttNames, r.keys, r.indexParents = nil, nil, nil, nil

	for _, t := range r.db.Tables {
		if !t.IsPartition || len(t.Parents) == 0 {
			continue
		}
		for _, x := range t.Indexes {
			parent, _ := r.db.Find(ID{ClassRelation, x.ParentOID}).(*Index)
			if parent == nil {
				continue
			}
			a := &IndexAttach{Meta: newTableMeta(KindIndexAttach, ID{}, x.Name, t), Parent: parent, Partition: x}
			r.db.Add(a)
			// pg_depend knows nothing of this object. Both indexes must exist; the tables
			// are named so that a parallel restore does nothing else to them meanwhile.
			a.AddDep(x.DumpID)
			a.AddDep(parent.DumpID)
			a.AddDep(t.DumpID)
			a.AddDep(parent.Table.DumpID)
			x.rare().AttachObj = a
			parent.rare().PartAttaches = append(parent.rare().PartAttaches, a)
		}
	}
	return nil
}

func (r *reader) linkIndex(t *Table, x *Index, constraints *rowList[Constraint]) {
	oid := x.ID.OID
	x.Meta = newTableMeta(KindIndex, x.ID, x.Name, t)
	x.Table = t
	x.ParentOID = r.indexParents[oid]
	for _, s := range r.indexStats[oid] {
		m := x.rare()
		m.StatCols = append(m.StatCols, s[0])
		m.StatVals = append(m.StatVals, s[1])
	}
	if names := r.indexAttNames[oid]; names != nil {
		x.rare().AttNames = names
	}
	r.db.Add(x)
	x.Dump = t.Dump

	kind := byte('i')
	if x.ParentOID != 0 {
		kind = 'I'
	}
	m := x.More()
	stats := r.addRelStats(&x.Meta, kind, m.Pages, m.Tuples, m.AllVisible, m.AllFrozen)
	if stats != nil {
		stats.AttNames = m.AttNames
	}
	key := r.keys[oid]
	if key == nil {
		return
	}
	con := constraints.add()
	*con = Constraint{
		Meta:  newTableMeta(KindConstraint, ID{ClassConstraint, key.oid}, key.name, t),
		Table: t, Type: key.conType, Def: key.def, Index: x,
		Deferrable: key.deferrable, Deferred: key.deferred, Period: key.period,
		IsLocal: true, Separate: true, Validated: true,
	}
	r.db.Add(con)
	con.Dump = t.Dump
	x.Constraint = con
	if stats != nil {
		stats.AddDep(con.DumpID)
	}
}
