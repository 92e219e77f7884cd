package drill

import (
	"strings"

	"github.com/pghaul/pghaul/pgarchive"
)

// rolesOf finds the roles that entries name: owners, and those in privileges,
// policies and user mappings, whose statements have a fixed form.
func rolesOf(entries []*pgarchive.Entry) map[string]bool {
	roles := make(map[string]bool)
	for _, e := range entries {
		add := func(name string) {
			if name != "" && !strings.EqualFold(name, "public") && !strings.HasPrefix(name, "pg_") {
				roles[name] = true
			}
		}
		add(e.Owner)
		switch e.Desc {
		case "ACL", "DEFAULT ACL":
			for _, key := range []string{" TO ", " FROM ", " FOR ROLE ", "SET SESSION AUTHORIZATION "} {
				namesAfter(e.Defn, key, add)
			}
		case "POLICY":
			namesAfter(e.Defn, " TO ", add)
		case "USER MAPPING":
			namesAfter(e.Defn, "CREATE USER MAPPING FOR ", add)
		case "DATABASE PROPERTIES":
			namesAfter(e.Defn, "ALTER ROLE ", add)
		}
	}
	return roles
}

// namesAfter gives to add the names, separated by commas, that follow each key in text.
func namesAfter(text, key string, add func(string)) {
	for {
		_, after, found := strings.Cut(text, key)
		if !found {
			return
		}
		text = after
		for {
			name, rest := identifier(after)
			add(name)
			if name == "" || !strings.HasPrefix(rest, ", ") {
				break
			}
			after = rest[2:]
		}
	}
}

// identifier reads the name at the start of s, quoted or not.
func identifier(s string) (name, rest string) {
	if !strings.HasPrefix(s, `"`) {
		i := 0
		for i < len(s) && (s[i] == '_' || s[i] == '$' || s[i] >= 0x80 ||
			s[i] >= '0' && s[i] <= '9' || s[i] >= 'a' && s[i] <= 'z' || s[i] >= 'A' && s[i] <= 'Z') {
			i++
		}
		return s[:i], s[i:]
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] == '"' {
			if i+1 >= len(s) || s[i+1] != '"' {
				return b.String(), s[i+1:]
			}
			i++
		}
		b.WriteByte(s[i])
	}
	return "", ""
}
