package restore

import (
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/pgtest"
	"github.com/pghaul/pghaul/pgarchive"
)

func TestMapRoles(t *testing.T) {
	o := &Options{
		RoleMap:   map[string]string{"old": "New Role", "Odd \"x": "plain"},
		SkipRoles: map[string]string{"lost": "it is not there"},
	}
	for _, tt := range []struct{ desc, defn, want, skipped string }{
		{"ACL", "REVOKE ALL ON TABLE s.t FROM old;\nGRANT ALL ON TABLE s.t TO old;\nGRANT SELECT ON TABLE s.t TO lost;\nGRANT SELECT ON TABLE s.t TO other WITH GRANT OPTION;\n",
			"REVOKE ALL ON TABLE s.t FROM \"New Role\";\nGRANT ALL ON TABLE s.t TO \"New Role\";\nGRANT SELECT ON TABLE s.t TO other WITH GRANT OPTION;\n",
			"GRANT SELECT ON TABLE s.t TO lost"},
		{"ACL", "SET SESSION AUTHORIZATION old;\nGRANT SELECT(\"old\") ON TABLE \"TO\".\"old\" TO \"Odd \"\"x\";\nRESET SESSION AUTHORIZATION;\n",
			"SET SESSION AUTHORIZATION \"New Role\";\nGRANT SELECT(\"old\") ON TABLE \"TO\".\"old\" TO plain;\nRESET SESSION AUTHORIZATION;\n", ""},
		{"ACL", "SET SESSION AUTHORIZATION lost;\nGRANT SELECT ON TABLE t TO x;\nGRANT UPDATE ON TABLE t TO x WITH GRANT OPTION;\nRESET SESSION AUTHORIZATION;\nGRANT SELECT ON TABLE t TO PUBLIC;\n",
			"GRANT SELECT ON TABLE t TO PUBLIC;\n", "GRANT SELECT ON TABLE t TO x|GRANT UPDATE ON TABLE t TO x WITH GRANT OPTION"},
		{"ACL", "GRANT ALL ON FUNCTION s.f(\"TO\" text, old integer) TO old;\n", "GRANT ALL ON FUNCTION s.f(\"TO\" text, old integer) TO \"New Role\";\n", ""},
		{"DEFAULT ACL", "ALTER DEFAULT PRIVILEGES FOR ROLE old IN SCHEMA s GRANT SELECT ON TABLES TO lost;\nALTER DEFAULT PRIVILEGES FOR ROLE old IN SCHEMA s GRANT SELECT ON TABLES TO old;\n",
			"ALTER DEFAULT PRIVILEGES FOR ROLE \"New Role\" IN SCHEMA s GRANT SELECT ON TABLES TO \"New Role\";\n",
			"ALTER DEFAULT PRIVILEGES FOR ROLE old IN SCHEMA s GRANT SELECT ON TABLES TO lost"},
		{"POLICY", "CREATE POLICY old ON s.t FOR SELECT TO old, lost, x USING ((a = 'TO lost'::text));\n",
			"CREATE POLICY old ON s.t FOR SELECT TO \"New Role\", x USING ((a = 'TO lost'::text));\n", "TO lost"},
		{"POLICY", "CREATE POLICY p ON s.t TO lost USING (true);\n", "", "CREATE POLICY p ON s.t TO lost USING (true)"},
		{"POLICY", "CREATE POLICY p ON s.t USING ((a) IN ( SELECT 1 FROM old TO));\n", "CREATE POLICY p ON s.t USING ((a) IN ( SELECT 1 FROM old TO));\n", ""},
		{"USER MAPPING", "CREATE USER MAPPING FOR old SERVER s OPTIONS (\n    \"user\" 'old'\n);\n", "CREATE USER MAPPING FOR \"New Role\" SERVER s OPTIONS (\n    \"user\" 'old'\n);\n", ""},
		{"DATABASE PROPERTIES", "ALTER DATABASE d SET a TO 'x';\nALTER ROLE old IN DATABASE d SET work_mem TO '4MB';\nALTER ROLE lost IN DATABASE d SET a TO 'b';\n",
			"ALTER DATABASE d SET a TO 'x';\nALTER ROLE \"New Role\" IN DATABASE d SET work_mem TO '4MB';\n", "ALTER ROLE lost IN DATABASE d SET a TO 'b'"},
	} {
		out, skipped, err := o.mapRoles([]*pgarchive.Entry{{ID: 1, Desc: tt.desc, Defn: tt.defn}})
		if err != nil {
			t.Errorf("%s: %v", tt.defn, err)
			continue
		}
		if out[0].Defn != tt.want {
			t.Errorf("%s\nbecomes %s\nwant %s", tt.defn, out[0].Defn, tt.want)
		}
		var list []string
		for _, s := range skipped {
			list = append(list, s.Statement)
		}
		if got := strings.Join(list, "|"); got != tt.skipped {
			t.Errorf("%s\nskipped %q, want %q", tt.defn, got, tt.skipped)
		}
	}
	out, skipped, err := o.mapRoles([]*pgarchive.Entry{
		{ID: 1, Desc: "TABLE", Tag: "t", Owner: "old", DropStmt: "DROP TABLE t;\n"}, {ID: 2, Desc: "TABLE", Tag: "u", Owner: "lost", DropStmt: "DROP TABLE u;\n"},
		{ID: 3, Desc: "POLICY", Defn: "CREATE POLICY p ON t TO lost;\n"}, {ID: 4, Desc: "COMMENT", Defn: "COMMENT ON POLICY p ON t IS 'x';\n", Dependencies: []pgarchive.ID{3}},
	})
	if err != nil || out[0].Owner != "New Role" || out[1].Owner != "" || len(skipped) != 2 || out[3].Defn != "" {
		t.Errorf("%v %v %v", out, skipped, err)
	}
	if _, _, err := o.mapRoles([]*pgarchive.Entry{{ID: 7, Desc: "ACL", Tag: "TABLE t", Defn: "HONOUR old;"}}); err == nil || !strings.Contains(err.Error(), "TABLE t") {
		t.Errorf("error %v", err)
	}
}

// Roles are mapped and skipped in a whole database.
func TestRolesOfDatabase(t *testing.T) {
	s := pgtest.Newest(t)
	src := newShop(t, s)
	s.EnsureRole(t, "restore_other")
	file := dump(t, src, "-Fc")
	want := strings.ReplaceAll(text(t, src), "restore_owner", "restore_other")
	want = strings.ReplaceAll(want, "restore_user", "restore_nobody") // both are granted something by none
	var lines []string
	for line := range strings.Lines(want) {
		if !strings.Contains(line, "restore_nobody") {
			lines = append(lines, line)
		}
	}
	db := s.NewDatabase(t)
	o := Options{Jobs: 2, RoleMap: map[string]string{"restore_owner": "restore_other", "restore_user": "restore_nobody"}, SkipRoles: map[string]string{"restore_nobody": "it is not there"}}
	p, err := NewPlan(open(t, file, false), &o)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(p.Roles(), " "); !strings.Contains(got, "restore_other") || strings.Contains(got, "restore_nobody") || strings.Contains(got, "restore_owner") {
		t.Errorf("roles %s", got)
	}
	res := mustRun(t, open(t, file, false), db, o)
	if len(res.Skipped) != 5 {
		t.Errorf("skipped %v", res.Skipped)
	}
	drop := func(text string) string { // the comments around what is missing
		var out []string
		for line := range strings.Lines(text) {
			// Large objects with the same privileges stand in one group.
			if !strings.HasPrefix(line, "--") && strings.TrimSpace(line) != "" && line != "BEGIN;\n" && line != "COMMIT;\n" {
				out = append(out, line)
			}
		}
		return sorted(strings.Join(out, ""))
	}
	same(t, drop(strings.Join(lines, "")), drop(text(t, db)))
}
