package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func write(t *testing.T, mode os.FileMode, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoad(t *testing.T) {
	t.Setenv("G_HOST", "db.example.com")
	t.Setenv("G_SECRET", "s3cret")
	path := write(t, 0o644, `
store: s3://bucket/all   # for those that name none
databases:
  shop:
    dsn: postgres://backup@${G_HOST}/shop
    password: ${G_SECRET}
    store: s3://bucket/shop
    jobs: 4
    compress: zstd:3
    schemas: {exclude: [audit, "tmp_*"]}
    limits: {upload: 20MB}
    recipients: [age1abc]
    sign-key: keys/sign
    storage: {endpoint: https://p.example.com/storage/v1/s3, buckets: [avatars]}
    probe: true
    retention: {last: 7, daily: 14, min: 3, incomplete-after: 36h}
    drill:
      check-sql: [checks.sql]
      check-timeout: 5m
      docker: true
  crm:
    dsn: service=crm
`)
	f, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(f.Names(), []string{"crm", "shop"}) || f.Databases["crm"].Store != "s3://bucket/all" {
		t.Errorf("file is %+v", f)
	}
	d := f.Databases["shop"]
	if secret, err := d.Secret(); err != nil || secret != "s3cret" || d.DSN != "postgres://backup@db.example.com/shop" || d.Store != "s3://bucket/shop" {
		t.Errorf("shop is %+v, %v", d, err)
	}
	for command, want := range map[string]string{
		"backup": "compress=zstd:3 exclude-schema=audit exclude-schema=tmp_* limit-upload=20MB recipient=age1abc sign-key=" + filepath.Join(filepath.Dir(path), "keys/sign") +
			" storage-endpoint=https://p.example.com/storage/v1/s3 storage-bucket=avatars probe= jobs=4",
		"prune": "keep-last=7 keep-daily=14 min-keep=3 incomplete-after=36h0m0s jobs=4",
		"drill": "docker=true check-sql=" + filepath.Join(filepath.Dir(path), "checks.sql") + " check-timeout=5m0s jobs=4",
	} {
		var got []string
		for _, f := range d.Flags(command) {
			for _, v := range f.Values {
				got = append(got, f.Name+"="+v)
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %s, want %s", command, s, want)
		}
	}
}

func TestBadFiles(t *testing.T) {
	for _, c := range []struct {
		name, text string
		mode       os.FileMode
		want       []string // "": it is good
	}{
		{"unknown key", "databases:\n  shop:\n    dsn: shop\n    recipient: [x]\n", 0o600, []string{"4 |", "recipient", "did you mean recipients?"}},
		{"unknown key far away", "databases:\n  shop:\n    dsn: shop\n    zzzzzzzzz: x\n", 0o600, []string{"4 |", "zzzzzzzzz"}},
		{"wrong type", "databases:\n  shop:\n    dsn: shop\n    jobs: many\n", 0o600, []string{"4 |", "jobs"}},
		{"wrong type beside a password", "databases:\n  shop:\n    dsn: postgres://u:abc@h/d\n    jobs: many\n    password: abc\n", 0o600, []string{"4 |", "jobs"}},
		{"twice", "databases:\n  shop:\n    dsn: a\n    dsn: b\n", 0o600, []string{"4 |", "dsn"}},
		{"no dsn", "databases:\n  shop:\n    jobs: 2\n", 0o600, []string{"database shop: dsn is missing"}},
		{"nothing", "databases:\n  shop:\n", 0o600, []string{"database shop has no settings"}},
		{"name like a path", "databases:\n  ./shop:\n    dsn: x\n", 0o600, []string{"must not look like a path"}},
		{"no such variable", "databases:\n  shop:\n    dsn: ${G_NOT_THERE}\n", 0o600, []string{"databases.shop.dsn: the environment has no G_NOT_THERE"}},
		{"password for all", "databases:\n  shop:\n    dsn: shop\n    password: abc\n", 0o644, []string{"chmod 600"}},
		{"password for the owner", "databases:\n  shop:\n    dsn: shop\n    password: abc\n", 0o600, nil},
		{"password in a URI", "databases:\n  shop:\n    dsn: postgres://u:abc@h/d\n", 0o640, []string{"chmod 600"}},
		{"password in keywords", "databases:\n  shop:\n    dsn: host=h password=abc\n", 0o640, []string{"chmod 600"}},
		{"no password in a URI", "databases:\n  shop:\n    dsn: postgres://u@h:5432/d\n", 0o644, nil},
		{"two passwords", "databases:\n  shop:\n    dsn: shop\n    password: abc\n    password-file: x\n", 0o600, []string{"both given"}},
		{"negative", "databases:\n  shop:\n    dsn: shop\n    retention: {daily: -1}\n", 0o600, []string{"negative"}},
		{"empty", "", 0o600, nil},
		{"not YAML", "databases: [", 0o600, []string{"1 |"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Load(write(t, c.mode, c.text))
			if len(c.want) == 0 {
				if err != nil {
					t.Error(err)
				}
				return
			}
			for _, w := range c.want {
				if err == nil || !strings.Contains(err.Error(), w) {
					t.Errorf("%q is not in: %v", w, err)
				}
			}
			if err != nil && strings.Contains(err.Error(), "abc") {
				t.Errorf("the password is shown: %v", err)
			}
		})
	}
	if _, err := Load("/nowhere/config.yaml"); err == nil {
		t.Error("a file that is not there is read")
	}
}

func TestPasswordFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "pw"), []byte("a b\r\nmore\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := Database{DSN: "x", PasswordFile: "pw"}
	d.resolve(dir)
	if s, err := d.Secret(); err != nil || s != "a b" {
		t.Errorf("secret is %q, %v", s, err)
	}
	if _, err := (&Database{PasswordFile: filepath.Join(dir, "none")}).Secret(); err == nil {
		t.Error("a file that is not there is read")
	}
}

func TestFind(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv(Variable, "")
	own := filepath.Join(home, ".config", "pghaul", "config.yaml")
	if err := os.MkdirAll(filepath.Dir(own), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(own, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := Find(""); got != own {
		t.Errorf("found %q", got)
	}
	t.Setenv(Variable, "/x")
	if Find("") != "/x" || Find("/y") != "/y" {
		t.Error("the order is not: given, environment, home")
	}
}
