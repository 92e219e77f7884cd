package pgflags

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// option is one line of a program's table.
type option struct {
	short byte   // 0: none
	long  string // empty: none
	arg   string // name of the argument in the help text; empty: takes none
	group string // heading in the help text
	help  string // empty: not shown, for old and second names of an option
	set   func(value string) error
	same  string // long name of the option that this one is another name of
	whole bool   // the long name cannot be shortened, and does not make shortened ones ambiguous
}

// UsageError is a command line that cannot be understood.
type UsageError struct {
	Text string
	// Bare says that the text comes from the option parser itself, which does not
	// put "error:" before it.
	Bare bool
	// TryHelp asks for the hint that names --help.
	TryHelp bool
}

func (e *UsageError) Error() string { return e.Text }

// ErrHelp and ErrVersion are returned for --help and --version.
var (
	ErrHelp    = errors.New("help requested")
	ErrVersion = errors.New("version requested")
)

func usagef(format string, args ...any) error {
	return &UsageError{Text: fmt.Sprintf(format, args...)}
}

func bare(format string, args ...any) error {
	return &UsageError{Text: fmt.Sprintf(format, args...), Bare: true, TryHelp: true}
}

// parse sets the options found in args and returns the operands, which may stand
// between the options. A "--" ends the options.
func parse(table []option, args []string) (operands []string, err error) {
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		switch {
		case arg == "--":
			return append(operands, args...), nil
		case strings.HasPrefix(arg, "--"):
			args, err = parseLong(table, arg[2:], args)
		case len(arg) > 1 && arg[0] == '-':
			args, err = parseShort(table, arg[1:], args)
		default:
			operands = append(operands, arg)
		}
		if err != nil {
			return nil, err
		}
	}
	return operands, nil
}

func parseLong(table []option, arg string, rest []string) ([]string, error) {
	name, value, hasValue := strings.Cut(arg, "=")
	o, err := findLong(table, name, arg)
	if err != nil {
		return nil, err
	}
	if o.arg == "" {
		if hasValue {
			return nil, bare("option '--%s' doesn't allow an argument", o.long)
		}
		return rest, o.set("")
	}
	if !hasValue {
		if len(rest) == 0 {
			return nil, bare("option '--%s' requires an argument", o.long)
		}
		value, rest = rest[0], rest[1:]
	}
	return rest, o.set(value)
}

// findLong finds the option of that name, or the only one that the name begins.
func findLong(table []option, name, arg string) (*option, error) {
	var found *option
	var names []string
	ambiguous := false
	for i := range table {
		o := &table[i]
		switch {
		case o.long == "" || !strings.HasPrefix(o.long, name):
			continue
		case o.long == name:
			return o, nil
		case o.whole:
			continue
		}
		names = append(names, "'--"+o.long+"'")
		if found != nil && found.canonical() != o.canonical() {
			ambiguous = true
		}
		if found == nil {
			found = o
		}
	}
	switch {
	case found == nil:
		return nil, bare("unrecognized option '--%s'", arg)
	case ambiguous:
		return nil, bare("option '--%s' is ambiguous; possibilities: %s", arg, strings.Join(names, " "))
	}
	return found, nil
}

func (o *option) canonical() string {
	if o.same != "" {
		return o.same
	}
	return o.long
}

// parseShort reads a cluster of one-letter options, the last of which may take the
// rest of the cluster or the next word as its argument.
func parseShort(table []option, cluster string, rest []string) ([]string, error) {
	for cluster != "" {
		letter := cluster[0]
		cluster = cluster[1:]
		o := findShort(table, letter)
		if o == nil {
			return nil, bare("invalid option -- '%c'", letter)
		}
		if o.arg == "" {
			if err := o.set(""); err != nil {
				return nil, err
			}
			continue
		}
		if cluster == "" {
			if len(rest) == 0 {
				return nil, bare("option requires an argument -- '%c'", letter)
			}
			return rest[1:], o.set(rest[0])
		}
		return rest, o.set(cluster)
	}
	return rest, nil
}

func findShort(table []option, letter byte) *option {
	for i := range table {
		if table[i].short == letter && letter != 0 {
			return &table[i]
		}
	}
	return nil
}

// Setters, by the type of what they set.

func setTrue(p *bool) func(string) error {
	return func(string) error { *p = true; return nil }
}

func setString(p *string) func(string) error {
	return func(v string) error { *p = v; return nil }
}

func appendTo(p *[]string) func(string) error {
	return func(v string) error { *p = append(*p, v); return nil }
}

// ignore is for options that are accepted and mean nothing any more.
func ignore(string) error { return nil }

// setDuration takes a time such as 30m or 1h30m, longer than nothing.
func setDuration(p *time.Duration, name string) func(string) error {
	return func(v string) error {
		d, err := time.ParseDuration(v)
		if err != nil || d <= 0 {
			return usagef("invalid value \"%s\" for option %s: give a time such as 30m or 2h", v, name)
		}
		*p = d
		return nil
	}
}

// setInt takes an integer between lo and hi, with white space around it.
func setInt(p *int, name string, lo, hi int) func(string) error {
	return func(v string) error {
		n, ok, inRange := parseInt(v)
		switch {
		case !ok:
			return usagef("invalid value \"%s\" for option %s", v, name)
		case !inRange || n < int64(lo) || n > int64(hi):
			return usagef("%s must be in range %d..%d", name, lo, hi)
		}
		*p = int(n)
		return nil
	}
}

// parseInt reads as strtol does: leading space, a sign, digits, trailing space.
// ok is false when something else stands in v, inRange when the number is too large.
func parseInt(v string) (n int64, ok, inRange bool) {
	const space = " \t\n\v\f\r"
	s := strings.Trim(v, space)
	if s == "" {
		return 0, v == "", true
	}
	neg := false
	if s[0] == '-' || s[0] == '+' {
		neg, s = s[0] == '-', s[1:]
	}
	if s == "" {
		return 0, false, true
	}
	inRange = true
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false, true
		}
		if n < 1<<40 {
			n = n*10 + int64(c-'0')
		}
		if n > 1<<31 {
			inRange = false
		}
	}
	if neg {
		n = -n
	}
	return n, true, inRange
}
