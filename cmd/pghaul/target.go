package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/pgflags"
	"github.com/pghaul/pghaul/internal/preflight"
	"github.com/pghaul/pghaul/internal/repo"
	"github.com/pghaul/pghaul/internal/restore"
	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/internal/ui"
	"github.com/pghaul/pghaul/pgarchive"
)

// look asks what the target is like. The caller closes the connection.
func look(ctx context.Context, f *pgflags.Restore, r pgarchive.Reader, target *pg.Config) (*pg.Conn, *preflight.Report, error) {
	o := f.Options
	o.Log = nil // the restore says it
	plan, err := restore.NewPlan(r, &o)
	if err != nil {
		return nil, nil, err
	}
	c, err := pg.Connect(ctx, target)
	if err != nil {
		return nil, nil, err
	}
	err = c.Exec(ctx, "SELECT pg_catalog.set_config('search_path', '', false)")
	if err == nil && o.Role != "" {
		err = c.Exec(ctx, "SET ROLE "+sqltext.Quoter{}.Ident(o.Role))
	}
	var report *preflight.Report
	if err == nil {
		report, err = preflight.Check(ctx, c, preflight.Backup{
			Plan: plan, Header: r.Header(), Options: &f.Options, Manifest: knownManifest(r), Roles: roleMode(f, r),
			IntoSource: f.IntoSource, IntoNonempty: f.IntoNonempty, IntoOlder: f.IntoOlder,
		})
	}
	if err != nil {
		c.Close(context.WithoutCancel(ctx))
		return nil, nil, err
	}
	return c, report, nil
}

// roleMode is what becomes of missing roles: those of a backup in a store are made, an archive is treated as by pg_restore.
func roleMode(f *pgflags.Restore, r pgarchive.Reader) preflight.RoleMode {
	if _, stored := r.(*storedArchive); stored && f.Roles == "" {
		return preflight.CreateMode
	}
	return preflight.RoleMode(f.Roles)
}

// prepareTarget does what comes before a restore: it refuses a target that is not meant or cannot work, asks if there is somebody to
// ask, and makes missing roles. A backup in a store is not begun with anything in the way; for an archive that is said, and the restore goes on, as
// pg_restore would.
func prepareTarget(ctx context.Context, env *environment, f *pgflags.Restore, r pgarchive.Reader, target *pg.Config, log *ui.Log) (*preflight.RoleChanges, error) {
	none := new(preflight.RoleChanges)
	c, report, err := look(ctx, f, r, target)
	if err != nil {
		return none, err
	}
	defer c.Close(context.WithoutCancel(ctx))
	_, stored := r.(*storedArchive)
	stop := false
	for _, x := range report.Of(preflight.Blocker) {
		if !stored && !x.Gate() && !f.Options.Resume && x.Kind != preflight.KindRole {
			log.Warn("%s: %s", x.Kind, x.Text)
			continue
		}
		stop = true
		log.Error("%s", x.Text)
		if x.WayOut != "" {
			log.Hint("%s", x.WayOut)
		}
	}
	if stop {
		return none, silent{exitFailed}
	}
	for _, x := range report.Of(preflight.Warning) {
		if stored {
			log.Warn("%s", x.Text)
			if x.WayOut != "" {
				log.Hint("%s", x.WayOut)
			}
		} else {
			log.Info("%s: %s", x.Kind, x.Text)
		}
	}
	for _, x := range report.Of(preflight.Fact) {
		log.Info("%s: %s", x.Kind, x.Text)
	}
	if err := confirmTarget(env, f, c, report, r, log); err != nil {
		return none, err
	}
	return prepareRoles(ctx, f, c, report, r)
}

// confirmTarget makes sure that the database is the one that is meant.
func confirmTarget(env *environment, f *pgflags.Restore, c *pg.Conn, report *preflight.Report, r pgarchive.Reader, log *ui.Log) error {
	name := c.Config().Database
	if f.Confirm != "" {
		if f.Confirm != name {
			return fmt.Errorf("the database is \"%s\", and --confirm expects \"%s\"", name, f.Confirm)
		}
		return nil
	}
	a, stored := r.(*storedArchive)
	host, _ := c.Host()
	if !stored || f.Yes || f.Options.Create || f.Options.Resume || preflight.Local(host) {
		return nil
	}
	where := fmt.Sprintf("database \"%s\" on %s", name, host.Name)
	in, ok := env.stdin.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(env.stderr.Fd())) {
		if !f.Options.Clean && !slices.ContainsFunc(report.Findings, preflight.Finding.Gate) {
			return nil // nothing can be lost
		}
		log.Error("%s is to be changed, and there is no terminal to ask whether it is the right one", where)
		log.Hint("Use --confirm=%s, or --yes.", name)
		return silent{exitFailed}
	}
	fmt.Fprintf(env.stderr, "Backup %s will be restored into %s.\nType the name of the database to go on: ", a.snapshot.Backup, where)
	line, err := bufio.NewReader(in).ReadString('\n')
	if strings.TrimSpace(line) != name {
		if err == nil {
			err = errors.New("another name was typed")
		}
		return fmt.Errorf("not restored: %w", err)
	}
	return nil
}

// prepareRoles makes missing roles, or has the restore leave out what is theirs.
func prepareRoles(ctx context.Context, f *pgflags.Restore, c *pg.Conn, report *preflight.Report, r pgarchive.Reader) (*preflight.RoleChanges, error) {
	changes := &preflight.RoleChanges{}
	if len(report.MissingRoles) == 0 {
		return changes, nil
	}
	f.Options.SkipRoles = make(map[string]string)
	switch roleMode(f, r) {
	case preflight.SkipMode:
		for _, name := range report.MissingRoles {
			f.Options.SkipRoles[name] = "role " + name + " does not exist"
		}
	case preflight.CreateMode:
		globals := ""
		if a, ok := r.(*storedArchive); ok && a.snapshot.Has(repo.GlobalsName) {
			b, err := a.snapshot.File(repo.GlobalsName)
			if err != nil {
				return changes, fmt.Errorf("read the roles of the backup: %w", err)
			}
			globals = string(b)
		}
		var err error
		if changes, err = preflight.CreateRoles(ctx, c, report.MissingRoles, globals); err != nil {
			return changes, err
		}
		for name, why := range changes.Failed {
			f.Options.SkipRoles[name] = why
		}
	}
	return changes, nil
}

// reportRoles says what became of roles.
func reportRoles(f *pgflags.Restore, res *restore.Result, roles *preflight.RoleChanges, log *ui.Log) {
	if len(roles.Created) > 0 {
		log.Note("created %s without login and password: %s", plural(len(roles.Created), "role"), strings.Join(roles.Created, ", "))
	}
	for _, n := range roles.Notes {
		log.Warn("%s", n)
	}
	for _, s := range res.Skipped {
		if f.Roles == string(preflight.SkipMode) {
			log.Info("%s", s)
		} else {
			log.Warn("%s", s)
		}
	}
	if n := len(res.Skipped); n > 0 {
		log.Note("left out %s for want of roles", plural(n, "statement"))
	}
}

// dryRunResult is the JSON of pghaul restore --dry-run --json.
type dryRunResult struct {
	Plan      []plannedEntry    `json:"plan"`
	Preflight *preflight.Report `json:"preflight"` // null without a target
}

type plannedEntry struct {
	ID     pgarchive.ID `json:"id"`
	Desc   string       `json:"desc"`
	Schema string       `json:"schema"`
	Name   string       `json:"name"`
	Owner  string       `json:"owner"`
}

// dryRun prints what a restore would do, one entry a line, and what the target is like, if one is named.
func dryRun(ctx context.Context, env *environment, f *pgflags.Restore, r pgarchive.Reader) error {
	plan, err := restore.NewPlan(r, &f.Options)
	if err != nil {
		return err
	}
	var report *preflight.Report
	if f.DBName != "" {
		target, err := connection(&f.Connection)
		if err != nil {
			return err
		}
		c, rep, err := look(ctx, f, r, target)
		if err != nil {
			return err
		}
		c.Close(context.WithoutCancel(ctx))
		report = rep
	}
	if f.JSON {
		out := dryRunResult{Plan: []plannedEntry{}, Preflight: report}
		for _, it := range plan.Wanted() {
			e := it.Entry
			out.Plan = append(out.Plan, plannedEntry{e.ID, e.Desc, e.Namespace, e.Tag, e.Owner})
		}
		err = writeJSON(env.stdout, out)
	} else {
		if err = plan.Write(env.stdout); err == nil && report != nil {
			_, err = fmt.Fprintf(env.stdout, ";\n; the target\n%s", report.Write())
		}
	}
	if err == nil && report != nil && len(report.Of(preflight.Blocker)) > 0 {
		return silent{exitFailed}
	}
	return err
}
