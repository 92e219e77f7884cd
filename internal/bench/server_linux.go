package bench

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ticksPerSecond is the unit of the times in /proc, the same on every Linux that Go runs on (USER_HZ).
const ticksPerSecond = 100

// serverMeter knows the processor time of a server on this machine. The zero value knows nothing.
type serverMeter struct{ postmaster int }

// cpu returns the seconds that all processes of the server have used so far, those that have ended included.
func (m *serverMeter) cpu() float64 {
	if m.postmaster == 0 {
		return 0
	}
	own, ended := times(m.postmaster)
	total := own + ended
	pids, err := children(m.postmaster)
	if err != nil {
		return 0
	}
	for _, pid := range pids {
		own, _ := times(pid)
		total += own
	}
	return total
}

// children are the processes that a process of one thread has begun and not waited for.
func children(pid int) (pids []int, err error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return nil, err
	}
	for _, f := range bytes.Fields(b) {
		if pid, err := strconv.Atoi(string(f)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// times returns the processor seconds of a process and of its children that were waited for (proc_pid_stat(5)).
func times(pid int) (own, children float64) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0
	}
	_, rest, _ := strings.Cut(string(b), ") ") // the name may hold anything
	f := strings.Fields(rest)
	if len(f) < 15 {
		return 0, 0
	}
	n := func(i int) float64 { v, _ := strconv.ParseFloat(f[i], 64); return v / ticksPerSecond }
	return n(11) + n(12), n(13) + n(14)
}

// privateMemory returns the bytes of a process's resident memory that it shares with nobody; 0: unknown.
func privateMemory(pid int) int64 { return memoryOf(pid, "RssAnon") }

// memoryOf returns a line of a process's status in bytes (proc_pid_status(5)); 0: unknown.
func memoryOf(pid int, line string) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), "\n"+line+":")
	number, _, _ := strings.Cut(rest, " kB")
	n, _ := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
	return n << 10
}

// lookEvery is how often the memory of a small program is looked at.
const lookEvery = 20 * time.Millisecond

// watchMemory looks at the memory of a process and its children until peak is called, when the process has ended; peak returns the largest
// resident size of one of them, in bytes.
//
// The system's own account is exact, but a program begins as a copy of this one, which counts too (getrusage(2)). Of one that
// never gets larger than that, what was seen last must do.
func watchMemory(pid int) (peak func(s *os.ProcessState) int64) {
	var seen int64
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for {
			pids, _ := children(pid) // none where the kernel does not tell
			for _, p := range append(pids, pid) {
				seen = max(seen, memoryOf(p, "VmHWM"))
			}
			select {
			case <-tick.C:
			case <-ended:
				return
			}
		}
	}()
	return func(s *os.ProcessState) int64 {
		close(ended)
		<-done
		var own syscall.Rusage
		u, ok := s.SysUsage().(*syscall.Rusage)
		if ok && syscall.Getrusage(syscall.RUSAGE_SELF, &own) == nil && u.Maxrss > own.Maxrss {
			return u.Maxrss << 10
		}
		return seen
	}
}
