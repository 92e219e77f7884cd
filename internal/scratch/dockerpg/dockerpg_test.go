package dockerpg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/internal/scratch"
	"github.com/pghaul/pghaul/internal/scratch/localpg"
	"github.com/pghaul/pghaul/internal/scratch/scratchtest"
)

func TestMain(m *testing.M) {
	scratchtest.Main(m, func(ctx context.Context, image string) (*scratch.Server, error) {
		return (&Provider{Image: image}).Start(ctx, scratch.Spec{})
	})
}

// testEngine returns an engine, and the name of an image made of the PostgreSQL
// programs of this machine. With PGHAUL_TEST_DOCKER=1 it starts an engine for the
// test if none answers, which takes root and the program dockerd, and nothing may
// be missing. Without it the test is skipped where no engine answers.
func testEngine(t *testing.T) (*Engine, string) {
	t.Helper()
	must := os.Getenv("PGHAUL_TEST_DOCKER") == "1"
	missing := func(what string) {
		t.Helper()
		if must {
			t.Fatalf("missing: %s (and PGHAUL_TEST_DOCKER=1 is set)", what)
		}
		t.Skipf("missing: %s", what)
	}
	e, err := Find(t.Context(), "")
	if err != nil && must {
		startEngine(t)
		e, err = Find(t.Context(), "")
	}
	if err != nil {
		missing("a container engine that answers (" + err.Error() + ")")
	}
	dirs, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil || len(dirs) == 0 {
		missing("PostgreSQL server programs of Debian's packages, to make an image of")
	}
	programs, err := localpg.Look(t.Context(), dirs[len(dirs)-1])
	if err != nil {
		t.Fatal(err)
	}
	image := fmt.Sprintf("pghaul-test:%s", programs.Version)
	there, err := e.has(t.Context(), image)
	if err != nil {
		t.Fatal(err)
	}
	if !there {
		cmd := exec.CommandContext(t.Context(), "../../../scripts/docker-image", image, programs.Dir)
		cmd.Env = append(os.Environ(), "ENGINE="+e.program)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("make image: %v\n%s", err, out)
		}
	}
	return e, image
}

// startEngine starts an engine with everything of its own in a folder that goes
// at the end, and has the engine's commands talk to it.
func startEngine(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("", "dockerd-") // its socket's name must be short
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	socket := "unix://" + filepath.Join(dir, "sock")
	cmd := exec.Command("dockerd", "--data-root", filepath.Join(dir, "data"), "--exec-root", filepath.Join(dir, "exec"),
		"--pidfile", filepath.Join(dir, "pid"), "--host", socket)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		<-ended
		os.RemoveAll(dir)
	})
	t.Setenv("DOCKER_HOST", socket)
	limit := time.After(time.Minute)
	for {
		_, err := Find(t.Context(), "docker")
		if err == nil {
			return
		}
		select {
		case <-ended:
		case <-limit:
		case <-time.After(50 * time.Millisecond):
			continue
		}
		text, _ := os.ReadFile(log.Name())
		t.Fatalf("engine does not start: %v%s", err, scratch.Tail(text))
	}
}

func TestProvider(t *testing.T) {
	e, image := testEngine(t)
	containers := func(t *testing.T) []string {
		out, err := e.ask(t.Context(), "ps", "--all", "--format", "{{.Names}} {{.Status}}", "--filter", "label="+label)
		if err != nil {
			t.Fatal(err)
		}
		volumes, err := e.ask(t.Context(), "volume", "ls", "--quiet")
		if err != nil {
			t.Fatal(err)
		}
		return append(strings.FieldsFunc(out, func(r rune) bool { return r == '\n' }), strings.Fields(volumes)...)
	}
	scratchtest.Run(t, scratchtest.Harness{
		Provider: &Provider{Image: image},
		Left:     containers,
		Crash: func(t *testing.T, s *scratch.Server) {
			pid := scratchtest.Query(t, s.DSN, "select pid from pg_stat_activity where backend_type = 'checkpointer'")
			if _, err := e.ask(t.Context(), "exec", container(s.Info), "/bin/sh", "-c", "kill -9 "+pid); err != nil {
				t.Fatal(err)
			}
		},
		CrashReason: "terminated by signal 9",
		Kept: func(t *testing.T, s *scratch.Server) {
			if got := scratchtest.Query(t, s.DSN, "select count(*) from pg_class where relname = 'treasure'"); got != "1" {
				t.Errorf("%s tables of that name", got)
			}
			// As the user is told to do. It is removed when it has stopped.
			began := time.Now()
			if _, err := e.ask(t.Context(), "stop", container(s.Info)); err != nil {
				t.Fatal(err)
			}
			if d := time.Since(began); d > 9*time.Second {
				t.Errorf("stop took %v: the signal did not reach the server", d)
			}
			awaitRemoval(t, e, container(s.Info))
		},
		Owner: image,
		Orphaned: func(t *testing.T, info scratch.Info, conn *pgconn.PgConn) {
			scratchtest.AwaitEnd(conn)
			awaitRemoval(t, e, container(info))
		},
	})
	t.Run("errors", func(t *testing.T) { errorCases(t, e, image) })
	t.Run("leftovers", func(t *testing.T) { leftovers(t, e, image) })
}

// container returns the name of the server's container.
func container(info scratch.Info) string {
	_, rest, _ := strings.Cut(info.Kept, " ")
	name, _, _ := strings.Cut(rest, ",")
	return name
}

// awaitRemoval waits for the engine to have removed a container. Its events since
// the beginning of time are those it still knows, and then those to come.
func awaitRemoval(t *testing.T, e *Engine, name string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	seen := &lineWriter{to: func(line string) {
		if strings.Contains(line, "container destroy ") || strings.Contains(line, "container remove ") { // docker, podman
			cancel()
		}
	}}
	e.run(ctx, seen, nil, "events", "--since", "24h", "--filter", "container="+name)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Errorf("container %s is still there", name)
	}
}

func errorCases(t *testing.T, e *Engine, image string) {
	for _, c := range []struct {
		name     string
		provider Provider
		spec     scratch.Spec
		want     []string
	}{
		{"no such image", Provider{Image: "pghaul-test:none"}, scratch.Spec{}, []string{"pull image pghaul-test:none"}},
		{"other version", Provider{Image: image}, scratch.Spec{Major: 9}, []string{image, "wanted is 9"}},
		{"bad setting", Provider{Image: image}, scratch.Spec{Settings: map[string]string{"no_such_setting": "1"}}, []string{"ended by itself", "no_such_setting"}},
		{"bad locale", Provider{Image: image}, scratch.Spec{Locale: "it's nowhere"}, []string{"ended by itself", "it's nowhere"}},
		{"unknown extension", Provider{}, scratch.Spec{Major: 17, Extensions: []string{"hstore", "pg_graphql"}}, []string{"no image", "have pg_graphql", "--image"}},
		{"no engine", Provider{Image: image, Program: "no-such-docker"}, scratch.Spec{}, []string{"no-such-docker is not installed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := c.provider.Start(t.Context(), c.spec)
			for _, part := range c.want {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("got error %v, want one with %q", err, part)
				}
			}
		})
	}
	if out, err := e.ask(t.Context(), "ps", "--all", "--quiet", "--filter", "label="+label); err != nil || out != "" {
		t.Errorf("left over: %s %v", out, err)
	}
}

// leftovers makes containers as a killed process could leave them.
func leftovers(t *testing.T, e *Engine, image string) {
	id, err := e.ask(t.Context(), "create", "--label", label+"=test", image)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.ask(context.Background(), "rm", "--force", "--volumes", id) })
	e.sweep(t.Context(), time.Now().Add(-time.Hour))
	if out, err := e.ask(t.Context(), "ps", "--all", "--quiet", "--no-trunc", "--filter", "label="+label); err != nil || out != id {
		t.Errorf("a container just made was removed: %q %v", out, err)
	}
	e.sweep(t.Context(), time.Now().Add(time.Hour))
	if out, err := e.ask(t.Context(), "ps", "--all", "--quiet", "--filter", "label="+label); err != nil || out != "" {
		t.Errorf("left over: %s %v", out, err)
	}
}
