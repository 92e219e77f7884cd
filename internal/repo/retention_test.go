package repo

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// at makes backups from words: a time, then letters: i incomplete, d drilled, f drilled and failed.
func at(t *testing.T, words ...string) (out []Backup) {
	t.Helper()
	for _, w := range words {
		text, flags, _ := strings.Cut(w, " ")
		when, err := time.Parse("2006-01-02T15", text)
		if err != nil {
			t.Fatal(err)
		}
		b := Backup{Database: "d", ID: FormatID(when), Time: when, Modified: when.Add(time.Hour), Complete: !strings.Contains(flags, "i")}
		if strings.ContainsAny(flags, "df") {
			b.Drills = []Drill{{when, true}, {when.Add(time.Hour), !strings.Contains(flags, "f")}}
		}
		out = append(out, b)
	}
	return out
}

func TestRetain(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) // a Monday
	daily := []string{}
	for i := range 40 {
		daily = append(daily, now.AddDate(0, 0, -i).Add(-9*time.Hour).Format("2006-01-02T15"))
	}
	for _, c := range []struct {
		name    string
		backups []string
		policy  Policy
		keep    string // days of the month kept, newest first
	}{
		{"nothing there", nil, Policy{Last: 3}, ""},
		{"last", daily, Policy{Last: 3}, "11-30 11-29 11-28"},
		{"fewer than last", daily[:2], Policy{Last: 3}, "11-30 11-29"},
		{"days count only where there is a backup", []string{"2026-11-30T01", "2026-11-20T01", "2026-11-20T00", "2026-11-01T00"}, Policy{Daily: 2}, "11-30 11-20"},
		{"the newest of a day", []string{"2026-11-30T01", "2026-11-30T09", "2026-11-29T23"}, Policy{Daily: 2}, "11-30 11-29"},
		{"weeks end on Sunday", daily, Policy{Weekly: 3}, "11-30 11-29 11-22"},
		{"months", daily, Policy{Monthly: 2}, "11-30 10-31"},
		{"years", []string{"2026-01-01T00", "2025-12-31T23", "2025-06-01T00", "2023-01-01T00"}, Policy{Yearly: 3}, "01-01 12-31 01-01"},
		{"a week of two years", []string{"2026-01-01T00", "2025-12-30T00"}, Policy{Weekly: 5}, "01-01"},
		{"together", daily, Policy{Last: 1, Daily: 2, Weekly: 2, Monthly: 2}, "11-30 11-29 10-31"},
		{"one always stays", daily, Policy{}, "11-30"},
		{"min keep", daily, Policy{Monthly: 1, MinKeep: 2}, "11-30 11-29"},
		{"the last drilled stays", []string{"2026-11-30T01", "2026-11-29T01 f", "2026-11-28T01 d", "2026-11-27T01 d"}, Policy{Last: 1}, "11-30 11-28"},
		{"incomplete ones count for nothing", []string{"2026-11-30T01 i", "2026-11-29T01", "2026-11-28T01 i", "2026-11-27T01"}, Policy{Last: 1}, "11-30 11-29"},
		{"dead and alive", []string{"2026-11-30T01 i", "2026-11-29T12 i", "2026-11-29T10 i"}, Policy{Last: 1}, "11-30 11-29"},
		{"dead sooner", []string{"2026-11-30T11 i", "2026-11-30T01 i"}, Policy{Last: 1, IncompleteAfter: time.Hour}, "11-30"},
	} {
		t.Run(c.name, func(t *testing.T) {
			backups := at(t, c.backups...)
			slices.Reverse(backups)
			decisions := Retain(backups, c.policy, now)
			if len(decisions) != len(backups) {
				t.Fatalf("%d decisions about %d backups", len(decisions), len(backups))
			}
			var keep []string
			for _, d := range decisions {
				if len(d.Reasons) == 0 {
					t.Errorf("no reason: %v", d)
				}
				if d.Keep {
					keep = append(keep, d.Backup.Time.Format("01-02"))
				}
			}
			if got := strings.Join(keep, " "); got != c.keep {
				t.Errorf("kept %q, want %q\n%s", got, c.keep, fmt.Sprint(decisions))
			}
		})
	}
}
