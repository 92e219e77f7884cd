package ddl

import (
	"fmt"
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/pgarchive"
)

// relStats renders the planner statistics of a relation as calls of the functions that restore
// them (dumpRelationStats and dumpRelationStats_dumper).
func (r *renderer) relStats(s *catalog.RelStats) error {
	if !r.opt.Statistics {
		return nil
	}
	var q strings.Builder
	head := func(function string) {
		fmt.Fprintf(&q, "SELECT * FROM pg_catalog.%s(\n\t'version', '%d'::integer,\n\t'schemaname', %s,\n\t'relname', %s",
			function, r.db.Info.Version, r.literal(s.Schema.Name), r.literal(s.Name))
	}
	head("pg_restore_relation_stats")
	tuples := s.Tuples
	if r.db.Info.Version < 140000 && tuples == "0" {
		tuples = "-1" // before 14, 0 stood also for "not known"
	}
	fmt.Fprintf(&q, ",\n\t'relpages', '%d'::integer,\n\t'reltuples', '%s'::real,\n\t'relallvisible', '%d'::integer", s.Pages, tuples, s.AllVisible)
	if r.db.Info.Version >= 180000 {
		fmt.Fprintf(&q, ",\n\t'relallfrozen', '%d'::integer", s.AllFrozen)
	}
	q.WriteString("\n);\n")

	for i := range s.Columns {
		c := &s.Columns[i]
		head("pg_restore_attribute_stats")
		if len(s.AttNames) == 0 {
			fmt.Fprintf(&q, ",\n\t'attname', %s", r.literal(c.Attribute))
		} else {
			// The names of an index's columns may be others after a restore.
			num := 0
			for i, n := range s.AttNames {
				if n == c.Attribute {
					num = i + 1
					break
				}
			}
			if num == 0 {
				return fmt.Errorf("could not find index attname %q", c.Attribute)
			}
			fmt.Fprintf(&q, ",\n\t'attnum', '%d'::smallint", num)
		}
		r.statArgument(&q, "inherited", "boolean", c.Inherited)
		for j, v := range c.Values {
			if v != nil {
				r.statArgument(&q, catalog.StatNames[j], catalog.StatTypes[j], *v)
			}
		}
		q.WriteString("\n);\n")
	}
	e := pgarchive.Entry{Tag: s.Name, Desc: "STATISTICS DATA", Section: pgarchive.SectionData, Defn: q.String(), Namespace: s.Schema.Name}
	if s.PostData {
		e.Section = pgarchive.SectionPostData
	}
	r.add(&s.Meta, e)
	return nil
}

func (r *renderer) statArgument(q *strings.Builder, name, typ, value string) {
	fmt.Fprintf(q, ",\n\t'%s', %s::%s", name, r.literal(value), typ)
}
