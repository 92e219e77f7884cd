package drill

import (
	"regexp"
	"slices"
	"strings"

	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/restore"
	"github.com/pghaul/pghaul/pgarchive"
)

// failure is a statement that the drill's server refused.
type failure struct {
	entry    *pgarchive.Entry // nil: of no entry
	sqlState string
	message  string
}

func newFailure(e *restore.EntryError) failure {
	return failure{entry: e.Entry, sqlState: e.SQLState, message: e.Message}
}

// explainer finds the rules by which findings are to be expected. What it goes by is the object, the SQLSTATE and the
// dependencies that the archive records, never a message.
type explainer struct {
	d      *drill
	byID   map[pgarchive.ID]*pgarchive.Entry
	byName map[objectName][]*pgarchive.Entry
	roots  map[pgarchive.ID]applied   // what could not be made, for a reason of its own that a rule knows
	causes map[pgarchive.ID][]applied // the roots that an entry depends on; while they are looked for, nil
	failed map[pgarchive.ID]bool
}

type objectName struct {
	desc           string
	namespace, tag string
}

func newExplainer(d *drill) *explainer {
	x := &explainer{
		d:      d,
		byID:   make(map[pgarchive.ID]*pgarchive.Entry),
		byName: make(map[objectName][]*pgarchive.Entry),
		roots:  make(map[pgarchive.ID]applied),
		causes: make(map[pgarchive.ID][]applied),
		failed: make(map[pgarchive.ID]bool),
	}
	for _, e := range d.archive.source() {
		x.byID[e.ID] = e
		k := objectName{e.Desc, e.Namespace, e.Tag}
		x.byName[k] = append(x.byName[k], e)
	}
	for _, f := range d.failures {
		if f.entry == nil {
			continue
		}
		x.failed[f.entry.ID] = true
		if a, ok := rootCause(f); ok {
			x.roots[f.entry.ID] = a
		}
	}
	return x
}

// rootCause says whether an entry failed for what the server lacks.
func rootCause(f failure) (applied, bool) {
	switch f.entry.Desc {
	case "EXTENSION":
		// 0A000 if it is not installed, 58P01 before version 12; an extension's own script may refuse with anything, since it has to
		// be preloaded, say. Not for lack of resources or the end of a connection.
		if f.sqlState != "" && (f.sqlState == undefinedFile || !slices.Contains([]string{"08", "53", "57", "58", "XX"}, f.sqlState[:2])) {
			return applied{rule(ruleExtension), f.entry.Tag}, true
		}
	case "FUNCTION", "PROCEDURE", "AGGREGATE":
		if f.sqlState == undefinedFile {
			return applied{rule(ruleLibrary), qualified(f.entry.Namespace, f.entry.Tag)}, true
		}
	}
	return applied{}, false
}

const (
	undefinedFile         = "58P01"
	invalidParameterValue = "22023"
)

// isUndefined says whether a statement failed because something that it names is not there.
func isUndefined(sqlState string) bool {
	switch sqlState {
	case "42704", "42883", "42P01", "42703", "3F000": // object, function, table, column, schema
		return true
	}
	return false
}

// causesOf returns what is missing of all that an entry depends on.
func (x *explainer) causesOf(e *pgarchive.Entry) []applied {
	if a, ok := x.roots[e.ID]; ok {
		return []applied{a}
	}
	if list, ok := x.causes[e.ID]; ok {
		return list
	}
	x.causes[e.ID] = nil // dependencies may go in circles
	var list []applied
	add := func(a applied) {
		if !slices.Contains(list, a) {
			list = append(list, a)
		}
	}
	inside := false
	for _, id := range e.Dependencies {
		if dep := x.byID[id]; dep != nil {
			inside = true
			for _, a := range x.causesOf(dep) {
				add(a)
			}
		}
	}
	// What an extension has made stands in no archive, but privileges that were changed do. Which extension
	// it is the archive does not tell, so all that are missing count.
	if !inside && len(e.Dependencies) > 0 && (e.Desc == "ACL" || e.Desc == "COMMENT" || e.Desc == "SECURITY LABEL") {
		for _, a := range x.roots {
			if a.rule.Name == ruleExtension {
				add(a)
			}
		}
	}
	slices.SortFunc(list, func(a, b applied) int { return strings.Compare(a.String(), b.String()) })
	x.causes[e.ID] = list
	return list
}

// failure returns what a failed statement is explained by, all of it together.
func (x *explainer) failure(f failure) []applied {
	if f.entry == nil {
		return nil
	}
	if _, ok := x.roots[f.entry.ID]; ok || isUndefined(f.sqlState) {
		return x.causesOf(f.entry)
	}
	if f.entry.Desc == "SECURITY LABEL" && f.sqlState == invalidParameterValue {
		return []applied{{rule(ruleLabelProvider), labelProvider(f.entry)}}
	}
	return nil
}

func labelProvider(e *pgarchive.Entry) string {
	_, after, _ := strings.Cut(e.Defn, "SECURITY LABEL FOR ")
	name, _ := identifier(after)
	return name
}

// difference returns what a difference is explained by, all of it together.
func (x *explainer) difference(stage Stage, v manifest.Difference) []applied {
	one := func(name, object string) []applied { return []applied{{rule(name), object}} }
	switch {
	case v.Field == "tablespace":
		return one(ruleTablespace, "")
	case x.d.manifest == nil && v.Field == "definition" && slices.Equal(strings.Fields(string(v.A)), strings.Fields(string(v.B))):
		return one(ruleStockText, "")
	case v.Desc == "SETTING" && v.Name == "lc_monetary":
		return one(ruleMoneyLocale, "")
	case stage == StageArchive:
		return nil
	case x.d.given != "" && ofDatabase(v):
		return one(ruleDatabaseGiven, "")
	case v.Desc == "DATABASE" && v.Field == "definition" && x.d.locale != "":
		if withoutLocale(string(v.A)) == withoutLocale(string(v.B)) {
			return one(ruleLocale, x.d.locale)
		}
		return nil
	case v.Desc == "EXTENSION VERSION" && v.Field == "version":
		return one(ruleExtensionVersion, string(v.Name))
	case v.Change == manifest.Extra && x.d.isStandIn(v):
		return one(rulePlatformObject, "")
	case v.Change == manifest.Missing:
		return x.missing(v)
	}
	return nil
}

// missing explains why something is not in the copy: it could not be made for a reason that a rule knows.
func (x *explainer) missing(v manifest.Difference) []applied {
	k := objectName{v.Desc, string(v.Namespace), string(v.Name)}
	if v.Desc == "EXTENSION VERSION" {
		k.desc = "EXTENSION"
	}
	for _, e := range x.byName[k] {
		if !x.failed[e.ID] {
			continue
		}
		if e.Desc == "SECURITY LABEL" {
			for _, f := range x.d.failures {
				if f.entry != nil && f.entry.ID == e.ID {
					return x.failure(f)
				}
			}
		}
		if list := x.causesOf(e); list != nil {
			return list
		}
	}
	return nil
}

// ofDatabase says whether a difference is in the database itself rather than in something in it.
func ofDatabase(v manifest.Difference) bool {
	return v.Namespace == "" && (v.Desc == "DATABASE" || v.Desc == "DATABASE PROPERTIES" || strings.HasPrefix(string(v.Name), "DATABASE "))
}

var localeClause = regexp.MustCompile(` (?:LOCALE_PROVIDER|LOCALE|LC_COLLATE|LC_CTYPE|ICU_LOCALE|ICU_RULES|BUILTIN_LOCALE) = (?:'(?:[^']|'')*'|\w+)`)

// withoutLocale takes what sets the locale out of a CREATE DATABASE statement.
func withoutLocale(create string) string { return localeClause.ReplaceAllString(create, "") }

var localeName = regexp.MustCompile(` (?:LOCALE|LC_COLLATE|ICU_LOCALE|BUILTIN_LOCALE) = '((?:[^']|'')*)'`)

// localeOf returns the locale that a CREATE DATABASE statement asks for, "" if none.
func localeOf(create string) string {
	m := localeName.FindAllStringSubmatch(create, -1)
	if m == nil {
		return ""
	}
	return strings.ReplaceAll(m[len(m)-1][1], "''", "'")
}

// qualified joins schema and name for messages.
func qualified(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "." + name
}
