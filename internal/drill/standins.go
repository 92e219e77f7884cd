package drill

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/platform"
	"github.com/pghaul/pghaul/internal/scratch"
	"github.com/pghaul/pghaul/internal/sqltext"
)

// choosePlatform finds out what of a managed platform the archive refers to without holding it.
func (d *drill) choosePlatform() (err error) {
	switch d.o.Platform {
	case NoPlatform:
		return nil
	case "":
		if d.profile = platform.Detect(d.archive.source()); d.o.Probes != nil {
			d.profile, err = platform.ByName(d.o.Probes.Profile)
		}
	default:
		d.profile, err = platform.ByName(d.o.Platform)
	}
	if err != nil || d.profile == nil {
		return err
	}
	d.report.Platform = d.profile.Title
	d.stubs = d.profile.Stubs(d.archive.source(), d.major())
	return nil
}

// createRoles creates the roles that the archive speaks of and the server lacks. Those of a platform are as they are there. On a
// throwaway server the others are superusers who cannot log in: some objects (event triggers, say)
// may be owned by superusers only, and nobody ever connects as them.
func (d *drill) createRoles(ctx context.Context, server *scratch.Server, target *pg.Config) error {
	c, err := pg.Connect(ctx, target)
	if err != nil {
		return fmt.Errorf("create roles: %w", err)
	}
	defer c.Close(ctx)
	there := make(map[string]bool)
	superuser := false
	err = c.Query(ctx, "SELECT rolname, rolsuper AND rolname = current_user FROM pg_catalog.pg_roles", func(values [][]byte) error {
		there[string(values[0])] = true
		superuser = superuser || string(values[1]) == "t"
		return nil
	})
	if err != nil {
		return fmt.Errorf("read roles: %w", err)
	}
	create := func(name, sql, rule string) error {
		if there[name] {
			return nil
		}
		if err := c.Exec(ctx, sql); err != nil {
			return fmt.Errorf("create role %s: %w", name, err)
		}
		there[name] = true
		server.CreatedRole(name)
		d.report.StandIns = append(d.report.StandIns, StandIn{platform.KindRole, name, rule})
		return nil
	}
	for _, s := range d.stubs {
		if s.Kind != platform.KindRole {
			d.report.StandIns = append(d.report.StandIns, StandIn{s.Kind, s.Name, s.Rule})
		} else if err := create(s.Name, s.SQL, s.Rule); err != nil {
			return err
		}
	}
	for _, r := range d.roles() {
		name := sqltext.Quoter{}.Ident(r)
		sql := "CREATE ROLE " + name + " SUPERUSER NOLOGIN"
		switch {
		case server.Database != "" && superuser:
			sql = "CREATE ROLE " + name + " NOLOGIN"
		case server.Database != "": // to give objects to it takes being a member
			sql = "CREATE ROLE " + name + " NOLOGIN; GRANT " + name + " TO CURRENT_USER"
		}
		if err := create(r, sql, ruleRoleStubbed); err != nil {
			return err
		}
	}
	return nil
}

// roles returns the names of the roles that archive and manifest speak of, sorted.
func (d *drill) roles() []string {
	roles := rolesOf(d.archive.source())
	if d.manifest != nil {
		for _, r := range d.manifest.Roles {
			roles[string(r)] = true
		}
	}
	return slices.Sorted(maps.Keys(roles))
}

// isStandIn says whether something that only the copy has was made as a stand-in, or belongs to such a thing.
func (d *drill) isStandIn(v manifest.Difference) bool {
	for _, s := range d.report.StandIns {
		name := qualified(string(v.Namespace), string(v.Name))
		switch {
		case s.Kind == "ROLE":
		case s.Kind == "SCHEMA" && string(v.Namespace) == s.Name:
			return true
		case name == s.Name, strings.HasPrefix(name, s.Name+" "): // also a table's key, which is named "table key"
			return true
		case v.Desc == "ACL" || v.Desc == "COMMENT": // their names begin with a kind
			kind, rest, _ := strings.Cut(string(v.Name), " ")
			if kind == s.Kind && qualified(string(v.Namespace), rest) == s.Name {
				return true
			}
		}
	}
	return false
}
