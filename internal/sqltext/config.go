package sqltext

import (
	"strings"
)

// IsListSetting says whether a setting's value is a list whose elements the server stored in double quotes where
// needed (variable_is_guc_list_quote). name is compared without regard to case.
func IsListSetting(name string) bool {
	switch strings.ToLower(name) {
	case "local_preload_libraries", "oauth_validator_libraries", "search_path", "session_preload_libraries",
		"shared_preload_libraries", "temp_tablespaces", "unix_socket_directories":
		return true
	}
	return false
}

// SplitSettingList splits the value of such a list at separator into its elements, without quotes and
// surrounding space (SplitGUCList). Unlike an identifier list, letters keep their case.
func SplitSettingList(s string, separator byte) ([]string, error) {
	bad := &TextError{What: "malformed list", Text: s}
	rest := strings.TrimLeft(s, settingSpace)
	if rest == "" {
		return nil, nil
	}
	var out []string
	for {
		var name string
		if rest != "" && rest[0] == '"' {
			var b []byte
			i := 1
			for ; ; i++ {
				if i >= len(rest) {
					return nil, bad
				}
				if rest[i] == '"' {
					if i+1 >= len(rest) || rest[i+1] != '"' {
						break
					}
					i++
				}
				b = append(b, rest[i])
			}
			name, rest = string(b), rest[i+1:]
		} else {
			i := 0
			for i < len(rest) && rest[i] != separator && strings.IndexByte(settingSpace, rest[i]) < 0 {
				i++
			}
			if i == 0 {
				return nil, bad
			}
			name, rest = rest[:i], rest[i:]
		}
		out = append(out, name)
		rest = strings.TrimLeft(rest, settingSpace)
		switch {
		case rest == "":
			return out, nil
		case rest[0] != separator:
			return nil, bad
		}
		rest = strings.TrimLeft(rest[1:], settingSpace)
	}
}

const settingSpace = " \t\n\v\f\r"

// AlterConfig returns the statement ALTER kind name [IN inKind inName] SET setting TO value, ended by ";\n", for one element
// "setting=value" of a setconfig array (makeAlterConfigCommand). kind is DATABASE or ROLE; inKind and inName may be "".
// An element without "=" gives no statement.
func AlterConfig(q Quoter, item, kind, name, inKind, inName string) string {
	setting, value, ok := strings.Cut(item, "=")
	if !ok {
		return ""
	}
	var b strings.Builder
	b.WriteString("ALTER " + kind + " " + q.Ident(name) + " ")
	if inKind != "" {
		b.WriteString("IN " + inKind + " " + q.Ident(inName) + " ")
	}
	b.WriteString("SET " + q.Ident(setting) + " TO ")
	b.WriteString(SettingValue(setting, value))
	b.WriteString(";\n")
	return b.String()
}

// SettingValue returns a stored setting's value as it stands after SET name TO: one literal, or, for the list settings,
// one literal per element. The elements cannot go in as they are: as identifiers the parser would cut long ones and
// refuse empty ones. A list that cannot be split gives nothing, as in pg_dump.
func SettingValue(name, value string) string {
	if !IsListSetting(name) {
		return EscapeLiteral(value)
	}
	elems, err := SplitSettingList(value, ',')
	if err != nil {
		return ""
	}
	for i, e := range elems {
		elems[i] = EscapeLiteral(e)
	}
	return strings.Join(elems, ", ")
}
