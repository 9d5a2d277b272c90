package memoryd_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract"
)

// witness is every model of a Bank, and its log: it keeps what reaches it.
type witness struct {
	embed.Builtin
	mu   sync.Mutex
	seen bytes.Buffer
}

func (w *witness) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen.Write(p)
}

func (w *witness) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen.String()
}

func (w *witness) Embed(ctx context.Context, task embed.Task, texts []string) ([][]float32, error) {
	fmt.Fprintln(w, "embed", texts)
	return w.Builtin.Embed(ctx, task, texts)
}

// words are those of a model.
type words struct{ *witness }

func (w words) Name() string  { return "witness" }
func (w words) Model() string { return "witness" }

func (w words) Generate(_ context.Context, p extract.Prompt) (extract.Answer, error) {
	fmt.Fprintln(w, "generate", p)
	return extract.Answer{Text: `{"facts":[]}`}, nil
}

func (w words) Expand(_ context.Context, query string) ([]string, error) {
	fmt.Fprintln(w, "expand", query)
	return []string{query}, nil
}

func (w words) Rerank(_ context.Context, query string, texts []string) ([]float64, error) {
	fmt.Fprintln(w, "rerank", query, texts)
	return make([]float64, len(texts)), nil
}

// secrets has a secret of each kind, by a word that is found wherever a piece of it is.
// They are put together here, so that no scanner of repositories takes them for real.
var secrets = map[string]string{
	"Q7ZT3MXWPLR2": "AK" + "IAQ7ZT3MXWPLR2VB5N",
	"4929 1023":    "4929 1023 8841 7762",
	"Zwiebel#77":   "Zwiebel#77kuchen",
	"86095742719":  "86095742719",
	"0044 0532":    "DE89 3704 0044 0532 0130 00",
	"kiefer.uta":   "kiefer.uta@example.org",
	"351 912 345":  "+351 912 345 678",
}

// tell is a text with all secrets.
func tell() string {
	return "My access key is " + secrets["Q7ZT3MXWPLR2"] + ", I pay by card " + secrets["4929 1023"] +
		" and my password is " + secrets["Zwiebel#77"] + ". My Steuer-ID is " + secrets["86095742719"] + ", my IBAN " +
		secrets["0044 0532"] + ", write to " + secrets["kiefer.uta"] + " or call " + secrets["351 912 345"] + "."
}

// visit is one request, with secrets wherever its body has room for them.
type visit struct {
	method, path string // within the scope, or whole
	body         string // TELL stands for all secrets
	status       int    // 0 is 200 or 201
}

// visits are requests of every route that takes a text. Those before a ';' must have run.
func visits(inline string) []visit {
	event := `{"id":"ID","author":"user","timestamp":"2026-01-02T03:04:05Z","content":{"role":"ROLE","parts":[{"text":"TELL"},` +
		`{"functionCall":{"id":"c","name":"pay","args":{"password":"Zwiebel#77kuchen","list":["TELL"],"card":4929102388417762,"TELL":1}}},` +
		`{"functionResponse":{"id":"c","name":"pay","response":{"output":"TELL"}}},{"inlineData":{"mimeType":"text/plain","data":"` +
		inline + `"}}]},"customMetadata":{"note":"TELL"},"errorMessage":"TELL"}`
	as := func(id, role string) string {
		return strings.NewReplacer(`"ID"`, `"`+id+`"`, "ROLE", role).Replace(event)
	}
	said := `{"author":"agent","content":{"role":"model","parts":[{"text":"TELL"}]}}`
	return []visit{
		{"POST", "/sessions", `{"id":"s1","events":[` + as("e1", "user") + `],"state":{"note":"TELL"},` +
			`"displayName":"My password is Zwiebel#77kuchen","labels":{"password":"Zwiebel#77kuchen"}}`, 0},
		{"PATCH", "/sessions/s1", `{"stateDelta":{"note":"TELL","user:deep":{"a":["TELL"]}},` +
			`"displayName":"or my password is Zwiebel#77kuchen","labels":{"pw":"Zwiebel#77kuchen"}}`, 0},
		{"POST", "/sessions/s1/events?outputKey=answer", said, 0},
		{"POST", "/sessions/s1/events", `{"events":[` + as("e2", "model") + `]}`, 0},
		{"POST", "/sessions/s1/events", `{"content":"hi","actions":{"stateDelta":{"x":"TELL"}}}`, 0},
		{"POST", "/sessions/s1/render", `{"template":"TELL {answer}"}`, 0},
		{"POST", "/sessions/s1/memories?wait=true", `{}`, 0},
		{"POST", "/memories/ingest?wait=true", `{"sessionId":"s2","events":[` + as("e3",
			"user") + `,` + said + `]}`, 0},
		{"POST", "/memories/ingest?wait=true", `{"facts":[{"fact":"TELL"}],"metadata":{"a":"TELL"},` +
			`"labels":{"password":"Zwiebel#77kuchen"}}`, 0},
		{"POST", "/memories/dryRun", `{"sessionId":"s2","events":[` + as("e4", "user") + `]}`, 0},
		{"POST", "/memories", `{"fact":"TELL","displayName":"My password is Zwiebel#77kuchen","description":"TELL",` +
			`"metadata":{"a":"TELL","password":"Zwiebel#77kuchen"}}`, 0},
		{"PATCH", "/memories/ONE",
			`{"fact":"Indeed. TELL","description":"Again TELL","metadata":{"a":{"b":["TELL"]}}}`, 0},
		{"POST", "/v1/apps/shop/memories", `{"fact":"TELL"}`, 0},
		{"POST", "/v1/apps/shop/memories/search", `{"query":"TELL"}`, 0},
		{"POST", "/memories/search", `{"query":"TELL"}`, 0},
		{"POST", "/memories/search", `{"queries":["TELL","and this"]}`, 0},
		{"POST", "/memories/context", `{"query":"TELL"}`, 0},
		{"POST", "/tools/remember", `{"args":{"fact":"TELL"}}`, 0},
		{"POST", "/tools/save_conversation", `{"args":{"messages":[{"role":"user","text":"TELL"}]}}`, 0},
		{"POST", "/tools/search_memory", `{"args":{"query":"TELL"}}`, 0},
		{"POST", "/tools/load_memory", `{"args":{"query":"TELL"}}`, 0},
		{"POST", "/tools/preload_memory", `{"args":{"query":"TELL"}}`, 0},
		{"POST", "/mcp/apps/shop/users/ann",
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"remember",` +
				`"arguments":{"fact":"TELL"}}}`, 0},
		// Messages of errors repeat what they refuse.
		{"POST", "/sessions/s1/events", `{"content":"x","timestamp":"password: Zwiebel#77kuchen"}`, 400},
		{"POST", "/memories", `{"fact":"x","password: Zwiebel#77kuchen":1}`, 400},
		{"POST", "/memories/search", `{"query":"x","kinds":["password: Zwiebel#77kuchen"]}`, 400},
		{"POST", "/memories", `{"fact":"x","validFrom":"IBAN DE89 3704 0044 0532 0130 00"}`, 400},
	}
}

// What an app wants redacted is nowhere: not in a file, in the log, in what a model was
// asked, or in an answer, by whatever route it came. Without redaction it is.
func TestRedacted(t *testing.T) {
	for name, config := range map[string]string{
		"on":  `{"redaction":{"kinds":["keys","cards","ibans","nationalIds","passwords","emails","phones"],"state":true}}`,
		"off": `{}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, w := t.TempDir(), &witness{}
			model := words{w}
			b, err := memoryd.Open(t.Context(), dir, &memoryd.Options{Embedder: w,
				Extractor: extract.NewModel(model, nil),
				Expander:  model, Reranker: model, Log: slog.New(slog.NewJSONHandler(w,
					&slog.HandlerOptions{Level: slog.LevelDebug}))})
			if err != nil {
				t.Fatal(err)
			}
			send := func(method, path, body string) (int, string) {
				r := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(body))
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Accept", "application/json, text/event-stream")
				out := httptest.NewRecorder()
				b.ServeHTTP(out, r)
				return out.Code, out.Body.String()
			}
			if status, answer := send("PUT", "/v1/apps/shop/config", config); status != http.StatusOK {
				t.Fatal(status, answer)
			}
			one := ""
			secret, _ := json.Marshal(tell())
			fill := strings.NewReplacer("TELL", string(secret[1:len(secret)-1]))
			for _, v := range visits(base64.StdEncoding.EncodeToString([]byte(tell()))) {
				path := v.path
				if !strings.HasPrefix(path, "/mcp") && !strings.HasPrefix(path, "/v1") {
					path = "/v1/apps/shop/users/ann" + strings.Replace(path, "ONE", one, 1)
				}
				status, answer := send(v.method, path, fill.Replace(v.body))
				if v.status == 0 && status != http.StatusOK && status != http.StatusCreated || v.status > 0 &&
					status != v.status {
					t.Fatalf("%s %s: %d %s", v.method, path, status, answer)
				}
				if v.path == "/memories" && v.status == 0 {
					var m struct{ ID string }
					if err := json.Unmarshal([]byte(answer), &m); err != nil {
						t.Fatal(err)
					}
					one = m.ID
				}
				if !strings.HasSuffix(path, "render") { // which gives back the template
					fmt.Fprintln(w, "answer", answer)
				}
			}
			_, session := send("GET", "/v1/apps/shop/users/ann/sessions/s1", "")
			if inline := base64.StdEncoding.EncodeToString([]byte("My access key is [REDACTED:key], I pay")); name == "on" &&
				!strings.Contains(session, inline[:40]) {
				t.Errorf("the text in inlineData is not redacted: %s", session)
			}
			_, metrics := send("GET", "/metrics", "")
			if name == "on" && (strings.Contains(metrics, `memoryd_redacted_total{kind="cards"} 0`) ||
				!strings.Contains(metrics, `memoryd_redacted_total{kind="ibans"}`)) {
				t.Error("the metrics do not count cards")
			}
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			found := map[string]bool{}
			look := func(where, text string) {
				for word := range secrets {
					if strings.Contains(text, word) {
						found[word] = true
						if name == "on" {
							at := strings.Index(text, word)
							t.Errorf("%s has %q: …%q…", where, word, text[max(0, at-120):min(len(text), at+60)])
						}
					}
				}
			}
			look("what was told", w.text())
			err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				raw, err := os.ReadFile(path)
				look(filepath.Base(path), string(raw))
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if name == "off" && len(found) < len(secrets) {
				t.Errorf("without redaction, only %v are found: the test looks in the wrong places", found)
			}
		})
	}
}
