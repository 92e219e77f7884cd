package ddl

import (
	"fmt"
	"math"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/pgarchive"
)

// sequence renders a sequence, and in an entry of its own by which column it is owned (dumpSequence). An
// identity column's sequence is made by giving the column its identity.
func (r *renderer) sequence(t *catalog.Table) error {
	s := t.Sequence
	if s == nil {
		return fmt.Errorf("sequence %q has no definition", t.Name)
	}
	low, high, err := sequenceLimits(s.Type, s.Increment >= 0)
	if err != nil {
		return err
	}
	var owner *catalog.Table
	if t.OwningTable != 0 {
		if owner = r.db.Table(t.OwningTable); owner == nil {
			return fmt.Errorf("failed sanity check, parent table with OID %d of sequence with OID %d not found", t.OwningTable, t.ID.OID)
		}
		if t.OwningColumn < 1 || int(t.OwningColumn) > len(owner.Columns) {
			return fmt.Errorf("invalid column number %d for table %q", t.OwningColumn, owner.Name)
		}
	}
	name := r.qualified(&t.Meta)
	q := r.begin()
	r.upgradeClassOIDs(q, t.ID.OID)
	drop, end := "", ";\n"
	if t.IsIdentity {
		c := &owner.Columns[t.OwningColumn-1]
		fmt.Fprintf(q, "ALTER TABLE %s ALTER COLUMN %s ADD GENERATED ", r.qualified(&owner.Meta), r.quote.Ident(c.Name))
		switch c.Identity {
		case 'a':
			q.WriteString("ALWAYS")
		case 'd':
			q.WriteString("BY DEFAULT")
		}
		fmt.Fprintf(q, " AS IDENTITY (\n    SEQUENCE NAME %s\n", name)
		if t.Persistence != owner.Persistence {
			if t.Persistence == 'u' {
				q.WriteString("    UNLOGGED\n")
			} else {
				q.WriteString("    LOGGED\n")
			}
		}
		end = "\n);\n"
	} else {
		drop = r.join("DROP SEQUENCE ", name, ";\n")
		unlogged := ""
		if t.Persistence == 'u' {
			unlogged = "UNLOGGED "
		}
		fmt.Fprintf(q, "CREATE %sSEQUENCE %s\n", unlogged, name)
		if s.Type != "bigint" {
			fmt.Fprintf(q, "    AS %s\n", s.Type)
		}
	}
	fmt.Fprintf(q, "    START WITH %d\n    INCREMENT BY %d\n", s.Start, s.Increment)
	limit := func(word string, v, usual int64) {
		if v == usual {
			fmt.Fprintf(q, "    NO %s\n", word)
		} else {
			fmt.Fprintf(q, "    %s %d\n", word, v)
		}
	}
	limit("MINVALUE", s.Min, low)
	limit("MAXVALUE", s.Max, high)
	fmt.Fprintf(q, "    CACHE %d", s.Cache)
	if s.Cycled {
		q.WriteString("\n    CYCLE")
	}
	q.WriteString(end)
	quoted := r.quote.Ident(t.Name)
	q.WriteString(r.upgradeMember(&t.Meta, "SEQUENCE", quoted, t.Schema.Name))
	r.add(&t.Meta, pgarchive.Entry{Desc: "SEQUENCE", Section: pgarchive.SectionPreData, Defn: r.kept(q), DropStmt: drop})

	// By itself, because the sequence must first have the table's owner.
	if owner != nil && !t.IsIdentity && owner.Dump&catalog.Definition != 0 {
		r.addEntry(pgarchive.Entry{
			Tag: t.Name, Desc: "SEQUENCE OWNED BY", Section: pgarchive.SectionPreData,
			Defn: fmt.Sprintf("ALTER SEQUENCE %s OWNED BY %s.%s;\n", name, r.qualified(&owner.Meta),
				r.quote.Ident(owner.Columns[t.OwningColumn-1].Name)),
			Namespace: t.Schema.Name, Owner: t.Owner, Dependencies: []pgarchive.ID{pgarchive.ID(t.DumpID)},
		})
	}
	if t.Dump&catalog.Comment != 0 {
		r.comment("SEQUENCE", quoted, t.Schema.Name, t.Owner, mainID(&t.Meta), pgarchive.ID(t.DumpID))
	}
	if t.Dump&catalog.SecLabel != 0 {
		r.secLabel("SEQUENCE", quoted, t.Schema.Name, t.Owner, mainID(&t.Meta), pgarchive.ID(t.DumpID))
	}
	return nil
}

// sequenceLimits returns the limits a sequence of that type has if none are given.
func sequenceLimits(typ string, ascending bool) (low, high int64, err error) {
	switch typ {
	case "smallint":
		low, high = math.MinInt16, math.MaxInt16
	case "integer":
		low, high = math.MinInt32, math.MaxInt32
	case "bigint":
		low, high = math.MinInt64, math.MaxInt64
	default:
		return 0, 0, fmt.Errorf("unrecognized sequence type: %s", typ)
	}
	if ascending {
		return 1, high, nil
	}
	return low, -1, nil
}

// sequenceSet adds the entry that sets a sequence's value (dumpSequenceData).
func (r *renderer) sequenceSet(d *catalog.TableData) error {
	t := d.Table
	s := t.Sequence
	if d.Dump&catalog.Data == 0 {
		return nil
	}
	if s == nil || !s.HasState {
		return fmt.Errorf("failed to get data for sequence %q", t.Name)
	}
	r.addEntry(pgarchive.Entry{
		Tag: t.Name, Desc: "SEQUENCE SET", Section: pgarchive.SectionData,
		Defn:      fmt.Sprintf("SELECT pg_catalog.setval(%s, %d, %t);\n", r.literal(r.qualified(&t.Meta)), s.LastValue, s.IsCalled),
		Namespace: t.Schema.Name, Owner: t.Owner, Dependencies: []pgarchive.ID{pgarchive.ID(t.DumpID)},
	})
	return nil
}
