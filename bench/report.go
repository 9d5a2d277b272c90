package bench

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Report is the result of a run.
type Report struct {
	Scenario string          `json:"scenario,omitzero"`
	Started  time.Time       `json:"started"`
	Seconds  float64         `json:"seconds"` // in which requests arrived
	Seed     uint64          `json:"seed"`
	Rate     float64         `json:"rate,omitzero"` // of arrivals, in a second
	Users    int             `json:"users,omitzero"`
	Apps     int             `json:"apps,omitzero"`
	Kinds    map[string]Kind `json:"kinds"`
	Findable Findable        `json:"findable"`
	Crossed  int             `json:"crossed"` // markers of one scope that another was answered with
	Verified Verified        `json:"verified"`
	Faults   FaultCounts     `json:"faults"`
	Resident Resident        `json:"resident"`
	// LeasesLost is how often memoryd logged that it stopped its work because
	// another process might do it.
	LeasesLost int `json:"leasesLost"`
	// Figures are what a scenario measures.
	Figures []Figure `json:"figures,omitempty"`
}

// Kind is what came back for one kind of request. Times are in milliseconds, of
// requests that were done, from when they were due.
type Kind struct {
	Sent    int `json:"sent"`
	OK      int `json:"ok"`
	Refused int `json:"refused"` // by status 429
	Dropped int `json:"dropped"` // not sent, as too many were in flight
	// Errors are the other answers by status, and connections that failed.
	Errors    map[string]int `json:"errors,omitempty"`
	PerSecond float64        `json:"perSecond"` // that were done
	P50       float64        `json:"p50"`
	P99       float64        `json:"p99"`
	P999      float64        `json:"p999"`
	Max       float64        `json:"max"`
	Examples  []string       `json:"examples,omitempty"` // of errors
}

// Findable is what searches right after an acknowledgement found.
type Findable struct {
	Checked      int `json:"checked"`
	NotAtOnce    int `json:"notAtOnce"`    // turns that were not found
	Untold       int `json:"untold"`       // of which the answer did not say so: no findable, or true
	SaidLater    int `json:"saidLater"`    // whose answer said that they are not findable yet, found or not
	SaidFindable int `json:"saidFindable"` // that were not found although the answer said so
}

// Verified is what was found at the end of what was acknowledged.
type Verified struct {
	Writes     int      `json:"writes"` // acknowledged turns and facts
	Lost       int      `json:"lost"`
	Doubled    int      `json:"doubled"`
	Unfindable int      `json:"unfindable"` // turns
	Unfinished int      `json:"unfinished"` // sessions whose memories were not made in time
	Unverified int      `json:"unverified"` // that could not be read in time
	Examples   []string `json:"examples,omitempty"`
	// CrossedExamples are examples for Report.Crossed.
	CrossedExamples []string `json:"crossedExamples,omitempty"`
}

// FaultCounts are the faults that happened.
type FaultCounts struct {
	Kills     int `json:"kills"`
	Stalls    int `json:"stalls"`
	FullDisks int `json:"fullDisks"`
}

// Resident is the memory of memoryd over time, in MB.
type Resident struct {
	Start   float64  `json:"start"`
	End     float64  `json:"end"`
	Peak    float64  `json:"peak"` // of the samples
	Samples []Sample `json:"samples,omitempty"`
}

// Sample is the memory of memoryd at a time. Sizes are in MB.
type Sample struct {
	Seconds  float64 `json:"seconds"`
	Resident float64 `json:"resident"`
	Heap     float64 `json:"heap"` // that was in use after the last collection
}

// Figure is one figure of a scenario.
type Figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit,omitzero"`
	// Least and Most are the bounds that memoryd means to keep; nil is none.
	Least *float64 `json:"least,omitempty"`
	Most  *float64 `json:"most,omitempty"`
}

// Met reports whether the figure is within its bounds.
func (f Figure) Met() bool {
	return (f.Least == nil || f.Value >= *f.Least) && (f.Most == nil || f.Value <= *f.Most)
}

// figure adds a figure without bounds.
func (r *Report) figure(value float64, unit, name string, args ...any) {
	r.Figures = append(r.Figures, Figure{Name: fmt.Sprintf(name, args...), Value: value, Unit: unit})
}

// most adds a figure that should be at most limit.
func (r *Report) most(limit, value float64, unit, name string, args ...any) {
	r.Figures = append(r.Figures, Figure{Name: fmt.Sprintf(name, args...), Value: value, Unit: unit, Most: &limit})
}

// least adds a figure that should be at least limit.
func (r *Report) least(limit, value float64, unit, name string, args ...any) {
	r.Figures = append(r.Figures, Figure{Name: fmt.Sprintf(name, args...), Value: value, Unit: unit, Least: &limit})
}

// Broken tells which promises were broken: those that hold on any machine, however
// slow. It is empty if none was.
func (r *Report) Broken() (out []string) {
	for _, c := range []struct {
		n    int
		what string
	}{
		{r.Verified.Lost, "acknowledged and lost"},
		{r.Verified.Doubled, "stored twice"},
		{r.Crossed, "seen in another scope"},
		{r.Verified.Unfindable, "acknowledged and not found at the end"},
		{r.Findable.SaidFindable, "not found although the answer said so"},
		{r.Verified.Unfinished, "sessions whose memories were not made in time"},
		{r.Verified.Unverified, "not verified in time"},
	} {
		if c.n > 0 {
			out = append(out, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	return out
}

// ServerErrors counts the answers with a status of 500 and more.
func (r *Report) ServerErrors() (n int) {
	for _, k := range r.Kinds {
		for status, count := range k.Errors {
			if len(status) == 3 && status[0] == '5' {
				n += count
			}
		}
	}
	return n
}

// Write prints the report as text.
func (r *Report) Write(w io.Writer) error {
	var out strings.Builder
	if len(r.Kinds) > 0 {
		r.writeKinds(&out)
	}
	if f := r.Findable; f.Checked > 0 {
		fmt.Fprintf(&out, "\nsearched right after their answer: %d turns, %d not found (%.1f %%)", f.Checked,
			f.NotAtOnce, 100*float64(f.NotAtOnce)/float64(f.Checked))
		fmt.Fprintf(&out, "; %d were said to be findable later, %d wrongly said to be findable\n", f.SaidLater,
			f.SaidFindable)
	}
	if v := r.Verified; v.Writes > 0 {
		fmt.Fprintf(
			&out,
			"verified at the end: %d acknowledged writes: %d lost, %d doubled, %d unfindable, %d unverified;"+
				" %d markers crossed scopes; %d sessions unfinished\n",
			v.Writes,
			v.Lost,
			v.Doubled,
			v.Unfindable,
			v.Unverified,
			r.Crossed,
			v.Unfinished,
		)
	}
	if f := r.Faults; f != (FaultCounts{}) {
		fmt.Fprintf(&out, "faults: %d kills, %d stalls, %d full disks\n", f.Kills, f.Stalls, f.FullDisks)
	}
	if m := r.Resident; len(m.Samples) > 0 {
		fmt.Fprintf(&out, "resident size: %.0f MB at first, %.0f MB at the end, at most %.0f MB; over time:%s\n",
			m.Start, m.End, m.Peak, m.course())
	}
	if r.LeasesLost > 0 {
		fmt.Fprintf(&out, "leases lost: %d\n", r.LeasesLost)
	}
	r.writeFigures(&out)
	for _, example := range slices.Concat(r.Verified.Examples, r.Verified.CrossedExamples) {
		fmt.Fprintf(&out, "  %s\n", example)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// course is the resident size at ten times, evenly apart.
func (m Resident) course() string {
	out := ""
	const times = 10
	for i := range times {
		out += fmt.Sprintf(" %.0f", m.Samples[i*(len(m.Samples)-1)/(times-1)].Resident)
	}
	return out
}

// writeKinds prints a row for each kind of request.
func (r *Report) writeKinds(out *strings.Builder) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table,
		"requests\tsent\tdone\tper second\tp50 ms\tp99 ms\tp99.9 ms\tmax ms\trefused\tnot sent\terrors\t\n")
	for _, name := range slices.Sorted(maps.Keys(r.Kinds)) {
		k := r.Kinds[name]
		fmt.Fprintf(table, "%s\t%d\t%d\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%d\t%d\t%s\t\n", name, k.Sent, k.OK,
			k.PerSecond, k.P50, k.P99, k.P999, k.Max, k.Refused, k.Dropped, errorList(k.Errors))
	}
	table.Flush() // into a strings.Builder, which does not fail
}

// errorList is the errors by class.
func errorList(errs map[string]int) string {
	if len(errs) == 0 {
		return "none"
	}
	var words []string
	for _, class := range slices.Sorted(maps.Keys(errs)) {
		words = append(words, fmt.Sprintf("%s: %d", class, errs[class]))
	}
	return strings.Join(words, ", ")
}

// writeFigures prints the figures of a scenario.
func (r *Report) writeFigures(out *strings.Builder) {
	if len(r.Figures) == 0 {
		return
	}
	fmt.Fprintf(out, "\n%s\n", r.Scenario)
	for _, f := range r.Figures {
		fmt.Fprintf(out, "  %-58s %10.2f %-9s%s\n", f.Name, f.Value, f.Unit, f.verdict())
	}
}

// verdict tells how a figure stands to its bounds.
func (f Figure) verdict() string {
	word := "met"
	if !f.Met() {
		word = "MISSED"
	}
	switch {
	case f.Least != nil:
		return fmt.Sprintf(" at least %g: %s", *f.Least, word)
	case f.Most != nil:
		return fmt.Sprintf(" at most %g: %s", *f.Most, word)
	}
	return ""
}
