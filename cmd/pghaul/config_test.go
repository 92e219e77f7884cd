package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/pgflags"
)

// The word that names the database is found, whatever else has the same text.
func TestReplaceOperand(t *testing.T) {
	parse := func(args []string) (string, error) {
		f, err := pgflags.ParseBackup(pgflags.Program{Name: "pghaul backup", Stdin: strings.NewReader("")}, args)
		if err != nil {
			return "", err
		}
		return f.DBName, nil
	}
	for _, c := range []struct{ args, want string }{
		{"shop", "DSN"},
		{"--schema shop shop", "--schema shop DSN"},
		{"shop --schema shop -j 2", "DSN --schema shop -j 2"},
		{"--dbname=shop", "--dbname=DSN"},
		{"--dbname shop -n shop", "--dbname DSN -n shop"},
		{"-dshop", "-dDSN"},
		{"-v -d shop", "-v -d DSN"},
		{"--to=shop -- shop", "--to=shop -- DSN"},
	} {
		got := replaceOperand(strings.Fields(c.args), "shop", "DSN", parse)
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %s", c.args, got, c.want)
		}
	}
	if got := replaceOperand([]string{"-v"}, "", "DSN", parse); !slices.Equal(got, []string{"-v", "DSN"}) {
		t.Errorf("no operand: %q", got)
	}
}

func TestCutConfigFlag(t *testing.T) {
	for _, c := range []struct{ args, given, rest string }{
		{"--config x shop", "x", "shop"}, {"shop --config=x -j2", "x", "shop -j2"}, {"shop -- --config=x", "", "shop -- --config=x"}, {"shop", "", "shop"},
	} {
		given, rest, err := cutConfigFlag(strings.Fields(c.args))
		if err != nil || given != c.given || strings.Join(rest, " ") != c.rest {
			t.Errorf("%s: %q, %q, %v", c.args, given, rest, err)
		}
	}
	if _, _, err := cutConfigFlag([]string{"--config"}); err == nil {
		t.Error("--config without a file is accepted")
	}
}

func TestRefusePassword(t *testing.T) {
	if refusePassword("shop", "postgres://u@h/d", "host=h") != nil {
		t.Error("a connection string without a password is refused")
	}
	err := refusePassword("shop", "postgres://u:secret@h/d")
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("error is %v", err)
	}
}
