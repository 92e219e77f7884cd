package catalog

import (
	"context"
	"fmt"
)

// unknownRow is an object, or a group of them, of a kind that this package does not know.
type unknownRow struct{ what, kind, name string }

// unknownStage looks for what this version of the program cannot know: kinds of relations, types, functions, constraints and
// dependencies, and objects in catalogues, that a newer server has. Leaving them out silently would break the backup.
func (r *reader) unknownStage() stage {
	proc := `UNION ALL
SELECT 'function', p.prokind::text, n.nspname || '.' || p.proname
FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
WHERE p.prokind NOT IN ('f', 'a', 'w', 'p')
`
	if r.db.Info.Version < 110000 {
		proc = ""
	}
	sql := `SELECT 'relation', c.relkind::text, n.nspname || '.' || c.relname
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind NOT IN ('r', 'i', 'S', 't', 'v', 'm', 'c', 'f', 'p', 'I')
UNION ALL
SELECT 'type', t.typtype::text, n.nspname || '.' || t.typname
FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
WHERE t.typtype NOT IN ('b', 'c', 'd', 'e', 'p', 'r', 'm')
UNION ALL
SELECT 'constraint', c.contype::text, n.nspname || '.' || c.conname
FROM pg_catalog.pg_constraint c JOIN pg_catalog.pg_namespace n ON n.oid = c.connamespace
WHERE c.contype NOT IN ('c', 'f', 'n', 'p', 'u', 't', 'x')
UNION ALL
SELECT 'default privileges', d.defaclobjtype::text, d.oid::text
FROM pg_catalog.pg_default_acl d
WHERE d.defaclobjtype NOT IN ('r', 'S', 'f', 'T', 'n', 'L')
` + proc + `UNION ALL
SELECT 'object', c.relname::text, d.objid::text
FROM pg_catalog.pg_class c CROSS JOIN LATERAL (
	SELECT objid FROM pg_catalog.pg_depend WHERE classid = c.oid AND objid > 16383 ORDER BY objid LIMIT 1
) d
WHERE c.oid < 16384 AND c.relkind = 'r' AND c.oid NOT IN (` + knownClasses + `)`
	return stage{
		name: "objects of unknown kinds",
		fetch: func(ctx context.Context, q Querier) error {
			return query(ctx, q, sql, func(row *row) {
				r.unknown = append(r.unknown, unknownRow{row.str(), row.str(), row.str()})
			})
		},
	}
}

// knownClasses are the catalogues whose rows this package reads or knows to be part of what it reads
// (pg_amop 2602, pg_amproc 2603, pg_largeobject 2613 and others; pg_user_mapping 1418 goes with its server).
const knownClasses = `1247, 1255, 1259, 1417, 1418, 2328, 2601, 2602, 2603, 2604, 2605, 2606, 2607, 2612, 2613, 2995,
  2615, 2616, 2617, 2618, 2620, 2753, 3079, 3256, 3381, 3456, 3466, 3576, 3600, 3601, 3602, 3764, 826, 6104, 6106, 6237, 6100`

func (r *reader) checkUnknown() error {
	if len(r.unknown) == 0 {
		return nil
	}
	u := r.unknown[0]
	more := ""
	if n := len(r.unknown) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	if u.what == "object" {
		return fmt.Errorf("dump object %s of catalog %s: objects of this catalog are not known to this version%s", u.name, u.kind, more)
	}
	return fmt.Errorf("dump %s %s: its kind %q is not known to this version%s", u.what, u.name, u.kind, more)
}
