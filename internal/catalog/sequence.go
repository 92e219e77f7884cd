package catalog

import (
	"context"
	"fmt"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// Sequence is the definition and the state of a sequence.
type Sequence struct {
	Type                              string // smallint integer bigint
	Start, Increment, Min, Max, Cache int64
	Cycled                            bool
	LastValue                         int64
	IsCalled                          bool
	HasState                          bool // LastValue and IsCalled were read
}

// sequencesStage reads the definitions of sequences, and their values if these are dumped.
// A sequence of which there is something to dump but nothing can be read is an error.
func (r *reader) sequencesStage() stage {
	return stage{name: "sequences", fetch: r.fetchSequences, link: r.linkSequences}
}

// wantsSequenceValue says whether t is a sequence whose value is dumped.
func (r *reader) wantsSequenceValue(t *Table) bool {
	o := &r.db.Options
	wanted := (!o.NoData || o.SequenceData) && t.Dump&Data != 0
	return t.RelKind == 'S' && r.dumpsRows(t) && (wanted || r.isConfigTable(t))
}

func (r *reader) fetchSequences(ctx context.Context, q Querier) error {
	r.sequences = make(map[uint32]*Sequence)
	oids, found := r.tableOIDs(func(t *Table) bool { return t.RelKind == 'S' && (t.Dump != None || r.isConfigTable(t)) })
	if !found {
		return nil
	}
	sql := `SELECT s.seqrelid, pg_catalog.format_type(s.seqtypid, NULL), s.seqstart, s.seqincrement, s.seqmin, s.seqmax, s.seqcache, s.seqcycle
FROM pg_catalog.unnest(` + oids + `) AS src(tbloid)
JOIN pg_catalog.pg_sequence s ON s.seqrelid = src.tbloid`
	err := query(ctx, q, sql, func(v *row) {
		oid := v.oid()
		s := &Sequence{Type: v.str(), Start: v.int64(), Increment: v.int64(), Min: v.int64(), Max: v.int64(), Cache: v.int64(), Cycled: v.bool()}
		r.sequences[oid] = s
	})
	if err != nil {
		return err
	}
	if r.db.Info.Version >= 180000 {
		return r.fetchSequenceValues18(ctx, q)
	}
	return r.fetchSequenceValues(ctx, q)
}

// fetchSequenceValues18 reads the values of all sequences at once. What may not be read is NULL.
func (r *reader) fetchSequenceValues18(ctx context.Context, q Querier) error {
	oids, found := r.tableOIDs(r.wantsSequenceValue)
	if !found {
		return nil
	}
	sql := `SELECT tbloid, d.last_value IS NOT NULL AND d.is_called IS NOT NULL, d.last_value, d.is_called
FROM pg_catalog.unnest(` + oids + `) AS src(tbloid), LATERAL pg_catalog.pg_get_sequence_data(tbloid) d`
	return query(ctx, q, sql, func(v *row) {
		oid, readable, last, called := v.oid(), v.bool(), v.int64(), v.bool()
		if s := r.sequences[oid]; s != nil && readable {
			s.LastValue, s.IsCalled, s.HasState = last, called, true
		}
	})
}

// sequencesAQuery is how many sequences one statement reads before 18. Each is a
// relation of the query, which the planner must open.
const sequencesAQuery = 500

// fetchSequenceValues reads the values from the sequences themselves. The view
// pg_sequences would not do: it has no value for a sequence that was set but not yet
// called. The server's error names the sequence that may not be read.
func (r *reader) fetchSequenceValues(ctx context.Context, q Querier) error {
	var wanted []*Table
	for _, t := range r.db.Tables {
		if r.wantsSequenceValue(t) {
			wanted = append(wanted, t)
		}
	}
	var quote sqltext.Quoter
	for len(wanted) > 0 {
		n := min(len(wanted), sequencesAQuery)
		var b strings.Builder
		for i, t := range wanted[:n] {
			if i > 0 {
				b.WriteString("\nUNION ALL ")
			}
			fmt.Fprintf(&b, "SELECT %d::pg_catalog.oid, last_value, is_called FROM %s", t.ID.OID, quote.Qualified(t.Schema.Name, t.Name))
		}
		err := query(ctx, q, b.String(), func(v *row) {
			oid, last, called := v.oid(), v.int64(), v.bool()
			if s := r.sequences[oid]; s != nil {
				s.LastValue, s.IsCalled, s.HasState = last, called, true
			}
		})
		if err != nil {
			return fmt.Errorf("read sequence values: %w", err)
		}
		wanted = wanted[n:]
	}
	return nil
}

func (r *reader) linkSequences() error {
	for _, t := range r.db.Tables {
		if t.RelKind != 'S' {
			continue
		}
		t.Sequence = r.sequences[t.ID.OID]
		if t.Sequence == nil && t.Dump&Definition != 0 {
			return fmt.Errorf("sequence %q was not found in pg_sequence; it may have been dropped meanwhile", t.Name)
		}
		if t.DataObj != nil && (t.Sequence == nil || !t.Sequence.HasState) {
			return fmt.Errorf("failed to get data for sequence %q; user may lack SELECT privilege on the sequence or the sequence may have been concurrently dropped", t.Name)
		}
	}
	r.sequences = nil
	return nil
}
