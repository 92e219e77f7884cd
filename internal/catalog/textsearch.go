package catalog

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
