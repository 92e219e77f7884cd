//go:build unix

package localpg

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/pghaul/pghaul/internal/scratch"
)

const (
	superuser = "postgres"
	keptFile  = "kept" // its presence tells sweep that a folder is left on purpose

	// startLimit bounds initdb, and the start of the server. Slow machines under
	// load take tens of seconds.
	startLimit = 3 * time.Minute

	// stopLimit is how long a server may take to end before it is killed.
	stopLimit = 20 * time.Second

	// leastStop is the part of stopLimit that is granted even if the caller
	// has no time left, for the server to take its shared memory with it.
	leastStop = 3 * time.Second

	// maxSocketPath is a little below the 104 (BSD, macOS) and 108 (Linux)
	// bytes a socket's name may have.
	maxSocketPath = 100
)

// Provider starts throwaway servers from the server programs of this machine.
type Provider struct {
	// BinDirs are folders of server programs that are preferred to all others.
	BinDirs []string
}

var _ scratch.Provider = (*Provider)(nil)

// Start starts a server, see scratch.Provider. If the wanted version is not on
// this machine, the error is ErrNoPrograms and says which versions are.
func (p *Provider) Start(ctx context.Context, spec scratch.Spec) (*scratch.Server, error) {
	programs, err := choose(Find(ctx, p.BinDirs...), spec.Major)
	if ctx.Err() != nil { // then the programs could not be asked
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("start throwaway server: %w", err)
	}
	s, err := StartPrograms(ctx, programs, spec)
	if err != nil {
		return nil, fmt.Errorf("start throwaway server (PostgreSQL %s): %w", programs.Version, err)
	}
	return s, nil
}

// StartPrograms starts a server from these programs, whatever spec.Major says.
func StartPrograms(ctx context.Context, programs Programs, spec scratch.Spec) (*scratch.Server, error) {
	i := &instance{programs: programs, spec: spec, done: make(chan struct{})}
	version, err := i.start(ctx)
	if err != nil {
		if i.started {
			i.end(0)
		}
		i.remove()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	number, err := versionNumber(version)
	if err != nil {
		i.Stop(ctx, false)
		return nil, err
	}
	info := scratch.Info{
		DSN:           fmt.Sprintf("host=%s port=%d user=%s dbname=postgres sslmode=disable", quote(i.socketDir), i.port, superuser),
		SocketDir:     i.socketDir,
		Port:          i.port,
		Version:       number,
		VersionString: version,
		Dir:           i.dir,
		BinDir:        programs.Dir,
	}
	if spec.TCP {
		info.TCP = fmt.Sprintf("host=127.0.0.1 port=%d user=%s password=%s dbname=postgres sslmode=disable", i.port, superuser, i.password)
	}
	folders := i.dir
	if !strings.HasPrefix(i.socketDir, i.dir) {
		folders += " " + i.socketDir
	}
	info.Kept = fmt.Sprintf("a server in folder %s, which goes on running (remove: kill -QUIT $(head -1 %s); rm -rf %s)",
		i.dir, filepath.Join(i.data(), "postmaster.pid"), folders)
	if err := scratch.CheckExtensions(spec.Extensions, "PostgreSQL "+programs.Version+" in "+programs.Dir, askNames(ctx, info.DSN)); err != nil {
		i.Stop(context.WithoutCancel(ctx), false)
		return nil, err
	}
	s := scratch.NewServer(info, i)
	i.unwatch = context.AfterFunc(ctx, func() { s.Stop(context.WithoutCancel(ctx)) })
	return s, nil
}

// instance is one server.
type instance struct {
	programs Programs
	spec     scratch.Spec
	account  account

	dir       string // the server's folder
	socketDir string // inside of dir, or by itself if that name is too long
	owner     *os.File
	port      int
	password  string // of the superuser over TCP; empty without TCP

	started bool
	process *os.Process
	unwatch func() bool
	done    chan struct{} // closed when the process has ended

	mu       sync.Mutex
	stopping bool
	err      error // why the process ended by itself
}

// start does all of the work of StartPrograms and returns the server's version.
// What it has made when it fails is for the caller to remove.
func (i *instance) start(ctx context.Context) (version string, err error) {
	if i.account, err = serverAccount(); err != nil {
		return "", err
	}
	if err := i.makeDirs(); err != nil {
		return "", err
	}
	if err := i.initdb(ctx); err != nil {
		return "", err
	}
	// Between finding a free port and using it, somebody else may take it.
	for try := 1; ; try++ {
		if err := i.configure(); err != nil {
			return "", err
		}
		if err := i.launch(); err != nil {
			return "", fmt.Errorf("run postgres: %w", i.explain(err))
		}
		limited, cancel := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("server not ready after %v", startLimit))
		version, err = awaitReady(limited, i.socket(), superuser, i.done)
		cancel()
		if err == nil {
			return version, nil
		}
		if !errors.Is(err, errEnded) {
			return "", fmt.Errorf("wait for postgres: %w%s", err, i.logTail())
		}
		if !i.spec.TCP || try == 3 {
			return "", i.Err()
		}
		i.done, i.err = make(chan struct{}), nil
	}
}

func (i *instance) data() string   { return filepath.Join(i.dir, "data") }
func (i *instance) log() string    { return filepath.Join(i.dir, "log") }
func (i *instance) socket() string { return socketName(i.socketDir, i.port) }

func socketName(dir string, port int) string {
	return filepath.Join(dir, ".s.PGSQL."+strconv.Itoa(port))
}

// makeDirs makes the server's folder and claims it.
func (i *instance) makeDirs() error {
	parent := i.spec.Dir
	if parent == "" {
		parent = os.TempDir()
		// A private TMPDIR of root is of no use to the server's user.
		if i.account.reach(parent) != nil && i.account.reach("/tmp") == nil {
			parent = "/tmp"
		}
	}
	parent, err := filepath.Abs(parent)
	if err != nil {
		return err
	}
	if err := i.account.reach(parent); err != nil {
		return err
	}
	sweep(parent)
	if i.dir, err = os.MkdirTemp(parent, prefix); err != nil {
		return fmt.Errorf("make folder for the server: %w", err)
	}
	i.socketDir = filepath.Join(i.dir, "socket")
	elsewhere := ""
	if len(socketName(i.socketDir, 65535))+len(".lock") >= maxSocketPath {
		if i.socketDir, err = os.MkdirTemp("/tmp", prefix); err != nil {
			return fmt.Errorf("make folder for the server's socket: %w", err)
		}
		elsewhere = i.socketDir
	}
	if i.owner, err = claim(i.dir, elsewhere); err != nil {
		return err
	}
	for _, d := range []string{i.data(), i.socketDir} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return err
		}
		if err := i.account.own(d); err != nil {
			return fmt.Errorf("give folder %s to user %s: %w", d, i.account.name, err)
		}
	}
	return i.account.own(i.dir)
}

// initdb makes the cluster.
func (i *instance) initdb(ctx context.Context) error {
	locale := i.spec.Locale
	if locale == "" {
		locale = "C.UTF-8"
	}
	err := i.runInitdb(ctx, locale)
	if err != nil && ctx.Err() == nil && i.spec.Locale == "" {
		// Not every system has C.UTF-8 (macOS, musl). C is there always.
		if os.RemoveAll(i.data()) == nil && os.Mkdir(i.data(), 0o700) == nil && i.account.own(i.data()) == nil {
			if i.runInitdb(ctx, "C") == nil {
				return nil
			}
		}
	}
	return err
}

func (i *instance) runInitdb(ctx context.Context, locale string) error {
	file, err := i.programs.Path("initdb")
	if err != nil {
		return err
	}
	encoding := i.spec.Encoding
	if encoding == "" {
		encoding = "UTF8"
	}
	args := []string{
		"--pgdata=" + i.data(), "--username=" + superuser, "--encoding=" + encoding, "--locale=" + locale,
		"--auth-local=trust", "--no-sync",
	}
	if i.spec.ICULocale != "" {
		args = append(args, "--locale-provider=icu", "--icu-locale="+i.spec.ICULocale)
	}
	if i.spec.Tuned && i.programs.Major >= 18 {
		args = append(args, "--no-data-checksums") // before 18 they are off by default
	}
	if i.spec.TCP {
		i.password = rand.Text()
		pwfile := filepath.Join(i.dir, "password")
		if err := os.WriteFile(pwfile, []byte(i.password+"\n"), 0o600); err != nil {
			return err
		}
		defer os.Remove(pwfile)
		if err := i.account.own(pwfile); err != nil {
			return err
		}
		args = append(args, "--auth-host=scram-sha-256", "--pwfile="+pwfile)
	} else {
		args = append(args, "--auth-host=reject")
	}

	ctx, cancel := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("not through after %v", startLimit))
	defer cancel()
	var out bytes.Buffer
	cmd := i.command(file, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	err = onOwnThread(func() error {
		if err := cmd.Start(); err != nil {
			return err
		}
		// initdb runs postgres; the group holds both.
		defer context.AfterFunc(ctx, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })()
		return cmd.Wait()
	})
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("run initdb: %w%s", i.explain(err), scratch.Tail(out.Bytes()))
	}
	return nil
}

// command returns a server program's command with nothing of our environment
// that could change what it does.
func (i *instance) command(file string, args ...string) *exec.Cmd {
	cmd := exec.Command(file, args...)
	cmd.Dir = i.dir
	cmd.Env = []string{"LC_ALL=C", "HOME=" + i.dir, "TMPDIR=" + i.dir}
	for _, name := range []string{"PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TZ"} {
		if v, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	cmd.SysProcAttr = attributes(i.account)
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// explain adds the user to an error about a program that may not be run.
func (i *instance) explain(err error) error {
	if errors.Is(err, os.ErrPermission) && i.account.other {
		return fmt.Errorf("as user %s, because we are root: %w", i.account.name, err)
	}
	return err
}

// configure writes the settings behind those of initdb.
func (i *instance) configure() error {
	i.port = 5432
	listen := ""
	if i.spec.TCP {
		var err error
		if i.port, err = freePort(); err != nil {
			return fmt.Errorf("find a free port: %w", err)
		}
		listen = "127.0.0.1"
	}
	m := scratch.ThisMachine()
	m.Disk = freeDisk(i.dir)
	settings := i.spec.ServerSettings(m)
	// These are ours alone.
	maps.Copy(settings, map[string]string{
		"listen_addresses":        listen,
		"port":                    strconv.Itoa(i.port),
		"unix_socket_directories": i.socketDir,
		"unix_socket_permissions": "0700",
		"log_destination":         "stderr",
		"logging_collector":       "off",
		"lc_messages":             "C",
	})
	var b strings.Builder
	b.WriteString("\n# Settings of a throwaway server\n")
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&b, "%s = '%s'\n", name, strings.ReplaceAll(settings[name], "'", "''"))
	}
	f, err := os.OpenFile(filepath.Join(i.data(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	_, err = f.WriteString(b.String())
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	return nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// launch starts the server's main process and a goroutine that waits for its end.
func (i *instance) launch() error {
	cmd, log, err := i.postgres()
	if err != nil {
		return err
	}
	defer log.Close()
	started := make(chan error, 1)
	done := i.done
	go func() {
		var err error
		onOwnThread(func() error {
			err = cmd.Start()
			started <- err
			if err == nil {
				err = cmd.Wait()
			}
			return nil
		})
		i.mu.Lock()
		if !i.stopping {
			i.err = fmt.Errorf("server ended by itself (%s)%s", ending(cmd.ProcessState), i.logTail())
		}
		i.mu.Unlock()
		close(done)
	}()
	if err := <-started; err != nil {
		return err
	}
	i.process = cmd.Process
	i.started = true
	return nil
}

// postgres returns the command of the server's main process, and the log that it writes to, to be closed once it is started.
func (i *instance) postgres() (cmd *exec.Cmd, log *os.File, err error) {
	file, err := i.programs.Path("postgres")
	if err != nil {
		return nil, nil, err
	}
	log, err = os.OpenFile(i.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, err
	}
	if err := i.account.own(i.log()); err != nil {
		log.Close()
		return nil, nil, err
	}
	cmd = i.command(file, "-D", i.data())
	cmd.Stdout, cmd.Stderr = log, log
	return cmd, log, nil
}

// ending says how a process ended.
func ending(st *os.ProcessState) string {
	if st == nil {
		return "not started"
	}
	return st.String()
}

// onOwnThread runs f on a thread that lives as long as f runs. The kernel sends
// a child its parent-death signal when the thread that started it ends, not the
// process (prctl(2), PR_SET_PDEATHSIG).
func onOwnThread(f func() error) error {
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		result <- f()
	}()
	return <-result
}

// logTail returns the last lines of the server's log, for the end of a message.
func (i *instance) logTail() string {
	f, err := os.Open(i.log())
	if err != nil {
		return ""
	}
	defer f.Close()
	const most = 4 << 10
	if st, err := f.Stat(); err == nil && st.Size() > most {
		f.Seek(-most, io.SeekEnd)
	}
	b, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return ""
	}
	return scratch.Tail(b)
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
	limit := stopLimit
	if d, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(d))
	}
	if ctx.Err() != nil {
		limit = 0
	}
	if keep {
		i.signal(syscall.SIGINT) // fast shutdown, the data stay usable
	}
	err := i.end(max(limit, leastStop))
	if keep {
		err = errors.Join(err, os.WriteFile(filepath.Join(i.dir, keptFile), nil, 0o600))
		if err == nil {
			err = i.detach(context.WithoutCancel(ctx))
		}
		return errors.Join(err, i.owner.Close())
	}
	return errors.Join(err, i.remove())
}

// detach starts the server again, as a process that does not end with us: the kernel cannot be told to
// let the first one live.
func (i *instance) detach(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("server not ready after %v", startLimit))
	defer cancel()
	cmd, log, err := i.postgres()
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: i.account.credential(), Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("run postgres: %w", i.explain(err))
	}
	ended := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	if _, err := awaitReady(ctx, i.socket(), superuser, ended); err != nil {
		return fmt.Errorf("start the server that is kept: %w%s", err, i.logTail())
	}
	return nil
}

// signal notes that the end is wanted and sends the signal to the main process.
func (i *instance) signal(sig syscall.Signal) {
	i.mu.Lock()
	i.stopping = true
	i.mu.Unlock()
	select {
	case <-i.done:
	default:
		i.process.Signal(sig)
	}
}

// end ends the server's processes: at once but in order by an immediate
// shutdown, as a checkpoint would only write data that are about to be removed,
// and by force after the limit.
func (i *instance) end(limit time.Duration) error {
	i.mu.Lock()
	asked := i.stopping
	i.mu.Unlock()
	if !asked {
		i.signal(syscall.SIGQUIT)
	}
	timer := time.NewTimer(max(limit, leastStop))
	defer timer.Stop()
	select {
	case <-i.done:
		return nil
	case <-timer.C:
	}
	i.process.Kill()
	<-i.done
	killServer(i.data())
	return nil
}

// remove removes what the server stored.
func (i *instance) remove() error {
	var errs []error
	if i.socketDir != "" {
		errs = append(errs, os.RemoveAll(i.socketDir))
	}
	if i.dir != "" {
		errs = append(errs, i.removeDir())
	}
	if i.owner != nil {
		i.owner.Close()
	}
	return errors.Join(errs...)
}

// removeDir removes the server's folder. After an immediate shutdown a process
// may still be on its way out and write a last file; then it takes another try.
func (i *instance) removeDir() (err error) {
	for range 20 {
		if err = os.RemoveAll(i.dir); err == nil || !errors.Is(err, syscall.ENOTEMPTY) {
			return err
		}
		killServer(i.data())
	}
	return err
}

// quote returns s as a value of a keyword connection string.
func quote(s string) string {
	if s != "" && !strings.ContainsAny(s, " '\\\t\n") {
		return s
	}
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

// versionNumber makes server_version_num of server_version.
func versionNumber(s string) (int, error) {
	word, _, _ := strings.Cut(s, " ")
	major, rest := leadingInt(word)
	if major == 0 {
		return 0, fmt.Errorf("unexpected server version %q", s)
	}
	minor, patch := 0, 0
	if after, ok := strings.CutPrefix(rest, "."); ok {
		minor, rest = leadingInt(after)
		if after, ok := strings.CutPrefix(rest, "."); ok {
			patch, _ = leadingInt(after)
		}
	}
	if major < 10 {
		return major*10000 + minor*100 + patch, nil
	}
	return major*10000 + minor, nil
}
