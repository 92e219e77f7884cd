package ddl

import (
	"fmt"
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/pgarchive"
)

// constraint renders a constraint that is not part of CREATE TABLE or CREATE DOMAIN (dumpConstraint).
func (r *renderer) constraint(c *catalog.Constraint) error {
	if r.opt.NoSchema {
		return nil
	}
	t := c.Table
	if t == nil {
		return r.domainConstraint(c)
	}
	var err error
	switch c.Type {
	case 'p', 'u', 'x':
		err = r.keyConstraint(c)
	case 'f':
		// Those of partitioned tables are always for the partitions too.
		only := "ONLY "
		if t.RelKind == 'p' {
			only = ""
		}
		r.tableConstraint(c, "FK CONSTRAINT", only)
	case 'c', 'n':
		if c.Separate && c.IsLocal {
			desc := "CHECK CONSTRAINT"
			if c.Type == 'n' {
				desc = "CONSTRAINT"
			}
			r.tableConstraint(c, desc, "") // not ONLY: it is to reach the children
		}
	default:
		err = fmt.Errorf("unrecognized constraint type: %c", c.Type)
	}
	if err != nil {
		return err
	}
	if c.Separate {
		r.constraintComment(c)
	}
	return nil
}

// tableConstraint adds the entry of a constraint whose definition the server gives.
func (r *renderer) tableConstraint(c *catalog.Constraint, desc, only string) {
	if c.Dump&catalog.Definition == 0 {
		return
	}
	alter := "ALTER " + foreign(c.Table) + "TABLE " + only + r.qualified(&c.Table.Meta)
	name := r.quote.Ident(c.Name)
	r.add(&c.Meta, pgarchive.Entry{
		Tag: c.Table.Name + " " + c.Name, Desc: desc, Section: pgarchive.SectionPostData,
		Defn:     alter + "\n    ADD CONSTRAINT " + name + " " + c.Def + ";\n",
		DropStmt: alter + " DROP CONSTRAINT " + name + ";\n",
		Owner:    c.Table.Owner,
	})
}

// keyConstraint renders a primary key, unique or exclusion constraint and so its index.
func (r *renderer) keyConstraint(c *catalog.Constraint) error {
	t, x := c.Table, c.Index
	if x == nil {
		return fmt.Errorf("missing index for constraint %q", c.Name)
	}
	if c.Dump&catalog.Definition == 0 {
		return nil
	}
	alter := "ALTER " + foreign(t) + "TABLE ONLY " + r.qualified(&t.Meta)
	name := r.quote.Ident(c.Name)
	def := c.Def
	if def == "" {
		var err error
		if def, err = r.keyDefinition(c); err != nil {
			return err
		}
	}
	q := r.begin()
	r.upgradeClassOIDs(q, x.ID.OID)
	fmt.Fprintf(q, "%s\n    ADD CONSTRAINT %s %s;\n", alter, name, def)
	r.clusterOn(q, x)
	r.replicaIdentity(q, x)
	q.WriteString(r.dependsOnExtensions(&x.Meta, "INDEX", r.qualified(&x.Meta)))
	r.add(&c.Meta, pgarchive.Entry{
		Tag: r.join(t.Name, " ", c.Name), Desc: "CONSTRAINT", Section: pgarchive.SectionPostData,
		Defn: r.kept(q), DropStmt: r.join(alter, " DROP CONSTRAINT ", name, ";\n"),
		Tablespace: x.More().Tablespace, Owner: t.Owner,
	})
	return nil
}

// keyDefinition renders a primary key or unique constraint from its index. pg_get_constraintdef would
// not do: it leaves out the index's options.
func (r *renderer) keyDefinition(c *catalog.Constraint) (string, error) {
	t, x := c.Table, c.Index
	columns := func(keys []int16) (string, error) {
		var names []string
		for _, k := range keys {
			if k == 0 {
				break
			}
			n, err := columnName(t, int(k))
			if err != nil {
				return "", err
			}
			names = append(names, r.quote.Ident(n))
		}
		return strings.Join(names, ", "), nil
	}
	if int(x.NKeyAtts) > len(x.Keys) || int(x.NAtts) > len(x.Keys) || x.NKeyAtts > x.NAtts {
		return "", fmt.Errorf("index %q has %d columns, but %d numbers of them", x.Name, x.NAtts, len(x.Keys))
	}
	keys, err := columns(x.Keys[:x.NKeyAtts])
	if err != nil {
		return "", err
	}
	included, err := columns(x.Keys[x.NKeyAtts:x.NAtts])
	if err != nil {
		return "", err
	}
	def := "UNIQUE"
	if c.Type == 'p' {
		def = "PRIMARY KEY"
	} else if x.NullsNotDistinct { // never for a primary key, although such an index could once become one
		def += " NULLS NOT DISTINCT"
	}
	def += " (" + keys
	if c.Period {
		def += " WITHOUT OVERLAPS"
	}
	if x.NKeyAtts < x.NAtts {
		def += ") INCLUDE (" + included
	}
	def += ")"
	opts, err := r.reloptions(x.More().Options, "")
	if err != nil {
		return "", err
	}
	if opts != "" {
		def += " WITH (" + opts + ")"
	}
	if c.Deferrable {
		def += " DEFERRABLE"
		if c.Deferred {
			def += " INITIALLY DEFERRED"
		}
	}
	return def, nil
}

// domainConstraint renders a constraint of a domain that is not part of CREATE DOMAIN.
func (r *renderer) domainConstraint(c *catalog.Constraint) error {
	if c.Type != 'c' && c.Type != 'n' || c.Domain == nil {
		return fmt.Errorf("unrecognized constraint type: %c", c.Type)
	}
	if !c.Separate {
		return nil
	}
	d := c.Domain
	desc := "CHECK CONSTRAINT"
	if c.Type == 'n' {
		desc = "CONSTRAINT"
	}
	alter, name := "ALTER DOMAIN "+r.qualified(&d.Meta), r.quote.Ident(c.Name)
	if c.Dump&catalog.Definition != 0 {
		r.add(&c.Meta, pgarchive.Entry{
			Tag: d.Name + " " + c.Name, Desc: desc, Section: pgarchive.SectionPostData,
			Defn:      alter + "\n    ADD CONSTRAINT " + name + " " + c.Def + ";\n",
			DropStmt:  alter + " DROP CONSTRAINT " + name + ";\n",
			Namespace: d.Schema.Name, Owner: d.Owner,
		})
	}
	if c.Dump&catalog.Comment != 0 {
		r.comment("CONSTRAINT "+name+" ON DOMAIN", r.quote.Ident(d.Name), d.Schema.Name, d.Owner, mainID(&c.Meta), pgarchive.ID(c.DumpID))
	}
	return nil
}

// constraintComment adds the comment of a table's constraint (dumpTableConstraintComment). It goes with the
// constraint's entry, or the table's if it is part of that.
func (r *renderer) constraintComment(c *catalog.Constraint) {
	if c.Dump&catalog.Comment == 0 {
		return
	}
	t := c.Table
	dep := pgarchive.ID(t.DumpID)
	if c.Separate {
		dep = pgarchive.ID(c.DumpID)
	}
	r.comment("CONSTRAINT "+r.quote.Ident(c.Name)+" ON", r.quote.Ident(t.Name), t.Schema.Name, t.Owner, mainID(&c.Meta), dep)
}
