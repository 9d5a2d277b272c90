package evals

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/gemini"
	"github.com/memoryd/memoryd/internal/modeltest"
	"github.com/memoryd/memoryd/openai"
)

var update = flag.Bool("update", false, "write what models are asked and what is known at the end into the cases, and what the rules come to into testdata")

// providers are the models that cases are played with, each on a server of its
// own.
var providers = map[string]func(testing.TB, modeltest.Script) extract.Generator{
	"gemini": func(t testing.TB, script modeltest.Script) extract.Generator {
		c, err := gemini.New(&gemini.Options{Getenv: modeltest.NewGemini(t, script).Getenv, Wait: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		return c.Generator("")
	},
	"openai": func(t testing.TB, script modeltest.Script) extract.Generator {
		c, err := openai.New(&openai.Options{Getenv: modeltest.NewOpenAI(t, script).Getenv, Wait: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		return c.Generator("")
	},
}

// actor plays the model of a case: it gives the case's answers in order, and
// records the requests.
type actor struct {
	mu      sync.Mutex
	answers []txtar.File
	asked   int
	prompts strings.Builder
	faults  []string
}

func (a *actor) answer(r modeltest.Request) modeltest.Reply {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked++
	kind := "extract"
	if _, ok := r.Schema["properties"].(map[string]any)["verdicts"]; ok {
		kind = "consolidate"
	}
	if len(a.answers) == 0 || !strings.HasSuffix(a.answers[0].Name, "/"+kind+".json") {
		a.faults = append(a.faults, fmt.Sprintf("it was asked to %s, and has no answer to that now:\n%s", kind, r.Data))
		return modeltest.Reply{Status: 400, Message: "nothing is left to say"}
	}
	next := a.answers[0]
	a.answers = a.answers[1:]
	fmt.Fprintf(&a.prompts, "# %s\n%s", strings.TrimSuffix(next.Name, ".json"), r.Data)
	return modeltest.Reply{Text: string(next.Data), Input: extract.Tokens(r.System + r.Data), Output: extract.Tokens(string(next.Data))}
}

// TestCases plays every case with each provider. The requests to the model,
// their number, and the facts at the end are those of the case.
func TestCases(t *testing.T) {
	names, err := filepath.Glob("cases/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal("there are no cases", err)
	}
	for _, file := range names {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c, err := parse(name, ar)
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				golden(ar, playWith(t, "gemini", c, ar))
				if t.Failed() {
					return // the outcome is of no use
				}
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			for provider := range providers {
				t.Run(provider, func(t *testing.T) {
					got := &txtar.Archive{Comment: ar.Comment, Files: append([]txtar.File{}, ar.Files...)}
					golden(got, playWith(t, provider, c, ar))
					if diff := cmp.Diff(string(txtar.Format(ar)), string(txtar.Format(got))); diff != "" {
						t.Errorf("(-want +got):\n%s", diff)
					}
				})
			}
		})
	}
}

// outcome is the result of a play that a test compares.
type outcome struct{ prompts, memories string }

// playWith plays a case with its own answers, and checks that all of them are
// used.
func playWith(t *testing.T, provider string, c Case, ar *txtar.Archive) (out outcome) {
	t.Helper()
	a := &actor{}
	batches := 0
	for _, f := range ar.Files {
		if strings.HasSuffix(f.Name, ".json") {
			a.answers = append(a.answers, f)
		}
		if strings.HasSuffix(f.Name, "/extract.json") {
			batches++
		}
	}
	scripted := len(a.answers)
	facts, used, err := play(t.Context(), extract.NewModel(providers[provider](t, a.answer), nil), embed.Builtin{}, c)
	if err != nil {
		t.Error(err)
	}
	for _, fault := range a.faults {
		t.Error(fault)
	}
	if len(a.answers) > 0 {
		t.Errorf("it was not asked for %s", a.answers[0].Name)
	}
	if a.asked != scripted || used.Calls != scripted || scripted > 2*batches {
		t.Errorf("%d calls, of which %d are told, in %d batches; want %d", a.asked, used.Calls, batches, scripted)
	}
	var memories strings.Builder
	for _, f := range facts {
		fmt.Fprintln(&memories, f)
	}
	modeltest.NoKey(t, a.prompts.String()+memories.String())
	return outcome{a.prompts.String(), memories.String()}
}

// golden puts an outcome into the last two sections of an archive, and adds
// them if they are missing.
func golden(ar *txtar.Archive, o outcome) {
	for _, f := range []txtar.File{{Name: "prompts", Data: []byte(o.prompts)}, {Name: "memories", Data: []byte(o.memories)}} {
		found := false
		for i := range ar.Files {
			if ar.Files[i].Name == f.Name {
				ar.Files[i], found = f, true
			}
		}
		if !found {
			ar.Files = append(ar.Files, f)
		}
	}
}

// The repository is public: no key may be in the cases.
func TestNoKeys(t *testing.T) {
	looksLikeKey := regexp.MustCompile(`AIza[\w-]{20,}|\bsk-[\w-]{16,}`)
	for _, key := range []string{"AIza" + strings.Repeat("x", 35), "sk-" + strings.Repeat("y", 20), "sk-proj-" + strings.Repeat("z", 20)} {
		if !looksLikeKey.MatchString("key=" + key) {
			t.Errorf("%s does not look like a key", key)
		}
	}
	read := 0
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		read++
		if found := looksLikeKey.Find(raw); found != nil {
			t.Errorf("%s: %s looks like a key", file, found)
		}
		if strings.Contains(string(raw), modeltest.Key) {
			t.Errorf("the key of the tests is in %s", file)
		}
		modeltest.NoKey(t, string(raw))
		return nil
	})
	if err != nil || read < 10 {
		t.Errorf("read %d files, %v", read, err)
	}
}
