package drill

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/pghaul/pghaul/internal/tail"
)

const (
	// markVariable marks the processes of a check, so that all of them are found when it is over.
	markVariable = "PGHAUL_DRILL_CHECK"

	// outputKept is how much of a command's output a report keeps, in bytes.
	outputKept = 16 << 10

	// politeEnd is how long a command has to end after SIGTERM.
	politeEnd = 5 * time.Second
)

// guarded is the script that runs a command, its argument, beside a guard. If this process dies, however that happens, the pipe 3 ends, and
// the guard kills whatever has the mark in its environment, as far as the system shows that (/proc), and the process group.
const guarded = `sh -c 'read -r word <&3
for file in $(grep -lsa "` + markVariable + `=$` + markVariable + `" /proc/[0-9]*/environ); do
  pid=${file#/proc/}; pid=${pid%/environ}; [ "$pid" = $$ ] || kill -KILL "$pid"
done; kill -KILL 0' >/dev/null 2>&1 &
exec sh -c "$1" 3<&-`

// runCommand runs a shell command. When it has ended, or the time is over, or this process dies, every process that it
// started is ended too.
func runCommand(ctx context.Context, command string, environment []string) (r CheckResult) {
	r = CheckResult{Kind: "command", Name: command}
	began := time.Now()
	defer func() { r.Seconds = time.Since(began).Seconds() }()

	out, in, err := os.Pipe()
	if err != nil {
		r.Message = err.Error()
		return r
	}
	guard, alive, err := os.Pipe()
	if err != nil {
		r.Message = err.Error()
		return r
	}
	defer alive.Close()
	mark := markVariable + "=" + rand.Text()
	cmd := exec.Command("sh", "-c", guarded, "sh", command)
	cmd.Env = append(environment, mark)
	cmd.Stdout, cmd.Stderr = in, in
	cmd.ExtraFiles = []*os.File{guard}
	prepareCommand(cmd)

	kept := tail.Tail{Keep: outputKept}
	read := make(chan struct{})
	go func() {
		defer close(read)
		io.Copy(&kept, out) // until the deadline below at the latest
	}()
	err = onOwnThread(func() error {
		if err := cmd.Start(); err != nil {
			return err
		}
		in.Close()
		ended := make(chan struct{})
		defer close(ended)
		defer context.AfterFunc(ctx, func() {
			terminate(cmd.Process)
			select {
			case <-ended:
			case <-time.After(politeEnd):
				endTree(cmd.Process.Pid, mark)
			}
		})()
		return cmd.Wait()
	})
	in.Close()
	guard.Close()
	if cmd.Process != nil {
		endTree(cmd.Process.Pid, mark)
	}
	// Who still holds the pipe could not be found; its output is not waited for.
	_ = out.SetReadDeadline(time.Now().Add(time.Second))
	<-read
	out.Close()

	r.Output = kept.String()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		r.Message = context.Cause(ctx).Error()
	case errors.As(err, &exit):
		r.Message = exit.ProcessState.String()
	case err != nil:
		r.Message = fmt.Sprintf("run sh: %v", err)
	default:
		r.Passed = true
	}
	return r
}
