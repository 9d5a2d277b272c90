package gemini_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/gemini"
	"github.com/memoryd/memoryd/internal/modeltest"
	"github.com/memoryd/memoryd/memory"
)

var prompt = extract.Prompt{System: "Find facts.", Data: "I moved to Porto.", MaxTokens: 1000,
	Schema: map[string]any{"type": "object", "additionalProperties": false, "required": []string{"facts"},
		"properties": map[string]any{
			"facts": map[string]any{"type": "array", "items": map[string]any{"type": "string"}},
		}}}

// open returns a client that hardly waits between tries.
func open(t *testing.T, getenv func(string) string) *gemini.Client {
	t.Helper()
	c, err := gemini.New(&gemini.Options{Getenv: getenv, Wait: time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// same compares JSON regardless of the order of fields.
func same(t *testing.T, want string, got json.RawMessage) {
	t.Helper()
	var w, g any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(got, &g); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(w, g); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

// Each generation of models gets the parameters that it takes.
func TestGenerateRequest(t *testing.T) {
	t.Parallel()
	for model, c := range map[string]struct{ path, config string }{
		"":                      {"gemini-2.5-flash", `"temperature": 0, "maxOutputTokens": 1000, "thinkingConfig": {"thinkingBudget": 0}`},
		"gemini-2.5-flash-lite": {"gemini-2.5-flash-lite", `"temperature": 0, "maxOutputTokens": 1000, "thinkingConfig": {"thinkingBudget": 0}`},
		"gemini-2.5-pro":        {"gemini-2.5-pro", `"temperature": 0, "maxOutputTokens": 1128, "thinkingConfig": {"thinkingBudget": 128}`},
		"gemini-3.5-flash":      {"gemini-3.5-flash", `"maxOutputTokens": 5096, "thinkingConfig": {"thinkingLevel": "LOW"}`},
		"models/gemini-3-pro":   {"gemini-3-pro", `"maxOutputTokens": 5096, "thinkingConfig": {"thinkingLevel": "LOW"}`},
		"gemini-flash-latest":   {"gemini-flash-latest", `"maxOutputTokens": 5096, "thinkingConfig": {"thinkingLevel": "LOW"}`}, // taken for one of the newest
		"gemini-2.0-flash":      {"gemini-2.0-flash", `"temperature": 0, "maxOutputTokens": 1000`},
		"gemma-3-27b-it":        {"gemma-3-27b-it", `"temperature": 0, "maxOutputTokens": 1000`},
	} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			s := modeltest.NewGemini(t, nil)
			g := open(t, s.Getenv).Generator(model)
			if _, err := g.Generate(t.Context(), prompt); err != nil {
				t.Fatal(err)
			}
			q := s.Requests()[0]
			if want := "/v1beta/models/" + c.path + ":generateContent"; q.Path != want {
				t.Errorf("path %s, want %s", q.Path, want)
			}
			same(t, `{"systemInstruction": {"role": "user", "parts": [{"text": "Find facts."}]},
				"contents": [{"role": "user", "parts": [{"text": "I moved to Porto."}]}],
				"generationConfig": {"responseMimeType": "application/json", `+c.config+`, "responseJsonSchema": {"type": "object", "additionalProperties": false,
					"required": ["facts"], "properties": {"facts": {"type": "array", "items": {"type": "string"}}}}}}`, q.Body)
			if got := q.Header.Get("X-Goog-Api-Key"); got != modeltest.Key {
				t.Errorf("key %q", got)
			}
			if want := "gemini:" + model; model != "" && g.Model() != want ||
				model == "" && g.Model() != "gemini:"+gemini.DefaultModel {
				t.Errorf("model %s", g.Model())
			}
		})
	}
}

// A prompt without instructions, schema and limit is sent without those fields.
func TestBarePrompt(t *testing.T) {
	t.Parallel()
	s := modeltest.NewGemini(t, nil)
	if _, err := open(t, s.Getenv).Generator("gemini-2.0-flash").Generate(t.Context(), extract.Prompt{Data: "x"}); err != nil {
		t.Fatal(err)
	}
	same(
		t,
		`{"contents": [{"role": "user", "parts": [{"text": "x"}]}], "generationConfig": {"responseMimeType": "application/json", "temperature": 0}}`,
		s.Requests()[0].Body,
	)
}

// Each way in which a model can end its answer becomes an Answer or a refusal.
func TestAnswers(t *testing.T) {
	t.Parallel()
	usage := func(in, out int) extract.Usage { return extract.Usage{Calls: 1, InputTokens: in, OutputTokens: out} }
	for name, c := range map[string]struct {
		reply modeltest.Reply
		want  extract.Answer
		err   string // of a refusal
	}{
		"text":       {modeltest.Reply{Text: `{"facts":[]}`, Input: 7, Output: 3}, extract.Answer{Text: `{"facts":[]}`, Usage: usage(7, 3)}, ""},
		"thoughts":   {modeltest.Reply{Text: `{}`, Thought: "Hm.", Input: 7, Output: 3, Thinking: 20}, extract.Answer{Text: `{}`, Usage: usage(7, 23)}, ""},
		"cut":        {modeltest.Reply{Text: `{"fa`, Finish: modeltest.Length, Output: 3}, extract.Answer{Text: `{"fa`, Cut: true, Usage: usage(0, 3)}, ""},
		"no text":    {modeltest.Reply{Body: `{"candidates":[{"content":{"role":"model"},"finishReason":"STOP"}]}`}, extract.Answer{Usage: usage(0, 0)}, ""},
		"no content": {modeltest.Reply{Body: `{"candidates":[{"finishReason":"MAX_TOKENS"}]}`}, extract.Answer{Cut: true, Usage: usage(0, 0)}, ""},
		"parts": {modeltest.Reply{Body: `{"candidates":[{"content":{"parts":[{"text":"{"},{"text":"so","thought":true},{"text":"}"}]}}],"usageMetadata":{"promptTokenCount":2}}`},
			extract.Answer{Text: "{}", Usage: usage(2, 0)}, ""},
		"blocked":       {modeltest.Reply{Refusal: "PROHIBITED_CONTENT", Input: 7}, extract.Answer{Usage: usage(7, 0)}, "the prompt is blocked (PROHIBITED_CONTENT)"},
		"no candidates": {modeltest.Reply{NoAnswer: true, Input: 7}, extract.Answer{Usage: usage(7, 0)}, "no answer (without a reason)"},
		"empty body":    {modeltest.Reply{Body: `{}`}, extract.Answer{Usage: usage(0, 0)}, "no answer (without a reason)"},
		"safety":        {modeltest.Reply{Text: "{", Finish: modeltest.Filtered, Output: 1}, extract.Answer{Usage: usage(0, 1)}, "the answer is stopped (SAFETY)"},
		"recitation":    {modeltest.Reply{Finish: "RECITATION"}, extract.Answer{Usage: usage(0, 0)}, "the answer is stopped (RECITATION)"},
		"blocklist":     {modeltest.Reply{Finish: "BLOCKLIST"}, extract.Answer{Usage: usage(0, 0)}, "the answer is stopped (BLOCKLIST)"},
		"prohibited":    {modeltest.Reply{Finish: "PROHIBITED_CONTENT"}, extract.Answer{Usage: usage(0, 0)}, "the answer is stopped (PROHIBITED_CONTENT)"},
		"personal":      {modeltest.Reply{Finish: "SPII"}, extract.Answer{Usage: usage(0, 0)}, "the answer is stopped (SPII)"},
		"language":      {modeltest.Reply{Finish: "LANGUAGE"}, extract.Answer{Usage: usage(0, 0)}, "the answer is stopped (LANGUAGE)"},
		"other":         {modeltest.Reply{Finish: "OTHER"}, extract.Answer{Usage: usage(0, 0)}, "the answer is stopped (OTHER)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modeltest.NewGemini(t, modeltest.Replies(c.reply))
			got, err := open(t, s.Getenv).Generator("").Generate(t.Context(), prompt)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			want := ""
			if c.err != "" {
				want = "gemini:gemini-2.5-flash: " + c.err + ": the model refuses to answer"
			}
			if text := fmt.Sprint(err); (err != nil || want != "") &&
				(text != want || !errors.Is(err, extract.ErrRefused)) {
				t.Errorf("error %v, want %q", err, want)
			}
			if n := len(s.Requests()); n != 1 {
				t.Errorf("%d calls", n)
			}
		})
	}
}

// Failures of generate and of embed are the same.
func TestErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reply modeltest.Reply
		env   [2]string
		kind  error
		tries int
		after time.Duration
		text  string
	}{
		"bad request": {reply: modeltest.Reply{Status: 400, Message: "no"}, kind: memory.ErrInvalid, tries: 1, text: "400: Bad Request: no"},
		"wrong key":   {env: [2]string{"GEMINI_API_KEY", "key-of-others"}, kind: memory.ErrInvalid, tries: 1, text: "400: the key in GEMINI_API_KEY is refused (INVALID_ARGUMENT)"},
		"other wrong key": {env: [2]string{"GOOGLE_API_KEY", "key-of-others"}, kind: memory.ErrInvalid, tries: 1,
			text: "400: the key in GOOGLE_API_KEY is refused (INVALID_ARGUMENT)"},
		"forbidden": {reply: modeltest.Reply{Status: 403, Message: "Enable the API."}, kind: memory.ErrInvalid, tries: 1,
			text: "403: access with the key in GEMINI_API_KEY is refused: Enable the API."},
		"no such model": {reply: modeltest.Reply{Status: 404, Message: "models/m is not found"}, kind: memory.ErrInvalid, tries: 1,
			text: "404: there is no such model, or GOOGLE_GEMINI_BASE_URL is not the address of its API: models/m is not found"},
		"limit": {reply: modeltest.Reply{Status: 429, Message: "Slow down."}, kind: memory.ErrExhausted, tries: 3, text: "429: Too Many Requests: Slow down."},
		"limit, soon over": {reply: modeltest.Reply{Status: 429, RetryDelay: "0.001s"}, kind: memory.ErrExhausted, tries: 3, after: time.Millisecond,
			text: "429: Too Many Requests"},
		"limit of a day": {reply: modeltest.Reply{Status: 429, RetryDelay: "12s", RetryAfter: "3"}, kind: memory.ErrExhausted, tries: 1, after: 12 * time.Second,
			text: "429: Too Many Requests"},
		"away for a while": {reply: modeltest.Reply{Status: 503, RetryAfter: "30"}, kind: memory.ErrUnavailable, tries: 1, after: 30 * time.Second,
			text: "503: Service Unavailable"},
		"overloaded": {reply: modeltest.Reply{Status: 503, Message: "The model is overloaded."}, kind: memory.ErrUnavailable, tries: 3,
			text: "503: Service Unavailable: The model is overloaded."},
		"internal":       {reply: modeltest.Reply{Status: 500}, kind: memory.ErrUnavailable, tries: 3, text: "500: Internal Server Error"},
		"proxy":          {reply: modeltest.Reply{Status: 502, Body: "<html>"}, kind: memory.ErrUnavailable, tries: 3, text: "502: Bad Gateway"},
		"cut":            {reply: modeltest.Reply{Cut: true}, kind: memory.ErrUnavailable, tries: 3, text: "its answer cannot be read: unexpected EOF"},
		"reset":          {reply: modeltest.Reply{Reset: true}, kind: memory.ErrUnavailable, tries: 3},
		"broken":         {reply: modeltest.Reply{Body: `{"candidates":[`}, kind: memory.ErrUnavailable, tries: 3, text: "its answer cannot be read: unexpected end of JSON input"},
		"not JSON":       {reply: modeltest.Reply{Body: "<html>" + modeltest.Key}, kind: memory.ErrUnavailable, tries: 3, text: "its answer cannot be read: invalid character '<' looking for beginning of value"},
		"says the key":   {reply: modeltest.Reply{Status: 400, Message: "not " + modeltest.Key}, kind: memory.ErrInvalid, tries: 1, text: "400: Bad Request: not [key]"},
		"says it in 401": {reply: modeltest.Reply{Status: 401, Message: modeltest.Key[:10]}, kind: memory.ErrInvalid, tries: 1, text: "401: the key in GEMINI_API_KEY is refused (UNAUTHENTICATED)"},
	} {
		for _, call := range []string{"generate", "embed"} {
			t.Run(name+"/"+call, func(t *testing.T) {
				t.Parallel()
				s := modeltest.NewGemini(t, modeltest.Replies(c.reply))
				getenv := s.Getenv
				if c.env[0] != "" {
					getenv = s.With(c.env[0], c.env[1])
				}
				err := run(t.Context(), t, open(t, getenv), call)
				if !errors.Is(err, c.kind) || memory.RetryAfter(err) != c.after {
					t.Errorf("error %v, to be retried after %v", err, memory.RetryAfter(err))
				}
				if want := "gemini:m at " + s.URL() + ": " + c.text; !strings.HasPrefix(fmt.Sprint(err), want) {
					t.Errorf("error %q, want %q", err, want)
				}
				if n := len(s.Requests()); n != c.tries {
					t.Errorf("%d tries, want %d", n, c.tries)
				}
				modeltest.NoKey(t, fmt.Sprintf("%v %+v %#v", err, err, err))
			})
		}
	}
}

func run(ctx context.Context, t *testing.T, c *gemini.Client, call string) error {
	t.Helper()
	if call == "generate" {
		_, err := c.Generator("m").Generate(ctx, prompt)
		return err
	}
	e, err := c.Embedder("m", 8)
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Embed(ctx, embed.Document, []string{"tea"})
	return err
}

// A failure that passes is tried again.
func TestAgain(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"generate", "embed"} {
		for name, first := range map[string]modeltest.Reply{
			"overloaded": {Status: 503}, "reset": {Reset: true}, "cut": {Cut: true}, "limit": {Status: 429, RetryDelay: "0.001s"}, "broken": {Body: "{"},
		} {
			t.Run(call+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := modeltest.NewGemini(t, modeltest.Replies(first, modeltest.Reply{}))
				if err := run(t.Context(), t, open(t, s.Getenv), call); err != nil || len(s.Requests()) != 2 {
					t.Errorf("error %v after %d calls", err, len(s.Requests()))
				}
			})
		}
	}
}

// A service that is slow is unavailable. A caller who leaves gets the error of the
// context.
func TestSlow(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"generate", "embed"} {
		s := modeltest.NewGemini(t, modeltest.Replies(modeltest.Reply{Delay: time.Hour}))
		c, err := gemini.New(&gemini.Options{Getenv: s.Getenv, Timeout: 20 * time.Millisecond, Wait: time.Microsecond})
		if err != nil {
			t.Fatal(err)
		}
		if err := run(t.Context(), t, c, call); !errors.Is(err, memory.ErrUnavailable) ||
			errors.Is(err, context.DeadlineExceeded) ||
			!strings.Contains(err.Error(), "no answer within 20ms") {
			t.Errorf("error %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		slow := modeltest.NewGemini(t, func(modeltest.Request) modeltest.Reply {
			cancel()
			return modeltest.Reply{Delay: time.Hour}
		})
		if err := run(ctx, t, open(t, slow.Getenv), call); err != context.Canceled || len(slow.Requests()) != 1 {
			t.Errorf("error %v after %d calls", err, len(slow.Requests()))
		}
	}
}

// A client can be made while its service is unavailable; its calls fail.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	c := open(
		t,
		modeltest.NewGemini(t, nil).With("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:1"),
	) // where no server listens
	for _, call := range []string{"generate", "embed"} {
		if err := run(t.Context(), t, c, call); !errors.Is(err, memory.ErrUnavailable) ||
			!strings.Contains(err.Error(), "connection refused") {
			t.Errorf("error %v", err)
		}
	}
}

// A model that refuses the setting of thinking gets none in later calls.
func TestThinkingUntold(t *testing.T) {
	t.Parallel()
	s := modeltest.NewGemini(t, func(q modeltest.Request) modeltest.Reply {
		if strings.Contains(string(q.Body), "thinking") {
			return modeltest.Reply{Status: 400, Message: "Thinking level is not supported for this model."}
		}
		return modeltest.Reply{}
	})
	g := open(t, s.Getenv).Generator("gemini-3-x")
	for range 2 {
		if _, err := g.Generate(t.Context(), prompt); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(s.Requests()); n != 3 || s.Requests()[2].MaxTokens != 5096 {
		t.Errorf("%d calls, the last of %d tokens", n, s.Requests()[2].MaxTokens)
	}
	// A prompt that is refused either way makes an error, and nothing is remembered.
	never := modeltest.NewGemini(t, modeltest.Replies(modeltest.Reply{Status: 400, Message: "thinking"}))
	g = open(t, never.Getenv).Generator("gemini-3-x")
	for range 2 {
		if _, err := g.Generate(t.Context(), prompt); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("error %v", err)
		}
	}
	if n := len(never.Requests()); n != 4 {
		t.Errorf("%d calls", n)
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env  map[string]string
		want string // in the error
	}{
		"nothing":                  {nil, "set GEMINI_API_KEY or GOOGLE_API_KEY, or, for Vertex AI, GOOGLE_GENAI_USE_VERTEXAI=true and GOOGLE_CLOUD_PROJECT"},
		"key":                      {map[string]string{"GEMINI_API_KEY": "k"}, ""},
		"other key":                {map[string]string{"GOOGLE_API_KEY": "k"}, ""},
		"vertex off":               {map[string]string{"GOOGLE_GENAI_USE_VERTEXAI": "false", "GOOGLE_CLOUD_PROJECT": "p"}, "GEMINI_API_KEY"},
		"vertex":                   {map[string]string{"GOOGLE_GENAI_USE_VERTEXAI": "True", "GOOGLE_CLOUD_PROJECT": "p"}, ""},
		"enterprise":               {map[string]string{"GOOGLE_GENAI_USE_ENTERPRISE": "1", "GOOGLE_CLOUD_PROJECT": "p", "GOOGLE_CLOUD_REGION": "eu"}, ""},
		"vertex key":               {map[string]string{"GOOGLE_GENAI_USE_VERTEXAI": "1", "GOOGLE_API_KEY": "k"}, ""},
		"vertex without a project": {map[string]string{"GOOGLE_GENAI_USE_VERTEXAI": "1"}, "set GOOGLE_CLOUD_PROJECT"},
		"address":                  {map[string]string{"GEMINI_API_KEY": modeltest.Key, "GOOGLE_GEMINI_BASE_URL": "host"}, "GOOGLE_GEMINI_BASE_URL"},
		"address with key":         {map[string]string{"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": "https://host?key=" + modeltest.Key}, "GOOGLE_GEMINI_BASE_URL"},
		"vertex's address":         {map[string]string{"GOOGLE_GENAI_USE_VERTEXAI": "1", "GOOGLE_CLOUD_PROJECT": "p", "GOOGLE_VERTEX_BASE_URL": "host"}, "GOOGLE_VERTEX_BASE_URL"},
		"another's address":        {map[string]string{"GEMINI_API_KEY": "k", "GOOGLE_VERTEX_BASE_URL": "host"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := gemini.New(&gemini.Options{Getenv: func(name string) string { return c.env[name] }})
			if (err != nil) != (c.want != "") ||
				err != nil && (!strings.Contains(err.Error(), c.want) || !errors.Is(err, memory.ErrInvalid)) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			modeltest.NoKey(t, fmt.Sprint(err))
		})
	}
}

// The environment of the process is the default. Google's library logs which of
// two keys it takes, but not the key.
func TestEnvironment(t *testing.T) {
	var logged bytes.Buffer
	log.SetOutput(&logged)
	defer log.SetOutput(os.Stderr)
	s := modeltest.NewGemini(t, nil)
	t.Setenv("GOOGLE_API_KEY", modeltest.Key)
	t.Setenv("GOOGLE_GENAI_USE_VERTEXAI", "")
	t.Setenv("GOOGLE_GENAI_USE_ENTERPRISE", "")
	for _, name := range []string{"GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"} {
		t.Setenv(name, s.Getenv(name))
	}
	c, err := gemini.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), t, c, "generate"); err != nil || len(s.Requests()) != 1 {
		t.Errorf("error %v after %d calls", err, len(s.Requests()))
	}
	modeltest.NoKey(t, logged.String())
}

// Vertex AI is called with a token of the machine's account, one text at a time.
func TestVertex(t *testing.T) {
	s := modeltest.NewGemini(t, nil)
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", s.Credentials("memoryd@example.com"))
	c := open(t, s.OnVertex)
	if _, err := c.Generator("").Generate(t.Context(), prompt); err != nil {
		t.Fatal(err)
	}
	e, err := c.Embedder("", 16)
	if err != nil {
		t.Fatal(err)
	}
	vectors, err := e.Embed(t.Context(), embed.Query, []string{"tea", "", "coffee", "tea"})
	if err != nil {
		t.Fatal(err)
	}
	if cosine(vectors[0], vectors[3]) < 0.999 || cosine(vectors[0], vectors[2]) > 0.9 ||
		cosine(vectors[1], vectors[1]) != 0 {
		t.Errorf("vectors %v", vectors)
	}
	later, err := c.Embedder("gemini-embedding-2", 16) // which has another method
	if err != nil {
		t.Fatal(err)
	}
	if _, err := later.Embed(t.Context(), embed.Document, []string{"tea", "coffee"}); err != nil {
		t.Fatal(err)
	}
	requests := s.Requests()
	var paths []string
	for _, q := range requests {
		paths = append(paths, q.Path)
	}
	const models = "/v1beta1/projects/project-1/locations/europe-west4/publishers/google/models/"
	want := []string{
		models + "gemini-2.5-flash:generateContent",
		models + "gemini-embedding-001:predict",
		models + "gemini-embedding-001:predict",
		models + "gemini-embedding-001:predict",
		models + "gemini-embedding-2:embedContent",
		models + "gemini-embedding-2:embedContent",
	}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
	same(
		t,
		`{"instances": [{"content": "tea", "task_type": "RETRIEVAL_QUERY"}], "parameters": {"outputDimensionality": 16}}`,
		requests[1].Body,
	)
	same(
		t,
		`{"content": {"role": "user", "parts": [{"text": "tea"}]}, "embedContentConfig": {"taskType": "RETRIEVAL_DOCUMENT", "outputDimensionality": 16}}`,
		requests[4].Body,
	)
}

// An account that gets no token, and a machine without an account, make errors.
func TestVertexRefused(t *testing.T) {
	s := modeltest.NewGemini(t, nil)
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", s.Credentials(modeltest.Unknown))
	for _, call := range []string{"generate", "embed"} {
		err := run(t.Context(), t, open(t, s.OnVertex), call)
		if !errors.Is(err, memory.ErrInvalid) ||
			!strings.Contains(err.Error(), "the Google Cloud credentials are refused") {
			t.Errorf("error %v", err)
		}
	}
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere/credentials.json")
	err := run(t.Context(), t, open(t, s.OnVertex), "generate")
	if !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), "credentials") {
		t.Errorf("error %v", err)
	}
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d calls", n)
	}
}

// Errors of Vertex AI are read with the library's own HTTP client, too.
func TestVertexErrors(t *testing.T) {
	s := modeltest.NewGemini(
		t,
		modeltest.Replies(
			modeltest.Reply{Status: 429, RetryAfter: "30"},
			modeltest.Reply{Status: 307, Body: "{}", Header: http.Header{"Location": {"/"}}},
		),
	)
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", s.Credentials("memoryd@example.com"))
	c := open(t, s.OnVertex)
	if err := run(t.Context(), t, c, "generate"); !errors.Is(err, memory.ErrExhausted) ||
		memory.RetryAfter(err) != 30*time.Second ||
		len(s.Requests()) != 1 {
		t.Errorf("error %v after %d calls", err, len(s.Requests()))
	}
	if err := run(t.Context(), t, c, "generate"); !errors.Is(err, memory.ErrInvalid) ||
		!strings.Contains(err.Error(), "set GOOGLE_VERTEX_BASE_URL to the address itself") {
		t.Errorf("error %v", err)
	}
}

// A key of Vertex AI needs no project.
func TestVertexKey(t *testing.T) {
	t.Parallel()
	s := modeltest.NewGemini(t, nil)
	env := map[string]string{
		"GOOGLE_GENAI_USE_VERTEXAI": "1",
		"GOOGLE_API_KEY":            modeltest.Key,
		"GOOGLE_VERTEX_BASE_URL":    s.URL(),
	}
	if err := run(t.Context(), t, open(t, func(name string) string { return env[name] }), "generate"); err != nil {
		t.Fatal(err)
	}
	if q := s.Requests()[0]; q.Path != "/v1beta1/publishers/google/models/m:generateContent" ||
		q.Header.Get("X-Goog-Api-Key") != modeltest.Key {
		t.Errorf("path %s, header %v", q.Path, q.Header)
	}
	// Refusals have words there, which are cleaned as well.
	env["GOOGLE_VERTEX_BASE_URL"] = modeltest.NewGemini(
		t,
		modeltest.Replies(
			modeltest.Reply{
				Body: `{"candidates":[{"finishReason":"SAFETY","finishMessage":"It is ` + modeltest.Key + `."}]}`,
			},
		),
	).URL()
	err := run(t.Context(), t, open(t, func(name string) string { return env[name] }), "generate")
	if want := "gemini:m: the answer is stopped (SAFETY: It is [key].): the model refuses to answer"; fmt.Sprint(
		err,
	) != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func cosine(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestEmbedRequest(t *testing.T) {
	t.Parallel()
	for task, want := range map[embed.Task]string{embed.Document: "RETRIEVAL_DOCUMENT", embed.Query: "RETRIEVAL_QUERY"} {
		s := modeltest.NewGemini(t, nil)
		e, err := open(t, s.Getenv).Embedder("", 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Embed(t.Context(), task, []string{"tea", " ", "coffee"}); err != nil {
			t.Fatal(err)
		}
		q := s.Requests()[0]
		if q.Path != "/v1beta/models/gemini-embedding-001:batchEmbedContents" {
			t.Errorf("path %s", q.Path)
		}
		one := `{"model": "models/gemini-embedding-001", "content": {"role": "user", "parts": [{"text": "%s"}]}, "taskType": "` + want + `", "outputDimensionality": 768}`
		same(t, `{"requests": [`+fmt.Sprintf(one, "tea")+`, `+fmt.Sprintf(one, "coffee")+`]}`, q.Body)
		if diff := cmp.Diff(embed.Model{Name: "gemini:gemini-embedding-001", Dimension: 768, Noise: 0.4, Remote: true}, e.Model()); diff != "" {
			t.Errorf("model (-want +got):\n%s", diff)
		}
	}
}

// Vectors are of unit length, and those of several calls in the order of their
// texts.
func TestEmbedMany(t *testing.T) {
	t.Parallel()
	s := modeltest.NewGemini(t, nil)
	e, err := open(t, s.Getenv).Embedder("", 0)
	if err != nil {
		t.Fatal(err)
	}
	texts := make([]string, 250)
	for i := range texts {
		if i%10 != 3 {
			texts[i] = fmt.Sprintf("word%d", i)
		}
	}
	vectors, err := e.Embed(t.Context(), embed.Document, texts)
	if err != nil {
		t.Fatal(err)
	}
	var sizes []int
	for _, q := range s.Requests() {
		sizes = append(sizes, len(q.Texts))
	}
	if diff := cmp.Diff([]int{100, 100, 25}, sizes); diff != "" {
		t.Errorf("sizes of calls (-want +got):\n%s", diff)
	}
	for i, v := range vectors {
		alone, err := e.Embed(t.Context(), embed.Document, texts[i:i+1])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(alone[0], v); diff != "" {
			t.Fatalf("text %d is not where it was (-alone +together):\n%s", i, diff)
		}
		if length := math.Sqrt(cosine(v, v)); texts[i] != "" && math.Abs(length-1) > 1e-6 ||
			texts[i] == "" && length != 0 ||
			len(v) != 768 {
			t.Errorf("vector %d has %d numbers and length %v", i, len(v), length)
		}
	}
}

// A long text is cut between characters. No texts need no call.
func TestEmbedEdges(t *testing.T) {
	t.Parallel()
	s := modeltest.NewGemini(t, nil)
	e, err := open(t, s.Getenv).Embedder("", 8)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := e.Embed(t.Context(), embed.Query, nil); err != nil || len(v) != 0 || len(s.Requests()) != 0 {
		t.Errorf("no texts: %v, %v after %d calls", v, err, len(s.Requests()))
	}
	if v, err := e.Embed(t.Context(), embed.Query, []string{"", "\t"}); err != nil || cosine(v[0], v[0]) != 0 ||
		len(v[1]) != 8 ||
		len(s.Requests()) != 0 {
		t.Errorf("empty texts: %v, %v after %d calls", v, err, len(s.Requests()))
	}
	if _, err := e.Embed(t.Context(), embed.Query, []string{strings.Repeat("日", 1000)}); err != nil {
		t.Fatal(err)
	}
	if got := s.Requests()[0].Texts[0]; got != strings.Repeat("日", 666) {
		t.Errorf("%d bytes were sent", len(got))
	}
}

// An answer that does not fit the request is refused.
func TestEmbedChecked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reply modeltest.Reply
		kind  error
		text  string
	}{
		"another dimension": {modeltest.Reply{Vectors: [][]float64{{1, 0}}}, memory.ErrInvalid, "its vectors have 2 numbers, not 3: set -embedding-dimension"},
		"too few":           {modeltest.Reply{Vectors: [][]float64{}}, memory.ErrUnavailable, "it has 0 vectors for 1 texts"},
		"too many":          {modeltest.Reply{Vectors: [][]float64{{1, 0, 0}, {1, 0, 0}}}, memory.ErrUnavailable, "it has 2 vectors for 1 texts"},
		"too large":         {modeltest.Reply{Vectors: [][]float64{{1e39, 0, 0}}}, memory.ErrUnavailable, "its answer cannot be read: number 1e+39 where a float32 is expected"},
		"not there":         {modeltest.Reply{Body: `{"embeddings":[null]}`}, memory.ErrInvalid, "its vectors have 0 numbers"},
		"not a number":      {modeltest.Reply{Body: `{"embeddings":[{"values":["NaN",0,0]}]}`}, memory.ErrUnavailable, "its answer cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modeltest.NewGemini(t, modeltest.Replies(c.reply))
			e, err := open(t, s.Getenv).Embedder("", 3)
			if err != nil {
				t.Fatal(err)
			}
			if v, err := e.Embed(t.Context(), embed.Document, []string{"tea"}); !errors.Is(err, c.kind) ||
				!strings.Contains(fmt.Sprint(err), c.text) ||
				v != nil {
				t.Errorf("%v, error %v, want %q", v, err, c.text)
			}
		})
	}
}

func TestDimensions(t *testing.T) {
	t.Parallel()
	s := modeltest.NewGemini(t, nil)
	c := open(t, s.Getenv)
	for dimension, ok := range map[int]bool{-1: false, 0: true, 1: true, 3072: true, 3073: false} {
		e, err := c.Embedder("", dimension)
		if (err == nil) != ok ||
			err != nil &&
				(!errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), "-embedding-dimension")) {
			t.Errorf("%d: %v", dimension, err)
		}
		if ok && dimension > 0 {
			if v, err := e.Embed(t.Context(), embed.Document, []string{"tea"}); err != nil || len(v[0]) != dimension {
				t.Errorf("%d: %v", dimension, err)
			}
		}
	}
}

// The key is sent in its header alone, and does not follow a redirect.
func TestKeyStays(t *testing.T) {
	t.Parallel()
	elsewhere := modeltest.NewGemini(t, nil)
	s := modeltest.NewGemini(
		t,
		modeltest.Replies(modeltest.Reply{Status: 307, Body: "{}", Header: http.Header{"Location": {elsewhere.URL()}}}),
	)
	for _, call := range []string{"generate", "embed"} {
		if err := run(t.Context(), t, open(t, s.Getenv), call); !errors.Is(err, memory.ErrInvalid) ||
			!strings.Contains(err.Error(), "set GOOGLE_GEMINI_BASE_URL to the address itself") {
			t.Errorf("error %v", err)
		}
	}
	if n := len(elsewhere.Requests()); n != 0 {
		t.Errorf("%d calls followed", n)
	}
	for _, q := range s.Requests() {
		modeltest.NoKey(t, q.Path+string(q.Body))
		q.Header.Del("X-Goog-Api-Key")
		modeltest.NoKey(t, fmt.Sprint(q.Header))
	}
}
