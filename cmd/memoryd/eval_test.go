package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/internal/modeltest"
)

// evaluate runs the command in a directory of data that is not there.
func evaluate(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errs bytes.Buffer
	data := filepath.Join(t.TempDir(), "data")
	err = run(t.Context(), append([]string{"eval", "-data", data}, args...), &out, &errs)
	if _, statErr := os.Stat(data); !os.IsNotExist(statErr) {
		t.Errorf("the directory of the data is touched: %v", statErr)
	}
	return out.String(), errs.String(), err
}

// The rules are scored without any network, one row a case and one for all.
func TestEval(t *testing.T) {
	out, errs, err := evaluate(t)
	if err != nil || errs != "" {
		t.Errorf("%v, stderr %q", err, errs)
	}
	if !strings.Contains(out, "extractor rules,") {
		t.Errorf("who is scored is not told:\n%s", out)
	}
	rows := regexp.MustCompile(`(?m)^(\w+) +\d+ +\d+ +\d+ +[01]\.\d\d +[01]\.\d\d +[01]\.\d\d +\d+ +0 +0$`).FindAllStringSubmatch(out, -1)
	if len(rows) < 15 || rows[len(rows)-1][1] != "all" {
		t.Errorf("%d rows:\n%s", len(rows), out)
	}
	_, errs, err = evaluate(t, "-log-level", "debug")
	if err != nil || !strings.Contains(errs, "msg=missing case=") || !strings.Contains(errs, "msg=wrong case=") {
		t.Errorf("%v, what is missing and wrong is not in the log:\n%s", err, errs)
	}
}

func TestEvalUsage(t *testing.T) {
	_, errs, err := evaluate(t, "-h")
	if exitCode(err) != 0 || !strings.Contains(errs, "memoryd eval [flags]") {
		t.Errorf("-h: %v:\n%s", err, errs)
	}
	for _, args := range [][]string{{"family"}, {"-extractor", "oracle"}} {
		if _, _, err := evaluate(t, args...); exitCode(err) != 2 {
			t.Errorf("%q: %v, want a mistake on the command line", args, err)
		}
	}
}

// A model that finds nothing is a poor one, and no failure.
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

// Where the model fails the command does, and says why: at once where no case
// can do better, else when all have been played.
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
