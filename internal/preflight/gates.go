package preflight

import (
	"context"
	"strings"

	"github.com/pghaul/pghaul/internal/restore"
	"github.com/pghaul/pghaul/internal/sqltext"
)

// source refuses the database that the backup was taken from.
func (k *check) source(ctx context.Context) error {
	if k.Manifest == nil || k.Manifest.Source == nil {
		return nil
	}
	id, err := k.c.Identity(ctx)
	if err != nil {
		return err
	}
	if id.System == "" || id.System != k.Manifest.Source.System {
		return nil
	}
	name := id.Database
	if k.Options.Create {
		name = k.created()
		oid, err := k.c.Value(ctx, "SELECT oid FROM pg_catalog.pg_database WHERE datname = "+sqltext.EscapeLiteral(name)+" AND oid = "+
			sqltext.EscapeLiteral(uintText(k.Manifest.Source.DatabaseOID)))
		if err != nil || oid == "" {
			return err
		}
	} else if id.OID != k.Manifest.Source.DatabaseOID {
		return nil
	}
	if k.IntoSource {
		k.add(Warning, KindSource, "", "database \"%s\" is the one this backup was taken from", name)
		return nil
	}
	k.add(Blocker, KindSource, "Name another database; or, if this one is meant, use --into-source.",
		"database \"%s\" is the one this backup was taken from, or a physical copy of it", name)
	return nil
}

// created is the name of the database that the restore creates.
func (k *check) created() string {
	for _, it := range k.Plan.Wanted() {
		if it.Entry.Desc == "DATABASE" {
			return it.Entry.Tag
		}
	}
	return ""
}

// full says that the restore is of a whole database: nothing was selected or left out, and nothing says what to do with what is there.
func full(o *restore.Options) bool {
	selected := len(o.Schemas) + len(o.ExcludeSchemas) + len(o.Tables) + len(o.Indexes) + len(o.Functions) + len(o.Triggers) + len(o.Sections)
	return selected == 0 && o.ListFile == "" && !o.Clean && !o.DataOnly && !o.NoSchema && !o.StatisticsOnly
}

// nonempty refuses a whole restore into a database that has something already.
func (k *check) nonempty(ctx context.Context) error {
	if k.Options.Resume || !full(k.Options) {
		return nil
	}
	if k.Options.Create {
		name := k.created()
		there, err := k.c.Value(ctx, "SELECT 1 FROM pg_catalog.pg_database WHERE datname = "+sqltext.EscapeLiteral(name))
		if there != "" {
			k.add(Blocker, KindNonempty, "Leave out -C/--create and name an empty database; or drop that one with --clean --create.",
				"the database to create, \"%s\", is there already", name)
		}
		return err
	}
	if begun, err := restore.Interrupted(ctx, k.c); begun || err != nil {
		if begun {
			k.add(Blocker, KindNonempty, "To go on with it use --resume with the same archive and options; to give it up, DROP SCHEMA "+restore.LedgerSchema+" CASCADE.",
				"a restore that was begun in this database was interrupted, or is still at work")
		}
		return err
	}
	const named = 3
	objects, err := restore.UserObjects(ctx, k.c, named+1)
	if err != nil || len(objects) == 0 {
		return err
	}
	more := ""
	if len(objects) > named {
		objects, more = objects[:named], " and more"
	}
	text := strings.Join(objects, ", ") + more
	if k.IntoNonempty {
		k.add(Warning, KindNonempty, "", "the database is not empty: it has %s", text)
		return nil
	}
	k.add(Blocker, KindNonempty, "Name an empty database; or use --clean to replace what the backup has, or --into-nonempty to add to what is there.",
		"the database is not empty: it has %s", text)
	return nil
}
