package drill

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/platform"
)

// Kinds of checks that are not the user's own.
const (
	KindRowSecurity = "row security"
	KindFiles       = "files"
)

// probe counts what the platform's roles see of tables with row security, if the copy is what it must be, and compares
// that with what was recorded of the source. Without a record, a policy that cannot be evaluated is what fails.
func (d *drill) probe(ctx context.Context, copyOf *pg.Config) error {
	want := d.o.Probes
	if d.profile == nil || !d.profile.HasProbes() || d.report.Verdict == Different {
		return nil
	}
	d.begin("probe")
	o := platform.ProbeOptions{Wants: func(schema, table string) bool {
		return !slices.ContainsFunc(d.report.StandIns, func(s StandIn) bool { return s.Kind == "TABLE" && s.Name == schema+"."+table })
	}}
	if want != nil {
		o.Claims = want.Claims
	}
	began := time.Now()
	var err error
	if d.report.Probes, err = d.profile.Probe(ctx, copyOf, o); err != nil || len(d.report.Probes) == 0 && want == nil {
		return err
	}
	check := CheckResult{Kind: KindRowSecurity, Seconds: time.Since(began).Seconds()}
	var bad []string
	if want != nil {
		check.Name = fmt.Sprintf("each role sees the same rows as in the source (%d probes)", len(want.Results))
		for _, x := range want.Compare(d.report.Probes) {
			bad = append(bad, x.String())
		}
	} else {
		check.Name = fmt.Sprintf("policies can be evaluated (%d probes)", len(d.report.Probes))
		for i := range d.report.Probes {
			if r := &d.report.Probes[i]; r.Failed() {
				bad = append(bad, r.String())
			}
		}
	}
	check.Passed, check.Message = len(bad) == 0, strings.Join(bad, "\n")
	d.report.Checks = append(d.report.Checks, check)
	return nil
}

// checkFiles runs Options.Files.
func (d *drill) checkFiles(ctx context.Context) error {
	if d.o.Files == nil {
		return nil
	}
	d.begin("files")
	began := time.Now()
	check, err := d.o.Files(ctx)
	if err != nil {
		return err
	}
	check.Kind, check.Seconds = KindFiles, time.Since(began).Seconds()
	d.report.Checks = append(d.report.Checks, check)
	return nil
}
