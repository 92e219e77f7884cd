package ddl

import "github.com/pghaul/pghaul/pgarchive"

// fixed adds the entries every archive starts with: the session settings its texts are written for (dumpEncoding,
// dumpStdStrings and dumpSearchPath in pg_dump.c). All names in the texts are qualified, so the search path is empty.
func (r *renderer) fixed() {
	std := "off"
	if r.db.Info.StdStrings {
		std = "on"
	}
	for _, e := range []struct{ tag, defn string }{
		{"ENCODING", "SET client_encoding = " + r.literal(r.db.Info.Encoding) + ";\n"},
		{"STDSTRINGS", "SET standard_conforming_strings = '" + std + "';\n"},
		{"SEARCHPATH", "SELECT pg_catalog.set_config('search_path', '', false);\n"},
	} {
		r.addEntry(pgarchive.Entry{Tag: e.tag, Desc: e.tag, Section: pgarchive.SectionPreData, Defn: e.defn})
	}
}
