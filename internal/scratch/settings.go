package scratch

import (
	"maps"
	"strconv"
	"strings"
)

// ServerSettings is for providers that start a server themselves: it returns
// the configuration parameters that the wish comes to on this machine.
func (s *Spec) ServerSettings(m Machine) map[string]string {
	settings := map[string]string{
		"max_connections":     "100",
		"fsync":               "off",
		"log_min_messages":    "warning",
		"restart_after_crash": "off", // a crash is an end, to be reported as one
	}
	if s.NeedLocks > 0 {
		settings["max_locks_per_transaction"] = strconv.Itoa(max(64, s.NeedLocks/100+64))
	}
	if s.Tuned {
		maps.Copy(settings, Tuned(m, s.Jobs, s.NeedLocks))
	}
	maps.Copy(settings, s.Settings)
	return settings
}

// Tail returns the last lines of a server's log, indented, with a colon and a
// line feed in front, for the end of a message; nothing if the log is empty.
func Tail(log []byte) string {
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	if n := len(lines); n > 15 {
		lines = lines[n-15:]
	}
	if len(lines) == 1 && lines[0] == "" {
		return ""
	}
	return ":\n\t" + strings.Join(lines, "\n\t")
}
