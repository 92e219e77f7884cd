package main

import (
	"errors"
	"strings"

	"github.com/pghaul/pghaul/internal/dump"
	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/pgflags"
	"github.com/pghaul/pghaul/internal/seal"
	"github.com/pghaul/pghaul/internal/ui"
)

// connection turns what the command line says of the server into a configuration.
func connection(c *pgflags.Connection) (*pg.Config, error) {
	o := c.Server
	o.AskPassword = askPassword
	return pg.ParseConfig(c.DBName, o)
}

// askPassword asks for a password of a server.
func askPassword(prompt string) (string, error) {
	password, err := askSecret(prompt)
	if errors.Is(err, errNoTerminal) {
		return "", errors.New("a password is needed and there is no terminal to ask on: set PGPASSWORD or use a password file")
	}
	return password, err
}

// showError writes an error with what can be done about it.
func showError(log *ui.Log, err error) {
	var e *dump.Error
	var server *pg.ServerError
	var version *dump.VersionError
	found := errors.As(err, &e)
	switch {
	case found && errors.As(e.Err, &server) && server.Severity != "FATAL":
		// In pg_dump's words, which scripts look for, and with what was being done.
		log.Error("query failed: %s", pg.Message(server, e.Query))
		if e.Query != "" {
			log.Detail("Query was: %s", e.Query)
		}
		log.Detail("This was to %s.", strings.TrimSpace(e.Op+" "+e.Object))
	case errors.As(err, &server):
		log.Error("%s", strings.Replace(err.Error(), server.Error(), pg.Message(server, ""), 1))
	case errors.As(err, &version) && isStock(log.Program):
		log.Error("aborting because of server version mismatch")
		log.Detail("server version: %s; %s version: %s", version.Server, log.Program, spoken)
	default:
		log.Error("%s", err)
	}
	if found && e.Hint != "" {
		log.Hint("%s", e.Hint)
	}
	if errors.Is(err, seal.ErrNoKey) || errors.Is(err, seal.ErrWrongKey) {
		log.Hint("An identity is given by --identity or %s, a passphrase by %s, --passphrase-file or --passphrase.", identityVariable, passphraseVariable)
	}
}

// refusePassword refuses connection strings of the command line that hold a password: every user of the machine can see
// them, and shells and process accounting keep them.
func refusePassword(texts ...string) error {
	for _, t := range texts {
		if pg.HasPassword(t) {
			return &pgflags.UsageError{Text: "a password on the command line can be seen by every user of this machine: leave it out, and put it into " +
				"PGPASSWORD, a password file (~/.pgpass), a service file, the configuration file (password-file), or wait to be asked for it"}
		}
	}
	return nil
}
