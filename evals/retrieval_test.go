package evals

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/extract/rules"
	"github.com/memoryd/memoryd/retrieve"
	"github.com/memoryd/memoryd/sessionstore"
)

// filled is a bank of the bundled conversations.
func filled(t *testing.T) *Bank {
	t.Helper()
	d, err := Conversations()
	if err != nil {
		t.Fatal(err)
	}
	b, err := Fill(t.Context(), d, rules.New(), embed.Builtin{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// TestRetrieval has the figures of the bundled conversations, and the rank of
// the first turn that answers each question, so that every change to the
// ranking is a difference to review.
func TestRetrieval(t *testing.T) {
	const file = "testdata/retrieval"
	b := filled(t)
	results, err := b.Ask(t.Context(), []Setting{Everything}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	got.WriteString(results[0].table())
	fmt.Fprintf(&got, "\n%d turns, %d facts, %d superseded; %.0f tokens in the first 10 results\n\nrank of the first turn that answers\n", b.Turns, b.Facts, b.History, results[0].tokensAt(10))
	for i := range results[0].Answers {
		a := &results[0].Answers[i]
		rank := "-"
		if first := a.first(); first > 0 {
			rank = fmt.Sprint(first)
		}
		fmt.Fprintf(&got, "%3s  %s, %s: %s\n", rank, a.Conversation, a.Category, a.Question)
	}
	sameAsFile(t, file, got.String())
}

// TestLanguages has the figures of questions in other words than their answers, in
// several languages.
func TestLanguages(t *testing.T) {
	d, err := Languages()
	if err != nil {
		t.Fatal(err)
	}
	b, err := Fill(t.Context(), d, rules.New(), embed.Builtin{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}()
	results, err := b.Ask(t.Context(), []Setting{Everything}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	got.WriteString("hit@1  hit@3\n")
	for _, category := range d.Categories {
		var n, one, three float64
		for i := range results[0].Answers {
			if a := &results[0].Answers[i]; a.Category == category {
				n, one, three = n+1, one+a.hit(1), three+a.hit(3)
			}
		}
		fmt.Fprintf(&got, " %.3f  %.3f  %s\n", one/n, three/n, category)
	}
	sameAsFile(t, "testdata/languages", got.String())
}

// The bundled conversations are enough to tell rankings apart: some questions
// of each category, more than one author, and months of time.
func TestConversations(t *testing.T) {
	d, err := Conversations()
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Conversations) < 4 || d.events() < 160 || d.questions() < 60 {
		t.Errorf("%d conversations, %d events, %d questions", len(d.Conversations), d.events(), d.questions())
	}
	asked := map[string]int{}
	for _, c := range d.Conversations {
		var authors []string
		for _, s := range c.Sessions {
			for _, e := range s.Events {
				authors = append(authors, e.Author)
			}
			if !slices.IsSortedFunc(s.Events, func(a, b sessionstore.Event) int { return a.Timestamp.Compare(b.Timestamp) }) {
				t.Errorf("%s, session %s goes back in time", c.Name, s.ID)
			}
		}
		slices.Sort(authors)
		first, last := c.Sessions[0].Events[0].Timestamp, c.Sessions[len(c.Sessions)-1].Events[0].Timestamp
		if len(c.Sessions) < 3 || len(slices.Compact(authors)) < 2 || last.Sub(first).Hours() < 24*60 {
			t.Errorf("%s has %d sessions from %v to %v", c.Name, len(c.Sessions), first, last)
		}
		for _, q := range c.Questions {
			asked[q.Category]++
		}
	}
	for _, name := range d.Categories {
		if asked[name] < 8 {
			t.Errorf("%d questions of the category %s", asked[name], name)
		}
	}
}

func TestParseConversation(t *testing.T) {
	const hello = "2024-01-01T08:00:00Z Ann: Hi.\n2024-01-01T08:01:00Z Bob: Hi.\n"
	read := func(questions string) error {
		c, err := parseConversation("x", archive("1/conversation", hello, "questions", questions))
		if err != nil {
			return err
		}
		d := Dataset{Name: "conversations", Conversations: []Conversation{c}, Categories: []string{"plain"}}
		return d.validate()
	}
	if err := read("plain: Who said: hi? | 1-2, 1-1\n"); err != nil {
		t.Error(err)
	}
	for questions, says := range map[string]string{
		"":                                "nothing is asked",
		"plain: Who said hi?\n":           "questions: \"plain: Who said hi?\" is not as",
		"Who said hi? | 1-1\n":            "is not as",
		"plain: Who said hi? | \n":        "is not as",
		"plain: Who said hi? | 1-3\n":     `question "Who said hi?": its evidence "1-3" is no event`,
		"plain: Who said hi? | 1-1 1-2\n": `"1-1 1-2" is no event`,
		"plain: Who? | 1-1, 1-1\n":        "is not as",
		"odd: Who said hi? | 1-1\n":       `no category "odd"`,
	} {
		if err := read(questions); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want an error that says %q", questions, err, says)
		}
	}
	if _, err := parseConversation("x", archive("1/conversation", hello, "memories", "")); err == nil {
		t.Error("a section that there is not is read")
	}
}

func TestParseSetting(t *testing.T) {
	but := func(left ...string) []string {
		return slices.DeleteFunc(retrieve.Parts(), func(p string) bool { return slices.Contains(left, p) })
	}
	for _, c := range []struct {
		name string
		want []string
	}{
		{"all", nil},
		{"no-dense", []string{"dense"}},
		{"no-dense+lexical", []string{"lexical", "dense"}},
		{"lexical", but("lexical")},
		{"context+lexical", but("context", "lexical")},
		{strings.Join(retrieve.Parts(), "+"), nil},
		{"dense=0.2+speaker=0", nil},
	} {
		s, err := ParseSetting(c.name)
		if err != nil || s.Name != c.name {
			t.Errorf("%s: %+v, %v", c.name, s, err)
		}
		if diff := cmp.Diff(c.want, s.Without, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	s, err := ParseSetting("dense=0.2+speaker=0")
	if diff := cmp.Diff(map[string]float64{"dense": 0.2, "speaker": 0}, s.Weights); diff != "" || err != nil {
		t.Errorf("weights, %v (-want +got):\n%s", err, diff)
	}
	for _, name := range []string{"magic=1", "dense=", "dense=-1", "dense=NaN", "dense=101", "dense=.1+near", "dense=1+dense=2",
		"", "none", "no-", "no-magic", "lexical+", "lexical,dense", "no-" + strings.Join(retrieve.Parts(), "+")} {
		if s, err := ParseSetting(name); err == nil {
			t.Errorf("%q: %+v", name, s)
		}
	}
}

// A setting has the same results beside others as alone, and each part of the
// ranking makes some difference. A report is read from JSON as it was written.
func TestAsk(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	b := filled(t)
	together, err := b.Ask(t.Context(), Ablations(), nil)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := b.Ask(t.Context(), []Setting{Everything}, nil)
	if err != nil {
		t.Fatal(err)
	}
	untimed := cmpopts.IgnoreFields(Answer{}, "Millis")
	if diff := cmp.Diff(alone[0].Answers, together[0].Answers, untimed); diff != "" {
		t.Errorf("alone, and together (-want +got):\n%s", diff)
	}
	for _, r := range together[1:] {
		// Every question of these conversations has a word of what was said.
		if r.Setting != "no-theme" && cmp.Equal(r.Answers, together[0].Answers, untimed) {
			t.Errorf("%s is as all", r.Setting)
		}
	}
	report := b.Report(together)
	raw, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "report.json")
	if err := os.WriteFile(file, raw, 0o644); err != nil {
		t.Fatal(err)
	}
	read, err := ReadReport(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(report, read, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(report.Table(), read.Table()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, raw := range []string{"", "{\n\"results\": 1}", "{}", `{"results": [{"setting": "all"}]}`} {
		if err := os.WriteFile(file, []byte(raw), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadReport(file); err == nil || !strings.Contains(err.Error(), "report.json: ") {
			t.Errorf("%q: %v", raw, err)
		}
	}
}

// An extractor that fails ends the run, which leaves nothing behind.
func TestFillFails(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	d, err := readLoCoMo([]byte(locomoFile))
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the key is wrong")
	if _, err := Fill(t.Context(), d, failing{rules.New(), broken}, embed.Builtin{}); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

type failing struct {
	extract.Extractor
	err error
}

func (f failing) Extract(context.Context, extract.Batch) (extract.Found, error) {
	return extract.Found{}, f.err
}

// A chart is well-formed for all results: it has a line and a name for each
// setting, and every point is within the plot.
func TestChart(t *testing.T) {
	many := make([]Result, 2*len(lightColours)+1)
	for i := range many {
		many[i] = scored(fmt.Sprintf("setting %d", i), 1+i, 60)
		for k := range many[i].Curve {
			many[i].Curve[k].Tokens = float64(37 * (k + 1))
		}
	}
	for name, results := range map[string][]Result{
		"one":           many[:1],
		"many":          many,
		"no tokens":     {scored("empty", 0, 0)},
		"all found":     {scored("ideal", 1, 1)},
		"a wicked name": {scored(`</svg><script>alert("&")</script>`, 1, 9)},
	} {
		t.Run(name, func(t *testing.T) {
			svg := SVG(`of "a" & <b>`, results)
			lines, names := 0, map[string]int{}
			for d := xml.NewDecoder(strings.NewReader(svg)); ; {
				token, err := d.Token()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				switch e := token.(type) {
				case xml.CharData:
					names[string(e)]++
				case xml.StartElement:
					switch e.Name.Local {
					case "polyline":
						lines++
					case "script":
						t.Error("a name is markup")
					case "circle":
						x, y := attr(t, e, "cx"), attr(t, e, "cy")
						if x < plotLeft-1 || x > plotRight+1 || y < plotTop-1 || y > plotBottom+1 {
							t.Errorf("a point at %v, %v", x, y)
						}
					}
				}
			}
			if lines != len(results) {
				t.Errorf("%d lines, want %d", lines, len(results))
			}
			for _, r := range results {
				if names[r.Setting] != 1 {
					t.Errorf("%q is named %d times", r.Setting, names[r.Setting])
				}
			}
			if page := HTML("a", results); !strings.HasPrefix(page, "<!DOCTYPE html>") || !strings.Contains(page, "<svg ") {
				t.Errorf("the page:\n%s", page)
			}
		})
	}
}

func attr(t *testing.T, e xml.StartElement, name string) (v float64) {
	t.Helper()
	at := slices.IndexFunc(e.Attr, func(a xml.Attr) bool { return a.Name.Local == name })
	if at < 0 {
		t.Fatalf("<%s> has no %s", e.Name.Local, name)
	}
	if _, err := fmt.Sscan(e.Attr[at].Value, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestSteps(t *testing.T) {
	for least, want := range map[float64]float64{0: .1, .013: .02, .1: .1, .11: .2, 1: 1, 3: 5, 51: 100, 180: 200} {
		if got := step(least); got < want*.999 || got > want*1.001 {
			t.Errorf("%v: %v, want %v", least, got, want)
		}
	}
	for s, want := range map[float64]int{.02: 2, .1: 1, .5: 1, 1: 0, 200: 0} {
		if got := decimals(s); got != want {
			t.Errorf("%v: %d decimals, want %d", s, got, want)
		}
	}
}
