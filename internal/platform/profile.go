package platform

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pghaul/pghaul/pgarchive"
)

// Profile is what is known of one platform.
type Profile struct {
	Name  string // as ByName takes it: "supabase"
	Title string // as people write it

	roles   []role
	objects []object
	claims  []Claims

	// users is the table of users, and userRole the role that they have; both empty if there is none.
	users, userRole string

	// own are schemas that belong to the platform, whose tables are not probed.
	own []string
	// marks are what archives of the platform's databases speak of: roles, or "schema.name".
	// One of sure, or two of marks, tell the platform.
	sure, marks []string
}

// role is a role of a platform. On a throwaway server nobody logs in as it.
type role struct {
	name    string
	options string   // of CREATE ROLE, beside NOLOGIN
	in      []string // roles it is a member of
}

// object is something that a platform has in each database.
type object struct {
	kind         string // SCHEMA, FUNCTION, TABLE, EXTENSION
	schema, name string // name without arguments
	args         string // types of a function's arguments, as a table of contents shows them
	sql          string // what makes it
	since, until int    // major versions it is for; 0: all
	words        []string
}

// String is the object's name in a report.
func (o *object) String() string {
	switch o.kind {
	case "FUNCTION":
		return o.schema + "." + o.name + "(" + o.args + ")"
	case "TABLE":
		return o.schema + "." + o.name
	}
	return o.name
}

// profiles are in the order in which Detect tries them.
var profiles = []*Profile{supabase, rds, cloudSQL, azure, neon}

// Names returns the names of the profiles.
func Names() []string {
	names := make([]string, 0, len(profiles))
	for _, p := range profiles {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return names
}

// ByName returns a profile. The error lists the names there are.
func ByName(name string) (*Profile, error) {
	for _, p := range profiles {
		if p.Name == name {
			return p, nil
		}
	}
	return nil, fmt.Errorf("platform %q is not known; there are %s", name, strings.Join(Names(), ", "))
}

// Detect tells from what an archive speaks of where its database was, or returns nil. Names of roles count where roles
// stand: as owners, in privileges and in policies.
func Detect(entries []*pgarchive.Entry) *Profile {
	text, roles := mentionsIn(entries), make(mentions)
	for _, e := range entries {
		roles[e.Owner] = true
		switch e.Desc {
		case "ACL", "DEFAULT ACL", "POLICY":
			roles.add(e.Defn)
		}
	}
	for _, p := range profiles {
		if slices.ContainsFunc(p.sure, roles.has) {
			return p
		}
		n := 0
		for _, m := range p.marks {
			if strings.Contains(m, ".") && text.has(m) || !strings.Contains(m, ".") && roles.has(m) {
				n++
			}
		}
		if n >= 2 {
			return p
		}
	}
	return nil
}

// HasProbes says that the platform has roles whose view of rows can be probed.
func (p *Profile) HasProbes() bool { return len(p.claims) > 0 }

// RoleNames returns the names of the platform's roles.
func (p *Profile) RoleNames() []string {
	names := make([]string, 0, len(p.roles))
	for _, r := range p.roles {
		names = append(names, r.name)
	}
	return names
}
