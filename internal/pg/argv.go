package pg

import (
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// HasPassword reports whether a connection string, as opposed to the name of a database, holds a password or another secret
// itself. One that cannot be read has none that could be found; ParseConfig says what is wrong with it.
func HasPassword(connString string) bool {
	if !isConnString(connString) {
		return false
	}
	s, err := parseConnString(connString)
	if err != nil {
		return false
	}
	for _, k := range hidden {
		if s[k] != "" {
			return true
		}
	}
	return false
}

// WithPassword returns a connection string, or the name of a database, with a password added. It is for memory only.
func WithPassword(connString, password string) (string, error) {
	s := settings{}
	if isConnString(connString) {
		var err error
		if s, err = parseConnString(connString); err != nil {
			return "", err
		}
	} else if connString != "" {
		s["dbname"] = connString
	}
	s["password"] = password
	return s.keywords(), nil
}

// keywords writes settings as a connection string.
func (s settings) keywords() string {
	var parts []string
	for _, o := range options {
		if v, ok := s[o.keyword]; ok {
			parts = append(parts, o.keyword+"="+sqltext.ConnStringValue(v))
		}
	}
	return strings.Join(parts, " ")
}
