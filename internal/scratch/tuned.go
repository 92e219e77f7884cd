package scratch

import (
	"fmt"
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"
)

const (
	mib = 1 << 20
	gib = 1 << 30
)

// Machine is what the settings of a tuned server depend on.
type Machine struct {
	Memory int64 // bytes this process and its children may use
	Cores  int   // processors they may use
	Shm    int64 // bytes free for POSIX shared memory (/dev/shm); -1 if that is not a limit
	Disk   int64 // bytes free where the server's data will be; 0 if it is not known
}

// ThisMachine measures the machine, limits of a container included.
func ThisMachine() Machine {
	m := Machine{Memory: 2 * gib, Cores: runtime.GOMAXPROCS(0), Shm: shmFree()}
	if b, err := os.ReadFile("/proc/meminfo"); err == nil {
		if n := parseMeminfo(string(b)); n > 0 {
			m.Memory = n
		}
	}
	if n := cgroupLimit("/"); n > 0 && n < m.Memory {
		m.Memory = n
	}
	return m
}

// parseMeminfo returns MemTotal of /proc/meminfo in bytes, 0 if it is not there.
func parseMeminfo(s string) int64 {
	for line := range strings.Lines(s) {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			f := strings.Fields(rest)
			if len(f) == 2 && f[1] == "kB" {
				if n, err := strconv.ParseInt(f[0], 10, 64); err == nil {
					return n << 10
				}
			}
		}
	}
	return 0
}

// cgroupLimit returns the memory limit of our control group in bytes, 0 for
// none. In a container the group's files stand at the root of the mount; outside
// of one the limits of every parent count, too.
func cgroupLimit(root string) int64 {
	least := int64(0)
	take := func(name string) {
		b, err := os.ReadFile(path.Join(root, name))
		if err != nil {
			return
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
		if err == nil && n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	take("sys/fs/cgroup/memory.max")
	take("sys/fs/cgroup/memory/memory.limit_in_bytes")
	b, err := os.ReadFile(path.Join(root, "proc/self/cgroup"))
	if err != nil {
		return least
	}
	for line := range strings.Lines(string(b)) {
		group, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !ok {
			continue
		}
		for ; group != "/" && group != "." && group != ""; group = path.Dir(group) {
			take(path.Join("sys/fs/cgroup", group, "memory.max"))
		}
	}
	return least
}

// Tuned returns the settings of a server that is loaded once, looked at and
// thrown away. Nothing is written for safety, memory is given to index builds,
// and no background work competes with the load.
//
// The memory: a quarter is the shared buffers, a quarter is divided among the
// jobs for index builds and foreign key checks; the rest is the system's cache,
// which holds the data files. On 7.5 GiB and 2 jobs that gives 1.9 GB and 960 MB.
// jobs 0 stands for the number of processors, needLocks 0 for no special need.
func Tuned(m Machine, jobs, needLocks int) map[string]string {
	cores := max(1, m.Cores)
	if jobs <= 0 {
		jobs = cores
	}
	memory := max(m.Memory, 256*mib)
	buffers := clamp(memory/4, 32*mib, 16*gib)
	maintenance := clamp(memory/4/int64(jobs), 16*mib, 8*gib)
	work := clamp(memory/64/int64(jobs), 4*mib, 512*mib)
	connections := max(40, 2*jobs+20)
	wal := int64(16 * gib) // far apart checkpoints, but not at the price of a full disk
	if m.Disk > 0 {
		wal = clamp(m.Disk/8, 256*mib, wal)
	}

	s := map[string]string{
		"fsync":              "off",
		"synchronous_commit": "off",
		"full_page_writes":   "off",
		"wal_level":          "minimal",
		"max_wal_senders":    "0",
		"archive_mode":       "off",
		"max_wal_size":       megabytes(wal),
		"checkpoint_timeout": "1h",
		"wal_compression":    "off",
		"autovacuum":         "off",
		"jit":                "off",
		"track_io_timing":    "off",
		"huge_pages":         "try",

		"bgwriter_lru_maxpages": "0",

		"shared_buffers":       megabytes(buffers),
		"maintenance_work_mem": megabytes(maintenance),
		"work_mem":             megabytes(work),

		"max_connections":                  strconv.Itoa(connections),
		"max_worker_processes":             strconv.Itoa(max(8, cores+4)),
		"max_parallel_workers":             strconv.Itoa(max(2, cores)),
		"max_parallel_maintenance_workers": strconv.Itoa(min(8, max(1, cores-1))),

		// The lock table holds this many times the number of connections.
		"max_locks_per_transaction": strconv.Itoa(max(256, needLocks/connections+64)),
	}
	// Parallel workers share memory through /dev/shm, which is 64 MiB in a
	// container that was not asked for more. A parallel build of an HNSW index
	// keeps all of its maintenance_work_mem there. Files in the data directory
	// serve as well, at the price of some disk writes.
	if m.Shm >= 0 && m.Shm < maintenance*int64(jobs)+64*mib {
		s["dynamic_shared_memory_type"] = "mmap"
	}
	return s
}

func clamp(n, low, high int64) int64 { return min(max(n, low), high) }

func megabytes(n int64) string { return fmt.Sprintf("%dMB", n/mib) }
