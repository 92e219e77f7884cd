package drill

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStatements(t *testing.T) {
	for _, c := range []struct {
		name, script string
		want         []statement
	}{
		{"nothing", " \n-- only a comment\n/* and /* another */ */ ;;\n", nil},
		{"two, the last without an end", "SELECT 1;\n\nSELECT 2", []statement{{"SELECT 1", 1, ""}, {"SELECT 2", 3, ""}}},
		{"names", "-- a: first\n-- the name\n  SELECT 1; -- not a name\n\n-- too far\n\nSELECT 2;", []statement{
			{"SELECT 1", 3, "the name"}, {"SELECT 2", 7, ""},
		}},
		{"quotes", `SELECT 'a;''b', E'it\';', "x;", $$a;b$$, $t$ $$;$x$; $t$, $1, a$b;SELECT U&'\;'`, []statement{
			{`SELECT 'a;''b', E'it\';', "x;", $$a;b$$, $t$ $$;$x$; $t$, $1, a$b`, 1, ""}, {`SELECT U&'\;'`, 1, ""},
		}},
		{"comments inside", "SELECT 1 -- ; no\n + 2 /* ; /* ; */ ; */;SELECT 3", []statement{
			{"SELECT 1 -- ; no\n + 2 /* ; /* ; */ ; */", 1, ""}, {"SELECT 3", 2, ""},
		}},
		{"rule and function", "CREATE RULE r AS ON DELETE TO t DO (INSERT INTO a VALUES (1); DELETE FROM b);" +
			"CREATE OR REPLACE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; SELECT 2; END;SELECT 4", []statement{
			{"CREATE RULE r AS ON DELETE TO t DO (INSERT INTO a VALUES (1); DELETE FROM b)", 1, ""},
			{"CREATE OR REPLACE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; SELECT 2; END", 1, ""},
			{"SELECT 4", 1, ""},
		}},
		{"open quote", "SELECT 'a;b", []statement{{"SELECT 'a;b", 1, ""}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, statements(c.script), cmp.AllowUnexported(statement{})); d != "" {
				t.Error(d)
			}
		})
	}
}

func FuzzStatements(f *testing.F) {
	f.Add("SELECT 'a'; $x$ /* -- E'\\")
	f.Fuzz(func(t *testing.T, s string) {
		for _, x := range statements(s) {
			if x.sql == "" || x.line < 1 {
				t.Errorf("%q: %+v", s, x)
			}
		}
	})
}
