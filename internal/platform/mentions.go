package platform

import (
	"strings"

	"github.com/pghaul/pghaul/pgarchive"
)

// mentions are the names that an archive speaks of: "name", and "schema.name" where one follows the
// other. Names in comments, literals and function bodies count too.
type mentions map[string]bool

func (m mentions) has(name string) bool { return m[name] }

// mentionsIn reads all definitions and owners of an archive.
func mentionsIn(entries []*pgarchive.Entry) mentions {
	m := make(mentions)
	for _, e := range entries {
		m.add(e.Defn)
		if e.Owner != "" {
			m[e.Owner] = true
		}
	}
	return m
}

// add reads the names in a text.
func (m mentions) add(text string) {
	schema := "" // the name before, if a dot followed it
	for i := 0; i < len(text); {
		name, n := word(text[i:])
		if n == 0 {
			schema = ""
			i++
			continue
		}
		i += n
		m[name] = true
		if schema != "" {
			m[schema+"."+name] = true
		}
		schema = ""
		if i < len(text) && text[i] == '.' {
			schema = name
			i++
		}
	}
}

// word reads the name at the beginning of s, quoted or not, and returns how many bytes it has; 0: there is none.
func word(s string) (name string, n int) {
	if s[0] == '"' {
		var b strings.Builder
		for i := 1; i < len(s); i++ {
			if s[i] != '"' {
				b.WriteByte(s[i])
			} else if i+1 < len(s) && s[i+1] == '"' {
				b.WriteByte('"')
				i++
			} else if b.Len() > 0 {
				return b.String(), i + 1
			} else {
				break
			}
		}
		return "", 0
	}
	for n < len(s) && inWord(s[n]) {
		n++
	}
	return strings.ToLower(s[:n]), n
}

func inWord(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
