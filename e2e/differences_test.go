package e2e

import (
	"regexp"
	"testing"

	"github.com/pghaul/pghaul/internal/pgtest"
)

// olderTexts are the differences of docs/differences.md that the test database shows, as rules
// that make both texts the same.
var olderTexts = []struct {
	until   int // the last version whose pg_dump writes the old form
	pattern *regexp.Regexp
	to      string
}{
	{16, regexp.MustCompile(`(?m)^SET transaction_timeout = 0;\n`), ""},
	{15, regexp.MustCompile(`(?m)^ALTER (VIEW|MATERIALIZED VIEW|SEQUENCE) (.* OWNER TO .*;)$`), "ALTER TABLE $2"},
	{16, regexp.MustCompile(`(?m)^(GRANT|REVOKE) SELECT,INSERT,REFERENCES,DELETE,TRIGGER,TRUNCATE,UPDATE ON TABLE `), "$1 ALL ON TABLE "},
	{16, regexp.MustCompile(`(?m)^(ALTER DEFAULT PRIVILEGES .*) (GRANT|REVOKE) SELECT,INSERT,REFERENCES,DELETE,TRIGGER,TRUNCATE,UPDATE ON TABLES `), "$1 $2 ALL ON TABLES "},
	{15, regexp.MustCompile(`(?m)^(ALTER DEFAULT PRIVILEGES .* ON [A-Z]+)  (TO|FROM) `), "$1 $2 "},
	{15, regexp.MustCompile(`(?m)^ALTER FOREIGN TABLE ONLY (.* ALTER COLUMN .* OPTIONS)`), "ALTER FOREIGN TABLE $1"},
}

// The text of a dump is that of the stock pg_dump of the server's version, but for what docs/differences.md lists.
func TestDifferences(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		if s.Major < 15 || s.Major > 17 {
			t.Skip("docs/differences.md is about 15 to 17")
		}
		s.NeedTool(t, "pg_dump")
		src := shop(t, s)
		alike := func(text string) string {
			for _, r := range olderTexts {
				if s.Major <= r.until {
					text = r.pattern.ReplaceAllString(text, r.to)
				}
			}
			return text
		}
		args := []string{"-d", src.DSN}
		if s.Major < 17 {
			args = append(args, "-B") // large objects stand at another place
		}
		same(t, "the text", alike(normal(src.MustTool(t, "pg_dump", args...))), alike(normal(must(t, src, "pg_dump", args...))))
	})
}
