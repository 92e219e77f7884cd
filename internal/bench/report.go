package bench

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"text/tabwriter"
	"time"
)

// Version is the version of the report's JSON form. A reader refuses a newer one. Since 2 a line has a list of limits.
const Version = 2

// Report is everything that was measured.
type Report struct {
	Version int       `json:"version"`
	Tool    string    `json:"tool"`
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"`
	Machine Machine   `json:"machine"`
	Peers   []Peer    `json:"peers"`
	Groups  []Group   `json:"groups"`
}

// Machine is where it was measured.
type Machine struct {
	OS         string  `json:"os"`
	Processors int     `json:"processors"`
	Model      string  `json:"model,omitempty"`
	Load       float64 `json:"load"`   // of the minute before, so that a reader knows whether the machine was quiet
	Server     string  `json:"server"` // version
	Settings   string  `json:"settings"`
}

// Group is a table of the report.
type Group struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Note  string `json:"note,omitempty"`
	Lines []Line `json:"lines"`
}

// WriteJSON writes the report as JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// WriteText writes the report as tables of text.
func (r *Report) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "PostgreSQL %s, %s; %d processors%s; load before %.1f\n", r.Machine.Server, r.Machine.Settings, r.Machine.Processors,
		prefixed(", ", r.Machine.Model), r.Machine.Load)
	for _, g := range r.Groups {
		fmt.Fprintf(w, "\n%s\n", g.Title)
		if g.Note != "" {
			fmt.Fprintf(w, "%s\n", g.Note)
		}
		for _, l := range g.Lines {
			fmt.Fprintf(w, "\n  %s%s\n", l.Name, prefixed(": ", l.Note))
			t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
			fmt.Fprintln(t, "    program\ttime\tspread\tratio\tCPU\tserver's CPU\tmemory\tsize")
			for _, x := range l.Results {
				if x.Error != "" {
					fmt.Fprintf(t, "    %s\t%s\n", x.Name, x.Error)
					continue
				}
				m := x.Median
				fmt.Fprintf(t, "    %s\t%s\t%s–%s\t%s\t%s\t%s\t%s\t%s\n", x.Name, seconds(m.Seconds), number(x.Least), number(x.Most), ratio(x.Ratio),
					seconds(m.CPU), seconds(m.ServerCPU), megabytes(m.Memory), megabytes(m.Output))
			}
			if err := t.Flush(); err != nil {
				return err
			}
			for _, limit := range l.Limits {
				fmt.Fprintf(w, "    limit %s: %s%s\n", seconds(limit.Seconds), limit.Note, l.from(limit))
			}
		}
	}
	return nil
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

func number(v float64) string { return fmt.Sprintf("%.2f", v) }

func seconds(v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f s", v)
}

func ratio(v float64) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", v)
}

func megabytes(n int64) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

//go:embed report.html
var page string

var pageTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"seconds": seconds, "ratio": ratio, "megabytes": megabytes, "number": number,
	"percent": func(part, whole float64) string { return fmt.Sprintf("%.1f", 100*part/max(whole, 1e-9)) },
	"longest": func(l Line) float64 {
		v := 0.0
		for _, limit := range l.Limits {
			v = max(v, limit.Seconds)
		}
		for _, r := range l.Results {
			v = max(v, r.Most)
		}
		return v
	},
	"ours": func(r Result) bool { return r.ours() },
	"from": func(l Line, limit Limit) string { return l.from(limit) },
}).Parse(page))

// WriteHTML writes the report as a page that needs nothing else.
func (r *Report) WriteHTML(w io.Writer) error { return pageTemplate.Execute(w, r) }

// Failed is the number of programs that could not be measured.
func (r *Report) Failed() int {
	n := 0
	for _, g := range r.Groups {
		for _, l := range g.Lines {
			for _, x := range l.Results {
				if x.Error != "" {
					n++
				}
			}
		}
	}
	return n
}
