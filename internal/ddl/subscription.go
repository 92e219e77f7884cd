package ddl

import (
	"fmt"
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/pgarchive"
)

// subscription renders a subscription (dumpSubscription in pg_dump.c). It is created without connecting to
// its publisher, and so stays disabled after a restore.
func (r *renderer) subscription(s *catalog.Subscription) error {
	if r.skip(&s.Meta) {
		return nil
	}
	name := r.quote.Ident(s.Name)
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE SUBSCRIPTION %s CONNECTION %s PUBLICATION %s WITH (connect = false, slot_name = ",
		name, r.literal(s.ConnInfo), r.quote.Idents(s.Publications))
	if s.SlotName != nil {
		b.WriteString(r.literal(*s.SlotName))
	} else {
		b.WriteString("NONE")
	}
	option := func(on bool, text string) {
		if on {
			b.WriteString(", " + text)
		}
	}
	option(s.Binary, "binary = true")
	switch s.Stream {
	case 't':
		option(true, "streaming = on")
	case 'p':
		option(true, "streaming = parallel")
	default:
		option(true, "streaming = off")
	}
	option(s.TwoPhase != 'd', "two_phase = on")
	option(s.DisableOnErr, "disable_on_error = true")
	option(!s.PasswordRequired, "password_required = false")
	option(s.RunAsOwner, "run_as_owner = true")
	option(s.Failover, "failover = true")
	option(s.SyncCommit != "off", "synchronous_commit = "+r.quote.Ident(s.SyncCommit))
	option(!strings.EqualFold(s.Origin, "any"), "origin = "+s.Origin)
	b.WriteString(");\n")

	if r.opt.BinaryUpgrade && r.db.Info.Version >= 170000 {
		if s.OriginRemoteLSN != nil {
			b.WriteString("\n-- For binary upgrade, must preserve the remote_lsn for the subscriber's replication origin.\n")
			fmt.Fprintf(&b, "SELECT pg_catalog.binary_upgrade_replorigin_advance(%s, '%s');\n", r.literal(s.Name), *s.OriginRemoteLSN)
		}
		if s.Enabled {
			b.WriteString("\n-- For binary upgrade, must preserve the subscriber's running state.\n")
			b.WriteString("ALTER SUBSCRIPTION " + name + " ENABLE;\n")
		}
	}
	r.define(&s.Meta, pgarchive.Entry{
		Desc: "SUBSCRIPTION", Section: pgarchive.SectionPostData, Defn: b.String(), DropStmt: "DROP SUBSCRIPTION " + name + ";\n",
	})
	r.commentOn(&s.Meta, "SUBSCRIPTION", name)
	r.labelsOn(&s.Meta, "SUBSCRIPTION", name)
	return nil
}

// subscriptionRel renders the state of a table in a subscription, for binary upgrade (dumpSubscriptionTable).
func (r *renderer) subscriptionRel(s *catalog.SubscriptionRel) error {
	if r.skip(&s.Meta) {
		return nil
	}
	var b strings.Builder
	if want(&s.Subscription.Meta, catalog.Definition) {
		lsn := "NULL"
		if s.LSN != nil && *s.LSN != "" {
			lsn = "'" + *s.LSN + "'"
		}
		b.WriteString("\n-- For binary upgrade, must preserve the subscriber table.\n")
		fmt.Fprintf(&b, "SELECT pg_catalog.binary_upgrade_add_sub_rel_state(%s, %d, '%c', %s);\n",
			r.literal(s.Subscription.Name), s.Table.ID.OID, s.State, lsn)
	}
	r.define(&s.Meta, pgarchive.Entry{
		Tag: s.Subscription.Name + " " + s.Table.Name, Desc: "SUBSCRIPTION TABLE", Section: pgarchive.SectionPostData,
		Owner: s.Subscription.Owner, Defn: b.String(),
	})
	return nil
}
