package dsnpg

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/sqltext"
)

// item is something in a database that can be dropped by itself.
type item struct {
	kind string // as in DROP
	name string // as in DROP
}

// inventory returns what is in the database besides PostgreSQL's own things: what
// can be dropped, and takes everything else with it. What belongs to an extension
// goes with it, what is in a schema likewise; the schema public itself stays.
func inventory(ctx context.Context, c *pg.Conn) ([]item, error) {
	const firstNormal = "16384" // FirstNormalObjectId, src/include/access/transam.h
	var out []item
	err := c.Query(ctx, `SELECT o.type, o.identity FROM (
  SELECT 1 AS rank, 'pg_event_trigger'::pg_catalog.regclass AS class, oid FROM pg_catalog.pg_event_trigger
  UNION ALL SELECT 2, 'pg_publication'::pg_catalog.regclass, oid FROM pg_catalog.pg_publication
  UNION ALL SELECT 3, 'pg_extension'::pg_catalog.regclass, oid FROM pg_catalog.pg_extension
  UNION ALL SELECT 4, 'pg_namespace'::pg_catalog.regclass, oid FROM pg_catalog.pg_namespace WHERE nspname !~ '^pg_'
  UNION ALL SELECT 5, d.classid, d.objid FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_namespace n ON n.oid = d.refobjid
    WHERE d.refclassid = 'pg_namespace'::pg_catalog.regclass AND n.nspname = 'public' AND d.deptype = 'n'
      AND d.classid <> 'pg_default_acl'::pg_catalog.regclass
  UNION ALL SELECT 6, 'pg_foreign_data_wrapper'::pg_catalog.regclass, oid FROM pg_catalog.pg_foreign_data_wrapper
  UNION ALL SELECT 7, 'pg_cast'::pg_catalog.regclass, oid FROM pg_catalog.pg_cast
  UNION ALL SELECT 8, 'pg_transform'::pg_catalog.regclass, oid FROM pg_catalog.pg_transform
  UNION ALL SELECT 9, 'pg_language'::pg_catalog.regclass, oid FROM pg_catalog.pg_language
  UNION ALL SELECT 10, 'pg_am'::pg_catalog.regclass, oid FROM pg_catalog.pg_am
  UNION ALL SELECT 11, 'pg_largeobject'::pg_catalog.regclass, oid FROM pg_catalog.pg_largeobject_metadata
) AS x, pg_catalog.pg_identify_object(x.class, x.oid, 0) AS o
WHERE (x.oid >= `+firstNormal+` OR x.rank = 11) AND NOT EXISTS (
  SELECT FROM pg_catalog.pg_depend d WHERE d.classid = x.class AND d.objid = x.oid AND d.objsubid = 0 AND d.deptype IN ('e', 'i'))
ORDER BY x.rank, x.oid DESC`, func(row [][]byte) error {
		x := item{kind: string(row[0]), name: string(row[1])}
		switch x.kind {
		case "statistics object":
			x.kind = "statistics"
		case "function", "procedure", "aggregate":
			x.kind = "routine"
		case "transform":
			x.name = strings.Replace(x.name, " on language ", " language ", 1)
		case "foreign-data wrapper":
			x.kind = "foreign data wrapper"
		case "index", "toast table", "rule", "trigger", "table constraint", "policy":
			return nil // they go with their table
		}
		out = append(out, x)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look what is in the database: %w", err)
	}
	return out, nil
}

// empty drops what was created in the given database.
func (i *instance) empty(ctx context.Context, roles []string) error {
	quote := sqltext.Quoter{}.Ident
	for _, r := range roles {
		// Privileges, and default privileges, that the role has or gave.
		i.admin.Exec(ctx, "DROP OWNED BY "+quote(r)+" CASCADE")
	}
	var left []string
	var failed error
	// What a failure leaves may go once something else is gone.
	for range 3 {
		items, err := inventory(ctx, i.admin)
		if err != nil {
			return err
		}
		left, failed = nil, nil
		for _, x := range items {
			if i.before[x] {
				continue
			}
			if err := i.admin.Exec(ctx, x.drop()); err != nil {
				left = append(left, x.kind+" "+x.name)
				failed = errors.Join(failed, err)
			}
		}
		if len(left) == 0 {
			return nil
		}
	}
	return fmt.Errorf("empty database %s: %s are left: %w", i.name, strings.Join(left, ", "), failed)
}

// drop returns the statement that drops the item if it is still there.
func (x item) drop() string {
	if x.kind == "large object" {
		return "SELECT pg_catalog.lo_unlink(oid) FROM pg_catalog.pg_largeobject_metadata WHERE oid = " + x.name
	}
	return "DROP " + strings.ToUpper(x.kind) + " IF EXISTS " + x.name + " CASCADE"
}
