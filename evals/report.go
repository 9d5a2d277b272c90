package evals

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// Report is a run of retrieval: the dataset, its memories, and the results of its
// questions in each setting, [Everything] first.
type Report struct {
	Dataset       string   `json:"dataset"`
	Conversations int      `json:"conversations"`
	Sessions      int      `json:"sessions"`
	Questions     int      `json:"questions"`
	Filled        Filled   `json:"ingest"`
	Reranker      string   `json:"reranker,omitempty"` // of the searches
	Expander      string   `json:"expander,omitempty"` // of the searches
	Results       []Result `json:"results"`
}

// Report makes a report of the results of Ask.
func (b *Bank) Report(results []Result) *Report {
	r := &Report{
		Dataset: b.dataset.Name, Conversations: len(b.dataset.Conversations), Sessions: b.dataset.sessions(),
		Questions: b.dataset.questions(), Filled: b.Filled, Results: results}
	if b.Reranker != nil {
		r.Reranker = b.Reranker.Name()
	}
	if b.Expander != nil {
		r.Expander = b.Expander.Name()
	}
	return r
}

// ReadReport reads a Report from a file of JSON.
func ReadReport(file string) (*Report, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var r Report
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(file), located(raw, err))
	}
	for _, result := range r.Results {
		if len(result.Answers) == 0 || len(result.Groups) == 0 || len(result.Curve) == 0 {
			return nil, fmt.Errorf("%s: setting %q has no answers", filepath.Base(file), result.Setting)
		}
	}
	if len(r.Results) == 0 {
		return nil, fmt.Errorf("%s: has no results of an evaluation of retrieval", filepath.Base(file))
	}
	return &r, nil
}

// Title says what was measured.
func (r *Report) Title() string {
	out := fmt.Sprintf("%s, embedder %s, facts of %s", r.Dataset, r.Filled.Embedder, r.Filled.Extractor)
	if r.Reranker != "" {
		out += ", reranker " + r.Reranker
	}
	if r.Expander != "" {
		out += ", expander " + r.Expander
	}
	return out
}

// Table shows the figures of the first setting by category, and the cost of
// making, keeping and finding the memories.
func (r *Report) Table() string {
	first, f := &r.Results[0], &r.Filled
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %d conversations, %d sessions, %d events, %d questions\n\n",
		r.Title(), r.Conversations, r.Sessions, f.Events, r.Questions)
	out.WriteString(first.table())
	fmt.Fprintf(&out, "\ningest   %.1f s, %.0f events/s", f.Seconds, float64(f.Events)/f.Seconds)
	if f.Calls > 0 {
		fmt.Fprintf(&out, ", %d calls of the model with %d tokens", f.Calls, f.Tokens)
	}
	fmt.Fprintf(&out, "\nmemory   %d turns, %d facts, %d superseded; %.1f MB with the sessions\n",
		f.Turns, f.Facts, f.History, float64(f.Bytes)/1e6)
	fmt.Fprintf(&out, "search   p50 %.1f ms, p95 %.1f ms, p99 %.1f ms\n",
		first.Search.P50, first.Search.P95, first.Search.P99)
	fmt.Fprintf(&out, "results  %.0f tokens in the first 10, %.0f in the first 50\n",
		first.tokensAt(10), first.tokensAt(50))
	return out.String()
}

// table has a row for each group.
func (r *Result) table() string {
	var t columns
	head := []string{"", "n"}
	for _, m := range metrics {
		head = append(head, m.name)
	}
	t.row(head...)
	for _, g := range r.Groups {
		cells := []string{g.Group, fmt.Sprint(g.N)}
		for _, m := range metrics {
			cells = append(cells, fmt.Sprintf("%.3f", g.Figures[m.name]))
		}
		t.row(cells...)
	}
	return t.String()
}

// tokensAt is the mean number of tokens in the first k results.
func (r *Result) tokensAt(k int) float64 {
	return r.Curve[slices.IndexFunc(r.Curve, func(p Point) bool { return p.K == k })].Tokens
}

// Ablation shows the worth of each part of the ranking: the figures without it,
// and how they differ from those with everything. The results are those of
// [Ablations].
func Ablation(results []Result) (string, error) {
	all := &results[0]
	var t columns
	head := []string{""}
	for _, m := range compared {
		head = append(head, m.name, "difference", "interval", "p")
	}
	t.row(append(head, "search p50")...)
	for i := range results {
		o := &results[i]
		cells := []string{o.Setting}
		for _, m := range compared {
			cells = append(cells, fmt.Sprintf("%.3f", mean(pooled(o.Answers), m.of)))
			if i == 0 {
				cells = append(cells, "", "", "")
				continue
			}
			d, err := paired(pooled(o.Answers), pooled(all.Answers), m.of)
			if err != nil {
				return "", err
			}
			cells = append(cells, bootstrap(d).cells()...)
		}
		t.row(append(cells, fmt.Sprintf("%.1f ms", o.Search.P50))...)
	}
	return fmt.Sprintf("Without each part of the ranking, %s, against all (%s):\n\n%s",
		all.Groups[0].Group, legend(), &t), nil
}

// legend explains the columns of a difference.
func legend() string {
	return fmt.Sprintf("paired bootstrap, %d resamples, interval of %.0f %%; * is p < %v",
		resamples, 100*confidence, significant)
}

// cells shows a difference in three columns.
func (d Difference) cells() []string {
	mark := " "
	if d.P < significant {
		mark = "*"
	}
	return []string{
		fmt.Sprintf("%+.3f", d.Mean),
		fmt.Sprintf("%+.3f to %+.3f", d.Low, d.High),
		fmt.Sprintf("%.4f%s", d.P, mark),
	}
}

// Compare shows how a result differs from another, over all pooled questions and
// in each conversation. The resampling draws questions one by one, as if they were
// independent, but those of one conversation have much in common: the columns of
// the conversations show how much.
func Compare(a, b *Result) (string, error) {
	pa, pb := pooled(a.Answers), pooled(b.Answers)
	var t columns
	names := conversations(pa)
	t.row(append([]string{"", a.Setting, b.Setting, "difference", "interval", "p", "better", "worse"}, names...)...)
	for _, m := range compared {
		d, err := paired(pa, pb, m.of)
		if err != nil {
			return "", fmt.Errorf("%s against %s: %w", a.Setting, b.Setting, err)
		}
		cells := []string{m.name, fmt.Sprintf("%.3f", mean(pa, m.of)), fmt.Sprintf("%.3f", mean(pb, m.of))}
		cells = append(cells, bootstrap(d).cells()...)
		cells = append(cells, fmt.Sprint(count(d, 1)), fmt.Sprint(count(d, -1)))
		for _, c := range names {
			of := func(x *Answer) bool { return x.Conversation == c }
			cells = append(cells, fmt.Sprintf("%+.3f", mean(answersOf(pa, of), m.of)-mean(answersOf(pb, of), m.of)))
		}
		t.row(cells...)
	}
	return fmt.Sprintf("%s against %s, %d questions of %s (%s):\n\n%s",
		a.Setting, b.Setting, len(pa), a.Groups[0].Group, legend(), &t), nil
}

// count counts the differences that have a sign.
func count(differences []float64, sign int) (n int) {
	for _, d := range differences {
		if cmp.Compare(d, 0) == sign {
			n++
		}
	}
	return n
}

// conversations are the names of the conversations of answers, in their order.
func conversations(answers []Answer) (out []string) {
	for i := range answers {
		if name := answers[i].Conversation; !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// columns is a table. Its first column is aligned to the left, the others to the
// right.
type columns struct{ rows [][]string }

// row adds a row.
func (t *columns) row(cells ...string) { t.rows = append(t.rows, cells) }

// String is the table as lines of text.
func (t *columns) String() string {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var out strings.Builder
	for _, row := range t.rows {
		line := fmt.Sprintf("%-*s", widths[0], row[0])
		for i, cell := range row[1:] {
			line += fmt.Sprintf("  %*s", widths[i+1], cell)
		}
		out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return out.String()
}
