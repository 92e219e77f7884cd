package bench

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/pghaul/pghaul/internal/tail"
)

// Sample is one run of one program.
type Sample struct {
	Seconds   float64 `json:"seconds"`
	CPU       float64 `json:"cpu_seconds"`        // of the program and its children
	ServerCPU float64 `json:"server_cpu_seconds"` // of all processes of the server meanwhile; 0: unknown
	Memory    int64   `json:"peak_memory_bytes"`  // of the program, the largest of its processes
	Output    int64   `json:"output_bytes"`       // what it wrote, 0 if nothing is kept
}

// Contender is a program that does the work of a line.
type Contender struct {
	Name string
	// Prepare makes ready what Command needs: an empty database, an old file removed. It is not measured. nil: nothing.
	Prepare func(ctx context.Context) error
	// Command is the program with its arguments.
	Command func() *exec.Cmd
	// Run, in place of Command, has the server do something and measures that.
	Run func(ctx context.Context) (Sample, error)
	// Bound says that it is no program's work, but what the others are bound by: the server's part.
	Bound bool
	// Output is the file or folder whose size is of interest, "" if none. It is removed after each run.
	Output string
}

// Result is what was measured of a contender.
type Result struct {
	Name    string   `json:"name"`
	Samples []Sample `json:"samples"`
	// Medians over the samples.
	Median Sample `json:"median"`
	// Least and Most are the extremes of Seconds.
	Least float64 `json:"least_seconds"`
	Most  float64 `json:"most_seconds"`
	// Ratio is the median of Seconds over that of the fastest peer, of ours; 0 of the others and where there is none.
	Ratio float64 `json:"ratio,omitempty"`
	// Bound says that it is no program's: what the others are bound by.
	Bound bool   `json:"bound,omitempty"`
	Error string `json:"error,omitempty"`
}

// Line is one piece of work and what was measured of it.
type Line struct {
	Name    string   `json:"name"`
	Note    string   `json:"note,omitempty"`
	Results []Result `json:"results"`
	Limits  []Limit  `json:"limits,omitempty"`
}

// Limit is what the work takes at least on this machine, by the reason that the note gives.
type Limit struct {
	Seconds float64 `json:"seconds"`
	Note    string  `json:"note"`
	Of      string  `json:"of,omitempty"` // the program that it is for; empty: all
}

// from says how far our programs are from a limit.
func (l *Line) from(limit Limit) string {
	var parts []string
	for _, x := range l.Results {
		if x.ours() && len(x.Samples) > 0 && (limit.Of == "" || limit.Of == x.Name) {
			parts = append(parts, fmt.Sprintf("%s takes %.2f times that", x.Name, x.Median.Seconds/limit.Seconds))
		}
	}
	return prefixed("; ", strings.Join(parts, ", "))
}

// ours says whether a result is that of this program.
func (r *Result) ours() bool { return strings.HasPrefix(r.Name, "pghaul") }

// measure runs the contenders in turn, as often as wanted, and fills in everything but the limit.
func measure(ctx context.Context, name string, contenders []Contender, o *Options, server *serverMeter) (Line, error) {
	line := Line{Name: name, Results: make([]Result, len(contenders))}
	for i, c := range contenders {
		line.Results[i].Name, line.Results[i].Bound = c.Name, c.Bound
	}
	for run := range o.Runs {
		for i, c := range contenders {
			r := &line.Results[i]
			if r.Error != "" {
				continue
			}
			o.progress("%s: %s (%d of %d)", name, c.Name, run+1, o.Runs)
			s, err := sample(ctx, c, server)
			if ctx.Err() != nil {
				return line, context.Cause(ctx)
			}
			if err != nil {
				r.Error = err.Error()
				continue
			}
			r.Samples = append(r.Samples, s)
		}
	}
	for i := range line.Results {
		line.Results[i].summarize()
	}
	line.rate()
	return line, nil
}

func sample(ctx context.Context, c Contender, server *serverMeter) (s Sample, err error) {
	if c.Prepare != nil {
		if err := c.Prepare(ctx); err != nil {
			return s, fmt.Errorf("prepare %s: %w", c.Name, err)
		}
	}
	if c.Output != "" {
		if err := os.RemoveAll(c.Output); err != nil {
			return s, err
		}
		defer os.RemoveAll(c.Output)
	}
	if c.Run != nil {
		return c.Run(ctx)
	}
	cmd := c.Command()
	var said tail.Tail
	cmd.Stderr = &said
	if cmd.Stdout == nil {
		cmd.Stdout = io.Discard
	}
	before := server.cpu()
	begun := time.Now()
	if s.Memory, err = runCommand(ctx, cmd); err != nil {
		if ctx.Err() != nil {
			return s, context.Cause(ctx)
		}
		return s, fmt.Errorf("%s: %w: %s", c.Name, err, said.Last())
	}
	s.Seconds = time.Since(begun).Seconds()
	s.ServerCPU = server.cpu() - before
	s.CPU = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	if c.Output != "" {
		if s.Output, err = sizeOf(c.Output); err != nil {
			return s, err
		}
	}
	return s, nil
}

// runCommand runs cmd, and ends it when ctx is done. memory is the peak of it in bytes.
func runCommand(ctx context.Context, cmd *exec.Cmd) (memory int64, err error) {
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	peak := watchMemory(cmd.Process.Pid)
	stop := context.AfterFunc(ctx, func() { cmd.Process.Kill() })
	defer stop()
	err = cmd.Wait()
	return peak(cmd.ProcessState), err
}

func (r *Result) summarize() {
	if len(r.Samples) == 0 {
		return
	}
	median := func(of func(Sample) float64) float64 {
		var all []float64
		for _, s := range r.Samples {
			all = append(all, of(s))
		}
		slices.Sort(all)
		return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
	}
	r.Median = Sample{
		Seconds:   median(func(s Sample) float64 { return s.Seconds }),
		CPU:       median(func(s Sample) float64 { return s.CPU }),
		ServerCPU: median(func(s Sample) float64 { return s.ServerCPU }),
		Memory:    int64(median(func(s Sample) float64 { return float64(s.Memory) })),
		Output:    int64(median(func(s Sample) float64 { return float64(s.Output) })),
	}
	r.Least, r.Most = math.Inf(1), 0
	for _, s := range r.Samples {
		r.Least, r.Most = min(r.Least, s.Seconds), max(r.Most, s.Seconds)
	}
}

// rate compares our programs with the fastest peer.
func (l *Line) rate() {
	best := 0.0
	for _, r := range l.Results {
		if !r.ours() && !r.Bound && len(r.Samples) > 0 && (best == 0 || r.Median.Seconds < best) {
			best = r.Median.Seconds
		}
	}
	for i := range l.Results {
		if r := &l.Results[i]; r.ours() && len(r.Samples) > 0 && best > 0 {
			r.Ratio = r.Median.Seconds / best
		}
	}
}
