package catalog

import (
	"context"
	"fmt"
)

// Subscription is a row of pg_subscription.
type Subscription struct {
	Meta
	Enabled          bool // only read for binary upgrade
	Binary           bool
	Stream           byte // f off, t on, p parallel
	TwoPhase         byte // d disabled, p pending, e enabled
	DisableOnErr     bool
	PasswordRequired bool
	RunAsOwner       bool
	Failover         bool
	ConnInfo         string
	SlotName         *string
	SyncCommit       string
	Publications     []string
	Origin           string
	OriginRemoteLSN  *string // only read for binary upgrade
}

// SubscriptionRel is a row of pg_subscription_rel, only read for binary upgrade.
type SubscriptionRel struct {
	Meta
	Subscription *Subscription
	Table        *Table
	State        byte
	LSN          *string
}

type subRelRow struct {
	subscription, table uint32
	state               byte
	lsn                 *string
}

func (r *reader) subscriptionsStage() stage {
	return stage{"subscriptions", r.fetchSubscriptions, r.linkSubscriptions}
}

// ofThisDatabase restricts rows of pg_subscription, which is shared by all databases.
const ofThisDatabase = `s.subdbid = (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database())`

func (r *reader) fetchSubscriptions(ctx context.Context, q Querier) error {
	if r.db.Options.NoSubscriptions {
		return nil
	}
	// only a superuser may read subconninfo
	superuser, count := false, 0
	err := query(ctx, q, `SELECT pg_catalog.current_setting('is_superuser') = 'on', pg_catalog.count(*)
FROM pg_catalog.pg_subscription s WHERE `+ofThisDatabase, func(row *row) {
		superuser, count = row.bool(), row.int()
	})
	if err != nil || count == 0 {
		return err
	}
	if !superuser {
		r.subsNotRead = true
		return nil
	}

	state, join := "false, NULL", ""
	if r.db.Options.BinaryUpgrade && r.atLeast(17) {
		state = "s.subenabled, o.remote_lsn"
		join = "LEFT JOIN pg_catalog.pg_replication_origin_status o ON o.external_id = 'pg_' || s.oid::pg_catalog.text"
	}
	sql := `
SELECT s.oid, s.subname, 0, s.subowner, s.subconninfo, s.subslotname, s.subsynccommit, s.subpublications,
  ` + r.since(14, "s.subbinary, s.substream", "false, 'f'") + `,
  ` + r.since(15, "s.subtwophasestate, s.subdisableonerr", "'d', false") + `,
  ` + r.since(16, "s.subpasswordrequired, s.subrunasowner, s.suborigin", "true, true, 'any'") + `,
  ` + r.since(17, "s.subfailover", "false") + `, ` + state + `
FROM pg_catalog.pg_subscription s ` + join + `
WHERE ` + ofThisDatabase + ` ORDER BY s.oid`
	return query(ctx, q, sql, func(row *row) {
		s := &Subscription{Meta: r.objectMeta(row, KindSubscription, ClassSubscription)}
		s.ConnInfo, s.SlotName, s.SyncCommit, s.Publications = row.str(), row.strPtr(), row.str(), row.strs()
		s.Binary, s.Stream = row.bool(), row.char()
		s.TwoPhase, s.DisableOnErr = row.char(), row.bool()
		s.PasswordRequired, s.RunAsOwner, s.Origin = row.bool(), row.bool(), row.str()
		s.Failover, s.Enabled, s.OriginRemoteLSN = row.bool(), row.bool(), row.strPtr()
		r.selectObject(&s.Meta)
		r.subscriptionRows = append(r.subscriptionRows, s)
	})
}

func (r *reader) linkSubscriptions() error {
	if r.subsNotRead {
		r.warnf("subscriptions not dumped because current user is not a superuser")
	}
	addAll(r.db, r.subscriptionRows)
	return nil
}

func (r *reader) subscriptionRelsStage() stage {
	return stage{"tables of subscriptions", r.fetchSubscriptionRels, r.linkSubscriptionRels}
}

func (r *reader) fetchSubscriptionRels(ctx context.Context, q Querier) error {
	if r.db.Options.NoSubscriptions || !r.db.Options.BinaryUpgrade || !r.atLeast(17) {
		return nil
	}
	const sql = `
SELECT srsubid, srrelid, srsubstate, srsublsn FROM pg_catalog.pg_subscription_rel ORDER BY srsubid, srrelid`
	return query(ctx, q, sql, func(row *row) {
		r.subRelRows = append(r.subRelRows, subRelRow{row.oid(), row.oid(), row.char(), row.strPtr()})
	})
}

func (r *reader) linkSubscriptionRels() error {
	for _, sr := range r.subRelRows {
		s, ok := r.db.Find(ID{ClassSubscription, sr.subscription}).(*Subscription)
		if !ok {
			if r.subsNotRead {
				continue
			}
			return fmt.Errorf("subscription with OID %d does not exist", sr.subscription)
		}
		t := r.db.Table(sr.table)
		if t == nil {
			return fmt.Errorf("failed sanity check, table with OID %d not found", sr.table)
		}
		o := &SubscriptionRel{
			// as in pg_dump, named by the relation and the subscription: the row has no OID
			Meta: Meta{Kind: KindSubscriptionRel, ID: ID{sr.table, sr.subscription}, Name: t.Name, Schema: t.Schema,
				Owner: s.Owner, Has: Definition},
			Subscription: s, Table: t, State: sr.state, LSN: sr.lsn,
		}
		r.db.Add(o)
		r.selectObject(&o.Meta)
	}
	return nil
}
