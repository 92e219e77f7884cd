package drill

import (
	"context"
	"fmt"
	"slices"

	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/pgarchive"
)

// createPublic is how an archive of some schemas makes the schema public. An archive of a whole database does not:
// every new database has one.
const createPublic = "CREATE SCHEMA public;\n"

// makesPublic says whether the archive makes the schema public.
func (d *drill) makesPublic() bool {
	return slices.ContainsFunc(d.archive.source(), func(e *pgarchive.Entry) bool {
		return e.Desc == "SCHEMA" && e.Tag == "public" && e.Defn == createPublic
	})
}

// keepPublic has the schema public made only where there is none.
func (r *digestReader) keepPublic() {
	r.entries = slices.Clone(r.entries)
	for i, e := range r.entries {
		if e.Desc == "SCHEMA" && e.Tag == "public" && e.Defn == createPublic {
			changed := *e
			changed.Defn = "CREATE SCHEMA IF NOT EXISTS public;\n"
			r.entries[i] = &changed
		}
	}
}

// describePublic describes the copy's schema public as an archive of some schemas does, in place of the description
// for a whole database.
func describePublic(ctx context.Context, copyOf *pg.Config, found *manifest.Manifest) error {
	c, err := pg.Connect(ctx, copyOf)
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	found.Objects = slices.DeleteFunc(found.Objects, func(o manifest.Object) bool {
		return o.Desc == "SCHEMA" && o.Tag == "public" || o.Desc == "COMMENT" && o.Tag == "SCHEMA public"
	})
	err = c.Query(ctx, "SELECT pg_catalog.pg_get_userbyid(nspowner), pg_catalog.obj_description(oid, 'pg_namespace') "+
		"FROM pg_catalog.pg_namespace WHERE nspname = 'public'", func(v [][]byte) error {
		entries := []*pgarchive.Entry{{Desc: "SCHEMA", Tag: "public", Owner: string(v[0]), Defn: createPublic}}
		if v[1] != nil {
			entries = append(entries, &pgarchive.Entry{
				Desc: "COMMENT", Tag: "SCHEMA public", Owner: string(v[0]),
				Defn: "COMMENT ON SCHEMA public IS " + sqltext.Literal(string(v[1]), true) + ";\n",
			})
		}
		found.Objects = append(found.Objects, manifest.Inventory(entries)...)
		return nil
	})
	if err != nil {
		return fmt.Errorf("describe schema public: %w", err)
	}
	return nil
}
