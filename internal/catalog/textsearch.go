package catalog

import "context"

// TSParser is a row of pg_ts_parser. Its functions are regproc texts, "-" for none.
type TSParser struct {
	Meta
	Start, Token, End, Headline, LexTypes string
}

// TSTemplate is a row of pg_ts_template. Its functions are regproc texts, "-" for none.
type TSTemplate struct {
	Meta
	Init, Lexize string
}

// TSDict is a row of pg_ts_dict.
type TSDict struct {
	Meta
	TemplateSchema, Template string
	Options                  *string // dictinitoption, as it stands in CREATE TEXT SEARCH DICTIONARY
}

// TSConfig is a row of pg_ts_config.
type TSConfig struct {
	Meta
	ParserSchema, Parser string
	Mappings             []TSMapping // only if its definition is dumped
}

// TSMapping is one row of pg_ts_config_map: rows of one token type follow each other in the order of use.
type TSMapping struct {
	Token string // alias of the token type
	Dict  string // regdictionary
}

func (r *reader) tsParsersStage() stage {
	return stage{"text search parsers", r.fetchTSParsers, func() error { addAll(r.db, r.tsParserRows); return nil }}
}

func (r *reader) fetchTSParsers(ctx context.Context, q Querier) error {
	const sql = `
SELECT oid, prsname, prsnamespace, 0, prsstart::pg_catalog.regproc, prstoken::pg_catalog.regproc, prsend::pg_catalog.regproc,
  prsheadline::pg_catalog.regproc, prslextype::pg_catalog.regproc
FROM pg_catalog.pg_ts_parser ORDER BY oid`
	return query(ctx, q, sql, func(row *row) {
		p := &TSParser{Meta: r.objectMeta(row, KindTSParser, ClassTSParser)}
		p.Start, p.Token, p.End, p.Headline, p.LexTypes = row.str(), row.str(), row.str(), row.str(), row.str()
		r.selectObject(&p.Meta)
		r.tsParserRows = append(r.tsParserRows, p)
	})
}

func (r *reader) tsTemplatesStage() stage {
	return stage{"text search templates", r.fetchTSTemplates, func() error { addAll(r.db, r.tsTemplateRows); return nil }}
}

func (r *reader) fetchTSTemplates(ctx context.Context, q Querier) error {
	const sql = `
SELECT oid, tmplname, tmplnamespace, 0, tmplinit::pg_catalog.regproc, tmpllexize::pg_catalog.regproc
FROM pg_catalog.pg_ts_template ORDER BY oid`
	return query(ctx, q, sql, func(row *row) {
		t := &TSTemplate{Meta: r.objectMeta(row, KindTSTemplate, ClassTSTemplate), Init: row.str(), Lexize: row.str()}
		r.selectObject(&t.Meta)
		r.tsTemplateRows = append(r.tsTemplateRows, t)
	})
}

func (r *reader) tsDictsStage() stage {
	return stage{"text search dictionaries", r.fetchTSDicts, func() error { addAll(r.db, r.tsDictRows); return nil }}
}

func (r *reader) fetchTSDicts(ctx context.Context, q Querier) error {
	const sql = `
SELECT d.oid, d.dictname, d.dictnamespace, d.dictowner, n.nspname, t.tmplname, d.dictinitoption
FROM pg_catalog.pg_ts_dict d
  LEFT JOIN pg_catalog.pg_ts_template t ON t.oid = d.dicttemplate
  LEFT JOIN pg_catalog.pg_namespace n ON n.oid = t.tmplnamespace
ORDER BY d.oid`
	return query(ctx, q, sql, func(row *row) {
		d := &TSDict{Meta: r.objectMeta(row, KindTSDict, ClassTSDict)}
		d.TemplateSchema, d.Template, d.Options = row.str(), row.str(), row.strPtr()
		r.selectObject(&d.Meta)
		r.tsDictRows = append(r.tsDictRows, d)
	})
}

func (r *reader) tsConfigsStage() stage {
	return stage{"text search configurations", r.fetchTSConfigs, func() error { addAll(r.db, r.tsConfigRows); return nil }}
}

func (r *reader) fetchTSConfigs(ctx context.Context, q Querier) error {
	const list = `
SELECT c.oid, c.cfgname, c.cfgnamespace, c.cfgowner, n.nspname, p.prsname
FROM pg_catalog.pg_ts_config c
  LEFT JOIN pg_catalog.pg_ts_parser p ON p.oid = c.cfgparser
  LEFT JOIN pg_catalog.pg_namespace n ON n.oid = p.prsnamespace
ORDER BY c.oid`
	err := query(ctx, q, list, func(row *row) {
		c := &TSConfig{Meta: r.objectMeta(row, KindTSConfig, ClassTSConfig), ParserSchema: row.str(), Parser: row.str()}
		r.selectObject(&c.Meta)
		r.tsConfigRows = append(r.tsConfigRows, c)
	})
	if err != nil {
		return err
	}

	// each parser is asked once for its token types, whatever the number of mappings
	const sql = `
SELECT c.oid, k.alias, m.mapdict::pg_catalog.regdictionary
FROM pg_catalog.unnest(%OIDS%) AS w(oid) JOIN pg_catalog.pg_ts_config c ON c.oid = w.oid
  JOIN pg_catalog.pg_ts_config_map m ON m.mapcfg = c.oid
  LEFT JOIN (SELECT p.oid, t.tokid, t.alias
    FROM (SELECT DISTINCT cfgparser AS oid FROM pg_catalog.pg_ts_config WHERE oid = ANY (%OIDS%)) p,
      LATERAL pg_catalog.ts_token_type(p.oid) t) k ON k.oid = c.cfgparser AND k.tokid = m.maptokentype
ORDER BY c.oid, m.maptokentype, m.mapseqno`
	return details(ctx, q, pick(r.tsConfigRows, r.defined), sql, func(c *TSConfig, row *row) {
		c.Mappings = append(c.Mappings, TSMapping{Token: row.str(), Dict: row.str()})
	})
}
