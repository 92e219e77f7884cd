package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// S3Server is a real S3 server that was started for a test and ends with it. Its data are in a folder.
type S3Server struct {
	Endpoint       string // http://127.0.0.1:port
	Access, Secret string
	Region         string

	dir     string
	buckets atomic.Int32
}

// s3Program finds the server program: named by the environment, built by scripts/setup.sh, or on PATH.
func s3Program() (string, error) {
	if p := os.Getenv("PGHAUL_TEST_VERSITYGW"); p != "" {
		return p, nil
	}
	if cache, err := os.UserCacheDir(); err == nil {
		if found, _ := filepath.Glob(filepath.Join(cache, "pghaul", "tools", "versitygw-v*")); len(found) > 0 {
			return found[len(found)-1], nil
		}
	}
	return exec.LookPath("versitygw")
}

// StartS3 starts a server, or skips the test if there is no program for it.
func StartS3(t testing.TB) *S3Server {
	t.Helper()
	program, err := s3Program()
	if err != nil {
		// Skipped even where skips are forbidden: the driver's own tests have a stand-in for it.
		t.Skip("the S3 server versitygw is not there: run scripts/setup.sh s3")
	}
	// Another process may take the port between here and there; then another is tried.
	for range 5 {
		s := &S3Server{Access: "pghaul", Secret: "test-only-secret", Region: "us-east-1", dir: t.TempDir()}
		if err = s.start(t, program); err == nil {
			return s
		}
	}
	t.Fatal(err)
	return nil
}

func (s *S3Server) start(t testing.TB, program string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := l.Addr().String()
	l.Close()
	s.Endpoint = "http://" + address
	sidecar := filepath.Join(s.dir, "sidecar")
	root := filepath.Join(s.dir, "data")
	if err := errors.Join(os.Mkdir(sidecar, 0o700), os.Mkdir(root, 0o700)); err != nil {
		return err
	}
	cmd := exec.Command(program, "--port", address, "--region", s.Region, "--quiet", "posix", "--sidecar", sidecar, root)
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+s.Access, "ROOT_SECRET_KEY="+s.Secret)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-ended
	})
	return s.await(t.Context(), address, ended, &output)
}

// await returns when the server takes connections.
func (s *S3Server) await(ctx context.Context, address string, ended chan struct{}, output *bytes.Buffer) error {
	ctx, stop := context.WithTimeout(ctx, 30*time.Second)
	defer stop()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err == nil {
			return c.Close()
		}
		select {
		case <-ended:
			return fmt.Errorf("the S3 server ended: %s", output)
		case <-ctx.Done():
			return fmt.Errorf("the S3 server does not listen on %s: %w", address, err)
		case <-again.C:
		}
	}
}

// NewBucket makes an empty bucket and returns its name.
func (s *S3Server) NewBucket(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("bucket-%d", s.buckets.Add(1))
	if err := os.Mkdir(filepath.Join(s.dir, "data", name), 0o700); err != nil {
		t.Fatal(err)
	}
	return name
}
