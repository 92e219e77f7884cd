// Package ddl renders catalogue objects as PostgreSQL 18's pg_dump writes them.
// What comes in is a [catalog.Database] and its objects in a safe order; what goes
// out are the archive's TOC entries: for each object its definition, and beside it
// its comment, security labels and privileges.
//
// One kind of object is one file, of the same name as in package catalog.
package ddl

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/pgarchive"
)

// Entries renders the objects in their order. The entries' dependencies are complete:
// those on objects that have no entry are replaced by what these depend on.
func Entries(db *catalog.Database, ordered []catalog.Object) ([]*pgarchive.Entry, error) {
	r := &renderer{
		db:     db,
		opt:    &db.Options,
		quote:  sqltext.Quoter{All: db.Options.QuoteAllIdentifiers},
		lastID: pgarchive.ID(len(db.Objects)),

		entries: make([]*pgarchive.Entry, 0, len(ordered)),
	}
	r.fixed()
	if db.Def != nil {
		if err := r.database(db.Def); err != nil {
			return nil, fmt.Errorf("render database %s: %w", db.Def.Name, err)
		}
	}
	for _, o := range ordered {
		m := o.Base()
		m.Dump &= m.Has // so that "everything" may be asked of any object
		if m.Dump == 0 {
			continue
		}
		if err := r.render(o); err != nil {
			return nil, fmt.Errorf("render %s %s: %w", m.Kind, m.Name, err)
		}
	}
	r.resolveDependencies()
	return r.entries, nil
}

type renderer struct {
	db      *catalog.Database
	opt     *catalog.Options
	quote   sqltext.Quoter
	lastID  pgarchive.ID
	entries []*pgarchive.Entry
	room    []pgarchive.Entry // for the entries to come

	text, joined bytes.Buffer    // see begin and join
	texts        strings.Builder // see kept

	lastFreeType uint32 // see freeTypeOID
}

func (r *renderer) render(o catalog.Object) error {
	switch o := o.(type) {
	case *catalog.Schema:
		return r.schema(o)
	case *catalog.Extension:
		return r.extension(o)
	case *catalog.Type:
		return r.typ(o)
	case *catalog.Func:
		return r.function(o)
	case *catalog.Agg:
		return r.aggregate(o)
	case *catalog.Operator:
		return r.operator(o)
	case *catalog.AccessMethod:
		return r.accessMethod(o)
	case *catalog.Opclass:
		return r.opclass(o)
	case *catalog.Opfamily:
		return r.opfamily(o)
	case *catalog.Collation:
		return r.collation(o)
	case *catalog.Conversion:
		return r.conversion(o)
	case *catalog.Table:
		return r.table(o)
	case *catalog.TableAttach:
		return r.tableAttach(o)
	case *catalog.AttrDef:
		return r.attrDef(o)
	case *catalog.Index:
		return r.index(o)
	case *catalog.IndexAttach:
		return r.indexAttach(o)
	case *catalog.StatsExt:
		return r.statsExt(o)
	case *catalog.RelStats:
		return r.relStats(o)
	case *catalog.Rule:
		return r.rule(o)
	case *catalog.Trigger:
		return r.trigger(o)
	case *catalog.Constraint:
		return r.constraint(o)
	case *catalog.Language:
		return r.language(o)
	case *catalog.Cast:
		return r.cast(o)
	case *catalog.Transform:
		return r.transform(o)
	case *catalog.TableData: // KindTableData, KindSequenceSet, KindRefreshMatview
		return r.tableData(o)
	case *catalog.TSParser:
		return r.tsParser(o)
	case *catalog.TSDict:
		return r.tsDict(o)
	case *catalog.TSTemplate:
		return r.tsTemplate(o)
	case *catalog.TSConfig:
		return r.tsConfig(o)
	case *catalog.FDW:
		return r.fdw(o)
	case *catalog.ForeignServer:
		return r.foreignServer(o)
	case *catalog.DefaultACL:
		return r.defaultACL(o)
	case *catalog.LargeObject: // KindLargeObject, and KindLargeObjectData
		return r.largeObject(o)
	case *catalog.Boundary:
		return nil
	case *catalog.EventTrigger:
		return r.eventTrigger(o)
	case *catalog.Policy:
		return r.policy(o)
	case *catalog.Publication:
		return r.publication(o)
	case *catalog.PublicationRel:
		return r.publicationRel(o)
	case *catalog.PublicationSchema:
		return r.publicationSchema(o)
	case *catalog.Subscription:
		return r.subscription(o)
	case *catalog.SubscriptionRel:
		return r.subscriptionRel(o)
	}
	return fmt.Errorf("objects of Go type %T are not known here", o)
}
