package platform_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pghaul/pghaul/internal/dump"
	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/pgtest"
	"github.com/pghaul/pghaul/internal/platform"
	"github.com/pghaul/pghaul/internal/restore"
	"github.com/pghaul/pghaul/pgarchive"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// project makes a database like a project of Supabase and dumps of it what a user who is no superuser
// dumps: schema public.
func project(t *testing.T, s *pgtest.Server) (source *pg.Config, archive pgarchive.Reader) {
	t.Helper()
	db := s.NewDatabase(t, pgtest.Options{Suffix: "source"})
	sql, err := os.ReadFile(filepath.Join(pgtest.Root(t), "testdata", "supabase.sql"))
	if err != nil {
		t.Fatal(err)
	}
	db.Exec(t, string(sql))
	if source, err = pg.ParseConfig(db.DSN, pg.Overrides{User: "pghaul_supabase"}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "archive")
	o := dump.Options{Format: pgarchive.FormatDirectory, File: path, NoSync: true}
	o.IncludeSchemas = []string{"public"}
	if _, err := dump.Run(t.Context(), source, o, nil); err != nil {
		t.Fatal(err)
	}
	if archive, err = pgarchive.Open(path, pgarchive.FormatUnknown); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { archive.Close() })
	return source, archive
}

func exec(t *testing.T, c *pg.Config, sql string) {
	t.Helper()
	conn, err := pg.Connect(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%v\n%s", err, sql)
	}
}

// A dump of schema public restores whole beside the stubs, foreign keys into auth.users included, and every role sees what it
// saw at the source.
func TestSupabaseProject(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		source, archive := project(t, s)
		p := platform.Detect(archive.Entries())
		if p == nil || p.Name != "supabase" {
			t.Fatalf("detected %v", p)
		}
		stubs := p.Stubs(archive.Entries(), s.Major)
		var made []string
		target := s.NewDatabase(t, pgtest.Options{Suffix: "copy"})
		target.Exec(t, "DROP SCHEMA public") // the dump of a schema makes it
		copyOf, err := pg.ParseConfig(target.DSN, pg.Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		for _, stub := range stubs {
			made = append(made, stub.Kind+" "+stub.Name)
			if stub.Kind == platform.KindRole {
				exec(t, copyOf, stub.SQL) // they are there: the server is the source's
			}
		}
		want := []string{"ROLE anon", "ROLE authenticated", "ROLE service_role", "SCHEMA auth", "SCHEMA extensions", "EXTENSION citext",
			"FUNCTION auth.uid()", "FUNCTION auth.jwt()", "TABLE auth.users"}
		if d := cmp.Diff(want, made); d != "" {
			t.Error("stubs:", d)
		}
		res, err := restore.Run(t.Context(), platform.Adapt(archive, stubs), copyOf, restore.Options{Jobs: 2, Fast: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range res.Errors {
			t.Error(e)
		}
		if got := target.QueryString(t, "SELECT count(*), bool_and(convalidated) FROM pg_constraint WHERE contype = 'f' AND confrelid = 'auth.users'::regclass"); got != "5|t" {
			t.Errorf("foreign keys into auth.users and whether they are checked: %s", got)
		}
		if got := target.QueryString(t, "SELECT count(*) FROM auth.users"); got != "41" {
			t.Errorf("%s users are referred to", got)
		}

		// Probes, also as a user that there is.
		claims := []platform.Claims{
			{Name: "anon", Role: "anon"},
			{Name: "member", Role: "authenticated", Claims: json.RawMessage(`{"sub":"00000000-0000-4000-8000-000000000006"}`)},
			{Name: "staff", Role: "authenticated", Claims: json.RawMessage(`{"sub":"00000000-0000-4000-8000-000000000007","user_role":"staff"}`)},
			{Name: "service", Role: "service_role"},
		}
		o := platform.ProbeOptions{Claims: claims}
		seen, err := p.Probe(t.Context(), source, o)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, r := range seen {
			lines = append(lines, r.String())
		}
		for _, want := range []string{"public.todo as anon: 40 rows", "public.team as anon: no privilege (permission denied for table team)",
			"public.todo as member: 80 rows", "public.team as member: 1 row", "public.todo as staff: 401 rows", "public.todo as service: 401 rows"} {
			if !slices.Contains(lines, want) {
				t.Errorf("%q was not seen in:\n%s", want, strings.Join(lines, "\n"))
			}
		}
		doc, err := p.NewProbes(claims, seen).Encode()
		if err != nil {
			t.Fatal(err)
		}
		recorded, err := platform.DecodeProbes(doc)
		if err != nil {
			t.Fatal(err)
		}
		compare := func() (found []string) {
			t.Helper()
			got, err := p.Probe(t.Context(), copyOf, platform.ProbeOptions{Claims: recorded.Claims})
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range recorded.Compare(got) {
				found = append(found, d.String())
			}
			return found
		}
		if found := compare(); len(found) > 0 {
			t.Errorf("the copy differs:\n%s", strings.Join(found, "\n"))
		}

		// Whom to probe as, if nobody says.
		own, err := p.ClaimsFor(t.Context(), source)
		if err != nil {
			t.Fatal(err)
		}
		var roles []string
		for _, c := range own {
			roles = append(roles, c.Role)
		}
		if !slices.Equal(roles, []string{"anon", "authenticated", "service_role", "authenticated"}) || !strings.Contains(string(own[3].Claims), "-4000-8000-") {
			t.Errorf("claims: %v, %s", roles, own[len(own)-1].Claims)
		}

		// Nothing is begun when the time is over, and what was not counted is not compared.
		late, err := p.Probe(t.Context(), copyOf, platform.ProbeOptions{Claims: claims, Budget: 1})
		if err != nil || len(late) != len(seen) || late[0].Counted() || late[0].Failed() || len(recorded.Compare(late)) > 0 {
			t.Errorf("late probes: %v, %v", late, err)
		}

		// What is planted is found.
		exec(t, copyOf, `
			DROP POLICY "public todos" ON todo; CREATE POLICY "public todos" ON todo FOR SELECT TO anon USING (id < 10);
			GRANT SELECT ON team TO anon;
			CREATE POLICY loop ON member FOR SELECT TO authenticated USING (team_id IN (SELECT m.team_id FROM member m));
			ALTER TABLE profile DISABLE ROW LEVEL SECURITY`)
		found := strings.Join(compare(), "\n")
		for _, want := range []string{
			"public.todo as anon: 9 rows, expected 40 rows",
			"public.team as anon: 0 rows, expected no privilege",
			`public.member as member: infinite recursion detected in policy for relation "member" (42P17), expected 1 row`,
			"public.profile as anon: no row security, expected 36 rows",
		} {
			if !strings.Contains(found, want) {
				t.Errorf("%q was not found in:\n%s", want, found)
			}
		}
	})
}

// What the platform's functions return for a request.
func TestSupabaseFunctions(t *testing.T) {
	db := pgtest.Newest(t).NewDatabase(t)
	p, err := platform.ByName("supabase")
	if err != nil {
		t.Fatal(err)
	}
	entries := []*pgarchive.Entry{{Desc: "VIEW", Namespace: "public", Tag: "v", Defn: `CREATE VIEW public.v AS SELECT auth.uid(), "auth"."role"(), auth.email(), auth.jwt(),
		storage.foldername('a'), storage.filename('a'), storage.extension('a'), storage.operation(), realtime.topic() FROM auth.users, auth.identities, auth.sessions,
		storage.buckets, storage.objects, auth.unknown, supabase_admin.x;`}}
	kinds := map[string]int{}
	for _, s := range p.Stubs(entries, pgtest.Newest(t).Major) {
		kinds[s.Kind]++
		db.Exec(t, s.SQL)
		db.Exec(t, s.SQL) // where it is there, nothing is done
	}
	if d := cmp.Diff(map[string]int{"ROLE": 4, "SCHEMA": 3, "FUNCTION": 9, "TABLE": 5}, kinds); d != "" {
		t.Error(d)
	}
	const claims = `SET request.jwt.claims = '{"sub":"11111111-2222-3333-4444-555555555555","role":"authenticated","email":"a@b.test"}'; `
	for sql, want := range map[string]string{
		"SELECT auth.uid()":                    "",
		claims + "SELECT auth.uid()":           "11111111-2222-3333-4444-555555555555",
		claims + "SELECT auth.role()":          "authenticated",
		claims + "SELECT auth.email()":         "a@b.test",
		claims + "SELECT auth.jwt() ->> 'sub'": "11111111-2222-3333-4444-555555555555",
		"SET request.jwt.claim.sub = '00000000-0000-0000-0000-000000000001'; SELECT auth.uid()": "00000000-0000-0000-0000-000000000001",
		"SELECT storage.foldername('a/b/c.tar.gz')":                                             "{a,b}",
		"SELECT storage.foldername('c.png')":                                                    "{}",
		"SELECT storage.filename('a/b/c.tar.gz')":                                               "c.tar.gz",
		"SELECT storage.extension('a/b/c.tar.gz')":                                              "gz",
	} {
		if got := db.QueryString(t, sql); strings.TrimSpace(got) != want {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
}

// Every role can be made, in the order in which they are given. What a transaction made is taken back: other tests have the same roles.
func TestRolesAreMade(t *testing.T) {
	db := pgtest.Newest(t).NewDatabase(t)
	for _, name := range platform.Names() {
		p, err := platform.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		var sql strings.Builder
		sql.WriteString("BEGIN; SELECT pg_advisory_xact_lock(20041024);")
		stubs := p.Stubs([]*pgarchive.Entry{{Desc: "ACL", Defn: strings.Join(p.RoleNames(), " ")}}, pgtest.Newest(t).Major)
		for _, s := range stubs {
			sql.WriteString(s.SQL)
		}
		if len(stubs) != len(p.RoleNames()) {
			t.Errorf("%s: %d of %d roles are made", name, len(stubs), len(p.RoleNames()))
		}
		db.Exec(t, sql.String()+"ROLLBACK")
	}
}

func TestDetect(t *testing.T) {
	for _, c := range []struct{ desc, text, want string }{
		{"ACL", "GRANT ALL ON TABLE public.t TO anon; GRANT ALL ON TABLE public.t TO service_role;", "supabase"},
		{"POLICY", "CREATE POLICY p ON public.t TO authenticated USING ((auth.uid() = id));", "supabase"},
		{"ACL", "GRANT SELECT ON TABLE public.t TO authenticated;", ""}, // a name that anybody may have
		{"TABLE", "CREATE TABLE public.anon (authenticated boolean);", ""},
		{"DEFAULT ACL", "ALTER DEFAULT PRIVILEGES FOR ROLE rdsadmin GRANT ALL ON TABLES TO x;", "rds"},
		{"ACL", `GRANT "cloudsqlsuperuser" TO x`, "cloudsql"},
		{"ACL", "GRANT ALL ON SCHEMA public TO azure_pg_admin;", "azure"},
		{"DEFAULT ACL", "ALTER DEFAULT PRIVILEGES FOR ROLE cloud_admin IN SCHEMA public GRANT ALL ON TABLES TO neon_superuser WITH GRANT OPTION;", "neon"},
		{"TABLE", "CREATE TABLE public.t (id integer);", ""},
	} {
		got := ""
		if p := platform.Detect([]*pgarchive.Entry{{Desc: c.desc, Defn: c.text}}); p != nil {
			got = p.Name
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
}

// Claims that a user wrote.
func TestCheckClaims(t *testing.T) {
	for text, good := range map[string]bool{
		`[{"name":"a","role":"anon"},{"name":"b","role":"authenticated","claims":{"sub":"x"}}]`: true,
		`[]`:                               false,
		`[{"name":"a"}]`:                   false,
		`[{"name":"a","role":"postgres"}]`: false,
		`[{"name":"a","role":"anon","claims":[1]}]`:               false,
		`[{"name":"a","role":"anon"},{"name":"a","role":"anon"}]`: false,
	} {
		var list []platform.Claims
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			t.Fatal(err)
		}
		if err := platform.CheckClaims(list); (err == nil) != good {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// What counts as a policy that cannot be evaluated.
func TestFailed(t *testing.T) {
	for state, want := range map[string]bool{
		"": false, "42501": false, "57014": false, "42704": false, "22P02": false, "P0001": false,
		"42883": true, "42P01": true, "42P17": true, "XX000": true,
	} {
		if r := (platform.ProbeResult{State: state}); r.Failed() != want {
			t.Errorf("%s: %t", state, !want)
		}
	}
}
