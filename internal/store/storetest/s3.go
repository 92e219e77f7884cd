package storetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// S3Server is a real S3 server that was started for a test and ends with it. Its data are in a folder.
type S3Server struct {
	Endpoint       string // http://127.0.0.1:port
	Access, Secret string
	Region         string

	dir     string
	program *program
	buckets atomic.Int32
}

// s3Program finds the server program: named by the environment, built by scripts/setup.sh, or on PATH.
func s3Program() (string, error) {
	if p := os.Getenv("PGHAUL_TEST_VERSITYGW"); p != "" {
		return p, nil
	}
	if p, ok := tool("versitygw-v*"); ok {
		return p, nil
	}
	return exec.LookPath("versitygw")
}

// HaveS3 reports whether there is a program that StartS3 can start.
func HaveS3() bool {
	_, err := s3Program()
	return err == nil
}

// StartS3 starts a server, or skips the test if there is no program for it.
func StartS3(t testing.TB) *S3Server {
	t.Helper()
	program, err := s3Program()
	if err != nil {
		missing(t, "the S3 server versitygw is not there: run scripts/setup.sh s3")
	}
	s := &S3Server{Access: "pghaul", Secret: "test-only-secret", Region: "us-east-1", dir: t.TempDir()}
	sidecar, root := filepath.Join(s.dir, "sidecar"), filepath.Join(s.dir, "data")
	if err := errors.Join(os.Mkdir(sidecar, 0o700), os.Mkdir(root, 0o700)); err != nil {
		t.Fatal(err)
	}
	s.program = newProgram(t, func(port string) *exec.Cmd {
		cmd := exec.Command(program, "--port", "127.0.0.1:"+port, "--region", s.Region, "--quiet", "posix", "--sidecar", sidecar, root)
		cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+s.Access, "ROOT_SECRET_KEY="+s.Secret)
		return cmd
	})
	s.Endpoint = "http://" + s.program.address
	return s
}

// Crash kills the server with SIGKILL and starts it again at its address, with the data it had.
func (s *S3Server) Crash(ctx context.Context) error {
	s.program.kill()
	return s.program.start(ctx)
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
