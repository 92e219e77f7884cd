package drill

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pghaul/pghaul/pgarchive"
)

func TestRolesOf(t *testing.T) {
	entries := []*pgarchive.Entry{
		{Desc: "TABLE", Owner: "alice"},
		{Desc: "ACL", Owner: "alice", Defn: "REVOKE ALL ON TABLE public.t FROM alice;\n" +
			"GRANT SELECT ON TABLE public.t TO PUBLIC;\nGRANT ALL ON TABLE public.t TO \"Bob \"\"the\"\" TO \" WITH GRANT OPTION;\n" +
			"SET SESSION AUTHORIZATION carol;\nGRANT SELECT ON TABLE public.t TO dave;\nRESET SESSION AUTHORIZATION;\n"},
		{Desc: "DEFAULT ACL", Defn: "ALTER DEFAULT PRIVILEGES FOR ROLE erin IN SCHEMA s GRANT SELECT ON TABLES TO frank;\n"},
		{Desc: "POLICY", Defn: "CREATE POLICY p ON public.t FOR SELECT TO gina, \"Hal\" USING (true);\n"},
		{Desc: "USER MAPPING", Defn: "CREATE USER MAPPING FOR ivy SERVER s;\n"},
		{Desc: "ACL", Defn: "GRANT pg_read_all_data TO pg_monitor;\n"},
	}
	var got []string
	for r := range rolesOf(entries) {
		got = append(got, r)
	}
	slices.Sort(got)
	want := []string{`Bob "the" TO `, "Hal", "alice", "carol", "dave", "erin", "frank", "gina", "ivy"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
