package storetest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// missing skips the test, or fails it where skips are forbidden.
func missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("PGHAUL_TEST_FORBID_SKIP") == "1" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// tool finds what scripts/setup.sh put into the user's cache folder, by a pattern; the newest version if there are several.
func tool(pattern string) (string, bool) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", false
	}
	found, err := filepath.Glob(filepath.Join(cache, "pghaul", "tools", pattern))
	if err != nil || len(found) == 0 {
		return "", false
	}
	return found[len(found)-1], true
}

// serve starts a server program that ends with the test, and returns its address, host:port, when it takes connections.
func serve(t testing.TB, command func(port string) *exec.Cmd) string {
	t.Helper()
	var err error
	// Another process may take the port between here and there; then another is tried.
	for range 5 {
		var address string
		if address, err = serveOnce(t, command); err == nil {
			return address
		}
	}
	t.Fatal(err)
	return ""
}

func serveOnce(t testing.TB, command func(port string) *exec.Cmd) (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	address := l.Addr().String()
	l.Close()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", err
	}
	cmd := command(port)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		return "", err
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
	return address, await(t.Context(), address, ended, &output)
}

// await returns when the server takes connections.
func await(ctx context.Context, address string, ended chan struct{}, output *bytes.Buffer) error {
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
			return fmt.Errorf("the server ended: %s", output)
		case <-ctx.Done():
			return fmt.Errorf("the server does not listen on %s: %w", address, err)
		case <-again.C:
		}
	}
}
