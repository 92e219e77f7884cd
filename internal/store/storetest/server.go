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

// program is a server program that was started for a test.
type program struct {
	address string // host:port
	command func(port string) *exec.Cmd

	cmd   *exec.Cmd
	ended chan struct{} // closed when it has ended
}

// serve starts a server program that ends with the test, and returns its address, host:port, when it takes connections.
func serve(t testing.TB, command func(port string) *exec.Cmd) string {
	t.Helper()
	return newProgram(t, command).address
}

// newProgram is serve for a test that ends the program itself.
func newProgram(t testing.TB, command func(port string) *exec.Cmd) *program {
	t.Helper()
	var err error
	// Another process may take the port between here and there; then another is tried.
	for range 5 {
		p := &program{command: command}
		if p.address, err = freeAddress(); err != nil {
			break
		}
		t.Cleanup(p.kill)
		if err = p.start(t.Context()); err == nil {
			return p
		}
	}
	t.Fatal(err)
	return nil
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// start starts the program at its address and returns when it takes connections.
func (p *program) start(ctx context.Context) error {
	_, port, err := net.SplitHostPort(p.address)
	if err != nil {
		return err
	}
	cmd := p.command(port)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	p.cmd, p.ended = cmd, ended
	go func() {
		cmd.Wait()
		close(ended)
	}()
	return await(ctx, p.address, ended, &output)
}

// kill ends the program at once.
func (p *program) kill() {
	if p.cmd != nil {
		p.cmd.Process.Kill()
		<-p.ended
	}
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
