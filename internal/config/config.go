// Package config reads the configuration file. In comes YAML that describes databases: how each is reached,
// where its backups go, and how it is backed up, kept and drilled; out go, for each command, the flags
// that a person would have had to give.
//
// It is read strictly: what it does not know is an error that shows the line. A value may take its text, or a part
// of it, from the environment: ${NAME}. Secrets stand in files of their own or in the environment; one that
// stands in the file itself is refused when others can read the file.
package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/pghaul/pghaul/internal/spelling"
)

// File is a configuration file.
type File struct {
	Path      string               `yaml:"-"`
	Store     string               `yaml:"store"` // the store of commands that name neither a store nor a database
	Databases map[string]*Database `yaml:"databases"`
}

// Database is one database by its name in the file. The zero value of each field leaves the command's default.
type Database struct {
	DSN          string `yaml:"dsn"`           // connection string, or name of a database
	Password     string `yaml:"password"`      // from the environment: ${NAME}
	PasswordFile string `yaml:"password-file"` // its first line
	Store        string `yaml:"store"`         // address; empty: that of the file

	Jobs      int    `yaml:"jobs"`
	Compress  string `yaml:"compress"`   // as -Z: zstd:3
	PieceSize string `yaml:"piece-size"` // 64MB

	Schemas Names  `yaml:"schemas"` // patterns
	Tables  Names  `yaml:"tables"`
	Limits  Limits `yaml:"limits"`

	Recipients      []string `yaml:"recipients"` // age recipients or SSH public keys
	RecipientsFiles []string `yaml:"recipients-files"`
	Identities      []string `yaml:"identities"` // files
	PassphraseFile  string   `yaml:"passphrase-file"`
	SignKey         string   `yaml:"sign-key"`
	VerifyKey       string   `yaml:"verify-key"`

	Storage Storage `yaml:"storage"`
	Probe   bool    `yaml:"probe"` // record what a platform's roles see

	Retention Retention `yaml:"retention"`
	Drill     Drill     `yaml:"drill"`
}

// Storage is the S3 endpoint where a managed platform keeps its files. Its keys come from the environment.
type Storage struct {
	Endpoint string   `yaml:"endpoint"` // empty: the files are not backed up
	Region   string   `yaml:"region"`
	Buckets  []string `yaml:"buckets"` // empty: all
}

// Names are patterns of what to take, and of what to leave out.
type Names struct {
	Include []string `yaml:"include"`
	Exclude []string `yaml:"exclude"`
}

// Limits are sizes a second, such as 20MB.
type Limits struct {
	Upload   string `yaml:"upload"`
	Download string `yaml:"download"`
}

// Retention says which backups prune keeps, see repo.Policy.
type Retention struct {
	Last            int           `yaml:"last"`
	Daily           int           `yaml:"daily"`
	Weekly          int           `yaml:"weekly"`
	Monthly         int           `yaml:"monthly"`
	Yearly          int           `yaml:"yearly"`
	Min             int           `yaml:"min"`
	IncompleteAfter time.Duration `yaml:"incomplete-after"`
}

// Drill says how a backup is drilled.
type Drill struct {
	Jobs         int           `yaml:"jobs"`
	Docker       bool          `yaml:"docker"`
	Image        string        `yaml:"image"`
	Server       string        `yaml:"server"` // connection string
	Platform     string        `yaml:"platform"`
	Allow        []string      `yaml:"allow"`
	CheckSQL     []string      `yaml:"check-sql"` // files
	CheckCmd     []string      `yaml:"check-cmd"`
	CheckTimeout time.Duration `yaml:"check-timeout"`
}

// maxFile bounds the file, in bytes.
const maxFile = 4 << 20

// Variable names the file in the environment.
const Variable = "PGHAUL_CONFIG"

// Find returns the file to read: the one given, else that of the environment, else the user's own or the
// machine's, if there is one; "" if there is none.
func Find(given string) string {
	if given == "" {
		given = os.Getenv(Variable)
	}
	if given != "" {
		return given
	}
	places := []string{"/etc/pghaul/config.yaml"}
	if dir, err := os.UserHomeDir(); err == nil {
		places = append([]string{filepath.Join(dir, ".config", "pghaul", "config.yaml")}, places...)
	}
	for _, p := range places {
		if _, err := os.Stat(p); err == nil {
			return p
		}
	}
	return ""
}

// Load reads and checks a file. Paths in it that are relative start where the file is.
func Load(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("read configuration %s: it is larger than any", path)
	}
	c, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("read configuration %s: %w", path, err)
	}
	c.Path = path
	if err := c.checkSecrets(st.Mode()); err != nil {
		return nil, fmt.Errorf("configuration %s: %w", path, err)
	}
	if err := expand(reflect.ValueOf(c), ""); err != nil {
		return nil, fmt.Errorf("configuration %s: %w", path, err)
	}
	for _, name := range c.Names() {
		d := c.Databases[name]
		if err := d.check(); err != nil {
			return nil, fmt.Errorf("configuration %s: database %s: %w", path, name, err)
		}
		d.resolve(filepath.Dir(path))
		if d.Store == "" {
			d.Store = c.Store
		}
	}
	return c, nil
}

// parse reads the text strictly.
func parse(text []byte) (*File, error) {
	c := new(File)
	err := yaml.UnmarshalWithOptions(text, c, yaml.Strict())
	var unknown *yaml.UnknownFieldError
	switch {
	case err == nil, errors.Is(err, io.EOF):
	case errors.As(err, &unknown):
		return nil, fmt.Errorf("%s%s", shown(err), meant(unknown.Message))
	default:
		return nil, errors.New(shown(err))
	}
	for name, d := range c.Databases {
		if d == nil {
			return nil, fmt.Errorf("database %s has no settings, not even a dsn", name)
		}
		if name == "" || strings.ContainsAny(name, "/\\:=") {
			return nil, fmt.Errorf("database %q: a name must not look like a path or a connection string", name)
		}
	}
	return c, nil
}

// shown is an error with the lines around it, passwords left out.
func shown(err error) string {
	text := strings.TrimSpace(yaml.FormatError(err, false, true))
	text = secretLine.ReplaceAllString(text, "$1...")
	return secretURI.ReplaceAllString(text, "$1...@")
}

var (
	secretLine = regexp.MustCompile(`(password["']?\s*[:=]\s*).*`)
	secretURI  = regexp.MustCompile(`(://[^/@:\s]*:)[^/@\s]+@`)
)

var quoted = regexp.MustCompile(`"([^"]+)"`)

// meant says which key was meant by the unknown one that the message names.
func meant(message string) string {
	m := quoted.FindStringSubmatch(message)
	if m == nil {
		return ""
	}
	near := spelling.Near(m[1], keys(reflect.TypeFor[File](), nil), 2)
	if len(near) == 0 {
		return ""
	}
	return "\ndid you mean " + near[0] + "?"
}

// keys returns all keys a file may have.
func keys(t reflect.Type, out []string) []string {
	switch t.Kind() {
	case reflect.Pointer, reflect.Map:
		return keys(t.Elem(), out)
	case reflect.Struct:
		for i := range t.NumField() {
			if key := t.Field(i).Tag.Get("yaml"); key != "-" {
				out = keys(t.Field(i).Type, append(out, key))
			}
		}
	}
	return out
}

// checkSecrets refuses a password that stands in a file which others can read.
func (c *File) checkSecrets(mode os.FileMode) error {
	if mode.Perm()&0o077 == 0 || !hasModes {
		return nil
	}
	for _, name := range c.Names() {
		d := c.Databases[name]
		if d.Password != "" && variable.ReplaceAllString(d.Password, "") != "" || passwordIn(d.DSN) || passwordIn(d.Drill.Server) {
			return fmt.Errorf("database %s has its password in it, and others can read the file: chmod 600 it, or use password-file or ${NAME}", name)
		}
	}
	return nil
}

// passwordIn reports whether a connection string has a password of its own, rather than one from the environment.
func passwordIn(dsn string) bool {
	for _, p := range secretInDSN {
		if m := p.FindStringSubmatch(dsn); m != nil && variable.ReplaceAllString(m[1], "") != "" {
			return true
		}
	}
	return false
}

var secretInDSN = []*regexp.Regexp{
	regexp.MustCompile(`^postgres(?:ql)?://[^/@:?]*:([^/@]+)@`),
	regexp.MustCompile(`[?&]password=([^&]+)`),
	regexp.MustCompile(`(?:^|\s)password\s*=\s*(\S+)`),
}

var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// expand replaces ${NAME} in all texts of a value.
func expand(v reflect.Value, at string) error {
	switch v.Kind() {
	case reflect.Pointer:
		return expand(v.Elem(), at)
	case reflect.Map:
		for _, k := range v.MapKeys() {
			if err := expand(v.MapIndex(k), at+"."+k.String()); err != nil {
				return err
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if key := v.Type().Field(i).Tag.Get("yaml"); key != "-" {
				if err := expand(v.Field(i), at+"."+key); err != nil {
					return err
				}
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if err := expand(v.Index(i), at+"["+strconv.Itoa(i)+"]"); err != nil {
				return err
			}
		}
	case reflect.String:
		var missing string
		text := variable.ReplaceAllStringFunc(v.String(), func(m string) string {
			value, ok := os.LookupEnv(m[2 : len(m)-1])
			if !ok {
				missing = m
			}
			return value
		})
		if missing != "" {
			return fmt.Errorf("%s: the environment has no %s", strings.TrimPrefix(at, "."), missing[2:len(missing)-1])
		}
		v.SetString(text)
	}
	return nil
}

func (d *Database) check() error {
	r := d.Retention
	switch {
	case d.DSN == "":
		return errors.New("dsn is missing")
	case d.Password != "" && d.PasswordFile != "":
		return errors.New("password and password-file are both given")
	case d.Jobs < 0 || d.Drill.Jobs < 0:
		return errors.New("jobs is negative")
	case min(r.Last, r.Daily, r.Weekly, r.Monthly, r.Yearly, r.Min) < 0 || r.IncompleteAfter < 0 || d.Drill.CheckTimeout < 0:
		return errors.New("a number in it is negative")
	case len(d.Recipients)+len(d.RecipientsFiles) > 0 && d.PassphraseFile != "":
		return errors.New("a backup is encrypted to recipients or with a passphrase, not both")
	}
	return nil
}

// resolve makes paths absolute. A store or a dsn is none.
func (d *Database) resolve(dir string) {
	fix := func(p *string) {
		if *p != "" && !filepath.IsAbs(*p) {
			*p = filepath.Join(dir, *p)
		}
	}
	fix(&d.PasswordFile)
	fix(&d.PassphraseFile)
	fix(&d.SignKey)
	fix(&d.VerifyKey)
	for _, list := range [][]string{d.RecipientsFiles, d.Identities, d.Drill.CheckSQL} {
		for i := range list {
			fix(&list[i])
		}
	}
}

// Names returns the names of the databases, sorted.
func (c *File) Names() []string {
	var names []string
	for n := range c.Databases {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Secret returns the password of the database; "" if the file says nothing of it.
func (d *Database) Secret() (string, error) {
	if d.PasswordFile == "" {
		return d.Password, nil
	}
	text, err := os.ReadFile(d.PasswordFile)
	if err != nil {
		return "", fmt.Errorf("read password: %w", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	if line = strings.TrimSuffix(line, "\r"); line == "" {
		return "", fmt.Errorf("read password: %s is empty", d.PasswordFile)
	}
	return line, nil
}
