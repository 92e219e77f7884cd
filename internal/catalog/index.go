package catalog

import (
	"context"
	"slices"
)

// Index is a row of pg_index with its pg_class.
type Index struct {
	Meta
	Table                 *Table
	Def                   string // pg_get_indexdef; empty if the index serves a constraint
	Tablespace            string
	Options               []string
	StatCols              []int // columns with a statistics target, and the targets
	StatVals              []int
	Keys                  []int // indkey
	NKeyAtts, NAtts       int
	Clustered             bool
	ReplIdent             bool
	NullsNotDistinct      bool
	Valid                 bool
	ParentOID             uint32         // the partitioned index it is attached to
	AttachObj             *IndexAttach   // its attachment to that
	PartAttaches          []*IndexAttach // of a partitioned index: the attachments of its parts
	Constraint            *Constraint    // the constraint it serves, or nil
	RelPages              int64
	RelTuples             string
	AllVisible, AllFrozen int64
	AttNames              []string // names of its columns, only with statistics and if one is an expression
}

// IndexAttach is ALTER INDEX ... ATTACH PARTITION.
type IndexAttach struct {
	Meta
	Parent, Partition *Index
}

type indexRow struct {
	*Index
	oid, table                   uint32
	name                         string
	conOID                       uint32
	conType                      byte
	conName, conDef              string
	deferrable, deferred, period bool

	// What decides about its definition beside that.
	method                      uint32
	unique, ordinary            bool // ordinary: not a partitioned one
	classes, collations, option []int
	trees                       bool // it has an expression or a predicate
	group                       int  // of those the server is asked for; -1 for the rest
}

// indexesStage reads the indexes of the interesting tables, and the primary key, unique
// and exclusion constraints made of them. An invalid index is read only if it belongs to a
// partitioned table: there it waits for parts to be attached.
func (r *reader) indexesStage() stage {
	s := stage{name: "indexes", fetch: r.fetchIndexColumns, link: r.linkIndexes}
	lists := r.tableParts(hasIndexes)
	r.indexParts = make([]rowList[indexRow], len(lists))
	for i, oids := range lists {
		r.inParts(s.name, func(ctx context.Context, q Querier) error {
			return r.fetchIndexes(ctx, q, oids, &r.indexParts[i])
		})
	}
	return s
}

func hasIndexes(t *Table) bool { return t.HasIndex && t.Interesting }

func (r *reader) fetchIndexes(ctx context.Context, q Querier, oids string, rows *rowList[indexRow]) error {
	v11 := r.db.Info.Version >= 110000
	parent, parentJoin := "0", ""
	if v11 {
		parent, parentJoin = "inh.inhparent", "LEFT JOIN pg_catalog.pg_inherits inh ON inh.inhrelid = i.indexrelid\n"
	}
	sql := `SELECT i.indexrelid, i.indrelid, ic.relname, sp.spcname, ic.reloptions, i.indkey, ` + r.since(11, "i.indnkeyatts", "i.indnatts") + `, i.indnatts,
	i.indisclustered, i.indisreplident, ` + r.since(15, "i.indnullsnotdistinct", "false") + `, i.indisvalid,
	` + parent + `, ic.relpages, ic.reltuples, ic.relallvisible, ` + r.since(18, "ic.relallfrozen", "0") + `,
	con.oid, con.contype, con.conname, CASE WHEN con.contype = 'x' THEN pg_catalog.pg_get_constraintdef(con.oid) END,
	con.condeferrable, con.condeferred, ` + r.since(18, "con.conperiod", "false") + `,
	ic.relam, i.indisunique, ic.relkind = 'i', i.indclass, i.indcollation, i.indoption, i.indexprs, i.indpred
FROM pg_catalog.unnest(` + oids + `) AS src(tbloid)
JOIN pg_catalog.pg_index i ON i.indrelid = src.tbloid
JOIN pg_catalog.pg_class ic ON ic.oid = i.indexrelid
JOIN pg_catalog.pg_class tc ON tc.oid = i.indrelid
LEFT JOIN pg_catalog.pg_tablespace sp ON sp.oid = ic.reltablespace
LEFT JOIN pg_catalog.pg_constraint con
	ON con.conrelid = i.indrelid AND con.conindid = i.indexrelid AND con.contype IN ('p', 'u', 'x')
` + parentJoin + `WHERE i.indisready AND (i.indisvalid` + r.since(11, " OR tc.relkind = 'p'", "") + `)
ORDER BY i.indrelid, ic.relname`
	facts, err := fetchIndexFacts(ctx, q)
	if err != nil {
		return err
	}
	if err := r.awaitColumns(ctx); err != nil {
		return err
	}
	define := indexDefiner{facts: facts}
	err = query(ctx, q, sql, func(v *row) {
		x := rows.add()
		x.Index, x.oid, x.table, x.name = new(Index), v.oid(), v.oid(), v.str()
		x.Tablespace, x.Options = v.str(), v.strs()
		x.Keys = v.ints()
		x.NKeyAtts, x.NAtts = v.int(), v.int()
		x.Clustered, x.ReplIdent, x.NullsNotDistinct, x.Valid = v.bool(), v.bool(), v.bool(), v.bool()
		x.ParentOID = v.oid()
		x.RelPages, x.RelTuples, x.AllVisible, x.AllFrozen = v.int64(), v.str(), v.int64(), v.int64()
		x.conOID, x.conType, x.conName, x.conDef = v.oid(), v.char(), v.str(), v.str()
		x.deferrable, x.deferred, x.period = v.bool(), v.bool(), v.bool()
		x.method, x.unique, x.ordinary = v.oid(), v.bool(), v.bool()
		x.classes, x.collations, x.option = v.ints(), v.ints(), v.ints()
		define.row(r, x, v.take(), v.take())
	})
	if err != nil {
		return err
	}
	return define.finish(ctx, q, r, rows)
}

// fetchIndexColumns reads what is needed of the indexes' columns: their statistics targets, and
// with statistics their names.
func (r *reader) fetchIndexColumns(ctx context.Context, q Querier) error {
	if !slices.ContainsFunc(r.db.Tables, hasIndexes) {
		return nil
	}
	if r.db.Info.Version >= 110000 {
		r.indexStats = make(map[uint32][][2]int)
		err := query(ctx, q, `SELECT a.attrelid, a.attnum, a.attstattarget
FROM pg_catalog.pg_attribute a
JOIN pg_catalog.pg_index i ON i.indexrelid = a.attrelid
WHERE a.attstattarget >= 0
ORDER BY a.attrelid, a.attnum`, func(v *row) {
			oid := v.oid()
			r.indexStats[oid] = append(r.indexStats[oid], [2]int{v.int(), v.int()})
		})
		if err != nil {
			return err
		}
	}
	if !r.db.Options.Statistics {
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
	count := 0
	for i := range r.indexParts {
		count += r.indexParts[i].len()
	}
	byOID := make(map[uint32]*Index, count)
	for v := range drain(r.indexParts) {
		t, err := r.tableOf(v.table)
		if err != nil {
			return err
		}
		x := v.Index
		x.Meta = newTableMeta(KindIndex, ID{ClassRelation, v.oid}, v.name, t)
		x.Table = t
		for _, s := range r.indexStats[v.oid] {
			x.StatCols = append(x.StatCols, s[0])
			x.StatVals = append(x.StatVals, s[1])
		}
		x.AttNames = r.indexAttNames[v.oid]
		r.db.Add(x)
		x.Dump = t.Dump
		t.Indexes = append(t.Indexes, x)
		byOID[v.oid] = x

		kind := byte('i')
		if x.ParentOID != 0 {
			kind = 'I'
		}
		stats := r.addRelStats(&x.Meta, kind, x.RelPages, x.RelTuples, x.AllVisible, x.AllFrozen)
		if stats != nil {
			stats.AttNames = x.AttNames
		}
		if v.conOID == 0 {
			continue
		}
		con := &Constraint{
			Meta:  newTableMeta(KindConstraint, ID{ClassConstraint, v.conOID}, v.conName, t),
			Table: t, Type: v.conType, Def: v.conDef, Index: x,
			Deferrable: v.deferrable, Deferred: v.deferred, Period: v.period,
			IsLocal: true, Separate: true, Validated: true,
		}
		r.db.Add(con)
		con.Dump = t.Dump
		x.Constraint = con
		if stats != nil {
			stats.AddDep(con.DumpID)
		}
	}
	r.indexParts, r.indexStats, r.indexAttNames = nil, nil, nil

	for _, t := range r.db.Tables {
		if !t.IsPartition || len(t.Parents) == 0 {
			continue
		}
		for _, x := range t.Indexes {
			parent := byOID[x.ParentOID]
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
			x.AttachObj = a
			parent.PartAttaches = append(parent.PartAttaches, a)
		}
	}
	return nil
}
