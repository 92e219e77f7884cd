package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pghaul/pghaul/internal/config"
	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/pgflags"
	"github.com/pghaul/pghaul/internal/repo"
)

// databaseVariable names the database that is meant when none is given.
const databaseVariable = "PGHAUL_DATABASE"

// fromEnvironment are the flags whose values may also stand in the environment, as PGHAUL_LIMIT_UPLOAD.
var fromEnvironment = []string{"jobs", "compress", "piece-size", "limit-upload", "limit-download"}

// variableOf is the variable of a flag.
func variableOf(flag string) string {
	return "PGHAUL_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// operandKind says what the operands of a command are.
type operandKind uint8

const (
	storeOperand    operandKind = iota // the first, if there is one, is a store
	diffOperands                       // likewise, and backups follow
	databaseOperand                    // all are databases, or may be
)

// configured lets a command know the configuration file: operands may be names of databases in it, and what its flags do not
// say is taken from the environment, then from the file. It refuses passwords on the command line.
func configured(c *cobra.Command, kind operandKind) *cobra.Command {
	c.Long = withNames(c.Long, kind)
	run := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		args = slices.Clone(args)
		if err := refusePasswords(cmd, args, kind); err != nil {
			return err
		}
		if err := settle(cmd, args, kind); err != nil {
			return err
		}
		if len(args) == 0 && kind == storeOperand && os.Getenv(storeVariable) == "" {
			f, err := loadConfig(cmd)
			if err != nil {
				return err
			}
			if f != nil && f.Store != "" {
				args = []string{f.Store}
			}
		}
		return run(cmd, args)
	}
	return c
}

// withNames says in a help text, before the exit statuses, that names of the configuration file will do.
func withNames(help string, kind operandKind) string {
	text := "A name of the configuration file (docs/config.md) stands for its store and settings."
	if kind == databaseOperand {
		text = "A name of the configuration file (docs/config.md) stands for its database. Passwords\nare taken from the environment, files or a prompt, not from the command line."
	}
	before, after, ok := strings.Cut(help, "\n\nExit status")
	if !ok {
		return help + "\n\n" + text
	}
	return before + "\n\n" + text + "\n\nExit status" + after
}

func refusePasswords(cmd *cobra.Command, args []string, kind operandKind) error {
	texts := args
	if kind != databaseOperand {
		texts = nil
	}
	if f := cmd.Flags().Lookup("server"); f != nil {
		texts = append(slices.Clone(texts), f.Value.String())
	}
	return refusePassword(texts...)
}

// settle replaces names of databases among the operands, and gives the flags that were not given the values of the environment or the file.
func settle(cmd *cobra.Command, args []string, kind operandKind) error {
	for _, name := range fromEnvironment {
		value := os.Getenv(variableOf(name))
		if f := cmd.Flags().Lookup(name); f == nil || f.Changed || value == "" {
			continue
		}
		if err := cmd.Flags().Set(name, value); err != nil {
			return &pgflags.UsageError{Text: fmt.Sprintf("environment variable %s: %v", variableOf(name), err)}
		}
	}
	for i, arg := range args {
		if kind == storeOperand && i > 0 || kind == diffOperands && (i > 0 || len(args) < 3) {
			break
		}
		if _, err := os.Stat(arg); err == nil && kind == storeOperand && !isStore(arg) {
			break // an archive
		}
		t, err := lookUp(cmd, arg)
		if err != nil {
			return err
		}
		if t == nil {
			continue
		}
		if kind == databaseOperand {
			args[i] = t.dsn
		} else if args[i], err = t.store(); err != nil {
			return err
		}
		if kind == diffOperands {
			for k := 1; k < len(args); k++ {
				args[k] = t.selector(args[k])
			}
		}
		if err := t.setFlags(cmd); err != nil {
			return err
		}
	}
	return nil
}

// target is a database of the configuration file, ready for use.
type target struct {
	*config.Database
	name     string
	file     string
	dsn      string // with its password; never to be shown
	database string // its name on the server, and in a store
}

// store returns the address of the store.
func (t *target) store() (string, error) {
	if t.Store == "" {
		return "", fmt.Errorf("database %s has no store in %s", t.name, t.file)
	}
	return t.Store, nil
}

// selector makes a selector of backups one of this database's.
func (t *target) selector(text string) string {
	_, isID := repo.ParseID(text)
	if isID || text == "latest" || text == "" {
		return t.database + "/" + text
	}
	return text
}

// setFlags gives the flags that were given neither on the command line nor in the environment what the file says.
func (t *target) setFlags(cmd *cobra.Command) error {
	flags := cmd.Flags()
	for _, v := range t.Flags(cmd.Name()) {
		f := flags.Lookup(v.Name)
		if f == nil || f.Changed {
			continue
		}
		if v.Name == "passphrase-file" && flags.Lookup("passphrase") != nil && flags.Lookup("passphrase").Changed {
			continue
		}
		for _, value := range v.Values {
			if err := flags.Set(v.Name, value); err != nil {
				return fmt.Errorf("configuration %s: database %s: %s: %w", t.file, t.name, v.Name, err)
			}
		}
	}
	if f := flags.Lookup("snapshot"); f != nil {
		if err := flags.Set("snapshot", t.selector(f.Value.String())); err != nil {
			return err
		}
	}
	if f := flags.Lookup("database"); f != nil && !f.Changed {
		return flags.Set("database", t.database)
	}
	return nil
}

// loadConfig reads the configuration file; nil if there is none.
func loadConfig(cmd *cobra.Command) (*config.File, error) {
	given := ""
	if f := cmd.Flag("config"); f != nil {
		given = f.Value.String()
	}
	path := config.Find(given)
	if path == "" {
		return nil, nil
	}
	return config.Load(path)
}

// lookUp returns the database that the file calls so; nil if it is no name or there is none.
func lookUp(cmd *cobra.Command, name string) (*target, error) {
	if name == "" || strings.ContainsAny(name, "/\\:=") { // a path, an address, or a connection string
		return nil, nil
	}
	f, err := loadConfig(cmd)
	if err != nil || f == nil || f.Databases[name] == nil {
		return nil, err
	}
	t := &target{Database: f.Databases[name], name: name, file: f.Path, dsn: f.Databases[name].DSN}
	secret, err := t.Secret()
	if err == nil && secret != "" {
		t.dsn, err = pg.WithPassword(t.dsn, secret)
	}
	if err != nil {
		return nil, fmt.Errorf("database %s: %w", name, err)
	}
	c, err := pg.ParseConfig(t.dsn, pg.Overrides{Warn: func(string) {}})
	if err != nil {
		return nil, fmt.Errorf("configuration %s: database %s: %w", f.Path, name, err)
	}
	t.database = c.Database
	return t, nil
}

// configuredArgs is configured for a command that reads its flags itself, as pg_dump does. parse returns what the flags
// say is the operand in question; resolve, what to write in its place and which flags to put before all.
func configuredArgs(c *cobra.Command, parse func(args []string) (string, error), resolve func(cmd *cobra.Command, operand string) (string, []string, error)) *cobra.Command {
	run := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		given, args, err := cutConfigFlag(args)
		if err != nil {
			return err
		}
		if given != "" {
			if err := cmd.Root().PersistentFlags().Set("config", given); err != nil {
				return err
			}
		}
		operand, err := parse(args)
		if err != nil { // also a call for help
			return run(cmd, args)
		}
		text, before, err := resolve(cmd, operand)
		if err != nil {
			return err
		}
		if text != operand {
			if args = replaceOperand(args, operand, text, parse); args == nil {
				return fmt.Errorf("database %s: it must stand on the command line as one word", operand)
			}
		}
		return run(cmd, append(before, args...))
	}
	return c
}

// cutConfigFlag takes --config out of the arguments.
func cutConfigFlag(args []string) (given string, rest []string, err error) {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "--":
			return given, append(rest, args[i:]...), nil
		case a == "--config":
			if i++; i == len(args) {
				return "", nil, &pgflags.UsageError{Text: "option '--config' requires an argument", TryHelp: true}
			}
			given = args[i]
		case strings.HasPrefix(a, "--config="):
			given = a[len("--config="):]
		default:
			rest = append(rest, a)
		}
	}
	return given, rest, nil
}

// replaceOperand writes another text for the operand. Which of the words it is, parse tells: the one without
// which it finds another operand. An operand that is not there at all is put at the end.
func replaceOperand(args []string, operand, text string, parse func([]string) (string, error)) []string {
	if operand == "" {
		return append(slices.Clone(args), text)
	}
	const mark = "\x01operand"
	for i, a := range args {
		start, ok := strings.CutSuffix(a, operand)
		if !ok {
			continue
		}
		try := slices.Clone(args)
		try[i] = start + mark
		if got, err := parse(try); err == nil && got == mark {
			try[i] = start + text
			return try
		}
	}
	return nil
}

// flagArgs writes flags as arguments.
func flagArgs(flags []config.Flag) []string {
	var out []string
	for _, f := range flags {
		for _, v := range f.Values {
			arg := "--" + f.Name
			if v != "" {
				arg += "=" + v
			}
			out = append(out, arg)
		}
	}
	return out
}

// environmentArgs are the flags that the environment gives a command which has those named.
func environmentArgs(names ...string) []string {
	var out []string
	for _, n := range names {
		if v := os.Getenv(variableOf(n)); v != "" {
			out = append(out, "--"+n+"="+v)
		}
	}
	return out
}

// configuredBackup lets pghaul backup know the configuration file.
func configuredBackup(c *cobra.Command) *cobra.Command {
	parse := func(args []string) (string, error) {
		f, err := pgflags.ParseBackup(pgflags.Program{Name: "pghaul backup", Stdin: strings.NewReader("")}, args)
		if err != nil {
			return "", err
		}
		return f.DBName, nil
	}
	return configuredArgs(c, parse, func(cmd *cobra.Command, operand string) (string, []string, error) {
		if err := refusePassword(operand); err != nil {
			return "", nil, err
		}
		if operand == "" {
			operand = os.Getenv(databaseVariable)
		}
		before := environmentArgs("jobs", "compress", "piece-size", "limit-upload")
		t, err := lookUp(cmd, operand)
		if err != nil {
			return "", nil, err
		}
		if t == nil {
			if os.Getenv(storeVariable) == "" {
				if f, err := loadConfig(cmd); err == nil && f != nil && f.Store != "" {
					before = append(before, "--to="+f.Store)
				}
			}
			return operand, before, nil
		}
		flags := flagArgs(t.Flags("backup"))
		if t.Store != "" {
			flags = append(flags, "--to="+t.Store)
		}
		return t.dsn, append(flags, before...), nil // what comes later counts
	})
}

// configuredRestore lets pghaul restore know the configuration file: its operand may name the database whose backup is restored.
func configuredRestore(c *cobra.Command) *cobra.Command {
	program := pgflags.Program{Name: "pghaul restore", Stdin: strings.NewReader("")}
	snapshot := ""
	parse := func(args []string) (string, error) {
		f, err := pgflags.ParseRestore(program, args)
		if err != nil {
			return "", err
		}
		snapshot = f.Snapshot
		return f.Input, nil
	}
	return configuredArgs(c, parse, func(cmd *cobra.Command, operand string) (string, []string, error) {
		t, err := lookUp(cmd, operand)
		if t == nil || err != nil {
			return operand, nil, err
		}
		if _, err := os.Stat(operand); err == nil { // an archive in this folder comes first, as ever
			return operand, nil, nil
		}
		address, err := t.store()
		if err != nil {
			return "", nil, err
		}
		var before []string
		for _, f := range t.Flags("restore") {
			if slices.Contains([]string{"jobs", "limit-download", "identity", "passphrase-file", "verify-key"}, f.Name) {
				before = append(before, flagArgs([]config.Flag{f})...)
			}
		}
		if snapshot == "" {
			before = append(before, "--snapshot="+t.selector("latest"))
		}
		return address, before, nil
	})
}
