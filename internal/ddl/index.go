package ddl

import (
	"bytes"
	"fmt"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/pgarchive"
)

// index renders an index (dumpIndex). One that serves a constraint is made by that; only its comment
// is written here, and goes with the constraint.
func (r *renderer) index(x *catalog.Index) error {
	if r.opt.NoSchema {
		return nil
	}
	t := x.Table
	name, dep := r.quote.Ident(x.Name), pgarchive.ID(x.DumpID)
	if x.Constraint != nil {
		dep = pgarchive.ID(x.Constraint.DumpID)
	} else if x.Dump&catalog.Definition != 0 {
		qualified := r.qualified(&x.Meta)
		q := r.begin()
		r.upgradeClassOIDs(q, x.ID.OID)
		q.WriteString(x.Def)
		q.WriteString(";\n")
		r.clusterOn(q, x)
		for i, col := range x.More().StatCols {
			fmt.Fprintf(q, "ALTER INDEX %s ALTER COLUMN %d SET STATISTICS %d;\n", qualified, col, x.More().StatVals[i])
		}
		q.WriteString(r.dependsOnExtensions(&x.Meta, "INDEX", qualified))
		r.replicaIdentity(q, x)
		drop := ""
		if x.ParentOID == 0 { // a part of a partitioned index cannot be dropped by itself
			drop = r.join("DROP INDEX ", qualified, ";\n")
		}
		r.add(&x.Meta, pgarchive.Entry{
			Desc: "INDEX", Section: pgarchive.SectionPostData, Defn: r.kept(q), DropStmt: drop,
			Tablespace: x.More().Tablespace, Owner: t.Owner,
		})
	}
	if x.Dump&catalog.Comment != 0 {
		r.comment("INDEX", name, t.Schema.Name, t.Owner, mainID(&x.Meta), dep)
	}
	return nil
}

// The two properties of an index that have only ALTER TABLE. The index's name is not
// qualified there.

func (r *renderer) clusterOn(q *bytes.Buffer, x *catalog.Index) {
	if x.Clustered {
		fmt.Fprintf(q, "\nALTER TABLE %s CLUSTER ON %s;\n", r.qualified(&x.Table.Meta), r.quote.Ident(x.Name))
	}
}

func (r *renderer) replicaIdentity(q *bytes.Buffer, x *catalog.Index) {
	if x.ReplIdent {
		fmt.Fprintf(q, "\nALTER TABLE ONLY %s REPLICA IDENTITY USING INDEX %s;\n", r.qualified(&x.Table.Meta), r.quote.Ident(x.Name))
	}
}

// indexAttach renders the attachment of an index to that of the partitioned table (dumpIndexAttach).
func (r *renderer) indexAttach(a *catalog.IndexAttach) error {
	if r.opt.NoSchema || a.Partition.Dump&catalog.Definition == 0 {
		return nil
	}
	r.add(&a.Meta, pgarchive.Entry{
		Desc: "INDEX ATTACH", Section: pgarchive.SectionPostData,
		Defn:  "ALTER INDEX " + r.qualified(&a.Parent.Meta) + " ATTACH PARTITION " + r.qualified(&a.Partition.Meta) + ";\n",
		Owner: a.Parent.Table.Owner,
	})
	return nil
}
