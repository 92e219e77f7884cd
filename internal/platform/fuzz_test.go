package platform

import (
	"testing"

	"github.com/pghaul/pghaul/pgarchive"
)

// Whatever an archive says, what it needs can be told.
func FuzzStubs(f *testing.F) {
	f.Add("FK CONSTRAINT", "ALTER TABLE ONLY public.t\n    ADD CONSTRAINT t_fk FOREIGN KEY (a) REFERENCES auth.users(id) ON DELETE CASCADE;\n", "ALTER TABLE ONLY public.t ATTACH PARTITION public.t DEFAULT;\n")
	f.Add("POLICY", `CREATE POLICY "p""q" ON public.t TO authenticated USING ((auth.uid() = "auth"."x"));`, "\"")
	f.Add("ACL", "GRANT ALL ON TABLE public.t TO anon;", "auth.")
	f.Fuzz(func(t *testing.T, desc, defn, attach string) {
		entries := []*pgarchive.Entry{
			{ID: 1, Desc: "TABLE", Namespace: "public", Tag: "t", Section: pgarchive.SectionPreData, Defn: defn},
			{ID: 2, Desc: "TABLE ATTACH", Section: pgarchive.SectionPreData, Defn: attach, Dependencies: []pgarchive.ID{1}},
			{ID: 3, Desc: desc, Section: pgarchive.SectionPostData, Defn: defn, Dependencies: []pgarchive.ID{1}},
		}
		Detect(entries)
		for _, p := range profiles {
			ids := make(map[pgarchive.ID]bool)
			for _, e := range adaptEntries(entries, p.Stubs(entries, 17)) {
				if ids[e.ID] {
					t.Errorf("ID %d twice", e.ID)
				}
				ids[e.ID] = true
			}
		}
	})
}
