package ddl

import (
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/pgarchive"
)

// tsParser renders a text search parser (dumpTSParser in pg_dump.c).
func (r *renderer) tsParser(p *catalog.TSParser) error {
	headline := ""
	if p.Headline != "-" {
		headline = "    HEADLINE = " + p.Headline + ",\n"
	}
	r.tsObject(&p.Meta, "TEXT SEARCH PARSER", "    START = "+p.Start+",\n    GETTOKEN = "+p.Token+",\n    END = "+p.End+",\n"+
		headline+"    LEXTYPES = "+p.LexTypes+" );\n")
	return nil
}

// tsTemplate renders a text search template (dumpTSTemplate).
func (r *renderer) tsTemplate(t *catalog.TSTemplate) error {
	init := ""
	if t.Init != "-" {
		init = "    INIT = " + t.Init + ",\n"
	}
	r.tsObject(&t.Meta, "TEXT SEARCH TEMPLATE", init+"    LEXIZE = "+t.Lexize+" );\n")
	return nil
}

// tsDict renders a text search dictionary (dumpTSDictionary).
func (r *renderer) tsDict(d *catalog.TSDict) error {
	options := ""
	if d.Options != nil {
		options = ",\n    " + *d.Options
	}
	r.tsObject(&d.Meta, "TEXT SEARCH DICTIONARY",
		"    TEMPLATE = "+r.quote.Ident(d.TemplateSchema)+"."+r.quote.Ident(d.Template)+options+" );\n")
	return nil
}

// tsConfig renders a text search configuration with its mappings (dumpTSConfig).
func (r *renderer) tsConfig(c *catalog.TSConfig) error {
	var b strings.Builder
	b.WriteString("    PARSER = " + r.quote.Ident(c.ParserSchema) + "." + r.quote.Ident(c.Parser) + " );\n")
	for i, m := range c.Mappings {
		if i > 0 && m.Token == c.Mappings[i-1].Token {
			b.WriteString(", " + m.Dict)
			continue
		}
		if i > 0 {
			b.WriteString(";\n")
		}
		b.WriteString("\nALTER TEXT SEARCH CONFIGURATION " + r.qualified(&c.Meta) +
			"\n    ADD MAPPING FOR " + r.quote.Ident(m.Token) + " WITH " + m.Dict)
	}
	if len(c.Mappings) > 0 {
		b.WriteString(";\n")
	}
	r.tsObject(&c.Meta, "TEXT SEARCH CONFIGURATION", b.String())
	return nil
}

// tsObject adds the entry and comment of a text search object, whose definition goes on with rest after the "(".
func (r *renderer) tsObject(m *catalog.Meta, kind, rest string) {
	if r.skip(m) {
		return
	}
	name := r.quote.Ident(m.Name)
	var b strings.Builder
	b.WriteString("CREATE " + kind + " " + r.qualified(m) + " (\n" + rest)
	b.WriteString(r.upgradeMember(m, kind, name, schemaName(m)))
	r.define(m, pgarchive.Entry{
		Desc: kind, Section: pgarchive.SectionPreData, Defn: b.String(),
		DropStmt: "DROP " + kind + " " + r.qualified(m) + ";\n",
	})
	r.commentOn(m, kind, name)
}
