package config

import (
	"strconv"
	"time"
)

// Flag is a flag of a command with the values that it is given, one after the other. An empty value is that of a flag which takes none.
type Flag struct {
	Name   string
	Values []string
}

// Flags returns the flags that the database's settings stand for. A command takes those that it has.
func (d *Database) Flags(command string) []Flag {
	var f flags
	jobs := d.Jobs
	switch command {
	case "backup":
		f.text("compress", d.Compress)
		f.text("piece-size", d.PieceSize)
		f.list("schema", d.Schemas.Include)
		f.list("exclude-schema", d.Schemas.Exclude)
		f.list("table", d.Tables.Include)
		f.list("exclude-table", d.Tables.Exclude)
		f.text("limit-upload", d.Limits.Upload)
		f.list("recipient", d.Recipients)
		f.list("recipients-file", d.RecipientsFiles)
		f.text("passphrase-file", d.PassphraseFile)
		f.text("sign-key", d.SignKey)
		f.text("storage-endpoint", d.Storage.Endpoint)
		f.text("storage-region", d.Storage.Region)
		f.list("storage-bucket", d.Storage.Buckets)
		if d.Probe {
			f.list("probe", []string{""})
		}
	case "prune":
		r := d.Retention
		f.number("keep-last", r.Last)
		f.number("keep-daily", r.Daily)
		f.number("keep-weekly", r.Weekly)
		f.number("keep-monthly", r.Monthly)
		f.number("keep-yearly", r.Yearly)
		f.number("min-keep", r.Min)
		f.duration("incomplete-after", r.IncompleteAfter)
	case "drill":
		if d.Drill.Jobs != 0 {
			jobs = d.Drill.Jobs
		}
		if d.Drill.Docker {
			f.text("docker", "true")
		}
		f.text("image", d.Drill.Image)
		f.text("server", d.Drill.Server)
		f.text("platform", d.Drill.Platform)
		f.list("allow", d.Drill.Allow)
		f.list("check-sql", d.Drill.CheckSQL)
		f.list("check-cmd", d.Drill.CheckCmd)
		f.duration("check-timeout", d.Drill.CheckTimeout)
	case "estimate":
		f.list("schema", d.Schemas.Include)
		f.list("exclude-schema", d.Schemas.Exclude)
	}
	if command != "backup" {
		f.text("limit-download", d.Limits.Download)
		f.list("identity", d.Identities)
		f.text("passphrase-file", d.PassphraseFile)
		f.text("verify-key", d.VerifyKey)
	}
	f.number("jobs", jobs)
	return f
}

type flags []Flag

func (f *flags) list(name string, values []string) {
	if len(values) > 0 {
		*f = append(*f, Flag{name, values})
	}
}

func (f *flags) text(name, value string) {
	if value != "" {
		f.list(name, []string{value})
	}
}

func (f *flags) number(name string, n int) {
	if n != 0 {
		f.list(name, []string{strconv.Itoa(n)})
	}
}

func (f *flags) duration(name string, d time.Duration) {
	if d != 0 {
		f.list(name, []string{d.String()})
	}
}
