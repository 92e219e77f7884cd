package preflight

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/pgarchive"
)

// extensions looks whether those of the backup can be had, and in which version.
func (k *check) extensions(ctx context.Context) error {
	var names []string
	k.wanted(func(e *pgarchive.Entry) {
		if e.Desc == "EXTENSION" {
			names = append(names, e.Tag)
		}
	})
	if len(names) == 0 {
		return nil
	}
	had := make(map[string]string)
	if k.Manifest != nil {
		for _, x := range k.Manifest.Extensions {
			had[string(x.Name)] = x.Version
		}
	}
	type available struct {
		standard, installed string
		trusted             bool
		versions            map[string]bool
	}
	there := make(map[string]*available)
	trusted := "false"
	if k.c.Version() >= 130000 {
		trusted = "trusted"
	}
	err := k.c.Query(ctx, "SELECT a.name, a.default_version, coalesce(a.installed_version, ''), v.version, v."+trusted+
		" OR NOT v.superuser FROM pg_catalog.pg_available_extensions a JOIN pg_catalog.pg_available_extension_versions v USING (name)", func(v [][]byte) error {
		a := there[string(v[0])]
		if a == nil {
			a = &available{standard: string(v[1]), installed: string(v[2]), versions: make(map[string]bool)}
			there[string(v[0])] = a
		}
		a.versions[string(v[3])] = true
		a.trusted = a.trusted || string(v[4]) == "t"
		return nil
	})
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		a, want := there[name], had[name]
		switch {
		case a == nil:
			k.add(Blocker, KindExtension, "Install it on the server; or leave it and what needs it out with an edited list (-l, -L).",
				"extension %s is not available on the server", describe(name, want))
		case a.installed != "" && want != "" && a.installed != want:
			k.add(Warning, KindExtension, "", "extension %s is installed in version %s, the backup has %s", name, a.installed, want)
		case a.installed != "":
		case want != "" && a.standard != want && a.versions[want]:
			k.add(Warning, KindExtension, "To get the same: CREATE EXTENSION "+sqltext.Quoter{}.Ident(name)+" VERSION '"+want+"' before the restore.",
				"extension %s will be made in version %s, the backup has %s", name, a.standard, want)
		case want != "" && a.standard != want:
			k.add(Warning, KindExtension, "", "extension %s is not available in version %s of the backup, only as %s", name, want, a.standard)
		case !k.super && !a.trusted:
			k.add(Warning, KindExtension, "Have a superuser create it before the restore, or restore as one.",
				"extension %s may be created by superusers only, unless the provider of the server allows it", name)
		}
	}
	k.add(Fact, KindExtension, "", "the backup has %s", count(len(names), "extension"))
	return nil
}

func describe(name, version string) string {
	if version == "" {
		return name
	}
	return name + " " + version
}

// privileges looks for objects that not everybody may make.
func (k *check) privileges(ctx context.Context) error {
	if k.super {
		k.add(Fact, KindPrivilege, "", "connected as the superuser %s", k.user)
		return nil
	}
	k.add(Fact, KindPrivilege, "", "connected as %s, who is no superuser", k.user)
	needs := make(map[string]int)
	public, inDatabase := false, false
	k.wanted(func(e *pgarchive.Entry) {
		switch e.Desc {
		case "EVENT TRIGGER", "FOREIGN DATA WRAPPER", "ACCESS METHOD", "TRANSFORM", "OPERATOR CLASS", "OPERATOR FAMILY":
			needs[strings.ToLower(e.Desc)]++
		case "SUBSCRIPTION":
			if k.c.Version() < 160000 {
				needs["subscription"]++
			}
		case "PUBLICATION":
			if strings.Contains(e.Defn, " FOR ALL TABLES") {
				needs["publication for all tables"]++
			}
			inDatabase = true
		case "SCHEMA", "EXTENSION":
			inDatabase = inDatabase || !strings.HasPrefix(e.Defn, "--")
		case "FUNCTION", "PROCEDURE":
			for _, lang := range []string{"c", "internal", "plpython3u", "plperlu", "pltclu"} {
				if strings.Contains(e.Defn, "\n    LANGUAGE "+lang+" ") || strings.Contains(e.Defn, "\n    LANGUAGE "+lang+"\n") {
					needs["function in the untrusted language "+lang]++
				}
			}
		}
		public = public || e.Namespace == "public" && e.Section == pgarchive.SectionPreData
	})
	for _, what := range slices.Sorted(maps.Keys(needs)) {
		k.add(Warning, KindPrivilege, "Restore as a superuser, or leave them out.",
			"%s: superusers only may make them, unless the provider of the server allows it", count(needs[what], what))
	}
	if k.Options.DisableTriggers {
		k.add(Warning, KindPrivilege, "", "--disable-triggers disables the triggers of foreign keys too, which superusers only may do")
	}
	if k.Options.Create {
		if can, err := k.c.Value(ctx, "SELECT rolcreatedb FROM pg_catalog.pg_roles WHERE rolname = current_user"); err != nil || can != "f" {
			return err
		}
		k.add(Blocker, KindPrivilege, "Have an empty database created and leave out -C/--create.", "%s may not create databases", k.user)
		return nil
	}
	for _, p := range []struct {
		needed    bool
		sql, text string
	}{
		{inDatabase, "SELECT pg_catalog.has_database_privilege(pg_catalog.current_database(), 'CREATE')", "in the database (schemas, extensions)"},
		{public, "SELECT coalesce(pg_catalog.has_schema_privilege((SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'public'), 'CREATE'), true)", "in the schema public"},
	} {
		if !p.needed {
			continue
		}
		can, err := k.c.Value(ctx, p.sql)
		if err != nil {
			return err
		}
		if can == "f" {
			k.add(Blocker, KindPrivilege, "Grant CREATE to "+k.user+", or restore as the owner of the database.", "%s may not create anything %s", k.user, p.text)
		}
	}
	return nil
}

// definition finds the text of the entry of a kind, wanted or not.
func (k *check) definition(desc string) string {
	for _, it := range k.Plan.Items {
		if it.Entry.Desc == desc {
			return it.Entry.Defn
		}
	}
	return ""
}

// option returns the value of NAME = 'value' or NAME = value in a statement.
func option(defn, name string) string {
	tokens := sqltext.Scan(defn)
	for i := 0; i+2 < len(tokens); i++ {
		if tokens[i].Is(name) && tokens[i+1].Text == "=" {
			return strings.Trim(tokens[i+2].Text, "'")
		}
	}
	return ""
}

// encoding looks whether the characters of the backup can be kept.
func (k *check) encoding(ctx context.Context) error {
	from := option(k.definition("DATABASE"), "ENCODING")
	if from == "" && k.Manifest != nil {
		from = k.Manifest.Settings["server_encoding"]
	}
	if from == "" || k.Options.Create {
		return nil
	}
	to, err := k.c.Value(ctx, "SHOW server_encoding")
	if err != nil || from == to {
		return err
	}
	switch {
	case from == "SQL_ASCII":
		k.add(Warning, KindEncoding, "Create the database with ENCODING 'SQL_ASCII' to keep the bytes as they are.",
			"the backup is of a database without an encoding (SQL_ASCII), the target has %s: text that is not valid in it is refused", to)
	case to == "SQL_ASCII":
		k.add(Warning, KindEncoding, "Create the database with ENCODING '"+from+"'.", "the target has no encoding (SQL_ASCII), the backup has %s: lengths and sorting of text will differ", from)
	case to == "UTF8":
		k.add(Fact, KindEncoding, "", "text is converted from %s to UTF8", from)
	default:
		k.add(Warning, KindEncoding, "Create the database with ENCODING '"+from+"'.", "text is converted from %s to %s: rows with characters that this does not have are refused", from, to)
	}
	return nil
}

// locale looks for collations that the target cannot make, and compares how the databases sort.
func (k *check) locale(ctx context.Context) error {
	known, err := k.set(ctx, "SELECT DISTINCT collcollate FROM pg_catalog.pg_collation WHERE collcollate IS NOT NULL")
	if err != nil {
		return err
	}
	icu, err := k.c.Value(ctx, "SELECT 1 FROM pg_catalog.pg_collation WHERE collprovider = 'i' LIMIT 1")
	if err != nil {
		return err
	}
	provider := func(what, name, locale string) {
		switch {
		case name == "icu" && icu == "":
			k.add(Blocker, KindLocale, "Use a server that was built with ICU.", "%s needs ICU, which the server does not have", what)
		case name == "builtin" && k.c.Version() < 170000:
			k.add(Blocker, KindLocale, "Use a server of version 17 or newer.", "%s needs the builtin locale provider, which servers have since version 17", what)
		case (name == "libc" || name == "") && locale != "" && !known[locale] && !slices.Contains([]string{"C", "POSIX", "C.UTF-8", "C.utf8"}, locale):
			k.add(Warning, KindLocale, "Install the locale on the server.", "%s needs the locale %s, which the server may not have", what, locale)
		}
	}
	k.wanted(func(e *pgarchive.Entry) {
		if e.Desc == "COLLATION" {
			locale := option(e.Defn, "locale")
			if locale == "" {
				locale = option(e.Defn, "lc_collate")
			}
			provider("collation "+e.Namespace+"."+e.Tag, option(e.Defn, "provider"), locale)
		}
	})
	defn := k.definition("DATABASE")
	if defn == "" {
		return nil
	}
	from := []string{option(defn, "LOCALE_PROVIDER"), option(defn, "LOCALE"), option(defn, "ICU_LOCALE") + option(defn, "BUILTIN_LOCALE")}
	if from[1] == "" {
		from[1] = option(defn, "LC_COLLATE")
	}
	if k.Options.Create {
		provider("the database", from[0], from[1])
		return nil
	}
	columns := "'c', datcollate, ''"
	switch {
	case k.c.Version() >= 170000:
		columns = "datlocprovider, datcollate, coalesce(datlocale, '')"
	case k.c.Version() >= 150000:
		columns = "datlocprovider, datcollate, coalesce(daticulocale, '')"
	}
	var to []string
	err = k.c.Query(ctx, "SELECT "+columns+" FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()", func(v [][]byte) error {
		to = []string{map[string]string{"c": "libc", "i": "icu", "b": "builtin"}[string(v[0])], string(v[1]), string(v[2])}
		return nil
	})
	if err != nil || len(to) == 0 {
		return err
	}
	if from[0] == "" {
		from[0] = "libc"
	}
	if how, now := sorting(from), sorting(to); how != now && from[1]+from[2] != "" {
		k.add(Warning, KindLocale, "Create the database with the same locale, or let -C/--create do it.",
			"the backup is of a database that sorts text by %s, the target sorts by %s", how, now)
	}
	return nil
}

// sorting says what text is sorted by: provider, locale of libc, locale of another provider.
func sorting(l []string) string {
	if l[0] == "libc" {
		return "libc " + strings.Replace(l[1], "utf8", "UTF-8", 1)
	}
	return l[0] + " " + l[2]
}

// tablespaces looks for those that objects are to be put into.
func (k *check) tablespaces(ctx context.Context) error {
	if k.Options.NoTablespaces {
		return nil
	}
	uses := make(map[string]int)
	k.wanted(func(e *pgarchive.Entry) {
		if e.Tablespace != "" {
			uses[e.Tablespace]++
		}
	})
	if len(uses) == 0 {
		return nil
	}
	there, err := k.set(ctx, "SELECT spcname FROM pg_catalog.pg_tablespace")
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(uses)) {
		if !there[name] {
			k.add(Blocker, KindTablespace, "Create it, or use --no-tablespaces to put everything into the default one.",
				"tablespace %s of %s does not exist", name, count(uses[name], "object"))
		}
	}
	return nil
}

// methods looks for table access methods that nobody will have made.
func (k *check) methods(ctx context.Context) error {
	if k.Options.NoTableAM {
		return nil
	}
	uses := make(map[string]int)
	brought := make(map[string]bool)
	extensions := 0
	k.wanted(func(e *pgarchive.Entry) {
		switch {
		case e.Desc == "ACCESS METHOD":
			brought[e.Tag] = true
		case e.Desc == "EXTENSION":
			extensions++
		}
		if e.TableAM != "" {
			uses[e.TableAM]++
		}
	})
	there, err := k.set(ctx, "SELECT amname FROM pg_catalog.pg_am")
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(uses)) {
		if there[name] || brought[name] {
			continue
		}
		l := Blocker
		if extensions > 0 { // one of them may bring it
			l = Warning
		}
		k.add(l, KindMethod, "Use --no-table-access-method to make the tables with the default one.",
			"table access method %s of %s does not exist on the server", name, count(uses[name], "table"))
	}
	return nil
}
