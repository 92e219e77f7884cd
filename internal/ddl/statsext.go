package ddl

import (
	"fmt"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/pgarchive"
)

// statsExt renders an extended statistics object (dumpStatisticsExt).
func (r *renderer) statsExt(s *catalog.StatsExt) error {
	if r.opt.NoSchema {
		return nil
	}
	qualified := r.qualified(&s.Meta)
	defn := s.Def + ";\n"
	if s.Target >= 0 {
		defn += fmt.Sprintf("ALTER STATISTICS %s SET STATISTICS %d;\n", qualified, s.Target)
	}
	if s.Dump&catalog.Definition != 0 {
		r.add(&s.Meta, pgarchive.Entry{
			Desc: "STATISTICS", Section: pgarchive.SectionPostData, Defn: defn, DropStmt: "DROP STATISTICS " + qualified + ";\n",
		})
	}
	if s.Dump&catalog.Comment != 0 {
		r.comment("STATISTICS", r.quote.Ident(s.Name), s.Schema.Name, s.Owner, mainID(&s.Meta), pgarchive.ID(s.DumpID))
	}
	return nil
}
