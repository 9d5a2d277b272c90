package evals

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/extract/rules"
	"github.com/memoryd/memoryd/memory"
)

func facts(t testing.TB, lines string) []Fact {
	t.Helper()
	out, err := parseFacts(lines)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// story is the subject of some scores below.
const story = "Ann lives in Porto. | USER_PERSONAL_INFO | said 2024-01-01 | until 2024-06-01\n" +
	"Ann lives in Ghent. | USER_PERSONAL_INFO | said 2024-06-01 | from 2024-05-28\n" +
	"Ann collects vinyl records. | USER_PREFERENCES | said 2024-02-01\n" +
	"Ann's sister Ida repairs clocks.\n"

func TestScore(t *testing.T) {
	for _, c := range []struct {
		name      string
		want, got string
		right     int
		standing  int
		precision float64
		recall    float64
		f1        float64
	}{
		{"as wanted", story, story, 4, 0, 1, 1, 1},
		{"in other words", story, "I collect vinyl records.\nMy sister Ida repairs old clocks.\nI live in Ghent.\nI live in Porto. | until 2024-06-01\n", 4, 0, 1, 1, 1},
		{"nothing", story, "", 0, 0, 1, 0, 0},
		{"nothing, as wanted", "", "", 0, 0, 1, 1, 1},
		{"where nothing is wanted", "", "Ann is well.\n", 0, 0, 0, 1, 0},
		{"one missing", story, strings.Join(strings.SplitAfter(story, "\n")[:3], ""), 3, 0, 1, 3. / 4, 6. / 7},
		{"one too many", story, story + "Bob owns three ferrets.\n", 4, 0, 4. / 5, 1, 8. / 9},
		{"one wrong", story, strings.Replace(story, "collects vinyl records", "flies to Rome", 1), 3, 0, 3. / 4, 3. / 4, 3. / 4},
		{"the same twice", story, story + "Ann collects vinyl records.\n", 4, 0, 4. / 5, 1, 8. / 9},
		{"left standing", story, strings.Replace(story, " | until 2024-06-01", "", 1), 3, 1, 3. / 4, 3. / 4, 3. / 4},
		{"ended although it holds", story, strings.Replace(story, "Ghent. | USER", "Ghent. | until 2024-07-01 | USER", 1), 3, 0, 3. / 4, 3. / 4, 3. / 4},
		{"the new one missing", "Ann lives in Porto. | until 2024-06-01\nAnn lives in Ghent.\n", "Ann lives in Porto.\n", 0, 1, 0, 0, 0},
		{"the old one missing", "Ann lives in Porto. | until 2024-06-01\nAnn lives in Ghent.\n", "Ann lives in Ghent.\n", 1, 0, 1, 1. / 2, 2. / 3},
		{"back again", "Ann lives in Porto. | until 2024-06-01\nAnn lives in Porto.\n", "Ann lives in Porto.\nAnn lives in Porto. | until 2024-06-01\n", 2, 0, 1, 1, 1},
		{"Japanese", "田中さんは大阪に住んでいる。\n", "大阪に住んでいます。\n", 1, 0, 1, 1, 1},
		{"half of the words", "Ann paints boats.\n", "Boats.\n", 1, 0, 1, 1, 1},
		{"less than half", "Ann paints old boats.\n", "Boats.\n", 0, 0, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			want, got := facts(t, c.want), facts(t, c.got)
			s := score(want, got)
			if s.Right != c.right || s.Standing != c.standing || s.Wanted != len(want) || s.Found != len(got) {
				t.Errorf("%d right and %d standing of %d wanted and %d found, want %d and %d", s.Right, s.Standing, s.Wanted, s.Found, c.right, c.standing)
			}
			if s.Precision() != c.precision || s.Recall() != c.recall || s.F1() != c.f1 {
				t.Errorf("precision %.3f, recall %.3f, F1 %.3f, want %.3f, %.3f, %.3f", s.Precision(), s.Recall(), s.F1(), c.precision, c.recall, c.f1)
			}
			if len(s.Missing) != s.Wanted-s.Right || len(s.Wrong) != s.Found-s.Right {
				t.Errorf("missing %v, wrong %v", s.Missing, s.Wrong)
			}
		})
	}
}

// Of two facts that are as much alike, the one that shares more words is
// matched: a name alone says nothing.
func TestScoreOfNames(t *testing.T) {
	s := score(facts(t, "Ann repairs clocks.\n"), facts(t, "I'm Ann!\nI repair clocks, old tall loud.\n"))
	if s.Right != 1 || len(s.Wrong) != 1 || s.Wrong[0].Text != "I'm Ann!" {
		t.Errorf("%d right, wrong %v", s.Right, s.Wrong)
	}
}

func TestFactLines(t *testing.T) {
	var got strings.Builder
	for _, f := range facts(t, story) {
		got.WriteString(f.String() + "\n")
	}
	if diff := cmp.Diff(story, got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := parseFacts("Ann sings. | said yesterday\n"); err == nil {
		t.Error("a day that is none is read")
	}
}

// scripted is the rules at the cost of a model, and fails at one word if err is
// set.
type scripted struct {
	extract.Extractor
	err error
}

func (s scripted) Extract(ctx context.Context, b extract.Batch) (extract.Found, error) {
	found, err := s.Extractor.Extract(ctx, b)
	found.Usage = extract.Usage{Calls: 1, InputTokens: 10, OutputTokens: 2}
	if s.err != nil && strings.Contains(b.Turns[0].Text, "marzipan") {
		return found, s.err
	}
	return found, err
}

func talk(t *testing.T, name, memories string, sessions ...string) Case {
	t.Helper()
	c := Case{Name: name, Want: facts(t, memories)}
	for i, text := range sessions {
		if err := c.add(string(rune('1'+i)), text, conversation); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// A run sums the scores and costs of its cases, reports each case as it is
// played, and leaves nothing behind.
func TestRun(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	cases := []Case{
		talk(t, "moves", "Ann lives in Porto. | until 2024-06-01\nAnn lives in Ghent.\n",
			"2024-01-01T08:00:00Z Ann: I live in Porto.\n", "2024-06-01T08:00:00Z Ann: I live in Ghent.\n"),
		talk(t, "sweets", "Bob loves marzipan.\nBob has a goat.\n", "2024-01-01T08:00:00Z Bob: I love marzipan.\n"),
		talk(t, "quiet", "", "2024-01-01T08:00:00Z Cleo: I have three ferrets.\n"),
	}
	type row struct {
		name                        string
		wanted, found, right, calls int
		failed                      bool
	}
	for _, c := range []struct {
		name  string
		fails error
		want  []row
		err   error
	}{
		{"well", nil, []row{{"moves", 2, 2, 2, 2, false}, {"sweets", 2, 1, 1, 1, false}, {"quiet", 0, 1, 0, 1, false}, {"", 4, 4, 3, 4, false}}, nil},
		{"refused", extract.ErrRefused, []row{{"moves", 2, 2, 2, 2, false}, {"sweets", 2, 0, 0, 1, true}, {"quiet", 0, 1, 0, 1, false}, {"", 4, 3, 2, 4, false}}, extract.ErrRefused},
		{"a wrong key", memory.ErrInvalid, []row{{"moves", 2, 2, 2, 2, false}, {"", 2, 2, 2, 2, false}}, memory.ErrInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []row
			note := func(s Score) error {
				got = append(got, row{s.Case, s.Wanted, s.Found, s.Right, s.Calls, s.Err != nil})
				return nil
			}
			all, err := Run(t.Context(), scripted{rules.New(), c.fails}, embed.Builtin{}, cases, note)
			note(all)
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(row{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if !errors.Is(err, c.err) || c.err == nil && err != nil || err != nil && !strings.Contains(err.Error(), "case sweets") {
				t.Errorf("error %v, want %v", err, c.err)
			}
			if all.InputTokens != 10*all.Calls || all.OutputTokens != 2*all.Calls {
				t.Errorf("tokens %+v", all.Usage)
			}
		})
	}
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	left = slices.DeleteFunc(left, func(d os.DirEntry) bool { return !strings.HasPrefix(d.Name(), "memoryd-eval-") })
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	stop := errors.New("enough")
	if _, err := Run(t.Context(), rules.New(), embed.Builtin{}, cases, func(Score) error { return stop }); err != stop {
		t.Errorf("error %v, want that of each", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, rules.New(), embed.Builtin{}, cases, func(Score) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of ctx", err)
	}
}

// TestRules has the scores of the rules, so that every change to them is a
// difference to review.
func TestRules(t *testing.T) {
	const file = "testdata/rules"
	cases, err := Cases()
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	row := func(s Score) error {
		fmt.Fprintf(&got, "%s: %d wanted, %d found, %d right, %d standing\n", s.Case, s.Wanted, s.Found, s.Right, s.Standing)
		return nil
	}
	all, err := Run(t.Context(), rules.New(), embed.Builtin{}, cases, row)
	if err != nil {
		t.Fatal(err)
	}
	all.Case = "all"
	row(all)
	sameAsFile(t, file, got.String())
}

// sameAsFile compares with a file; with -update it writes the file.
func sameAsFile(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("if that is for the better: go test ./evals -run %s -update (-want +got):\n%s", t.Name(), diff)
	}
}

// A mistake in a case is found when the case is read, and the error names its
// section.
func TestParse(t *testing.T) {
	cases, err := Cases()
	if err != nil || len(cases) < 14 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	for _, c := range cases {
		if c.Want == nil && c.Name != "smalltalk" {
			t.Errorf("case %s wants nothing", c.Name)
		}
	}
	for section, text := range map[string]string{
		"1/conversation":  "Ann: no time\n",
		"2/conversation":  "yesterday Ann: no such time\n",
		"1/events.jsonl":  "{\n",
		"memories":        "Ann sings. | until then\n",
		"budget":          "small\n",
		"1/extracts.json": "{}\n",
	} {
		_, err := parse("x", archive("3/conversation", "2024-01-01T08:00:00Z Ann: Hi.\n", section, text))
		if err == nil || !strings.Contains(err.Error(), "case x: "+section+": ") {
			t.Errorf("%s: %v", section, err)
		}
	}
	const hello = "2024-01-01T08:00:00Z Ann: Hi.\n"
	if _, err := parse("x", archive("1/conversation", hello, "1/conversation", hello)); err == nil {
		t.Error("a session is there twice, and read")
	}
	if _, err := parse("x", archive("memories", "Ann sings.\n")); err == nil {
		t.Error("a case in which nothing is said is read")
	}
}

func archive(sections ...string) *txtar.Archive {
	ar := &txtar.Archive{}
	for pair := range slices.Chunk(sections, 2) {
		ar.Files = append(ar.Files, txtar.File{Name: pair[0], Data: []byte(pair[1])})
	}
	return ar
}
