package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/pghaul/pghaul/internal/drill"
	"github.com/pghaul/pghaul/internal/dump"
	"github.com/pghaul/pghaul/internal/files"
	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/pgflags"
	"github.com/pghaul/pghaul/internal/platform"
	"github.com/pghaul/pghaul/internal/repo"
	"github.com/pghaul/pghaul/internal/ui"
)

// What the environment says of a platform's S3 endpoint.
const (
	storageEndpointVariable = "PGHAUL_STORAGE_ENDPOINT"
	storageRegionVariable   = "PGHAUL_STORAGE_REGION"
	storageAccessVariable   = "PGHAUL_STORAGE_ACCESS_KEY_ID"
	storageSecretVariable   = "PGHAUL_STORAGE_SECRET_ACCESS_KEY"
	storageSessionVariable  = "PGHAUL_STORAGE_SESSION_TOKEN"
)

// openEndpoint opens the S3 endpoint of a platform, which a flag or the environment names; nil if none does.
func openEndpoint(url, region string, log *ui.Log) (*files.Client, error) {
	if url == "" {
		url = os.Getenv(storageEndpointVariable)
	}
	if region == "" {
		region = os.Getenv(storageRegionVariable)
	}
	access, secret := os.Getenv(storageAccessVariable), os.Getenv(storageSecretVariable)
	switch {
	case url == "" && access+secret == "":
		return nil, nil
	case url == "":
		return nil, &pgflags.UsageError{Text: "there are keys of a storage endpoint and no endpoint: name it with --storage-endpoint or " + storageEndpointVariable}
	case access == "" || secret == "":
		return nil, &pgflags.UsageError{Text: "there is a storage endpoint without keys: set " + storageAccessVariable + " and " + storageSecretVariable}
	}
	e := files.Endpoint{URL: url, Region: region, AccessKeyID: access, SecretAccessKey: secret, SessionToken: os.Getenv(storageSessionVariable)}
	e.Retry.Notify = func(op, key string, err error, wait time.Duration) {
		log.Warn("%s %s failed, trying again in %s: %v", op, key, ui.Duration(wait), err)
	}
	c, err := files.Open(e)
	if err != nil {
		return nil, &pgflags.UsageError{Text: err.Error()}
	}
	return c, nil
}

// beside is what a backup gets beside the archive: the files of the platform, which are copied while the database is dumped, and
// what the platform's roles see.
type beside struct {
	flags  *pgflags.Backup
	log    *ui.Log
	client *files.Client     // nil: no files
	claims []platform.Claims // nil: the platform's own

	stopCopy context.CancelFunc // nil: it has not begun
	copied   chan struct{}
	doc      *files.Document
	err      error
}

// newBeside looks at what the command line says, and asks the endpoint, so that what is wrong is known before the backup begins.
func newBeside(ctx context.Context, f *pgflags.Backup, log *ui.Log) (*beside, error) {
	b := &beside{flags: f, log: log}
	var err error
	if b.client, err = openEndpoint(f.Beside.StorageEndpoint, f.Beside.StorageRegion, log); err != nil {
		return nil, err
	}
	switch {
	case b.client != nil:
		err = b.client.Check(ctx, f.Beside.StorageBuckets)
	case len(f.Beside.StorageBuckets) > 0:
		err = &pgflags.UsageError{Text: "--storage-bucket is for the files of a platform: name their endpoint with --storage-endpoint or " + storageEndpointVariable}
	}
	if err == nil && f.Beside.ProbeClaims != "" {
		b.claims, err = readClaims(f.Beside.ProbeClaims)
	}
	return b, err
}

// start begins to copy the files.
func (b *beside) start(ctx context.Context, w *repo.Writer) {
	if b.client == nil || b.stopCopy != nil {
		return
	}
	ctx, b.stopCopy = context.WithCancel(ctx)
	b.copied = make(chan struct{})
	go func() {
		defer close(b.copied)
		b.doc, b.err = files.Copy(ctx, b.client, w, files.CopyOptions{Buckets: b.flags.Beside.StorageBuckets})
	}()
}

// stop ends the copying of files, if it goes on.
func (b *beside) stop() {
	if b.stopCopy != nil {
		b.stopCopy()
		<-b.copied
		b.stopCopy = nil
	}
}

// complete stores what is beside the archive. It is for dump.Options.Complete: the dump's snapshot is there until the last files are waited for.
func (b *beside) complete(ctx context.Context, source *pg.Config, w *repo.Writer, res *dump.Result) error {
	if b.flags.Beside.Probe || b.flags.Beside.ProbeClaims != "" {
		if err := b.probe(ctx, source, w, res); err != nil {
			return err
		}
	}
	if b.client == nil {
		return nil
	}
	tables, err := files.ReadTables(ctx, source, res.Snapshot)
	if errors.Is(err, files.ErrNoTables) {
		b.log.Warn("the files are not compared with the database: %v", err)
	} else if err != nil {
		return err
	}
	if err := res.Release(ctx); err != nil {
		return err
	}
	<-b.copied
	if b.err != nil {
		return b.err
	}
	if tables != nil {
		b.doc.Compare(tables)
	}
	text, err := b.doc.Encode()
	if err != nil {
		return err
	}
	if err := w.Put(files.DocumentName, text); err != nil {
		return err
	}
	if n := len(b.doc.Missing); n > 0 {
		b.log.Warn("of %s files the database has a row and the storage no file: %s", ui.Count(int64(n)), someRefs(b.doc.Missing))
	}
	if !b.flags.Quiet {
		b.log.Note("copied %s files of %s, %s, from %s", ui.Count(int64(len(b.doc.Files))), plural(len(b.doc.Buckets), "bucket"), ui.Bytes(b.doc.Bytes), b.client)
	}
	return nil
}

// storedFiles is how the JSON of pghaul backup describes the files of a platform.
type storedFiles struct {
	Files   int   `json:"files"`
	Bytes   int64 `json:"bytes"`
	Missing int   `json:"missing"` // the database has rows for them
}

// stored describes the files, nil if there are none to be copied.
func (b *beside) stored() *storedFiles {
	if b.doc == nil {
		return nil
	}
	return &storedFiles{len(b.doc.Files), b.doc.Bytes, len(b.doc.Missing)}
}

func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return ui.Count(int64(n)) + " " + what
}

// someRefs names the first few files.
func someRefs(refs []files.Ref) string {
	const shown = 3
	var names []string
	for _, r := range refs[:min(shown, len(refs))] {
		names = append(names, r.String())
	}
	if len(refs) > shown {
		names = append(names, "...")
	}
	return strings.Join(names, ", ")
}

// probe records what the platform's roles see of the tables in the backup.
func (b *beside) probe(ctx context.Context, source *pg.Config, w *repo.Writer, res *dump.Result) error {
	p := platform.Detect(res.Plan.Entries)
	if p == nil || !p.HasProbes() {
		return errors.New("record what roles see: the database does not look like one of a platform whose roles are known (Supabase); leave --probe out")
	}
	dumped := make(map[[2]string]bool)
	for i := range res.Manifest.Tables {
		t := &res.Manifest.Tables[i]
		dumped[[2]string{string(t.Namespace), string(t.Name)}] = true
	}
	for _, e := range res.Plan.Entries {
		if e.Desc == "TABLE" && e.RelKind == 'p' { // its rows are in others
			dumped[[2]string{e.Namespace, e.Tag}] = true
		}
	}
	if b.claims == nil {
		var err error
		if b.claims, err = p.ClaimsFor(ctx, source); err != nil {
			return err
		}
	}
	got, err := p.Probe(ctx, source, platform.ProbeOptions{
		Claims: b.claims, Snapshot: res.Snapshot, Wants: func(schema, table string) bool { return dumped[[2]string{schema, table}] },
	})
	if err != nil {
		return err
	}
	for i := range got {
		if got[i].Failed() {
			b.log.Warn("a policy cannot be evaluated: %s", &got[i])
		}
	}
	text, err := p.NewProbes(b.claims, got).Encode()
	if err != nil {
		return err
	}
	return w.Put(platform.ProbesName, text)
}

// maxClaims bounds the size of a file of claims.
const maxClaims = 1 << 20

// readClaims reads a list of claims: [{"name": "a member", "role": "authenticated", "claims": {"sub": "..."}}].
func readClaims(name string) ([]platform.Claims, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read claims: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxClaims))
	if err != nil {
		return nil, fmt.Errorf("read claims: %w", err)
	}
	var list []platform.Claims
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&list); err != nil {
		return nil, fmt.Errorf("read claims of %s: %w", name, err)
	}
	if err := platform.CheckClaims(list); err != nil {
		return nil, fmt.Errorf("read claims of %s: %w", name, err)
	}
	return list, nil
}

// samplePercent is how much of the files a drill reads unless it reads all.
const samplePercent = 10

// besideForDrill tells a drill what is beside a backup's archive.
func besideForDrill(o *drill.Options, a *storedArchive, allFiles bool) error {
	if a == nil {
		return nil
	}
	if a.snapshot.Has(platform.ProbesName) {
		b, err := a.snapshot.File(platform.ProbesName)
		if err == nil {
			o.Probes, err = platform.DecodeProbes(b)
		}
		if err != nil {
			return err
		}
	}
	if !a.snapshot.Has(files.DocumentName) {
		return nil
	}
	o.Files = func(ctx context.Context) (drill.CheckResult, error) {
		d, err := readDocument(a.snapshot)
		if err != nil {
			return drill.CheckResult{}, err
		}
		vo := files.VerifyOptions{Percent: samplePercent}
		if allFiles {
			vo.Percent = 100
		}
		v, err := files.Verify(ctx, a.snapshot, d, vo)
		if err != nil {
			return drill.CheckResult{}, err
		}
		return drill.CheckResult{
			Name:   fmt.Sprintf("%s of %s stored files are what was copied", ui.Count(int64(v.Read)), ui.Count(int64(v.Files))),
			Passed: len(v.Problems) == 0, Message: strings.Join(v.Problems, "\n"),
		}, nil
	}
	return nil
}

func readDocument(s *repo.Snapshot) (*files.Document, error) {
	b, err := s.File(files.DocumentName)
	if err != nil {
		return nil, err
	}
	return files.Decode(b)
}
