package sqltext

import (
	"strings"
)

// Quoter writes identifiers. Its zero value quotes only the names that need it.
type Quoter struct {
	All bool // quote every identifier (--quote-all-identifiers)
}

// Ident returns name as an SQL identifier, in double quotes unless it is made of lower-case
// ASCII letters, digits and underscores, does not start with a digit, and is not a keyword of a
// category above "unreserved" (fmtId).
func (q Quoter) Ident(name string) string {
	if !q.All && plainIdent(name) {
		return name
	}
	return quoteIdent(name)
}

// Qualified returns schema.name, each part as Ident writes it; with an empty schema
// just the name (fmtQualifiedId).
func (q Quoter) Qualified(schema, name string) string {
	if schema == "" {
		return q.Ident(name)
	}
	return q.Ident(schema) + "." + q.Ident(name)
}

// Idents returns the names as Ident writes them, separated by ", ".
func (q Quoter) Idents(names []string) string {
	var b strings.Builder
	for i, n := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(q.Ident(n))
	}
	return b.String()
}

// plainIdent says whether the scanner reads name back unchanged without quotes.
func plainIdent(name string) bool {
	if name == "" {
		return false
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case c >= 'a' && c <= 'z', c == '_':
		case c >= '0' && c <= '9' && i > 0:
		default:
			return false
		}
	}
	return !reserved[name]
}

func quoteIdent(name string) string {
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// NeedsQuotes says whether Ident would put name in double quotes because of the name itself.
func NeedsQuotes(name string) bool { return !plainIdent(name) }
