package codec

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// Method is a compression method. The values are those of pg_compress_algorithm
// in PostgreSQL's src/include/common/compression.h, which archives store since
// format version 1.15.
type Method uint8

// The methods.
const (
	None Method = iota
	Gzip
	LZ4
	Zstd
)

var methodNames = [...]string{None: "none", Gzip: "gzip", LZ4: "lz4", Zstd: "zstd"}

// String returns the method's name as -Z takes it.
func (m Method) String() string {
	if int(m) < len(methodNames) {
		return methodNames[m]
	}
	return fmt.Sprintf("Method(%d)", uint8(m))
}

// Valid reports whether m is one of the four methods.
func (m Method) Valid() bool { return int(m) < len(methodNames) }

// Suffix returns what pg_dump appends to the name of a file compressed with m:
// "", ".gz", ".lz4" or ".zst".
func (m Method) Suffix() string {
	switch m {
	case Gzip:
		return ".gz"
	case LZ4:
		return ".lz4"
	case Zstd:
		return ".zst"
	}
	return ""
}

// ParseMethod returns the method of that name.
func ParseMethod(name string) (Method, error) {
	for m, n := range methodNames {
		if n == name {
			return Method(m), nil
		}
	}
	return None, fmt.Errorf("unrecognized compression algorithm: %s", quoted(name))
}

// MethodOfName returns the method that a file name's suffix tells, None if it tells none.
func MethodOfName(name string) Method {
	for _, m := range []Method{Gzip, LZ4, Zstd} {
		if strings.HasSuffix(name, m.Suffix()) {
			return m
		}
	}
	return None
}

// Default levels and the level ranges that pg_dump accepts
// (validate_compress_specification in src/common/compression.c;
// zstd's limits are those of libzstd 1.5).
const (
	DefaultGzipLevel = -1
	DefaultLZ4Level  = 0
	DefaultZstdLevel = 3

	minZstdLevel = -(1 << 17)
	maxZstdLevel = 22
)

// Spec says how to compress. The zero value is no compression.
type Spec struct {
	Method Method

	// Level is the compression level; it counts only if HasLevel is set, else
	// the method's default is used.
	Level    int
	HasLevel bool

	// Long asks zstd for long-distance matching (a window of 128 MiB).
	// HasLong says that the specification spoke of it.
	Long    bool
	HasLong bool

	// Workers is zstd's number of compression threads. pg_dump accepts and
	// ignores it, with a warning; so do we.
	Workers    int
	HasWorkers bool
}

// Effective returns the level to compress with: Level or the method's default.
func (s Spec) Effective() int {
	if s.HasLevel {
		return s.Level
	}
	switch s.Method {
	case Gzip:
		return DefaultGzipLevel
	case Zstd:
		return DefaultZstdLevel
	}
	return 0
}

// String returns the specification in -Z's grammar.
func (s Spec) String() string {
	var opts []string
	if s.HasLevel {
		opts = append(opts, fmt.Sprintf("level=%d", s.Level))
	}
	if s.HasLong {
		if s.Long {
			opts = append(opts, "long")
		} else {
			opts = append(opts, "long=off")
		}
	}
	if s.HasWorkers {
		opts = append(opts, fmt.Sprintf("workers=%d", s.Workers))
	}
	if len(opts) == 0 {
		return s.Method.String()
	}
	return s.Method.String() + ":" + strings.Join(opts, ",")
}

// Parse reads a specification as pg_dump's -Z option does: a level ("0" is
// none, any other gzip), or METHOD[:DETAIL] where DETAIL is a level or a
// comma-separated list of level=N, long[=BOOLEAN] and workers=N. The messages of
// its errors are pg_dump's.
func Parse(s string) (Spec, error) {
	n, rest := strtol(s)
	if rest == "" { // an empty string counts as 0
		if n == 0 {
			return Spec{}, nil
		}
		return checked(Spec{Method: Gzip, Level: clampInt(n), HasLevel: true})
	}
	name, detail, hasDetail := strings.Cut(s, ":")
	m, err := ParseMethod(name)
	if err != nil {
		return Spec{}, err
	}
	spec := Spec{Method: m}
	if hasDetail {
		if err := spec.parseDetail(detail); err != nil {
			return Spec{}, fmt.Errorf("invalid compression specification: %w", err)
		}
	}
	return checked(spec)
}

func checked(s Spec) (Spec, error) {
	if err := s.Validate(); err != nil {
		return Spec{}, fmt.Errorf("invalid compression specification: %w", err)
	}
	return s, nil
}

func (s *Spec) parseDetail(detail string) error {
	if n, rest := strtol(detail); rest == "" && detail != "" {
		s.Level, s.HasLevel = clampInt(n), true
		return nil
	}
	for more := true; more; {
		var item string
		item, detail, more = strings.Cut(detail, ",")
		key, value, hasValue := strings.Cut(item, "=")
		if key == "" {
			return errors.New("found empty string where a compression option was expected")
		}
		var err error
		switch key {
		case "level":
			s.HasLevel = true
			s.Level, err = intOption(key, value, hasValue)
		case "workers":
			s.HasWorkers = true
			s.Workers, err = intOption(key, value, hasValue)
		case "long":
			s.HasLong = true
			s.Long, err = boolOption(key, value, hasValue)
		default:
			err = fmt.Errorf("unrecognized compression option: %s", quoted(key))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// quoted puts s between double quotes and changes nothing in it, as PostgreSQL's messages do.
func quoted(s string) string { return `"` + s + `"` }

func intOption(key, value string, hasValue bool) (int, error) {
	if !hasValue {
		return 0, fmt.Errorf("compression option %s requires a value", quoted(key))
	}
	n, rest := strtol(value)
	if rest != "" || value == "" {
		return 0, fmt.Errorf("value for compression option %s must be an integer", quoted(key))
	}
	return clampInt(n), nil
}

func boolOption(key, value string, hasValue bool) (bool, error) {
	if !hasValue {
		return true, nil
	}
	switch strings.ToLower(value) {
	case "yes", "on", "1":
		return true, nil
	case "no", "off", "0":
		return false, nil
	}
	return false, fmt.Errorf("value for compression option %s must be a Boolean value", quoted(key))
}

// Validate checks that the level and options make sense for the method, with
// the messages of validate_compress_specification.
func (s Spec) Validate() error {
	lo, hi, def := 1, 1, 0
	switch s.Method {
	case None:
		if s.Effective() != 0 {
			return fmt.Errorf("compression algorithm %s does not accept a compression level", quoted(s.Method.String()))
		}
	case Gzip:
		hi, def = 9, DefaultGzipLevel
	case LZ4:
		hi, def = 12, DefaultLZ4Level
	case Zstd:
		lo, hi, def = minZstdLevel, maxZstdLevel, DefaultZstdLevel
	default:
		return fmt.Errorf("unknown compression algorithm %d", s.Method)
	}
	if l := s.Effective(); (l < lo || l > hi) && l != def {
		return fmt.Errorf("compression algorithm %s expects a compression level between %d and %d (default at %d)",
			quoted(s.Method.String()), lo, hi, def)
	}
	if s.HasWorkers && s.Method != Zstd {
		return fmt.Errorf("compression algorithm %s does not accept a worker count", quoted(s.Method.String()))
	}
	if s.HasLong && s.Method != Zstd {
		return fmt.Errorf("compression algorithm %s does not support long-distance mode", quoted(s.Method.String()))
	}
	return nil
}

// strtol reads a decimal number as C's strtol does, leading blanks and sign
// included, and returns what follows it. Without a number it returns 0 and all of s.
func strtol(s string) (n int64, rest string) {
	i := 0
	for i < len(s) && strings.IndexByte(" \t\n\v\f\r", s[i]) >= 0 {
		i++
	}
	neg := false
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		neg = s[i] == '-'
		i++
	}
	start := i
	for ; i < len(s) && '0' <= s[i] && s[i] <= '9'; i++ {
		if d := int64(s[i] - '0'); n > (math.MaxInt64-d)/10 {
			n = math.MaxInt64
		} else {
			n = n*10 + d
		}
	}
	if i == start {
		return 0, s
	}
	if neg {
		n = -n
	}
	return n, s[i:]
}

func clampInt(n int64) int { return int(max(math.MinInt32, min(math.MaxInt32, n))) }
