package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	minio "github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/pghaul/pghaul/internal/pgtest"
	"github.com/pghaul/pghaul/internal/store/storetest"
)

// A project of Supabase is backed up by a user who is no superuser, schema public only and with the files of its
// storage; the backup restores elsewhere with all its policies and foreign keys, and roles see what they saw.
func TestSupabase(t *testing.T) {
	storage := storetest.StartS3(t)
	s := pgtest.Newest(t)
	db := s.NewDatabase(t, pgtest.Options{Suffix: "source"})
	sql, err := os.ReadFile(filepath.Join(pgtest.Root(t), "testdata", "supabase.sql"))
	if err != nil {
		t.Fatal(err)
	}
	db.Exec(t, string(sql))
	db.Exec(t, `CREATE SCHEMA storage; GRANT USAGE ON SCHEMA storage TO pghaul_supabase;
		CREATE TABLE storage.buckets (id text PRIMARY KEY, public boolean, file_size_limit bigint, allowed_mime_types text[]);
		CREATE TABLE storage.objects (id integer PRIMARY KEY, bucket_id text REFERENCES storage.buckets, name text);
		GRANT SELECT ON storage.buckets, storage.objects TO pghaul_supabase`)
	m, err := minio.New(strings.TrimPrefix(storage.Endpoint, "http://"), &minio.Options{Creds: credentials.NewStaticV4(storage.Access, storage.Secret, ""), Region: storage.Region})
	if err != nil {
		t.Fatal(err)
	}
	bucket := storage.NewBucket(t)
	for _, key := range []string{"a/face.png", "b/face.png", "doc.pdf"} {
		o := minio.PutObjectOptions{ContentType: "image/png", CacheControl: "max-age=60", UserMetadata: map[string]string{"of": key}}
		if _, err := m.PutObject(t.Context(), bucket, key, strings.NewReader("contents of "+key), -1, o); err != nil {
			t.Fatal(err)
		}
	}
	db.Exec(t, "INSERT INTO storage.buckets VALUES ('"+bucket+"', true, NULL, '{image/*}')")
	db.Exec(t, "INSERT INTO storage.objects SELECT row_number() OVER (), '"+bucket+"', k FROM unnest('{a/face.png,b/face.png,doc.pdf,lost.pdf}'::text[]) AS k")
	claims := filepath.Join(t.TempDir(), "claims.json")
	if err := os.WriteFile(claims, []byte(`[{"name": "anon", "role": "anon"},
		{"name": "a member", "role": "authenticated", "claims": {"sub": "00000000-0000-4000-8000-000000000006"}}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	key, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	identity := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(identity, []byte(key.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"PGHAUL_STORAGE_ENDPOINT": storage.Endpoint, "PGHAUL_STORAGE_REGION": storage.Region,
		"PGHAUL_STORAGE_ACCESS_KEY_ID": storage.Access, "PGHAUL_STORAGE_SECRET_ACCESS_KEY": storage.Secret,
		"PGHAUL_IDENTITY": identity,
	} {
		t.Setenv(name, value)
	}

	dir := filepath.Join(t.TempDir(), "backups")
	r := command(t, db, nil, "pghaul", "backup", "-U", "pghaul_supabase", "--schema=public", "--probe-claims", claims, "--recipient", key.Recipient().String(), "--to", dir, "-d", db.Name)
	if r.code != 0 || !strings.Contains(r.stderr, "of 1 files the database has a row and the storage no file: "+bucket+"/lost.pdf") {
		t.Fatalf("backup: %d\n%s", r.code, r.stderr)
	}
	address := "file://" + dir
	must(t, nil, "pghaul", "verify", address, "--quiet")
	if out := must(t, nil, "pghaul", "files", "list", address); !strings.Contains(out, bucket+"/a/face.png") || !strings.Contains(out, "missing") {
		t.Errorf("files list:\n%s", out)
	}
	if out := must(t, nil, "pghaul", "files", "verify", address, "--quiet"); !strings.HasPrefix(out, "INTACT") || !strings.Contains(out, "3 of 3 files") {
		t.Errorf("files verify:\n%s", out)
	}

	var report struct {
		Passed    bool
		Platform  string
		Stand_Ins []struct{ Kind, Name, Rule string }
		Checks    []struct {
			Kind, Name, Message string
			Passed              bool
		}
		Probes      []any
		Differences []any
	}
	drill := func(want int, args ...string) string {
		t.Helper()
		r := command(t, nil, nil, "pghaul", append([]string{"drill", address, "--json", "--no-record", "--verify-all-files"}, args...)...)
		if r.code != want {
			t.Fatalf("drill: %d\n%s%s", r.code, r.stdout, r.stderr)
		}
		if err := json.Unmarshal([]byte(r.stdout), &report); err != nil {
			t.Fatal(err)
		}
		return r.stdout
	}
	out := drill(0)
	if !report.Passed || report.Platform != "Supabase" || len(report.Checks) != 2 || len(report.Probes) != 8 {
		t.Errorf("drill:\n%s", out)
	}
	rules := map[string]int{}
	for _, s := range report.Stand_Ins {
		rules[s.Rule]++
	}
	if rules["platform-role-stubbed"] != 3 || rules["platform-object-stubbed"] != 6 {
		t.Errorf("stand-ins: %v\n%s", rules, out)
	}

	// Files go back to a platform.
	other := storetest.StartS3(t)
	t.Setenv("PGHAUL_STORAGE_ENDPOINT", other.Endpoint)
	if out := must(t, nil, "pghaul", "files", "restore", address, "--quiet"); !strings.HasPrefix(out, "uploaded 3 files") {
		t.Errorf("files restore:\n%s", out)
	}
	if out := must(t, nil, "pghaul", "files", "restore", address, "--quiet"); !strings.Contains(out, "3 are there already") {
		t.Errorf("second files restore:\n%s", out)
	}
	to, err := minio.New(strings.TrimPrefix(other.Endpoint, "http://"), &minio.Options{Creds: credentials.NewStaticV4(other.Access, other.Secret, ""), Region: other.Region})
	if err != nil {
		t.Fatal(err)
	}
	st, err := to.StatObject(t.Context(), bucket, "b/face.png", minio.StatObjectOptions{})
	if err != nil || st.ContentType != "image/png" || st.Metadata.Get("Cache-Control") != "max-age=60" || st.UserMetadata["Of"] != "b/face.png" {
		t.Errorf("restored file: %+v, %v", st, err)
	}
	if _, err := to.PutObject(t.Context(), bucket, "doc.pdf", bytes.NewReader([]byte("other")), -1, minio.PutObjectOptions{}); err != nil {
		t.Fatal(err)
	}
	if r := command(t, nil, nil, "pghaul", "files", "restore", address, "--quiet"); r.code != 1 || !strings.Contains(r.stderr, "doc.pdf; nothing was changed") {
		t.Errorf("files restore over a file that differs: %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}
