package catalog

// Rule is a row of pg_rewrite.
type Rule struct {
	Meta
	Table    *Table
	Type     byte // ev_type: 1 select, 2 update, 3 insert, 4 delete (as characters)
	Instead  bool
	Enabled  byte
	Def      string // pg_get_ruledef
	Separate bool   // dumped apart from its view
}
