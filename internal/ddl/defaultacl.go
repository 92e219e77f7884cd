package ddl

import (
	"fmt"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/pgarchive"
)

// defaultACL renders ALTER DEFAULT PRIVILEGES (dumpDefaultACL in pg_dump.c).
func (r *renderer) defaultACL(d *catalog.DefaultACL) error {
	if r.opt.NoSchema || r.opt.NoPrivileges {
		return nil
	}
	var kind string
	switch d.ObjType {
	case 'r':
		kind = "TABLES"
	case 'S':
		kind = "SEQUENCES"
	case 'f':
		kind = "FUNCTIONS"
	case 'T':
		kind = "TYPES"
	case 'n':
		kind = "SCHEMAS"
	case 'L':
		kind = "LARGE OBJECTS"
	default:
		return fmt.Errorf("unrecognized object type in default privileges: %d", d.ObjType)
	}
	nsp := ""
	if d.Schema != nil {
		nsp = d.Schema.Name
	}
	text, err := sqltext.BuildDefaultACL(r.quote, kind, nsp, d.ACL.Items, d.ACL.Default, d.Role, r.db.Info.Version)
	if err != nil {
		return fmt.Errorf("could not parse default ACL list (%s): %w", d.ACL.Items, err)
	}
	if d.Dump&catalog.ACLPart != 0 {
		r.add(&d.Meta, pgarchive.Entry{
			Tag:     "DEFAULT PRIVILEGES FOR " + kind,
			Desc:    "DEFAULT ACL",
			Section: pgarchive.SectionPostData,
			Defn:    text,
			Owner:   d.Role,
		})
	}
	return nil
}
