package bench

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
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
	own, children := times(m.postmaster)
	total := own + children
	tasks, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", m.postmaster, m.postmaster))
	if err != nil {
		return 0
	}
	for _, f := range bytes.Fields(tasks) {
		if pid, err := strconv.Atoi(string(f)); err == nil {
			own, _ := times(pid)
			total += own
		}
	}
	return total
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

// privateMemory returns the bytes of a process's resident memory that it shares with nobody (RssAnon in proc_pid_status(5)); 0: unknown.
func privateMemory(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), "\nRssAnon:")
	number, _, _ := strings.Cut(rest, " kB")
	n, _ := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
	return n << 10
}

// peakMemory returns the largest resident size, in bytes, of a process that has ended and of its children.
func peakMemory(s *os.ProcessState) int64 {
	if u, ok := s.SysUsage().(*syscall.Rusage); ok {
		return u.Maxrss << 10
	}
	return 0
}
