package dockerpg

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/scratch"
	"github.com/pghaul/pghaul/internal/tail"
)

const (
	// label marks the containers of this package. Its value is the container's name.
	label = "pghaul.scratch"

	namePrefix = "pghaul-scratch-"
	superuser  = "postgres"
	port       = "5432" // inside of the container

	// startLimit bounds the time from running the container to the first
	// connection. Slow machines under load take tens of seconds.
	startLimit = 3 * time.Minute

	// stopLimit is how long a container may take to go before it is removed by force.
	stopLimit = 20 * time.Second

	// leastStop is the part of stopLimit that is granted even if the caller has
	// no time left, and what a removal by force is granted in any case.
	leastStop = 5 * time.Second
)

// guard is what runs in the container: the image's entry point, which are the
// arguments, until standard input ends. It must be ended by a signal that cannot
// be held up, as data are worth nothing then. The word "keep" on standard input
// makes the server independent of it.
const guard = `exec 3<&0 </dev/null
"$@" 3<&- &
server=$!
trap 'kill -INT "$server"' INT TERM
{ if read -r word && [ "$word" = keep ]; then echo "` + keptLine + `"; else kill -KILL "$server"; fi; } <&3 &
exec 3<&-
wait "$server"
status=$?
while kill -0 "$server" 2>/dev/null; do wait "$server"; status=$?; done
exit "$status"
`

// keptLine is the guard's answer to "keep".
const keptLine = "pghaul: this container is kept"

// Provider starts throwaway servers in containers.
type Provider struct {
	// Program is the engine's command, docker or podman or a path of such. By
	// default the first of these two that answers.
	Program string

	// Image is the image to use, instead of one chosen by version and extensions.
	Image string

	// Report takes lines about what takes long: the progress of fetching an
	// image. nil is nobody.
	Report func(line string)
}

var _ scratch.Provider = (*Provider)(nil)

// Start starts a server, see scratch.Provider. It is reached by TCP on the
// loopback address, with a random password. The error is ErrNoEngine if there is
// no engine, a *NoImageError if no image is known for the wish.
func (p *Provider) Start(ctx context.Context, spec scratch.Spec) (*scratch.Server, error) {
	s, err := p.start(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("start throwaway server in a container: %w", err)
	}
	return s, nil
}

func (p *Provider) start(ctx context.Context, spec scratch.Spec) (*scratch.Server, error) {
	name := p.Image
	if name == "" {
		if spec.Major == 0 {
			spec.Major = slices.Max(slices.Collect(maps.Keys(images[2].versions)))
		}
		var err error
		if name, err = Choose(spec.Major, spec.Extensions); err != nil {
			return nil, err
		}
	}
	engine, err := Find(ctx, p.Program)
	if err != nil {
		return nil, err
	}
	engine.sweep(ctx, time.Now().Add(-time.Hour))
	config, err := p.fetch(ctx, engine, name)
	if err != nil {
		return nil, err
	}
	if len(config.Entrypoint) == 0 {
		return nil, fmt.Errorf("image %s has no entry point that starts a server: one built on the official image postgres is needed", name)
	}
	i := &instance{
		engine: engine, spec: spec, image: name, config: config,
		name: namePrefix + strings.ToLower(rand.Text()[:12]), password: rand.Text(),
		done: make(chan struct{}),
	}
	s, err := i.start(ctx)
	if err != nil {
		err = errors.Join(err, i.Stop(context.WithoutCancel(ctx), false))
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	return s, nil
}

// fetch makes sure that the engine has the image, and returns what it says of itself.
func (p *Provider) fetch(ctx context.Context, engine *Engine, name string) (*imageConfig, error) {
	there, err := engine.has(ctx, name)
	if err != nil {
		return nil, err
	}
	if !there {
		if p.Report != nil {
			p.Report("fetching image " + name)
		}
		if err := engine.pull(ctx, name, p.Report); err != nil {
			return nil, err
		}
	}
	return engine.inspectImage(ctx, name)
}

// instance is one container with a server.
type instance struct {
	engine   *Engine
	spec     scratch.Spec
	image    string
	config   *imageConfig
	name     string
	password string

	cmd     *exec.Cmd
	stdin   io.WriteCloser
	log     tail.Tail
	unwatch func() bool
	done    chan struct{} // closed when the command that runs the container has ended
	kept    chan struct{} // closed when the container has said that it is kept

	mu       sync.Mutex
	stopping bool
	err      error // why the container ended by itself
}

// start runs the container and waits for the server. What it has made when it
// fails is for Stop to remove.
func (i *instance) start(ctx context.Context) (*scratch.Server, error) {
	if want, has := i.spec.Major, i.major(); want != 0 && has != 0 && want != has {
		return nil, fmt.Errorf("image %s has PostgreSQL %d, wanted is %d", i.image, has, want)
	}
	if err := i.launch(); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("server not ready after %v", startLimit))
	defer cancel()
	conn, err := i.awaitReady(limited)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	info := scratch.Info{
		DSN:           i.dsn(conn.Config().Hosts[0]),
		Version:       conn.Version(),
		VersionString: conn.VersionString(),
		Kept: fmt.Sprintf("container %s, which goes on running (look: %[2]s exec -it %[1]s psql -U %[3]s; "+
			"password: %[2]s exec %[1]s printenv POSTGRES_PASSWORD; remove: %[2]s stop %[1]s)",
			i.name, i.engine.name(), superuser),
	}
	info.TCP = info.DSN
	if info.Port, err = strconv.Atoi(conn.Config().Hosts[0].Port); err != nil {
		return nil, err
	}
	if i.spec.Major != 0 && info.Major() != i.spec.Major {
		return nil, fmt.Errorf("image %s has PostgreSQL %d, wanted is %d", i.image, info.Major(), i.spec.Major)
	}
	err = scratch.CheckExtensions(i.spec.Extensions, "image "+i.image, func(sql string, add func(string)) error {
		return conn.Query(ctx, sql, func(row [][]byte) error { add(string(row[0])); return nil })
	})
	if err != nil {
		return nil, err
	}
	s := scratch.NewServer(info, i)
	i.unwatch = context.AfterFunc(ctx, func() { s.Stop(context.WithoutCancel(ctx)) })
	return s, nil
}

// major returns the major version that the image says it has, 0 if it does not.
func (i *instance) major() int {
	for _, e := range i.config.Env {
		if v, ok := strings.CutPrefix(e, "PG_MAJOR="); ok {
			n, _ := strconv.Atoi(v)
			return n
		}
	}
	return 0
}

// launch starts the command that runs the container, and a goroutine that waits
// for its end.
func (i *instance) launch() (err error) {
	i.cmd = exec.Command(i.engine.program, i.arguments()...)
	// A variable that is named without a value is taken from the command's environment.
	i.cmd.Env = append(os.Environ(), "POSTGRES_PASSWORD="+i.password)
	i.kept = make(chan struct{})
	keep := sync.OnceFunc(func() { close(i.kept) })
	out := &lineWriter{to: func(line string) {
		if line == keptLine {
			keep()
		}
	}}
	i.cmd.Stdout, i.cmd.Stderr = io.MultiWriter(&i.log, out), &i.log
	i.cmd.WaitDelay = 5 * time.Second
	apart(i.cmd)
	if i.stdin, err = i.cmd.StdinPipe(); err != nil {
		return err
	}
	if err := i.cmd.Start(); err != nil {
		i.cmd = nil
		return fmt.Errorf("run %s: %w", i.engine.name(), err)
	}
	go func() {
		err := i.cmd.Wait()
		i.mu.Lock()
		if !i.stopping {
			if err == nil {
				err = errors.New("exit status 0")
			}
			i.err = fmt.Errorf("container of image %s ended by itself (%s run: %w)%s", i.image, i.engine.name(), err, scratch.Tail([]byte(i.log.String())))
		}
		i.mu.Unlock()
		close(i.done)
	}()
	return nil
}

// arguments are those of the command that runs the container.
func (i *instance) arguments() []string {
	m := scratch.Machine{Memory: i.engine.memory, Cores: i.engine.cores, Shm: -1}
	settings := i.spec.ServerSettings(m)
	// These are ours alone.
	maps.Copy(settings, map[string]string{
		"listen_addresses":  "*",
		"port":              port,
		"log_destination":   "stderr",
		"logging_collector": "off",
		"lc_messages":       "C",
	})
	args := []string{
		"run", "--rm", "--interactive", "--sig-proxy=false", "--pull=never",
		"--name", i.name, "--label", label + "=" + i.name,
		"--publish", "127.0.0.1::" + port,
		// Parallel workers share memory there; it is taken as it is used.
		"--shm-size", fmt.Sprintf("%dm", max(i.engine.memory/2, 256<<20)>>20),
		"--env", "POSTGRES_USER=" + superuser, "--env", "POSTGRES_DB=postgres", "--env", "POSTGRES_PASSWORD",
		"--env", "POSTGRES_HOST_AUTH_METHOD=", "--env", "POSTGRES_INITDB_ARGS=" + i.initdbArguments(),
		"--entrypoint", "/bin/sh", i.image,
		"-c", guard, "pghaul",
	}
	args = append(args, i.config.Entrypoint...)
	args = append(args, "postgres")
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		args = append(args, "-c", name+"="+settings[name])
	}
	return args
}

// initdbArguments are read by a shell of the image's entry point.
func (i *instance) initdbArguments() string {
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	encoding, locale := i.spec.Encoding, i.spec.Locale
	if encoding == "" {
		encoding = "UTF8"
	}
	if locale == "" {
		locale = "C.UTF-8"
	}
	args := []string{"--no-sync", "--encoding=" + quote(encoding), "--locale=" + quote(locale)}
	if i.spec.ICULocale != "" {
		args = append(args, "--locale-provider=icu", "--icu-locale="+quote(i.spec.ICULocale))
	}
	if i.spec.Tuned && i.major() >= 18 {
		args = append(args, "--no-data-checksums") // before 18 they are off by default
	}
	return strings.Join(args, " ")
}

// awaitReady tries to connect until that works, the container ends, or ctx is
// done. The entry point starts a server for itself first, which listens on no
// port, so a server that answers is the one that stays.
func (i *instance) awaitReady(ctx context.Context) (*pg.Conn, error) {
	wait := 20 * time.Millisecond
	var hosts []pg.Host
	for {
		var err error
		if len(hosts) == 0 {
			hosts, err = i.places(ctx)
		}
		for n, h := range hosts {
			if n == 0 && len(hosts) > 1 && !listens(ctx, h) {
				continue
			}
			var config *pg.Config
			if config, err = pg.ParseConfig(i.dsn(h)+" connect_timeout=2", pg.Overrides{}); err != nil {
				return nil, err
			}
			var conn *pg.Conn
			if conn, err = pg.Connect(ctx, config); err == nil {
				return conn, nil
			}
			if n == 0 {
				break
			}
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w (last try to connect: %w)%s", context.Cause(ctx), err, scratch.Tail([]byte(i.log.String())))
		case <-i.done:
			return nil, i.Err()
		case <-time.After(wait):
		}
		wait = min(2*wait, 200*time.Millisecond)
	}
}

// listens reports whether somebody takes connections there. At the port that the
// engine made for the container it does so from the start, not only the server.
func listens(ctx context.Context, h pg.Host) bool {
	d := net.Dialer{Timeout: 2 * time.Second}
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(h.Name, h.Port))
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

// places returns where the server can be reached once the container runs: by the
// port that the engine made for it on the loopback address, and where nobody
// listens there, because we are in a container ourselves, by the container's own
// address.
func (i *instance) places(ctx context.Context) ([]pg.Host, error) {
	out, err := i.engine.ask(ctx, "inspect", "--format", "{{json .NetworkSettings}}", i.name)
	if err != nil {
		return nil, err
	}
	var settings struct {
		Ports    map[string][]struct{ HostPort string }
		Networks map[string]struct{ IPAddress string }
	}
	if err := json.Unmarshal([]byte(out), &settings); err != nil {
		return nil, fmt.Errorf("inspect container: unexpected answer: %w", err)
	}
	bindings := settings.Ports[port+"/tcp"]
	if len(bindings) == 0 || bindings[0].HostPort == "" {
		return nil, errors.New("the container has no port yet")
	}
	hosts := []pg.Host{{Name: "127.0.0.1", Port: bindings[0].HostPort}}
	for _, n := range settings.Networks {
		if n.IPAddress != "" {
			hosts = append(hosts, pg.Host{Name: n.IPAddress, Port: port})
		}
	}
	return hosts, nil
}

func (i *instance) dsn(h pg.Host) string {
	return fmt.Sprintf("host=%s port=%s user=%s password=%s dbname=postgres sslmode=disable", h.Name, h.Port, superuser, i.password)
}

// Done implements scratch.Instance.
func (i *instance) Done() <-chan struct{} { return i.done }

// Err implements scratch.Instance.
func (i *instance) Err() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.err
}

// Stop implements scratch.Instance.
func (i *instance) Stop(ctx context.Context, keep bool) error {
	if i.unwatch != nil {
		i.unwatch()
	}
	if i.cmd == nil {
		return nil
	}
	i.mu.Lock()
	i.stopping = true
	i.mu.Unlock()
	limit := stopLimit
	if d, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(d))
	}
	if ctx.Err() != nil {
		limit = 0
	}
	timer := time.NewTimer(max(limit, leastStop))
	defer timer.Stop()
	if keep {
		return i.leave(timer.C)
	}
	i.stdin.Close()
	select {
	case <-i.done:
	case <-timer.C:
		i.cmd.Process.Kill()
		<-i.done
	}
	return i.remove(context.WithoutCancel(ctx))
}

// leave makes the container independent of us.
func (i *instance) leave(limit <-chan time.Time) error {
	_, err := io.WriteString(i.stdin, "keep\n")
	if err == nil {
		select {
		case <-i.kept:
		case <-i.done:
			err = errors.New("it has ended")
		case <-limit:
			err = errors.New("it does not answer")
		}
	}
	i.cmd.Process.Kill()
	<-i.done
	i.stdin.Close()
	if err != nil {
		return fmt.Errorf("keep container %s: %w", i.name, err)
	}
	return nil
}

// remove removes what may be left of the container. As a rule the engine has done
// that, or is about to.
func (i *instance) remove(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	for {
		left, err := i.engine.ask(ctx, "ps", "--all", "--quiet", "--filter", "label="+label+"="+i.name)
		if err == nil && left == "" {
			return nil
		}
		if err == nil {
			_, err = i.engine.ask(ctx, "rm", "--force", "--volumes", i.name)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("remove container %s: %w", i.name, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
