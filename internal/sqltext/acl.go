package sqltext

import (
	"strings"
)

// ACLItem is one aclitem: what one role granted to another, grantee=codes/grantor.
type ACLItem struct {
	Grantee string // role name without quotes; empty: PUBLIC
	Grantor string // role name without quotes
	Codes   string // privilege letters, each followed by "*" when it may be granted on
}

// ParseACLItem takes apart the text form of an aclitem (parseAclItem).
func ParseACLItem(s string) (ACLItem, error) {
	bad := &TextError{What: "malformed ACL item", Text: s}
	grantee, rest := dequoteACLUser(s)
	if !strings.HasPrefix(rest, "=") {
		return ACLItem{}, bad
	}
	codes, grantor, ok := strings.Cut(rest[1:], "/")
	if !ok {
		return ACLItem{}, bad
	}
	name, rest := dequoteACLUser(grantor)
	if rest != "" {
		return ACLItem{}, bad
	}
	return ACLItem{Grantee: grantee, Grantor: name, Codes: codes}, nil
}

// String writes the item as aclitemout does.
func (a ACLItem) String() string {
	return quoteACLUser(a.Grantee) + "=" + a.Codes + "/" + quoteACLUser(a.Grantor)
}

// dequoteACLUser reads a role name up to an unquoted "=" or the end, and returns it without quotes, and the rest.
func dequoteACLUser(s string) (name, rest string) {
	var b []byte
	i := 0
	for i < len(s) && s[i] != '=' {
		if s[i] != '"' {
			b = append(b, s[i])
			i++
			continue
		}
		for i++; ; i++ {
			if i >= len(s) {
				return string(b), "" // the closing quote is missing; the caller misses the "="
			}
			if s[i] == '"' {
				if i+1 >= len(s) || s[i+1] != '"' {
					break
				}
				i++
			}
			b = append(b, s[i])
		}
		i++
	}
	return string(b), s[i:]
}

// quoteACLUser writes a role name as the server's putid (src/backend/utils/adt/acl.c) does.
func quoteACLUser(s string) string {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_') {
			return quoteIdent(s)
		}
	}
	return s
}

// privilege is one letter of an aclitem with its keyword.
type privilege struct {
	code    byte
	keyword string
}

// privileges returns what can be granted on an object of a type (as in GRANT … ON type, or the plural of
// ALTER DEFAULT PRIVILEGES), in the order in which pg_dump writes it; nil for an unknown type.
func privileges(objtype string, column bool) []privilege {
	switch objtype {
	case "TABLE", "TABLES":
		if column {
			return []privilege{{'r', "SELECT"}, {'a', "INSERT"}, {'x', "REFERENCES"}, {'w', "UPDATE"}}
		}
		return []privilege{{'r', "SELECT"}, {'a', "INSERT"}, {'x', "REFERENCES"}, {'d', "DELETE"},
			{'t', "TRIGGER"}, {'D', "TRUNCATE"}, {'m', "MAINTAIN"}, {'w', "UPDATE"}}
	case "SEQUENCE", "SEQUENCES":
		return []privilege{{'r', "SELECT"}, {'U', "USAGE"}, {'w', "UPDATE"}}
	case "FUNCTION", "FUNCTIONS", "PROCEDURE", "PROCEDURES", "ROUTINE", "ROUTINES":
		return []privilege{{'X', "EXECUTE"}}
	case "LANGUAGE", "TYPE", "TYPES", "FOREIGN DATA WRAPPER", "FOREIGN SERVER", "SERVER":
		return []privilege{{'U', "USAGE"}}
	case "SCHEMA", "SCHEMAS":
		return []privilege{{'C', "CREATE"}, {'U', "USAGE"}}
	case "DATABASE":
		return []privilege{{'C', "CREATE"}, {'c', "CONNECT"}, {'T', "TEMPORARY"}}
	case "TABLESPACE":
		return []privilege{{'C', "CREATE"}}
	case "FOREIGN TABLE":
		return []privilege{{'r', "SELECT"}}
	case "PARAMETER":
		return []privilege{{'s', "SET"}, {'A', "ALTER SYSTEM"}}
	case "LARGE OBJECT", "LARGE OBJECTS":
		return []privilege{{'r', "SELECT"}, {'w', "UPDATE"}}
	}
	return nil
}

// privilegeLists translates an item's letters into the keyword lists of GRANT, those without and those with grant
// option; a complete set becomes ALL, which keeps its meaning when a server version adds privileges.
// With splitGrantable false the grant option is ignored and everything is in the first list.
func privilegeLists(codes string, all []privilege, subname string, splitGrantable bool) (plain, grantable string) {
	allPlain, allGrantable := true, true
	var p, g []string
	for _, pr := range all {
		word := pr.keyword
		if subname != "" {
			word += "(" + subname + ")"
		}
		i := strings.IndexByte(codes, pr.code)
		switch {
		case i < 0:
			allPlain, allGrantable = false, false
		case splitGrantable && i+1 < len(codes) && codes[i+1] == '*':
			g = append(g, word)
			allPlain = false
		default:
			p = append(p, word)
			allGrantable = false
		}
	}
	everything := "ALL"
	if subname != "" {
		everything += "(" + subname + ")"
	}
	switch {
	case allGrantable:
		return "", everything
	case allPlain:
		return everything, ""
	}
	return strings.Join(p, ","), strings.Join(g, ",")
}

// BuildACL returns the GRANT and REVOKE statements, each ended by ";\n", that take an object from the privileges
// baseacls to acls (buildACLCommands): first what is revoked, then the owner's own grants, then the others' in ACL order.
//
// name and subname (a column, or "") are already quoted; nspname is not, and may be "". objtype is the word after ON.
// acls and baseacls are the texts of aclitem arrays; an empty acls means "never changed" and gives no statement, an empty
// baseacls means "{}". owner may be "". prefix goes before each statement (ALTER DEFAULT PRIVILEGES …, ended by a space).
// Grants by another role than the owner stand between SET SESSION AUTHORIZATION and RESET SESSION AUTHORIZATION.
// serverVersion, the source's, makes no difference for the versions supported today.
func BuildACL(q Quoter, name, subname, nspname, objtype, acls, baseacls, owner, prefix string, serverVersion int) (string, error) {
	if acls == "" {
		return "", nil
	}
	all := privileges(objtype, subname != "")
	if all == nil {
		return "", &TextError{What: "object type without privileges", Text: objtype}
	}
	have, err := ParseArray(acls)
	if err != nil {
		return "", err
	}
	var base []string
	if baseacls != "" {
		if base, err = ParseArray(baseacls); err != nil {
			return "", err
		}
	}

	target := " ON " + objtype + " "
	if nspname != "" {
		target += q.Ident(nspname) + "."
	}
	if name != "" {
		target += name + " "
	}
	role := func(name string) string {
		if name == "" {
			return "PUBLIC"
		}
		return q.Ident(name)
	}

	var first, second strings.Builder
	for _, text := range without(base, have) {
		item, err := ParseACLItem(text)
		if err != nil {
			return "", err
		}
		if privs, _ := privilegeLists(item.Codes, all, subname, false); privs != "" {
			first.WriteString(prefix + "REVOKE " + privs + target + "FROM " + role(item.Grantee) + ";\n")
		}
	}
	for _, text := range without(have, base) {
		item, err := ParseACLItem(text)
		if err != nil {
			return "", err
		}
		privs, grantable := privilegeLists(item.Codes, all, subname, true)
		if privs == "" && grantable == "" {
			continue
		}
		if item.Grantor == "" {
			item.Grantor = owner
		}
		out := &second
		if owner != "" && item.Grantee == owner && item.Grantor == owner {
			out = &first
		}
		other := item.Grantor != "" && item.Grantor != owner
		if other {
			out.WriteString("SET SESSION AUTHORIZATION " + q.Ident(item.Grantor) + ";\n")
		}
		if privs != "" {
			out.WriteString(prefix + "GRANT " + privs + target + "TO " + role(item.Grantee) + ";\n")
		}
		if grantable != "" {
			out.WriteString(prefix + "GRANT " + grantable + target + "TO " + role(item.Grantee) + " WITH GRANT OPTION;\n")
		}
		if other {
			out.WriteString("RESET SESSION AUTHORIZATION;\n")
		}
	}
	return first.String() + second.String(), nil
}

// without returns the elements of a that are not in b, in order.
func without(a, b []string) []string {
	in := make(map[string]bool, len(b))
	for _, s := range b {
		in[s] = true
	}
	var out []string
	for _, s := range a {
		if !in[s] {
			out = append(out, s)
		}
	}
	return out
}

// BuildDefaultACL returns the ALTER DEFAULT PRIVILEGES statements of one pg_default_acl row (buildDefaultACLCommands).
// objtype is the plural word (TABLES, FUNCTIONS, …); nspname is "" for privileges that hold in all schemas;
// acldefault is what the object type has without the row.
func BuildDefaultACL(q Quoter, objtype, nspname, acls, acldefault, owner string, serverVersion int) (string, error) {
	prefix := "ALTER DEFAULT PRIVILEGES FOR ROLE " + q.Ident(owner) + " "
	if nspname != "" {
		prefix += "IN SCHEMA " + q.Ident(nspname) + " "
	}
	return BuildACL(q, "", "", "", objtype, acls, acldefault, owner, prefix, serverVersion)
}
