package platform

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// ProbesName is the name of the object beside a backup that holds the probes of its source.
const ProbesName = "probes.json"

const (
	probesFormat  = "pghaul-probes"
	probesVersion = 1
)

// Probes is a document: what was seen of a database, and by whom.
type Probes struct {
	Format  string        `json:"format"`
	Version int           `json:"version"`
	Profile string        `json:"profile"`
	Claims  []Claims      `json:"claims"`
	Results []ProbeResult `json:"results"`
}

// NewProbes makes a document of results and the claims that were probed.
func (p *Profile) NewProbes(claims []Claims, results []ProbeResult) *Probes {
	return &Probes{probesFormat, probesVersion, p.Name, claims, results}
}

// Encode returns the document as JSON.
func (p *Probes) Encode() ([]byte, error) {
	b, err := json.MarshalIndent(p, "", " ")
	return append(b, '\n'), err
}

// DecodeProbes reads a document. One of a newer version, or with members that are not known, is refused.
func DecodeProbes(b []byte) (*Probes, error) {
	var head struct {
		Format  string
		Version int
	}
	var p Probes
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, fmt.Errorf("read %s: %w", ProbesName, err)
	}
	switch {
	case head.Format != probesFormat:
		return nil, fmt.Errorf("read %s: it is of format %.40q, not %s", ProbesName, head.Format, probesFormat)
	case head.Version > probesVersion:
		return nil, fmt.Errorf("read %s: it is of version %d, this program knows %d: use a newer one", ProbesName, head.Version, probesVersion)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return nil, fmt.Errorf("read %s: %w", ProbesName, err)
	}
	return &p, nil
}

// ProbeDifference is a table of which somebody sees something else than in the source.
type ProbeDifference struct {
	Want ProbeResult  `json:"want"`
	Got  *ProbeResult `json:"got"` // nil: the table has no row security, or is not there
}

// String says the difference in one line.
func (d ProbeDifference) String() string {
	got := "no row security"
	if d.Got != nil {
		got = d.Got.outcome()
	}
	return fmt.Sprintf("%s.%s as %s: %s, expected %s", d.Want.Schema, d.Want.Table, d.Want.Claims, got, d.Want.outcome())
}

// Compare returns what got shows otherwise. Counts that took too long, on either side, are not compared;
// of errors the SQLSTATEs are.
func (p *Probes) Compare(got []ProbeResult) []ProbeDifference {
	type key struct{ schema, table, claims string }
	by := make(map[key]*ProbeResult, len(got))
	for i := range got {
		by[key{got[i].Schema, got[i].Table, got[i].Claims}] = &got[i]
	}
	out := []ProbeDifference{}
	for _, want := range p.Results {
		g := by[key{want.Schema, want.Table, want.Claims}]
		switch {
		case want.State == stateCanceled || g != nil && g.State == stateCanceled:
		case g == nil || g.State != want.State || g.Rows != want.Rows:
			out = append(out, ProbeDifference{want, g})
		}
	}
	return out
}
