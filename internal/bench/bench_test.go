package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/pgtest"
	"github.com/pghaul/pghaul/internal/scratch/localpg"
)

// Contenders take turns; medians, ratios and the spread are over all runs, and one that fails is left out and named.
func TestMeasure(t *testing.T) {
	var order []string
	contender := func(name, program string) Contender {
		return Contender{
			Name:    name,
			Prepare: func(context.Context) error { order = append(order, name); return nil },
			Command: func() *exec.Cmd { return exec.Command("sh", "-c", program) },
		}
	}
	line, err := measure(t.Context(), "work", []Contender{
		contender("pghaul dump", ":"), contender("pg_dump 17", ":"), contender("pg_dump 18", "echo no such table >&2; exit 3"),
	}, &Options{Runs: 3}, &serverMeter{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(order, ","), "pghaul dump,pg_dump 17,pg_dump 18,pghaul dump,pg_dump 17,pghaul dump,pg_dump 17"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
	ours, peer, failed := line.Results[0], line.Results[1], line.Results[2]
	if len(ours.Samples) != 3 || len(peer.Samples) != 3 || len(failed.Samples) != 0 {
		t.Fatalf("%d, %d, %d samples", len(ours.Samples), len(peer.Samples), len(failed.Samples))
	}
	if ours.Ratio != ours.Median.Seconds/peer.Median.Seconds || peer.Ratio != 0 {
		t.Errorf("ratios %v and %v", ours.Ratio, peer.Ratio)
	}
	if ours.Least > ours.Median.Seconds || ours.Most < ours.Median.Seconds || ours.Median.Memory == 0 {
		t.Errorf("summary %+v", ours)
	}
	if !strings.Contains(failed.Error, "no such table") {
		t.Errorf("error %q", failed.Error)
	}
}

// A small program's memory is its own, and not that of this one, as a copy of which it begins.
func TestMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("missing: /proc, to see a process's memory")
	}
	ballast := bytes.Repeat([]byte{1}, 32<<20)
	line, err := measure(t.Context(), "work", []Contender{
		{Name: "small", Command: func() *exec.Cmd { return exec.Command("head", "-c", "100000000", "/dev/zero") }},
		{Name: "large", Command: func() *exec.Cmd {
			return exec.Command("sh", "-c", "head -c 110000000 /dev/zero | tail -c 100000000")
		}},
	}, &Options{Runs: 1}, &serverMeter{})
	runtime.KeepAlive(ballast)
	if err != nil {
		t.Fatal(err)
	}
	if small, large := line.Results[0].Median.Memory, line.Results[1].Median.Memory; small < 100<<10 || small > 20<<20 || large < 100_000_000 {
		t.Errorf("%d and %d bytes", small, large)
	}
}

func TestMeasureInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	c := Contender{Name: "pghaul", Command: func() *exec.Cmd {
		cancel(stop)
		return exec.Command("sleep", "1000")
	}}
	if _, err := measure(ctx, "work", []Contender{c}, &Options{Runs: 2}, &serverMeter{}); !errors.Is(err, stop) {
		t.Errorf("error %v", err)
	}
}

// sampleReport has every part of a report, and names that would break a page.
func sampleReport() *Report {
	line := Line{Name: "all <b>of</b> it", Limits: []Limit{{1.5, "the server", ""}, {1, "another", "pghaul other"}}, Results: []Result{
		{Name: "pghaul dump -Fc", Samples: make([]Sample, 1), Median: Sample{Seconds: 2, CPU: 3, ServerCPU: 4, Memory: 5e6, Output: 6e6}, Least: 1.9, Most: 2.2, Ratio: 0.5},
		{Name: "pg_dump 17.1 -Fc", Samples: make([]Sample, 1), Median: Sample{Seconds: 4}, Least: 3.9, Most: 4.5},
		{Name: "pg_dump 18.1 -Fc", Error: "could not <script>"},
	}}
	return &Report{Version: Version, Tool: "pghaul test", Peers: []Peer{{Program: "pg_dump", Version: "17.1"}},
		Machine: Machine{Processors: 2, Server: "17.1"}, Groups: []Group{{Name: "dump", Title: "Dump", Lines: []Line{line}}}}
}

func TestReports(t *testing.T) {
	r := sampleReport()
	var text, page, doc bytes.Buffer
	for _, err := range []error{r.WriteText(&text), r.WriteHTML(&page), r.WriteJSON(&doc)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"pghaul dump -Fc", "0.50", "1.90–2.20", "takes 1.33 times that", "could not <script>"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("text has no %q:\n%s", want, text.String())
		}
	}
	if p := page.String(); strings.Contains(p, "<script") || strings.Contains(p, "http") || !strings.Contains(p, "could not &lt;script&gt;") {
		t.Errorf("page:\n%s", p)
	}
	var back Report
	if err := json.Unmarshal(doc.Bytes(), &back); err != nil || back.Groups[0].Lines[0].Results[0].Median.CPU != 3 {
		t.Errorf("JSON %v: %s", err, doc.String())
	}
	if r.Failed() != 1 {
		t.Errorf("%d failed", r.Failed())
	}
}

func TestUnknownGroup(t *testing.T) {
	_, err := Run(t.Context(), Options{Groups: []string{"dumps"}})
	if err == nil || !strings.Contains(err.Error(), "there are dump, formats") {
		t.Errorf("error %v", err)
	}
}

func TestDisplay(t *testing.T) {
	got := display([]string{"dump", "-Fc", "-Zzstd:1", "-f", "/tmp/x", "bench_main_0"})
	if got != "dump -Fc -Zzstd:1" {
		t.Errorf("%q", got)
	}
}

// Every access method is built and measured on a real server, with as few rows as possible.
func TestIndexes(t *testing.T) {
	if len(localpg.Find(t.Context())) == 0 {
		pgtest.Missing(t, "the programs of a PostgreSQL server")
	}
	all := indexCases
	defer func() { indexCases = all }()
	indexCases = nil // the first of each method
	for _, c := range all {
		if n := len(indexCases); n == 0 || indexCases[n-1].method != c.method {
			indexCases = append(indexCases, c)
		}
	}
	r, err := Run(t.Context(), Options{Groups: []string{"index"}, Scale: 1e-6, Runs: 1, Tables: 1, Provider: &localpg.Provider{}, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, l := range r.Groups[0].Lines {
		method, _, _ := strings.Cut(l.Name, " ")
		seen[method] = true
		for _, x := range l.Results {
			if x.Error != "" || x.Median.Output == 0 || x.Median.Seconds == 0 {
				t.Errorf("%s, %s: %+v", l.Name, x.Name, x)
			}
		}
	}
	for _, method := range []string{"btree", "hash", "brin", "gin", "gist", "spgist"} {
		if !seen[method] {
			t.Errorf("%s was not measured", method)
		}
	}
}
