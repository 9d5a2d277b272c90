package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/evals"
	"github.com/memoryd/memoryd/internal/modeltest"
)

// evaluate runs the command with a data directory that does not exist, and
// checks that it is not created.
func evaluate(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errs bytes.Buffer
	data := filepath.Join(t.TempDir(), "data")
	t.Setenv("MEMORYD_DATA", data)
	err = run(t.Context(), append([]string{"eval"}, args...), &out, &errs)
	if _, statErr := os.Stat(data); !os.IsNotExist(statErr) {
		t.Errorf("the directory of the data is touched: %v", statErr)
	}
	return out.String(), errs.String(), err
}

// The rules are scored without any network: a row for each case, and one for
// all.
func TestEval(t *testing.T) {
	out, errs, err := evaluate(t)
	if err != nil || errs != "" {
		t.Errorf("%v, stderr %q", err, errs)
	}
	if !strings.Contains(out, "extractor rules,") {
		t.Errorf("the extractor is not named:\n%s", out)
	}
	rows := regexp.MustCompile(`(?m)^(\w+) +\d+ +\d+ +\d+ +[01]\.\d\d +[01]\.\d\d +[01]\.\d\d +\d+ +0 +0$`).FindAllStringSubmatch(out, -1)
	if len(rows) < 15 || rows[len(rows)-1][1] != "all" {
		t.Errorf("%d rows:\n%s", len(rows), out)
	}
	_, errs, err = evaluate(t, "-log-level", "debug")
	if err != nil || !strings.Contains(errs, "msg=missing case=") || !strings.Contains(errs, "msg=wrong case=") {
		t.Errorf("%v, the log has no missing and wrong facts:\n%s", err, errs)
	}
}

// Each set of talk has a line; the log names facts of the tuned set alone.
func TestEvalTalk(t *testing.T) {
	out, errs, err := evaluate(t, "talk", "-log-level", "debug")
	lines := regexp.MustCompile(`(?m)^(tuned|heldout): \d+ turns, .*: precision [01]\.\d\d, recall [01]\.\d\d$`)
	if err != nil || len(lines.FindAllString(out, -1)) != 2 || !strings.Contains(errs, "msg=missed set=tuned") ||
		strings.Contains(errs, "set=heldout") {
		t.Errorf("%v, stderr %q:\n%s", err, errs, out)
	}
}

// Each set of stories has a table; the log tells of stories of the tuned set alone.
func TestEvalStories(t *testing.T) {
	tuned, err := evals.Stories("tuned")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for i := range tuned {
		names[tuned[i].Name] = true
	}
	out, errs, err := evaluate(t, "stories", "-log-level", "debug")
	rows := regexp.MustCompile(`(?m)^(tuned|heldout|all changes +[1-9][0-9]+ .*|controls +[1-9][0-9]+ +- .*)$`).FindAllString(out, -1)
	if err != nil || len(rows) != 6 || rows[0] != "tuned" || rows[3] != "heldout" {
		t.Errorf("%v:\n%s", err, out)
	}
	logged := regexp.MustCompile(`(?m) msg=story name=(\S+) `).FindAllStringSubmatch(errs, -1)
	for _, l := range logged {
		if !names[l[1]] {
			t.Fatal("the log names a story that is not of the tuned set, or names one twice")
		}
		names[l[1]] = false
	}
	if len(logged) == 0 {
		t.Error("the log tells of no story")
	}
	name := tuned[0].Name
	out, errs, err = evaluate(t, "stories", "-story", name, "-log-level", "debug")
	if err != nil || strings.Contains(out, "heldout") || !strings.Contains(errs, "msg=context name="+name+" order=2") {
		t.Errorf("-story: %v, stderr %q:\n%s", err, errs, out)
	}
	if _, _, err := evaluate(t, "stories", "-story", "none"); exitCode(err) != 2 {
		t.Errorf("-story none: %v, want a mistake on the command line", err)
	}
}

func TestEvalUsage(t *testing.T) {
	out, errs, err := evaluate(t, "-h")
	if exitCode(err) != 0 || errs != "" || !strings.Contains(out, "memoryd eval [flags]") {
		t.Errorf("-h: %v, stderr %q:\n%s", err, errs, out)
	}
	for _, args := range [][]string{{"family"}, {"extraction", "family"}, {"-extractor", "oracle"}} {
		if _, _, err := evaluate(t, args...); exitCode(err) != 2 {
			t.Errorf("%q: %v, want a mistake on the command line", args, err)
		}
	}
}

// A model that finds nothing gets a bad score: that is no failure.
func TestEvalModel(t *testing.T) {
	server := modeltest.NewGemini(t, modeltest.Replies(modeltest.Reply{Text: `{"facts":[]}`, Input: 100, Output: 7}))
	for _, name := range []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL"} {
		t.Setenv(name, server.Getenv(name))
	}
	out, errs, err := evaluate(t, "-extractor", "gemini")
	if err != nil || !regexp.MustCompile(`(?m)^move +4 +0 +0 +1\.00 +0\.00 +0\.00 +0 +3 +321$`).MatchString(out) || !strings.Contains(out, "extractor gemini:") {
		t.Errorf("%v:\n%s", err, out)
	}
	modeltest.NoKey(t, out+errs)
}

// If the model fails, the command fails with its error: at once if no case can
// do better, else after all cases.
func TestEvalFails(t *testing.T) {
	for name, c := range map[string]struct {
		reply modeltest.Reply
		says  string
		all   bool
	}{
		"no such model": {modeltest.Reply{Status: 404, Message: "models/x is not found"}, "not found", false},
		"refusal":       {modeltest.Reply{Refusal: "SAFETY"}, "SAFETY", true},
		"no JSON":       {modeltest.Reply{Text: "Sure!"}, "cannot be read", true},
	} {
		t.Run(name, func(t *testing.T) {
			server := modeltest.NewGemini(t, modeltest.Replies(c.reply))
			for _, name := range []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL"} {
				t.Setenv(name, server.Getenv(name))
			}
			out, errs, err := evaluate(t, "-extractor", "gemini")
			if err == nil || exitCode(err) != 1 || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "eval with gemini:") {
				t.Fatalf("error %v, want one that says %q", err, c.says)
			}
			if all := regexp.MustCompile(`(?m)^all `).MatchString(out); all != c.all || c.all && !strings.Contains(out, "  failed\n") {
				t.Errorf("all were played: %v, want %v:\n%s", all, c.all, out)
			}
			if calls := len(server.Requests()); !c.all && calls > 1 {
				t.Errorf("%d calls of a model that is not there", calls)
			}
			modeltest.NoKey(t, out+errs+err.Error())
		})
	}
}

// locomoData has the form of LoCoMo's data, and other words.
const locomoData = `[{"sample_id": "one",
 "conversation": {
  "session_1": [
   {"dia_id": "D1:1", "speaker": "Ann", "text": "I have a goat called Ferdinand."},
   {"dia_id": "D1:2", "speaker": "Bob", "text": "Where does he live?"},
   {"dia_id": "D1:3", "speaker": "Ann", "text": "In the shed, behind the quince."}],
  "session_1_date_time": "1:56 pm on 8 May, 2024"},
 "observation": {"session_1_observation": {"Ann": [["Ann keeps a pet that is a goat.", "D1:1"]]}},
 "qa": [
  {"question": "What is the goat called?", "evidence": ["D1:1"], "category": 4},
  {"question": "Where does the goat live?", "evidence": ["D1:1", "D1:3"], "category": 1}]}]`

// locomo writes a file of such data, or of any other text.
func locomo(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "locomo.json")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// A file of LoCoMo is measured with the extractor's facts or its own, and a
// later run can read the results.
func TestEvalLocomo(t *testing.T) {
	file := locomo(t, locomoData)
	earlier, chart := filepath.Join(t.TempDir(), "earlier.json"), filepath.Join(t.TempDir(), "chart.svg")
	out, errs, err := evaluate(t, "locomo", file, "-facts", "observations", "-json", earlier)
	if err != nil || errs != "" {
		t.Fatalf("%v, stderr %q", err, errs)
	}
	for _, want := range []string{`embedder \S+, facts of observations: 1 conversations, 1 sessions, 3 events, 2 questions`, `categories 1-4 +2 `, `single-hop +1 +1\.000 +1\.000 `,
		`adversarial +0 +0\.000 `, `memory +3 turns, 1 facts, 0 superseded`, `search +p50 [0-9.]+ ms`, `results +\d+ tokens`} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("%s is not in it:\n%s", want, out)
		}
	}
	out, errs, err = evaluate(t, "locomo", "-before", earlier, "-compare", "lexical,dense", "-ablate", "-chart", chart, file)
	if err != nil || errs != "" {
		t.Fatalf("%v, stderr %q", err, errs)
	}
	for _, want := range []string{`facts of rules`, `(?m)^no-dense +\d`, `all against earlier, 2 questions`, `dense against lexical, 2 questions`} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("%s is not in it:\n%s", want, out)
		}
	}
	drawn, err := os.ReadFile(chart)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"all", "no-lexical", "lexical", "dense", "earlier"} {
		if !strings.Contains(string(drawn), ">"+line+"</text>") {
			t.Errorf("%s is not in the chart", line)
		}
	}
	if _, _, err := evaluate(t, "retrieval", "-before", earlier); err == nil || exitCode(err) != 1 || !strings.Contains(err.Error(), "all against earlier: ") {
		t.Errorf("answers to other questions are compared: %v", err)
	}
}

// Chats of the other datasets are measured too.
func TestEvalPublished(t *testing.T) {
	dir := t.TempDir()
	write := func(text string, path ...string) string {
		t.Helper()
		file := filepath.Join(append([]string{dir}, path...)...)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
		return file
	}
	chat := write(`{"session_1": [{"dia_id": "D1:1", "speaker": "Ann", "date_time": "29.12.2023, 22:42:04",
		"clean_text": "I have a goat called Ferdinand."}],
		"qa": [{"question": "What is the goat called?", "evidence": ["D1:1"], "category": 1}]}`, "chat.json")
	folder := filepath.Dir(write(`[{"batch_number": 1, "turns": [[{"role": "user", "id": 0, "time_anchor": "March-15-2024",
		"content": "I have a goat called Ferdinand. ->-> 1,1"}, {"role": "assistant", "id": 1, "content": "Lovely."}]]}]`, "7", "chat.json"))
	write(`{"information_extraction": [{"question": "What is the goat called?", "source_chat_ids": [0]}]}`, "7", "probing_questions", "probing_questions.json")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"realtalk", chat}, `1 conversations, 1 sessions, 1 events, 1 questions`},
		{[]string{"beam", folder}, `1 conversations, 1 sessions, 2 events, 1 questions`},
		{[]string{"beam", "-messages", "user", folder}, `1 conversations, 1 sessions, 1 events, 1 questions`},
	} {
		out, errs, err := evaluate(t, c.args...)
		if err != nil || errs != "" || !strings.Contains(out, c.want) || !regexp.MustCompile(`(?m)^all +1 +1\.000 `).MatchString(out) {
			t.Errorf("%q: %v, stderr %q:\n%s", c.args, err, errs, out)
		}
	}
}

func TestEvalRetrieval(t *testing.T) {
	page := filepath.Join(t.TempDir(), "chart.html")
	out, errs, err := evaluate(t, "retrieval", "-chart", page)
	if err != nil || errs != "" || !regexp.MustCompile(`(?m)^all +\d\d +0\.\d{3} `).MatchString(out) {
		t.Errorf("%v, stderr %q:\n%s", err, errs, out)
	}
	if raw, err := os.ReadFile(page); err != nil || !strings.HasPrefix(string(raw), "<!DOCTYPE html>") {
		t.Errorf("%v: %.100s", err, raw)
	}
}

// A mistake on the command line, or in a file that it names, is refused before
// anything is done.
func TestEvalRetrievalUsage(t *testing.T) {
	for _, what := range []string{"retrieval", "locomo", "realtalk", "beam"} {
		out, errs, err := evaluate(t, what, "-h")
		if exitCode(err) != 0 || errs != "" || !strings.Contains(out, "memoryd eval "+what) || !strings.Contains(out, "-ablate") ||
			strings.Contains(out, "-facts SOURCE") != (what == "locomo") || strings.Contains(out, "-messages MESSAGES") != (what == "beam") {
			t.Errorf("%s -h: %v, stderr %q:\n%s", what, err, errs, out)
		}
	}
	file, damaged, broken := locomo(t, locomoData), locomo(t, locomoData[:300]), locomo(t, strings.Replace(locomoData, "1:56 pm on", "once on", 1))
	none := filepath.Join(t.TempDir(), "none")
	for _, c := range []struct {
		says string
		args []string
	}{
		{"eval locomo: want one file", []string{"locomo"}},
		{"eval locomo: want one file", []string{"locomo", file, file}},
		{"eval realtalk: want one file: memoryd eval realtalk [flags] FILE…", []string{"realtalk"}},
		{"locomo.json: is not REALTALK", []string{"realtalk", file}},
		{"chat.json: no such file", []string{"beam", t.TempDir()}},
		{`-messages "mine": want all or user`, []string{"beam", "-messages", "mine", t.TempDir()}},
		{"eval retrieval: unexpected argument", []string{"retrieval", file}},
		{"no such file", []string{"locomo", none}},
		{"locomo.json: line 7: unexpected end of JSON", []string{"locomo", damaged}},
		{`locomo.json: conversation 1 (sample_id "one"): session_1: session_1_date_time: "once on 8 May, 2024" is not as`, []string{"locomo", broken}},
		{"is a directory", []string{"locomo", t.TempDir()}},
		{`-facts "none": want extractor or observations`, []string{"locomo", file, "-facts", "none"}},
		{"not defined: -facts", []string{"retrieval", "-facts", "observations"}},
		{`-compare: setting "magic": want all, no-PART, PART or PART=WEIGHT`, []string{"retrieval", "-compare", "all,magic"}},
		{"-chart chart.png: want a name that ends in .svg or .html", []string{"retrieval", "-chart", "chart.png"}},
		{"there is no such directory", []string{"retrieval", "-json", filepath.Join(none, "x.json")}},
		{"-before: ", []string{"retrieval", "-before", none}},
		{"-before: locomo.json: ", []string{"retrieval", "-before", file}},
		{"-embedder", []string{"retrieval", "-embedder", "oracle"}},
	} {
		_, _, err := evaluate(t, c.args...)
		if exitCode(err) != 2 || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, want a mistake on the command line that says %q", c.args, err, c.says)
		}
	}
}
