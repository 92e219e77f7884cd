package platform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/sqltext"
)

// Claims are who a probe is: a role, and the claims of a request, which policies read.
type Claims struct {
	Name   string          `json:"name"`
	Role   string          `json:"role"`
	Claims json.RawMessage `json:"claims,omitempty"` // a JSON object
}

// ProbeOptions say what to probe. The zero value probes every table with row security outside the platform's schemas, as each of the
// profile's roles.
type ProbeOptions struct {
	Claims   []Claims                        // nil: those of ClaimsFor
	Wants    func(schema, table string) bool // nil: all tables
	Timeout  time.Duration                   // of one probe; 0: 10 s
	Budget   time.Duration                   // of all together, after which none is begun; 0: 10 min
	Snapshot string                          // exported by another session; "": what is there now
}

// ProbeResult is what one role sees of one table.
type ProbeResult struct {
	Schema string `json:"namespace"`
	Table  string `json:"table"`
	Claims string `json:"claims"` // the Name of who asked

	Rows int64 `json:"rows"` // visible, if State is empty
	// State is the SQLSTATE with which the count ended instead; Message is what the server said.
	State   string `json:"state,omitempty"`
	Message string `json:"message,omitempty"`
}

// Counted says that the rows were counted.
func (r *ProbeResult) Counted() bool { return r.State == "" }

// Failed says that a policy, or a function it calls, cannot be evaluated, for what it names is not there or it goes in circles. That a role has
// no privilege on the table, that the count took too long, and that a policy wants a setting or a claim that a
// probe does not have, is no failure.
func (r *ProbeResult) Failed() bool {
	switch r.State {
	case stateDenied, stateNoSetting:
		return false
	}
	return strings.HasPrefix(r.State, "42") || strings.HasPrefix(r.State, "XX") // errors of access rules and internal ones
}

// SQLSTATEs of insufficient_privilege, query_canceled, and undefined_object, which current_setting gives.
const stateDenied, stateCanceled, stateNoSetting = "42501", "57014", "42704"

// String says what was seen: `public.todo as anon: 3 rows`.
func (r *ProbeResult) String() string {
	return r.Schema + "." + r.Table + " as " + r.Claims + ": " + r.outcome()
}

func (r *ProbeResult) outcome() string {
	switch {
	case r.State == "" && r.Rows == 1:
		return "1 row"
	case r.State == "":
		return strconv.FormatInt(r.Rows, 10) + " rows"
	case r.State == stateDenied:
		return "no privilege (" + r.Message + ")"
	case r.State == stateCanceled:
		return "not counted in time"
	}
	return r.Message + " (" + r.State + ")"
}

// errNoClaims says that a profile has no roles whose view of rows is known.
var errNoClaims = errors.New("this platform has no roles to probe row security with")

const (
	probeTimeout = 10 * time.Second
	probeBudget  = 10 * time.Minute
)

// Probe counts the rows of each table with row security that each of the claims sees. Every count is a read-only transaction that is
// rolled back. What a role may not see, and a policy that cannot be evaluated, are results; an error means
// that the server could not be asked, or that the user of the configuration may not become one of the roles.
func (p *Profile) Probe(ctx context.Context, cfg *pg.Config, o ProbeOptions) ([]ProbeResult, error) {
	if o.Timeout <= 0 {
		o.Timeout = probeTimeout
	}
	if o.Budget <= 0 {
		o.Budget = probeBudget
	}
	if len(p.claims) == 0 {
		return nil, errNoClaims
	}
	c, err := pg.Connect(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("probe row security: %w", err)
	}
	defer c.Close(ctx)
	if o.Claims == nil {
		if o.Claims, err = p.claimsFor(ctx, c); err != nil {
			return nil, fmt.Errorf("probe row security: %w", err)
		}
	}
	out, err := p.probe(ctx, c, o)
	if err != nil {
		return nil, fmt.Errorf("probe row security: %w", err)
	}
	return out, nil
}

func (p *Profile) probe(ctx context.Context, c *pg.Conn, o ProbeOptions) ([]ProbeResult, error) {
	tables, err := p.secured(ctx, c, o)
	if err != nil {
		return nil, err
	}
	out := []ProbeResult{}
	end := time.Now().Add(o.Budget)
	for _, who := range o.Claims {
		as, err := begin(who, o)
		if err != nil {
			return nil, err
		}
		// Whether the role can be taken is asked once, apart: the error must not be mistaken for one of a policy.
		err = count(ctx, c, as, nil, nil)
		switch {
		case pg.IsPermissionDenied(err):
			return nil, fmt.Errorf("user %s may not become role %s: GRANT %s TO it: %w", c.Config().User, who.Role, quote.Ident(who.Role), err)
		case err != nil:
			return nil, fmt.Errorf("as %s: %w", who.Name, err)
		}
		for _, t := range tables {
			r := ProbeResult{Schema: t[0], Table: t[1], Claims: who.Name}
			if time.Now().After(end) {
				r.State, r.Message = stateCanceled, "the time for all probes was over"
				out = append(out, r)
				continue
			}
			err := count(ctx, c, as, &t, &r.Rows)
			if err != nil {
				var server *pg.ServerError
				if ctx.Err() != nil || !errors.As(err, &server) || pg.IsConnectionLost(err) {
					return nil, fmt.Errorf("%s as %s: %w", quote.Qualified(t[0], t[1]), who.Name, err)
				}
				r.State, r.Message = server.Code, server.Message
			}
			out = append(out, r)
		}
	}
	return out, nil
}

// ClaimsFor returns the claims that say most about a database: the profile's, and those of a user whom rows belong to, if
// one is found.
func (p *Profile) ClaimsFor(ctx context.Context, cfg *pg.Config) ([]Claims, error) {
	c, err := pg.Connect(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("find whom to probe as: %w", err)
	}
	defer c.Close(ctx)
	return p.claimsFor(ctx, c)
}

func (p *Profile) claimsFor(ctx context.Context, c *pg.Conn) ([]Claims, error) {
	claims := slices.Clone(p.claims)
	if p.users == "" {
		return claims, nil
	}
	user, err := p.someUser(ctx, c)
	if err != nil || user == "" {
		return claims, err
	}
	text, err := json.Marshal(map[string]string{"role": p.userRole, "sub": user})
	return append(claims, Claims{Name: p.userRole + ", a user", Role: p.userRole, Claims: text}), err
}

// someUser returns the key of a user whom a row refers to, "" if there is none or rows may not be read.
func (p *Profile) someUser(ctx context.Context, c *pg.Conn) (string, error) {
	var tables []string
	err := c.Query(ctx, "SELECT pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(t.relname), pg_catalog.quote_ident(a.attname) "+
		"FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class t ON t.oid = k.conrelid JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace "+
		"JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.conkey[1] "+
		"WHERE k.contype = 'f' AND pg_catalog.array_length(k.conkey, 1) = 1 AND t.relrowsecurity AND k.confrelid = pg_catalog.to_regclass('"+p.users+"') "+
		"ORDER BY n.nspname, t.relname, a.attname", func(v [][]byte) error {
		tables = append(tables, "SELECT "+string(v[1])+" FROM "+string(v[0])+" WHERE "+string(v[1])+" IS NOT NULL LIMIT 1")
		return nil
	})
	if err != nil {
		return "", err
	}
	for _, sql := range tables {
		user := ""
		err := c.Query(ctx, "BEGIN READ ONLY; SET LOCAL row_security = off; SET LOCAL statement_timeout = '5s'; "+sql+"; ROLLBACK", func(v [][]byte) error {
			user = string(v[0])
			return nil
		})
		if pg.SQLState(err) != "" && !pg.IsConnectionLost(err) && ctx.Err() == nil {
			err = c.Exec(ctx, "ROLLBACK")
		}
		if err != nil || user != "" {
			return user, err
		}
	}
	return "", nil
}

// secured returns the tables with row security, by name.
func (p *Profile) secured(ctx context.Context, c *pg.Conn, o ProbeOptions) (tables [][2]string, err error) {
	own := make(map[string]bool)
	for _, s := range p.own {
		own[s] = true
	}
	err = c.Query(ctx, "SELECT n.nspname, c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "+
		"WHERE c.relrowsecurity AND c.relkind IN ('r', 'p') AND n.nspname !~ '^pg_' ORDER BY n.nspname COLLATE \"C\", c.relname COLLATE \"C\"",
		func(v [][]byte) error {
			schema, table := string(v[0]), string(v[1])
			if !own[schema] && (o.Wants == nil || o.Wants(schema, table)) {
				tables = append(tables, [2]string{schema, table})
			}
			return nil
		})
	return tables, err
}

// begin returns the statements that begin a transaction as somebody.
func begin(who Claims, o ProbeOptions) (string, error) {
	var b strings.Builder
	b.WriteString("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;\n")
	if o.Snapshot != "" {
		b.WriteString("SET TRANSACTION SNAPSHOT " + sqltext.EscapeLiteral(o.Snapshot) + ";\n")
	}
	fmt.Fprintf(&b, "SET LOCAL statement_timeout = %d;\nSET LOCAL row_security = on;\n", o.Timeout.Milliseconds())
	set := func(name, value string) {
		b.WriteString("SELECT pg_catalog.set_config(" + sqltext.EscapeLiteral(name) + ", " + sqltext.EscapeLiteral(value) + ", true);\n")
	}
	if len(who.Claims) > 0 {
		var members map[string]any
		if err := json.Unmarshal(who.Claims, &members); err != nil {
			return "", fmt.Errorf("claims of %s are not a JSON object: %w", who.Name, err)
		}
		set("request.jwt.claims", string(who.Claims))
	}
	b.WriteString("SET LOCAL ROLE " + quote.Ident(who.Role) + ";\n")
	return b.String(), nil
}

// count counts the rows of a table, or nothing if there is none, in a transaction of its own.
func count(ctx context.Context, c *pg.Conn, begin string, table *[2]string, rows *int64) error {
	sql := begin
	if table != nil {
		sql += "SELECT pg_catalog.count(*) AS pghaul_rows FROM " + quote.Qualified(table[0], table[1]) + ";\n"
	}
	var last []byte
	err := c.Query(ctx, sql+"ROLLBACK", func(v [][]byte) error {
		last = append(last[:0], v[0]...)
		return nil
	})
	if err != nil {
		if c.TxStatus() != 'I' && !c.IsClosed() && ctx.Err() == nil {
			err = errors.Join(err, c.Exec(ctx, "ROLLBACK"))
		}
		return err
	}
	if table != nil {
		*rows, err = strconv.ParseInt(string(last), 10, 64)
	}
	return err
}

// CheckClaims says what is wrong with claims that somebody wrote.
func CheckClaims(list []Claims) error {
	if len(list) == 0 {
		return errors.New("the list is empty")
	}
	seen := make(map[string]bool)
	for _, c := range list {
		if c.Name == "" || c.Role == "" || seen[c.Name] {
			return fmt.Errorf("claims %q: each need a name of their own and a role", c.Name)
		}
		seen[c.Name] = true
		if !slices.ContainsFunc(profiles, func(p *Profile) bool {
			return slices.ContainsFunc(p.claims, func(own Claims) bool { return own.Role == c.Role })
		}) {
			return fmt.Errorf("claims %q: role %q is no platform's role of requests (anon, authenticated, service_role)", c.Name, c.Role)
		}
		if _, err := begin(c, ProbeOptions{}); err != nil {
			return err
		}
	}
	return nil
}
