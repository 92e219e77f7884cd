package sqltext

import (
	"errors"
	"fmt"
	"strings"
)

// PatternKind says what a name pattern may name, which decides how many dots it may have.
type PatternKind uint8

// The kinds of patterns that the options of pg_dump, pg_restore and pg_dumpall take.
const (
	// PatternName is one unqualified name: an extension, a foreign server, a role, a database (of pg_dumpall).
	// Any dot is an error.
	PatternName PatternKind = iota
	// PatternSchema is a schema name. pg_dump takes no database in front of it.
	PatternSchema
	// PatternRelation is [[database.]schema.]name; without a schema it means what the search path shows.
	PatternRelation
)

// ErrCrossDatabase is what errors.Is finds in the error about a pattern that names another database.
var ErrCrossDatabase = errors.New("cross-database references are not implemented")

// ErrTooManyDots is what errors.Is finds in the error about a pattern with too many dotted parts.
var ErrTooManyDots = errors.New("too many dotted names")

// PatternError says that a pattern cannot be used. Its text is the one of pg_dump.
type PatternError struct {
	Pattern string
	msg     string
	err     error
}

func (e *PatternError) Error() string { return e.msg + ": " + e.Pattern }

// Unwrap returns ErrCrossDatabase or ErrTooManyDots.
func (e *PatternError) Unwrap() error { return e.err }

// PatternParts are the regular expressions a pattern stands for (patternToSQLRegex). Each is in PostgreSQL's "advanced"
// syntax and anchored: ^(…)$. A part the pattern does not have is "".
type PatternParts struct {
	Database string // not an expression: the name as written, without quotes, lower-cased outside them
	Schema   string
	Name     string
	Dots     int // dots outside quotes, also those that did not separate anything
}

// SplitPattern turns a pattern into at most maxParts parts (1 to 3): name; schema and name; database, schema and name.
// Outside double quotes ASCII letters are lower-cased, "*" stands for any text, "?" for any character, "." separates
// parts, and everything else but "$" and "[]" keeps its meaning in a regular expression; in quotes, or everywhere
// with escape, all characters stand for themselves. "$" always does. Dots that are too many go into the name as they are.
func SplitPattern(pattern string, maxParts int, escape bool) PatternParts {
	var (
		parts   []string
		p       PatternParts
		cur     strings.Builder
		literal strings.Builder // the text before the first dot
		quoted  bool
	)
	if maxParts < 1 {
		maxParts = 1
	}
	lit := func(c byte) {
		if p.Dots == 0 {
			literal.WriteByte(c)
		}
	}
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		switch {
		case c == '"':
			if quoted && i+1 < len(pattern) && pattern[i+1] == '"' {
				cur.WriteByte('"')
				lit('"')
				i++
			} else {
				quoted = !quoted
			}
		case !quoted && c >= 'A' && c <= 'Z':
			cur.WriteByte(c + 'a' - 'A')
			lit(c + 'a' - 'A')
		case !quoted && c == '*':
			cur.WriteString(".*")
			lit(c)
		case !quoted && c == '?':
			cur.WriteByte('.')
			lit(c)
		case !quoted && c == '.':
			p.Dots++
			if len(parts)+1 < maxParts {
				parts = append(parts, cur.String())
				cur.Reset()
			} else {
				cur.WriteByte('.')
			}
		case c == '$':
			cur.WriteString(`\$`)
			lit(c)
		default:
			if (quoted || escape) && strings.IndexByte(`|*+?()[]{}.^$\`, c) >= 0 {
				cur.WriteByte('\\')
			} else if c == '[' && i+1 < len(pattern) && pattern[i+1] == ']' {
				cur.WriteByte('\\')
			}
			cur.WriteByte(c)
			lit(c)
		}
	}
	parts = append(parts, cur.String())

	p.Name = "^(" + parts[len(parts)-1] + ")$"
	if len(parts) > 1 {
		p.Schema = "^(" + parts[len(parts)-2] + ")$"
	}
	if len(parts) > 2 {
		p.Database = literal.String()
	}
	return p
}

// Pattern is a name pattern as the options -n, -t, -e and the like take it, ready to be matched here
// or turned into a condition for the server.
type Pattern struct {
	Text string // as the user wrote it
	Kind PatternKind
	PatternParts

	schema, name *matcher
}

// ParsePattern reads a pattern. Too many dots are a *PatternError with pg_dump's text, and so is a database part in front of
// a schema; for a relation the database part is left in Database for CheckDatabase.
func ParsePattern(text string, kind PatternKind) (*Pattern, error) {
	p := &Pattern{Text: text, Kind: kind}
	switch kind {
	case PatternRelation:
		p.PatternParts = SplitPattern(text, 3, false)
		if p.Dots > 2 {
			return nil, &PatternError{text, "improper relation name (too many dotted names)", ErrTooManyDots}
		}
	case PatternSchema:
		p.PatternParts = SplitPattern(text, 1, false)
		if p.Dots > 1 {
			return nil, &PatternError{text, "improper qualified name (too many dotted names)", ErrTooManyDots}
		}
		if p.Dots == 1 {
			return nil, &PatternError{text, ErrCrossDatabase.Error(), ErrCrossDatabase}
		}
	default:
		p.PatternParts = SplitPattern(text, 1, false)
		if p.Dots > 0 {
			return nil, &PatternError{text, "improper qualified name (too many dotted names)", ErrTooManyDots}
		}
	}
	p.name = compileARE(p.Name)
	if p.Schema != "" {
		p.schema = compileARE(p.Schema)
	}
	return p, nil
}

// CheckDatabase returns a *PatternError if the pattern names a database other than db, the one connected to.
func (p *Pattern) CheckDatabase(db string) error {
	if p.Kind == PatternRelation && p.Dots == 2 && p.Database != db {
		return &PatternError{p.Text, ErrCrossDatabase.Error(), ErrCrossDatabase}
	}
	return nil
}

// HasSchema says whether the pattern has a schema part. One without means objects that the search path shows.
func (p *Pattern) HasSchema() bool { return p.Schema != "" }

// Local says whether MatchName and MatchSchema can answer. It is false for regular expressions that only the server
// understands, and for wrong ones, on which the server has the word: for these ask with Condition.
func (p *Pattern) Local() bool { return p.name.ok() && (p.schema == nil || p.schema.ok()) }

// MatchName says whether the pattern's name part matches the whole of name. It needs Local.
func (p *Pattern) MatchName(name string) bool { return p.name.match(name) }

// MatchSchema says whether the pattern's schema part matches the whole of schema; true when there is none. It needs Local.
func (p *Pattern) MatchSchema(schema string) bool { return p.schema == nil || p.schema.match(schema) }

// Literal returns the one name that the name part can match, if it has no wildcards.
func (p *Pattern) Literal() (string, bool) {
	if p.name.tokens == nil || p.name.wild {
		return "", false
	}
	return p.name.literal, true
}

// Condition returns an SQL condition for the rows that the pattern means, without WHERE, or "" if all do
// (processSQLNamePattern). schemaVar and nameVar are the columns to match (schemaVar may be "" for unqualified names),
// visibility, if not "", is the condition to add when the pattern has no schema. serverVersion is as in server_version_num.
func (p *Pattern) Condition(schemaVar, nameVar, visibility string, serverVersion int) string {
	var conds []string
	match := func(column, re string) {
		if re == "^(.*)$" {
			return
		}
		c := column + " OPERATOR(pg_catalog.~) " + EscapeLiteral(re)
		if serverVersion >= 120000 {
			// a name column compares in collation C otherwise, which knows only ASCII letters
			c += " COLLATE pg_catalog.default"
		}
		conds = append(conds, c)
	}
	match(nameVar, p.Name)
	if p.Schema != "" && schemaVar != "" {
		match(schemaVar, p.Schema)
	} else if visibility != "" {
		conds = append(conds, visibility)
	}
	return strings.Join(conds, " AND ")
}

func (p *Pattern) String() string { return p.Text }

// MatchPattern parses and matches in one step, for single names: an error when the pattern is wrong or needs a server.
func MatchPattern(pattern, name string) (bool, error) {
	p, err := ParsePattern(pattern, PatternName)
	if err != nil {
		return false, err
	}
	if !p.Local() {
		return false, fmt.Errorf("match pattern %s: the regular expression needs a server", pattern)
	}
	return p.MatchName(name), nil
}
