package dockerpg

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/pghaul/pghaul/internal/tail"
)

// ErrNoEngine is wrapped by the error for an engine that is not there or does not answer.
var ErrNoEngine = errors.New("no container engine")

// askLimit bounds commands that only ask the engine something.
const askLimit = 30 * time.Second

// Engine is a container engine that has answered.
type Engine struct {
	program string // docker or podman, or a path of such
	memory  int64  // bytes of the machine the containers run on
	cores   int
}

// Find returns the engine behind the program, or if that is empty, behind docker
// or else podman. An engine that does not answer is ErrNoEngine with the reason.
func Find(ctx context.Context, program string) (*Engine, error) {
	programs := []string{"docker", "podman"}
	if program != "" {
		programs = []string{program}
	}
	var reasons []string
	for _, p := range programs {
		file, err := exec.LookPath(p)
		if err != nil {
			reasons = append(reasons, p+" is not installed")
			continue
		}
		e := &Engine{program: file}
		if err := e.hello(ctx); err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			reasons = append(reasons, err.Error())
			continue
		}
		return e, nil
	}
	return nil, fmt.Errorf("%w: %s", ErrNoEngine, strings.Join(reasons, "; "))
}

// hello sees whether the engine answers, and where it is.
func (e *Engine) hello(ctx context.Context) error {
	out, err := e.ask(ctx, "info", "--format", "{{json .}}")
	if err != nil {
		return err
	}
	var info struct {
		// docker
		ServerVersion string
		ServerErrors  []string
		MemTotal      int64
		NCPU          int
		// podman
		Host *struct {
			MemTotal int64 `json:"memTotal"`
			CPUs     int   `json:"cpus"`
		} `json:"host"`
	}
	if err := json.Unmarshal([]byte(out), &info); err != nil {
		return fmt.Errorf("%s info: unexpected answer: %w", e.name(), err)
	}
	if info.Host != nil {
		e.memory, e.cores = info.Host.MemTotal, info.Host.CPUs
		return nil
	}
	if info.ServerVersion == "" {
		return fmt.Errorf("%s info: %s", e.name(), strings.Join(append(info.ServerErrors, "the engine does not answer"), "; "))
	}
	e.memory, e.cores = info.MemTotal, info.NCPU
	if endpoint, err := e.ask(ctx, "context", "inspect", "--format", "{{.Endpoints.docker.Host}}"); err == nil {
		if host, far := farEngine(endpoint); far {
			return fmt.Errorf("the engine of %s is on %s: only one on this machine can be used, as its containers are reached by the loopback address", e.name(), host)
		}
	}
	return nil
}

// farEngine returns the host of an engine's endpoint if that is another machine.
func farEngine(endpoint string) (host string, far bool) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Hostname() == "" || u.Scheme == "unix" || u.Scheme == "npipe" {
		return "", false
	}
	if ip := net.ParseIP(u.Hostname()); u.Scheme != "ssh" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()) {
		return "", false
	}
	return u.Hostname(), true
}

func (e *Engine) name() string { return filepath.Base(e.program) }

// ask runs a command of the engine and returns what it prints, without white
// space at the ends. The error has what it printed to standard error.
func (e *Engine) ask(ctx context.Context, args ...string) (string, error) {
	limited, cancel := context.WithTimeoutCause(ctx, askLimit, fmt.Errorf("no answer after %v", askLimit))
	defer cancel()
	var out, problems bytes.Buffer
	err := e.run(limited, &out, &problems, args...)
	if err != nil {
		if limited.Err() != nil {
			err = context.Cause(limited)
		}
		if text := strings.TrimSpace(problems.String()); text != "" {
			err = errors.New(strings.Join(strings.Fields(text), " "))
		}
		return "", fmt.Errorf("%s %s: %w", e.name(), args[0], err)
	}
	return strings.TrimSpace(out.String()), nil
}

// run runs a command of the engine to its end.
func (e *Engine) run(ctx context.Context, stdout, stderr io.Writer, args ...string) error {
	cmd := exec.CommandContext(ctx, e.program, args...)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.WaitDelay = 5 * time.Second
	apart(cmd)
	return cmd.Run()
}

// imageConfig is what an image says of itself.
type imageConfig struct {
	Entrypoint []string
	Env        []string
}

// inspectImage returns the configuration of an image that the engine has.
func (e *Engine) inspectImage(ctx context.Context, name string) (*imageConfig, error) {
	out, err := e.ask(ctx, "image", "inspect", "--format", "{{json .Config}}", name)
	if err != nil {
		return nil, err
	}
	c := new(imageConfig)
	if err := json.Unmarshal([]byte(out), c); err != nil {
		return nil, fmt.Errorf("inspect image %s: unexpected answer: %w", name, err)
	}
	return c, nil
}

// has reports whether the engine has the image already.
func (e *Engine) has(ctx context.Context, name string) (bool, error) {
	out, err := e.ask(ctx, "image", "ls", "--quiet", name)
	return out != "", err
}

// pull fetches the image. What the engine says of each part it has goes to report.
func (e *Engine) pull(ctx context.Context, name string, report func(line string)) error {
	problems := new(tail.Tail)
	lines := &lineWriter{to: func(line string) {
		// docker: "1f3e46996e29: Pull complete"; podman: "Copying blob 1f3e46996e29 done"
		if report != nil && (strings.HasSuffix(line, ": Pull complete") || strings.HasPrefix(line, "Copying ") && strings.HasSuffix(line, " done")) {
			report(name + ": " + line)
		}
	}}
	err := e.run(ctx, lines, io.MultiWriter(lines, problems), "pull", name)
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		text := strings.Join(strings.Fields(problems.String()), " ")
		return fmt.Errorf("pull image %s (%s pull: %w): %s", name, e.name(), err, text)
	}
	return nil
}

// sweep removes containers of ours that were made before that time and do not run:
// their maker was killed before it could start them. Whatever fails is left to the
// next one.
func (e *Engine) sweep(ctx context.Context, before time.Time) {
	out, err := e.ask(ctx, "ps", "--all", "--quiet", "--filter", "label="+label, "--filter", "status=created", "--filter", "status=exited")
	if err != nil || out == "" {
		return
	}
	for _, id := range strings.Fields(out) {
		made, err := e.ask(ctx, "inspect", "--format", "{{json .Created}}", id)
		if err != nil {
			continue
		}
		var t time.Time
		if json.Unmarshal([]byte(made), &t) == nil && !t.IsZero() && t.Before(before) {
			e.ask(ctx, "rm", "--force", "--volumes", id)
		}
	}
}
