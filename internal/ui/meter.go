package ui

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"
)

// Mode is how a Meter shows progress.
type Mode uint8

// The modes.
const (
	ModeNone  Mode = iota
	ModeTerm       // one line, drawn over itself
	ModePlain      // a line now and then
	ModeJSON       // a JSON object a line, each second
)

// ModeFor chooses the mode for progress written to f.
func ModeFor(f *os.File, json, quiet bool) Mode {
	switch {
	case quiet:
		return ModeNone
	case json:
		return ModeJSON
	case term.IsTerminal(int(f.Fd())):
		return ModeTerm
	}
	return ModePlain
}

// Meter counts the bytes, rows and entries of a running dump or restore, and shows
// them with the rate and the time left. Its counting methods are cheap and may be
// called from any goroutine.
type Meter struct {
	verb  string // "dumping", "restoring"
	mode  Mode
	out   io.Writer
	log   *Log
	width int

	bytes, rows, entries     atomic.Int64
	totalBytes, totalEntries atomic.Int64
	phase, current           atomic.Value // string
	start                    time.Time

	stop chan struct{}
	done sync.WaitGroup
	once sync.Once
}

// NewMeter starts a meter that writes to out, around the messages of log.
func NewMeter(verb string, mode Mode, out *os.File, log *Log) *Meter {
	m := &Meter{verb: verb, mode: mode, out: out, log: log, start: time.Now(), stop: make(chan struct{})}
	m.phase.Store("")
	m.current.Store("")
	every := map[Mode]time.Duration{ModeTerm: 200 * time.Millisecond, ModePlain: 10 * time.Second, ModeJSON: time.Second}[mode]
	if every == 0 {
		return m
	}
	if mode == ModeTerm {
		m.width, _, _ = term.GetSize(int(out.Fd()))
		log.mu.Lock()
		log.status = m
		log.mu.Unlock()
	}
	m.done.Go(func() { m.show(every) })
	return m
}

// Total says how much there is to do. Bytes are an estimate; 0 is unknown.
func (m *Meter) Total(bytes int64, entries int) {
	m.totalBytes.Store(bytes)
	m.totalEntries.Store(int64(entries))
}

// Phase names what is being done now as a whole ("reading the catalogue").
func (m *Meter) Phase(name string) { m.phase.Store(name) }

// Start names the entry that is being worked on.
func (m *Meter) Start(name string) { m.current.Store(name) }

// Finish counts an entry as done.
func (m *Meter) Finish() { m.entries.Add(1) }

// Add counts bytes and rows.
func (m *Meter) Add(bytes, rows int64) {
	m.bytes.Add(bytes)
	m.rows.Add(rows)
}

// Stop ends the display; nothing of the status line is left.
func (m *Meter) Stop() {
	m.once.Do(func() { close(m.stop) })
	m.done.Wait()
}

// Elapsed is the time since the start.
func (m *Meter) Elapsed() time.Duration { return time.Since(m.start) }

func (m *Meter) show(every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			m.log.mu.Lock()
			if m.mode == ModeTerm {
				m.clear()
				m.draw()
			} else {
				fmt.Fprintln(m.out, m.line())
			}
			m.log.mu.Unlock()
		case <-m.stop:
			m.log.mu.Lock()
			if m.mode == ModeTerm {
				m.clear()
				m.log.status = nil
			}
			m.log.mu.Unlock()
			return
		}
	}
}

func (m *Meter) clear() { fmt.Fprint(m.out, "\r\x1b[K") }

func (m *Meter) draw() {
	s := []rune(m.line())
	if m.width > 1 && len(s) > m.width-1 {
		s = s[:m.width-1]
	}
	fmt.Fprint(m.out, string(s))
}

// Snapshot is the state of a Meter, and the shape of its JSON lines.
type Snapshot struct {
	Event        string  `json:"event"` // always "progress"
	Verb         string  `json:"verb"`
	Phase        string  `json:"phase,omitempty"`
	Current      string  `json:"current,omitempty"`
	Bytes        int64   `json:"bytes"`
	TotalBytes   int64   `json:"total_bytes,omitempty"` // an estimate
	Rows         int64   `json:"rows"`
	Entries      int64   `json:"entries"`
	TotalEntries int64   `json:"total_entries,omitempty"`
	Seconds      float64 `json:"seconds"`
	BytesPerSec  int64   `json:"bytes_per_second"`
	SecondsLeft  float64 `json:"seconds_left,omitempty"`
}

// Snapshot returns the state now.
func (m *Meter) Snapshot() Snapshot {
	s := Snapshot{
		Event: "progress", Verb: m.verb,
		Phase: m.phase.Load().(string), Current: m.current.Load().(string),
		Bytes: m.bytes.Load(), TotalBytes: m.totalBytes.Load(), Rows: m.rows.Load(),
		Entries: m.entries.Load(), TotalEntries: m.totalEntries.Load(),
		Seconds: m.Elapsed().Seconds(),
	}
	if s.Seconds > 0 {
		s.BytesPerSec = int64(float64(s.Bytes) / s.Seconds)
	}
	if s.BytesPerSec > 0 && s.TotalBytes > s.Bytes {
		s.SecondsLeft = float64(s.TotalBytes-s.Bytes) / float64(s.BytesPerSec)
	}
	return s
}

func (m *Meter) line() string {
	s := m.Snapshot()
	if m.mode == ModeJSON {
		b, err := json.Marshal(s)
		if err != nil { // a struct of numbers and strings always marshals
			return "{}"
		}
		return string(b)
	}
	text := s.Verb
	if s.TotalEntries > 0 {
		text += fmt.Sprintf(" %d/%d", s.Entries, s.TotalEntries)
	}
	if s.Bytes > 0 {
		text += ", " + Bytes(s.Bytes)
		if s.TotalBytes > 0 {
			text += fmt.Sprintf(" (%d %%)", min(100, s.Bytes*100/s.TotalBytes))
		}
		text += fmt.Sprintf(", %s rows, %s/s", Count(s.Rows), Bytes(s.BytesPerSec))
	}
	if s.SecondsLeft > 0 {
		text += ", " + Duration(time.Duration(s.SecondsLeft*float64(time.Second))) + " left"
	}
	if s.Current != "" {
		text += ": " + s.Current
	} else if s.Phase != "" {
		text += ": " + s.Phase
	}
	return text
}
