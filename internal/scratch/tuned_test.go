package scratch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
)

func TestTuned(t *testing.T) {
	for _, test := range []struct {
		name        string
		machine     Machine
		jobs, locks int
		want        map[string]string
	}{
		{
			"the machine of the published figures", Machine{Memory: 7680 * mib, Cores: 2, Shm: 3840 * mib}, 2, 0,
			map[string]string{"shared_buffers": "1920MB", "maintenance_work_mem": "960MB", "fsync": "off", "dynamic_shared_memory_type": ""},
		},
		{
			"container with a small /dev/shm", Machine{Memory: 7680 * mib, Cores: 2, Shm: 64 * mib}, 2, 0,
			map[string]string{"dynamic_shared_memory_type": "mmap"},
		},
		{
			"no limit on shared memory", Machine{Memory: 7680 * mib, Cores: 8, Shm: -1}, 0, 0,
			map[string]string{"dynamic_shared_memory_type": "", "maintenance_work_mem": "240MB", "max_parallel_maintenance_workers": "7"},
		},
		{
			"very small", Machine{Memory: 100 * mib, Cores: 1, Shm: 0, Disk: 4 * gib}, 4, 0,
			map[string]string{"max_wal_size": "512MB", "shared_buffers": "64MB", "maintenance_work_mem": "16MB", "work_mem": "4MB", "max_parallel_maintenance_workers": "1"},
		},
		{
			"very large", Machine{Memory: 1024 * gib, Cores: 128, Shm: 512 * gib}, 64, 0,
			map[string]string{"max_wal_size": "16384MB", "shared_buffers": "16384MB", "maintenance_work_mem": "4096MB", "max_connections": "148", "max_worker_processes": "132"},
		},
		{
			"many objects", Machine{Memory: 8 * gib, Cores: 2, Shm: -1}, 2, 200000,
			map[string]string{"max_locks_per_transaction": "5064"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Tuned(test.machine, test.jobs, test.locks)
			for name, want := range test.want {
				if got[name] != want {
					t.Errorf("%s = %q, want %q", name, got[name], want)
				}
			}
		})
	}
}

func TestParseMeminfo(t *testing.T) {
	if got := parseMeminfo("MemTotal:       16384 kB\nMemFree: 1 kB\n"); got != 16*mib {
		t.Errorf("got %d", got)
	}
	for _, bad := range []string{"", "MemTotal:", "MemTotal: x kB", "MemFree: 1 kB"} {
		if got := parseMeminfo(bad); got != 0 {
			t.Errorf("%q: got %d", bad, got)
		}
	}
}

func TestCgroupLimit(t *testing.T) {
	write := func(t *testing.T, root, name, text string) {
		t.Helper()
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"none", nil, 0},
		{"container, version 2", map[string]string{"sys/fs/cgroup/memory.max": "1048576\n"}, 1048576},
		{"container, version 1", map[string]string{"sys/fs/cgroup/memory/memory.limit_in_bytes": "1048576\n"}, 1048576},
		{"unlimited", map[string]string{"sys/fs/cgroup/memory.max": "max\n"}, 0},
		{"parent is smaller", map[string]string{
			"proc/self/cgroup":                 "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max":     "max\n",
			"sys/fs/cgroup/a/memory.max":       "4096\n",
			"sys/fs/cgroup/memory.max.ignored": "1\n",
		}, 4096},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := t.TempDir()
			for name, text := range test.files {
				write(t, root, name, text)
			}
			if got := cgroupLimit(root); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}

func TestThisMachine(t *testing.T) {
	m := ThisMachine()
	if m.Cores < 1 || m.Memory < 64*mib {
		t.Errorf("improbable machine %+v", m)
	}
}

// slowInstance ends when it is told to.
type slowInstance struct {
	release chan struct{}
	calls   int
	kept    bool
	done    chan struct{}
}

func (i *slowInstance) Stop(_ context.Context, keep bool) error {
	i.calls++
	i.kept = keep
	<-i.release
	close(i.done)
	return errors.New("no good")
}
func (i *slowInstance) Done() <-chan struct{} { return i.done }
func (i *slowInstance) Err() error            { return nil }

func TestStopManyTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &slowInstance{release: make(chan struct{}), done: make(chan struct{})}
		s := NewServer(Info{Version: 170012}, i)
		s.Keep()
		var mu sync.Mutex
		var results []error
		for range 3 {
			go func() {
				err := s.Stop(context.Background())
				mu.Lock()
				defer mu.Unlock()
				results = append(results, err)
			}()
		}
		synctest.Wait()
		if len(results) != 0 {
			t.Error("a Stop came back before the server was gone")
		}
		close(i.release)
		synctest.Wait()
		if i.calls != 1 || !i.kept {
			t.Errorf("the instance was stopped %d times, kept %v", i.calls, i.kept)
		}
		if len(results) != 3 {
			t.Fatalf("%d of 3 Stops came back", len(results))
		}
		for _, err := range results {
			if err == nil || err.Error() != "stop throwaway server: no good" {
				t.Errorf("got error %v", err)
			}
		}
		if s.Major() != 17 {
			t.Errorf("major %d", s.Major())
		}
	})
}
