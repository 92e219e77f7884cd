package preflight

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/pgarchive"
)

func uintText(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

// count writes "1 table" or "3 tables".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	for _, s := range []struct{ one, many string }{{"y", "ies"}, {"ss", "sses"}} {
		if strings.HasSuffix(what, s.one) {
			return fmt.Sprintf("%d %s%s", n, strings.TrimSuffix(what, s.one), s.many)
		}
	}
	if head, rest, ok := strings.Cut(what, " in "); ok {
		return fmt.Sprintf("%d %ss in %s", n, head, rest)
	}
	if head, rest, ok := strings.Cut(what, " for "); ok {
		return fmt.Sprintf("%d %ss for %s", n, head, rest)
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// size writes a number of bytes for people.
func size(n int64) string {
	const units = "kMGTP"
	if n < 1000 {
		return fmt.Sprintf("%d bytes", n)
	}
	x, i := float64(n)/1000, 0
	for x >= 1000 && i < len(units)-1 {
		x /= 1000
		i++
	}
	return fmt.Sprintf("%.3g %cB", x, units[i])
}

// major is the first number of a version as servers call themselves; 0: none. Before 10 it is 9.
func major(version string) int {
	end := strings.IndexFunc(version, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(version)
	}
	n, _ := strconv.Atoi(version[:end])
	return n
}

// version compares the servers.
func (k *check) version(context.Context) error {
	from, to := major(k.Header.ServerVersion), k.c.Version()/10000
	k.add(Fact, KindVersion, "", "the backup is of PostgreSQL %s, the target is %s", k.Header.ServerVersion, k.c.VersionString())
	if err := k.Plan.CheckBinary(k.c.Version()); err != nil {
		k.add(Blocker, KindVersion, "Use a server of version "+strconv.Itoa(from)+", or a backup taken with --copy-format=text.", "%s", err)
		return nil
	}
	if from > to && from > 0 {
		l := Blocker
		if k.IntoOlder {
			l = Warning
		}
		k.add(l, KindVersion, "Use a server of version "+strconv.Itoa(from)+" or newer; or use --into-older to try all the same.",
			"the server is older than the backup: it may not know what its definitions say")
	}
	return nil
}

// writable looks whether anything can be written.
func (k *check) writable(ctx context.Context) error {
	standby, err := k.c.InRecovery(ctx)
	if err != nil {
		return err
	}
	if standby {
		k.add(Blocker, KindSetting, "Name the primary.", "the server is a standby, which cannot be written to")
		return nil
	}
	ro, err := k.c.Value(ctx, "SHOW default_transaction_read_only")
	if ro == "on" {
		k.add(Blocker, KindSetting, "Switch default_transaction_read_only off for the role, or in the connection string: options=-cdefault_transaction_read_only=off.",
			"transactions of this role are read-only")
	}
	return err
}

// settings looks at those that may stop a restore.
func (k *check) settings(ctx context.Context) error {
	value := make(map[string]int64)
	err := k.c.Query(ctx, `SELECT name, setting FROM pg_catalog.pg_settings WHERE name IN
('max_locks_per_transaction', 'max_connections', 'max_prepared_transactions', 'idle_session_timeout', 'superuser_reserved_connections', 'temp_file_limit')`,
		func(v [][]byte) error {
			n, err := strconv.ParseInt(string(v[1]), 10, 64)
			value[string(v[0])] = n
			return err
		})
	if err != nil {
		return err
	}
	if k.Options.SingleTransaction || k.Options.TransactionSize > 0 {
		locks := int64(0)
		k.wanted(func(e *pgarchive.Entry) {
			switch e.Desc {
			case "TABLE", "INDEX", "CONSTRAINT", "SEQUENCE", "VIEW", "MATERIALIZED VIEW", "FOREIGN TABLE":
				locks++
			case "BLOB METADATA":
				locks += int64(strings.Count(e.Defn, "\n"))
			}
		})
		if n := int64(k.Options.TransactionSize); n > 0 {
			locks = min(locks, 3*n)
		}
		room := value["max_locks_per_transaction"] * (value["max_connections"] + value["max_prepared_transactions"])
		if locks > room {
			k.add(Blocker, KindSetting, fmt.Sprintf("Set max_locks_per_transaction to %d, or do without --single-transaction.", 1+locks/max(value["max_connections"]+value["max_prepared_transactions"], 1)),
				"one transaction needs about %d locks, the server has room for %d", locks, room)
		}
	}
	if n := value["idle_session_timeout"]; n > 0 && k.Options.Jobs > 1 {
		k.add(Warning, KindSetting, "Set it to 0 for the role.", "sessions that wait longer than %d ms for work are ended by idle_session_timeout; they are replaced", n)
	}
	if n := value["temp_file_limit"]; n > 0 {
		k.add(Warning, KindSetting, "", "temp_file_limit is %s: builds of larger indexes may fail", size(n<<10))
	}
	jobs := int64(max(k.Options.Jobs, 1))
	free, err := k.c.Value(ctx, `SELECT pg_catalog.current_setting('max_connections')::pg_catalog.int8 - pg_catalog.current_setting('superuser_reserved_connections')::pg_catalog.int8
- pg_catalog.count(*) FROM pg_catalog.pg_stat_activity WHERE datname IS NOT NULL`)
	if err != nil {
		return err
	}
	if n, err := strconv.ParseInt(free, 10, 64); err == nil && n < jobs {
		k.add(Warning, KindSetting, "", "%d jobs are wanted and the server has about %d connections left: fewer will work", jobs, n)
	}
	return nil
}

// How much room a restored table takes, as a multiple of its rows in COPY's form, indexes included; a rule of thumb.
const roomFactor = 2

// room compares what the restore needs with what the machine has, where that can be known.
func (k *check) room(ctx context.Context) error {
	var rows int64
	k.wanted(func(e *pgarchive.Entry) {
		if s, ok := k.Options.Sizes[e.ID]; ok {
			rows += s.Bytes
		}
	})
	if k.Manifest != nil {
		rows += k.Manifest.LargeObjects.Bytes
	}
	need := roomFactor * rows
	dir := ""
	if Local(k.host) {
		var err error
		if dir, err = k.dataFolder(ctx); err != nil {
			return err
		}
	}
	free, known := freeBytes(dir)
	switch {
	case need == 0:
	case dir == "" || !known:
		k.add(Fact, KindDisk, "", "about %s will be needed (an estimate: %d times the rows); how much the server has is not known", size(need), roomFactor)
	case free < rows/2:
		k.add(Blocker, KindDisk, "Make room, or use another server.", "about %s will be needed (an estimate: %d times the rows), and the server's disk has %s left", size(need), roomFactor, size(free))
	case free < need:
		k.add(Warning, KindDisk, "", "about %s will be needed (an estimate: %d times the rows), and the server's disk has %s left", size(need), roomFactor, size(free))
	default:
		k.add(Fact, KindDisk, "", "about %s will be needed (an estimate: %d times the rows), the server's disk has %s left", size(need), roomFactor, size(free))
	}
	if dir == "" {
		return nil
	}
	const memory = "/dev/shm" // of parallel builds: each has as much as maintenance_work_mem
	value := func(name string) (string, error) {
		return k.c.Value(ctx, "SELECT setting FROM pg_catalog.pg_settings WHERE name = '"+name+"'")
	}
	kind, err := value("dynamic_shared_memory_type")
	if err != nil || kind != "posix" {
		return err
	}
	work, err := value("maintenance_work_mem")
	if err != nil {
		return err
	}
	workers, err := value("max_parallel_maintenance_workers")
	if err != nil {
		return err
	}
	n, _ := strconv.ParseInt(work, 10, 64)
	free, known = freeBytes(memory)
	if need := n << 10; known && workers != "0" && free < need {
		k.add(Warning, KindMemory, "Give the server's container more (docker run --shm-size), or set max_parallel_maintenance_workers to 0.",
			"%s has %s left, a parallel build of an index may want %s", memory, size(free), size(need))
	}
	return nil
}

// dataFolder is the server's, if it can be seen from here; "" if not.
func (k *check) dataFolder(ctx context.Context) (string, error) {
	dir, err := k.c.Value(ctx, "SELECT pg_catalog.current_setting('data_directory')")
	if pg.SQLState(err) != "" && k.c.TxStatus() == 'I' {
		return "", nil // not for everybody
	}
	if err != nil || dir == "" {
		return "", err
	}
	// A server in a container has a folder of that name of its own.
	pid, err := os.ReadFile(filepath.Join(dir, "postmaster.pid"))
	if err != nil {
		if _, err := os.Stat(filepath.Dir(dir)); err != nil || !strings.HasPrefix(k.host.Name, "/") {
			return "", nil
		}
		return filepath.Dir(dir), nil // only the server's user may look inside
	}
	lines := strings.Split(string(pid), "\n")
	if len(lines) < 4 || lines[3] != k.host.Port {
		return "", nil
	}
	return dir, nil
}
