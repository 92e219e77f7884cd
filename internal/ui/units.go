package ui

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Bytes writes a number of bytes with three significant digits and a binary unit.
func Bytes(n int64) string {
	const units = "kMGTPE"
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	v, u := float64(n), -1
	for v >= 999.5 && u < len(units)-1 {
		v /= 1024
		u++
	}
	digits := 2
	switch {
	case v >= 99.95:
		digits = 0
	case v >= 9.995:
		digits = 1
	}
	return fmt.Sprintf("%.*f %ciB", digits, v, units[u])
}

// Count writes a number with a comma before each group of three digits.
func Count(n int64) string {
	s := fmt.Sprint(n)
	neg := n < 0
	if neg {
		s = s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if neg {
		s = "-" + s
	}
	return s
}

// Duration writes a time to the precision a person reads: 0.42s, 12.3s, 4m05s, 2h03m.
func Duration(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.2fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// Wrap breaks a text into lines of at most width characters, indent spaces included, at spaces.
func Wrap(text string, indent, width int) string {
	margin := strings.Repeat(" ", indent)
	var b strings.Builder
	n := 0
	for _, word := range strings.Fields(text) {
		length := utf8.RuneCountInString(word)
		switch {
		case n == 0:
			b.WriteString(margin)
			n = indent
		case n+1+length > width:
			b.WriteString("\n" + margin)
			n = indent
		default:
			b.WriteByte(' ')
			n++
		}
		b.WriteString(word)
		n += length
	}
	return b.String()
}
