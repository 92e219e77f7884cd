package catalog

import "context"

// RelStats is the planner statistics of a table, materialized view or index.
type RelStats struct {
	Meta
	RelKind    byte // r p m f i I
	Rel        ID
	Pages      int64
	Tuples     string
	AllVisible int64
	AllFrozen  int64
	AttNames   []string // of an index with an expression: its columns' names, which number them
	PostData   bool     // of an index, or to come after a materialized view's rows: post-data section
	Columns    []ColumnStats
}

// ColumnStats is a row of pg_stats. Values are the server's text; Values[i] belongs to
// StatNames[i] and is nil for NULL.
type ColumnStats struct {
	Attribute string
	Inherited string
	Values    [len(StatNames)]*string
}

// StatNames are the columns of pg_stats that are dumped, in the order in which
// pg_restore_attribute_stats gets them, after attname and inherited; StatTypes their types.
var (
	StatNames = [...]string{
		"null_frac", "avg_width", "n_distinct", "most_common_vals", "most_common_freqs", "histogram_bounds",
		"correlation", "most_common_elems", "most_common_elem_freqs", "elem_count_histogram",
		"range_length_histogram", "range_empty_frac", "range_bounds_histogram",
	}
	StatTypes = [len(StatNames)]string{
		"real", "integer", "real", "text", "real[]", "text",
		"real", "text", "real[]", "real[]",
		"text", "real", "text",
	}
)

// statNames17 is how many of StatNames a server before 17 has.
const statNames17 = 10

// addRelStats makes the statistics object of a relation if statistics are wanted and its
// kind has any, else it returns nil. Statistics of indexes are restored in the post-data
// section, those of tables with the data; a materialized view's after its REFRESH, which
// is settled when there is one.
func (r *reader) addRelStats(rel *Meta, kind byte, pages int64, tuples string, allVisible, allFrozen int64) *RelStats {
	if !r.db.Options.Statistics {
		return nil
	}
	switch kind {
	case 'r', 'p', 'm', 'f', 'i', 'I':
	default:
		return nil
	}
	s := &RelStats{
		Meta:    newMeta(KindRelStats, ID{}, rel.Name, rel.Schema),
		RelKind: kind, Rel: rel.ID, Pages: pages, Tuples: tuples, AllVisible: allVisible, AllFrozen: allFrozen,
		PostData: kind == 'i' || kind == 'I',
	}
	r.db.Add(s)
	s.Has |= Statistics
	s.AddDep(rel.DumpID)
	return s
}

// relStatsStage reads pg_stats of the interesting tables and of their indexes on expressions.
func (r *reader) relStatsStage() stage {
	return stage{name: "statistics", fetch: r.fetchRelStats, link: r.linkRelStats}
}

func (r *reader) fetchRelStats(ctx context.Context, q Querier) error {
	if !r.db.Options.Statistics {
		return nil
	}
	oids, found := r.tableOIDs(func(t *Table) bool {
		switch t.RelKind {
		case 'r', 'p', 'm', 'f':
			return t.Interesting
		}
		return false
	})
	if !found {
		return nil
	}
	cols := ""
	for i, n := range StatNames {
		if i >= statNames17 && r.db.Info.Version < 170000 {
			cols += ", NULL"
		} else {
			cols += ", s." + n
		}
	}
	sql := `SELECT c.oid, s.attname, s.inherited` + cols + `
FROM (
	SELECT tbloid FROM pg_catalog.unnest(` + oids + `) AS src(tbloid)
	UNION ALL
	SELECT i.indexrelid FROM pg_catalog.unnest(` + oids + `) AS src(tbloid)
	JOIN pg_catalog.pg_index i ON i.indrelid = src.tbloid AND i.indexprs IS NOT NULL
) rel(relid)
JOIN pg_catalog.pg_class c ON c.oid = rel.relid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_stats s ON s.schemaname = n.nspname AND s.tablename = c.relname
ORDER BY c.oid, s.attname, s.inherited`
	r.statRows = make(map[uint32][]ColumnStats)
	return query(ctx, q, sql, func(v *row) {
		oid := v.oid()
		c := ColumnStats{Attribute: v.str(), Inherited: v.str()}
		for i := range c.Values {
			if s, ok := v.strNull(); ok {
				c.Values[i] = &s
			}
		}
		r.statRows[oid] = append(r.statRows[oid], c)
	})
}

func (r *reader) linkRelStats() error {
	for _, o := range r.db.Objects {
		if s, ok := o.(*RelStats); ok {
			s.Columns = r.statRows[s.Rel.OID]
		}
	}
	r.statRows = nil
	return nil
}
