package pg

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/pgtest"
)

func TestSetupDump(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		db := s.NewDatabase(t)
		db.Exec(t, fmt.Sprintf(`ALTER DATABASE %s SET statement_timeout = '1h'`, db.Name))
		c := dial(t, db.DSN, Overrides{})
		zero := 0
		err := c.SetupDump(t.Context(), DumpSession{Encoding: "LATIN1", ExtraFloatDigits: &zero, QuoteAll: true, Settings: [][2]string{{"TimeZone", "UTC"}}})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{
			"search_path": "", "DateStyle": "ISO, MDY", "IntervalStyle": "postgres", "extra_float_digits": "0", "synchronize_seqscans": "off",
			"statement_timeout": "0", "lock_timeout": "0", "idle_in_transaction_session_timeout": "0", "row_security": "off",
			"quote_all_identifiers": "on", "client_encoding": "LATIN1", "TimeZone": "UTC",
		}
		if s.Major >= 14 {
			want["idle_session_timeout"] = "0"
		}
		if s.Major >= 17 {
			want["transaction_timeout"] = "0"
			want["restrict_nonsystem_relation_kind"] = "view, foreign-table"
		}
		for name, w := range want {
			if got := value(t, c, "SHOW "+name); got != w && !(name == "search_path" && got == `""`) {
				t.Errorf("%s = %q, want %q", name, got, w)
			}
		}
		if s.Major >= 17 {
			if err := c.AllowForeignTables(t.Context()); err != nil || value(t, c, "SHOW restrict_nonsystem_relation_kind") != "view" {
				t.Errorf("allow foreign tables: %v", err)
			}
		}

		c = dial(t, db.DSN, Overrides{})
		if err := c.SetupDump(t.Context(), DumpSession{RowSecurity: true}); err != nil || value(t, c, "SHOW row_security") != "on" || value(t, c, "SHOW extra_float_digits") != "3" {
			t.Errorf("row security: %v", err)
		}
		if err := c.SetupDump(t.Context(), DumpSession{Encoding: "KLINGON"}); text(err) != `invalid client encoding "KLINGON" specified` {
			t.Errorf("unknown encoding: %v", err)
		}
		if err := c.SetupDump(t.Context(), DumpSession{Role: "no one"}); err == nil || !strings.HasPrefix(err.Error(), "set role no one: ") {
			t.Errorf("unknown role: %v", err)
		}
	})
}

func TestSnapshot(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		db := s.NewDatabase(t)
		db.Exec(t, "CREATE TABLE t (a int)")
		holder, worker := dial(t, db.DSN, Overrides{}), dial(t, db.DSN, Overrides{})
		if err := holder.BeginDump(t.Context(), DumpTx{}); err != nil {
			t.Fatal(err)
		}
		id, err := holder.ExportSnapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		snap, err := holder.Snapshot(t.Context(), id)
		if err != nil || snap.ID != id || !strings.Contains(snap.LSN, "/") || snap.InRecovery || snap.Xmax == "" || time.Since(snap.Time).Abs() > time.Hour {
			t.Errorf("snapshot %+v, %v", snap, err)
		}
		db.Exec(t, "INSERT INTO t VALUES (1)")
		if err := worker.BeginDump(t.Context(), DumpTx{ImportSnapshot: id, SerializableDeferrable: true}); err != nil {
			t.Fatal(err)
		}
		for _, c := range []*Conn{holder, worker} {
			if value(t, c, "SELECT count(*) FROM t") != "0" || value(t, c, "SHOW transaction_isolation") != "repeatable read" || value(t, c, "SHOW transaction_read_only") != "on" {
				t.Error("not the snapshot, or not its transaction")
			}
		}
		exec(t, holder, "COMMIT")
		exec(t, worker, "COMMIT")
		err = worker.BeginDump(t.Context(), DumpTx{ImportSnapshot: id})
		if err == nil || !IsSnapshotGone(err) || !strings.Contains(err.Error(), "the session that exported it is over") {
			t.Errorf("gone snapshot: %v", err)
		}
		exec(t, worker, "ROLLBACK")
		if err := worker.BeginDump(t.Context(), DumpTx{SerializableDeferrable: true}); err != nil ||
			value(t, worker, "SHOW transaction_isolation") != "serializable" || value(t, worker, "SHOW transaction_deferrable") != "on" {
			t.Errorf("serializable: %v", err)
		}
		if v, err := worker.valueIfAllowed(t.Context(), "SELECT nope"); v != "" || err != nil || worker.TxStatus() != 'T' {
			t.Errorf("refused query: %q, %v, status %c", v, err, worker.TxStatus())
		}
	})
}
