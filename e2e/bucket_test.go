package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/pghaul/pghaul/internal/pgtest"
	"github.com/pghaul/pghaul/internal/store/faultproxy"
	"github.com/pghaul/pghaul/internal/store/storetest"
)

// bucketClient is any client of S3, as opposed to our driver.
func bucketClient(t *testing.T, server *storetest.S3Server) *minio.Client {
	t.Helper()
	c, err := minio.New(strings.TrimPrefix(server.Endpoint, "http://"), &minio.Options{
		Creds: credentials.NewStaticV4(server.Access, server.Secret, ""), Region: server.Region,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// download copies all objects below an address into a folder, as "aws s3 cp --recursive" does, and returns the folder.
func download(t *testing.T, server *storetest.S3Server, address string) string {
	t.Helper()
	bucket, prefix, _ := strings.Cut(strings.TrimPrefix(address, "s3://"), "/")
	c := bucketClient(t, server)
	dir := t.TempDir()
	for o := range c.ListObjects(t.Context(), bucket, minio.ListObjectsOptions{Prefix: prefix + "/", Recursive: true}) {
		if o.Err != nil {
			t.Fatal(o.Err)
		}
		file := filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(o.Key, prefix+"/")))
		if err := c.FGetObject(t.Context(), bucket, o.Key, file, minio.GetObjectOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// What a plain client downloads of a backup is an archive for the stock pg_restore.
func TestDownloadedBackup(t *testing.T) {
	server := storetest.StartS3(t)
	s := pgtest.Newest(t)
	s.NeedTool(t, "pg_restore")
	src := shop(t, s)
	address := inBucket(t, server)
	must(t, src, "pghaul", "backup", "-j2", "--piece-size=1MB", "--to", address, "-d", src.DSN)
	folders, err := filepath.Glob(filepath.Join(download(t, server, address), "*", "*Z"))
	if err != nil || len(folders) != 1 {
		t.Fatalf("folders: %q, %v", folders, err)
	}
	target := s.NewDatabase(t, pgtest.Options{Suffix: "stock"})
	target.MustTool(t, "pg_restore", "-j2", "-d", target.DSN, folders[0])
	same(t, "what pg_restore restored", sorted(text(t, src)), sorted(text(t, target)))
	// A backup can be moved: the folder is a store as well.
	out := must(t, nil, "pghaul", "verify", filepath.Dir(filepath.Dir(folders[0])))
	if !strings.HasPrefix(out, "INTACT: "+src.Name+"/") {
		t.Errorf("verify:\n%s", out)
	}
}

// Over a line that breaks at random, a backup and its restore take a little longer, and nothing else.
func TestBackupOverBadLine(t *testing.T) {
	server := storetest.StartS3(t)
	s := pgtest.Newest(t)
	src := shop(t, s)
	src.Exec(t, "CREATE TABLE large AS SELECT i, repeat(md5(i::text), 4) AS t FROM generate_series(1, 60000) i") // 8 MB, several parts
	address := inBucket(t, server)
	p := faultproxy.Start(t, server.Endpoint, faultproxy.Random(5, 0.15, faultproxy.Line()...))
	t.Setenv("AWS_ENDPOINT_URL", p.URL)
	store := address + "?part-mib=5"
	target := s.NewDatabase(t, pgtest.Options{Suffix: "copy"})
	must(t, src, "pghaul", "backup", "-j2", "-Z", "none", "--to", store, "-d", src.DSN)
	must(t, target, "pghaul", "restore", "-j2", "-d", target.DSN, store)
	same(t, "what restore restored", sorted(text(t, src)), sorted(text(t, target)))
	if n := len(p.Faults()); n < 3 {
		t.Errorf("only %d of %d requests failed", n, p.Count())
	}
}
