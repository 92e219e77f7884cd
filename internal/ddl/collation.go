package ddl

import (
	"fmt"
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/pgarchive"
)

// collation renders a collation (dumpCollation in pg_dump.c).
func (r *renderer) collation(c *catalog.Collation) error {
	if r.skip(&c.Meta) {
		return nil
	}
	name := r.quote.Ident(c.Name)
	if want(&c.Meta, catalog.Definition) {
		if c.Details == nil {
			return missingDetails("definition")
		}
		var b strings.Builder
		b.WriteString("CREATE COLLATION " + r.qualified(&c.Meta) + " (provider = ")
		if err := r.collationDetails(&b, c); err != nil {
			return err
		}
		b.WriteString(");\n")
		b.WriteString(r.upgradeMember(&c.Meta, "COLLATION", name, schemaName(&c.Meta)))
		r.define(&c.Meta, pgarchive.Entry{
			Desc: "COLLATION", Section: pgarchive.SectionPreData, Defn: b.String(),
			DropStmt: "DROP COLLATION " + r.qualified(&c.Meta) + ";\n",
		})
	}
	r.commentOn(&c.Meta, "COLLATION", name)
	return nil
}

func (r *renderer) collationDetails(b *strings.Builder, c *catalog.Collation) error {
	d := c.Details
	provider, known := map[byte]string{'b': "builtin", 'c': "libc", 'i': "icu", 'd': "default"}[d.Provider]
	if !known {
		return fmt.Errorf("unrecognized collation provider: %c", d.Provider)
	}
	b.WriteString(provider)
	if !d.Deterministic {
		b.WriteString(", deterministic = false")
	}
	text := func(s *string) string {
		if s == nil {
			return r.literal("")
		}
		return r.literal(*s)
	}
	valid := true
	switch d.Provider {
	case 'd':
		valid = d.Collate == nil && d.CType == nil && d.Locale == nil && d.Rules == nil
	case 'b':
		valid = d.Collate == nil && d.CType == nil && d.Locale != nil && d.Rules == nil
		b.WriteString(", locale = " + text(d.Locale))
	case 'i':
		locale := d.Locale
		if r.db.Info.Version >= 150000 {
			valid = d.Collate == nil && d.CType == nil && d.Locale != nil
		} else {
			// there was no column for it yet
			valid = d.Collate != nil && d.CType != nil && d.Locale == nil && *d.Collate == *d.CType
			locale = d.Collate
		}
		b.WriteString(", locale = " + text(locale))
		if d.Rules != nil {
			b.WriteString(", rules = " + text(d.Rules))
		}
	case 'c':
		valid = d.Collate != nil && d.CType != nil && d.Locale == nil && d.Rules == nil
		if d.Collate != nil && d.CType != nil && *d.Collate == *d.CType {
			b.WriteString(", locale = " + text(d.Collate))
		} else {
			b.WriteString(", lc_collate = " + text(d.Collate) + ", lc_ctype = " + text(d.CType))
		}
	}
	if !valid {
		r.warnf("invalid collation \"%s\"", r.quote.Ident(c.Name))
	}
	// otherwise the version is found anew on restore
	if r.opt.BinaryUpgrade && d.Version != nil {
		b.WriteString(", version = " + r.literal(*d.Version))
	}
	return nil
}
