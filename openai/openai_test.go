package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/internal/modeltest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/openai"
)

var prompt = extract.Prompt{System: "Find facts.", Data: "I moved to Porto.", MaxTokens: 1000,
	Schema: map[string]any{"type": "object", "additionalProperties": false, "required": []string{"facts"},
		"properties": map[string]any{
			"facts": map[string]any{"type": "array", "items": map[string]any{"type": "string"}},
		}}}

const schema = `{"additionalProperties":false,"properties":{"facts":{"items":{"type":"string"},"type":"array"}},"required":["facts"],"type":"object"}`

// open returns a client that hardly waits between tries.
func open(t *testing.T, getenv func(string) string) *openai.Client {
	t.Helper()
	c, err := openai.New(&openai.Options{Getenv: getenv, Wait: time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func run(ctx context.Context, t *testing.T, c *openai.Client, call string) error {
	t.Helper()
	if call == "generate" {
		_, err := c.Generator("m").Generate(ctx, prompt)
		return err
	}
	e, err := c.Embedder("m", 384)
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Embed(ctx, embed.Document, []string{"tea"})
	return err
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

// Models that think get no temperature, and room to think. The limit of an answer
// has the name that services other than OpenAI know.
func TestGenerateRequest(t *testing.T) {
	t.Parallel()
	const format = `"messages": [{"role": "system", "content": "Find facts."}, {"role": "user", "content": "I moved to Porto."}],
		"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "strict": true, "schema": ` + schema + `}}`
	for model, want := range map[string]string{
		"qwen3:8b":     `"model": "qwen3:8b", "temperature": 0, "max_tokens": 1000`,
		"gpt-4.1-mini": `"model": "gpt-4.1-mini", "temperature": 0, "max_tokens": 1000`,
		"gpt-oss:20b":  `"model": "gpt-oss:20b", "temperature": 0, "max_tokens": 1000`,
		"ours/gpt-5":   `"model": "ours/gpt-5", "reasoning_effort": "low", "max_tokens": 5096`,
	} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			s := modeltest.NewOpenAI(t, nil)
			g := open(t, s.Getenv).Generator(model)
			if _, err := g.Generate(t.Context(), prompt); err != nil {
				t.Fatal(err)
			}
			q := s.Requests()[0] // of "ours/gpt-5" there is another: the fake does not know that it thinks
			same(t, `{`+format+`, `+want+`}`, q.Body)
			if q.Path != "/v1/chat/completions" || q.Header.Get("Authorization") != "Bearer "+modeltest.Key {
				t.Errorf("path %s, header %v", q.Path, q.Header)
			}
			if g.Model() != "openai:"+model {
				t.Errorf("model %s", g.Model())
			}
		})
	}
}

// A prompt without instructions and limit is sent without those fields.
func TestBarePrompt(t *testing.T) {
	t.Parallel()
	s := modeltest.NewOpenAI(t, nil)
	if _, err := open(t, s.Getenv).Generator("m").Generate(t.Context(), extract.Prompt{Data: "x", Schema: prompt.Schema}); err != nil {
		t.Fatal(err)
	}
	same(t, `{"model": "m", "temperature": 0, "messages": [{"role": "user", "content": "x"}],
		"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "strict": true, "schema": `+schema+`}}}`, s.Requests()[0].Body)
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
		"no text":    {modeltest.Reply{Body: `{"choices":[{"message":{"role":"assistant","content":null},"finish_reason":"stop"}]}`}, extract.Answer{Usage: usage(0, 0)}, ""},
		"declined":   {modeltest.Reply{Refusal: "I can't help.", Input: 7, Output: 3}, extract.Answer{Usage: usage(7, 3)}, "I can't help."},
		"filtered":   {modeltest.Reply{Text: "{", Finish: modeltest.Filtered, Input: 7}, extract.Answer{Usage: usage(7, 0)}, "content_filter"},
		"not taken":  {modeltest.Reply{Status: 400, Code: "content_filter", Message: "The prompt triggered a policy."}, extract.Answer{}, "The prompt triggered a policy."},
		"policy":     {modeltest.Reply{Status: 400, Code: "content_policy_violation", Message: "Not " + modeltest.Key}, extract.Answer{}, "Not [key]"},
		"few fields": {modeltest.Reply{Body: `{"choices":[{"message":{"content":"{}"}}]}`}, extract.Answer{Text: "{}", Usage: usage(0, 0)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modeltest.NewOpenAI(t, modeltest.Replies(c.reply))
			got, err := open(t, s.Getenv).Generator("m").Generate(t.Context(), prompt)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			want := ""
			if c.err != "" {
				want = "openai:m: " + c.err + ": the model refuses to answer"
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
		key   string
		kind  error
		tries int
		after time.Duration
		text  string
	}{
		"bad request": {reply: modeltest.Reply{Status: 400, Message: "no"}, kind: memory.ErrInvalid, tries: 1, text: "400: Bad Request: no"},
		"wrong key":   {key: "key-of-others", kind: memory.ErrInvalid, tries: 1, text: "401: the key in OPENAI_API_KEY is refused (invalid_api_key)"},
		"forbidden": {reply: modeltest.Reply{Status: 403, Message: "Country not supported"}, kind: memory.ErrInvalid, tries: 1,
			text: "403: access with the key in OPENAI_API_KEY is refused: Country not supported"},
		"no such model": {reply: modeltest.Reply{Status: 404, Message: "The model `m` does not exist", Code: "model_not_found"}, kind: memory.ErrInvalid, tries: 1,
			text: "404: there is no such model, or OPENAI_BASE_URL is not the address of its API: The model `m` does not exist"},
		"limit": {reply: modeltest.Reply{Status: 429, Message: "Slow down.", Code: "rate_limit_exceeded"}, kind: memory.ErrExhausted, tries: 3,
			text: "429: Too Many Requests: Slow down."},
		"limit, soon over": {reply: modeltest.Reply{Status: 429, Header: http.Header{"Retry-After-Ms": {"1"}, "Retry-After": {"1"}}}, kind: memory.ErrExhausted, tries: 3,
			after: time.Millisecond, text: "429: Too Many Requests"},
		"limit for long": {reply: modeltest.Reply{Status: 429, RetryAfter: "21"}, kind: memory.ErrExhausted, tries: 1, after: 21 * time.Second, text: "429: Too Many Requests"},
		"no money": {reply: modeltest.Reply{Status: 429, Message: "You exceeded your current quota.", Code: "insufficient_quota"}, kind: memory.ErrExhausted, tries: 1,
			text: "429: Too Many Requests: You exceeded your current quota."},
		"overloaded":     {reply: modeltest.Reply{Status: 503, Message: "Overloaded."}, kind: memory.ErrUnavailable, tries: 3, text: "503: Service Unavailable: Overloaded."},
		"internal":       {reply: modeltest.Reply{Status: 500}, kind: memory.ErrUnavailable, tries: 3, text: "500: Internal Server Error"},
		"proxy":          {reply: modeltest.Reply{Status: 502, Body: "<html>"}, kind: memory.ErrUnavailable, tries: 3, text: "502: Bad Gateway"},
		"cut":            {reply: modeltest.Reply{Cut: true}, kind: memory.ErrUnavailable, tries: 3, text: "its answer cannot be read: error reading response body: unexpected EOF"},
		"reset":          {reply: modeltest.Reply{Reset: true}, kind: memory.ErrUnavailable, tries: 3},
		"broken":         {reply: modeltest.Reply{Body: `{"choices":[`}, kind: memory.ErrUnavailable, tries: 3, text: "its answer cannot be read: "},
		"not JSON":       {reply: modeltest.Reply{Body: "<html>" + modeltest.Key}, kind: memory.ErrUnavailable, tries: 3, text: "its answer cannot be read: invalid character '<'"},
		"nothing":        {reply: modeltest.Reply{Body: `{"choices":[],"data":[]}`}, kind: memory.ErrUnavailable, tries: 3, text: "it"},
		"says the key":   {reply: modeltest.Reply{Status: 400, Message: "not " + modeltest.Key}, kind: memory.ErrInvalid, tries: 1, text: "400: Bad Request: not [key]"},
		"Ollama":         {reply: modeltest.Reply{Status: 400, Body: `{"error":"model is required"}`}, kind: memory.ErrInvalid, tries: 1, text: "400: Bad Request: model is required"},
		"vLLM":           {reply: modeltest.Reply{Status: 400, Body: `{"object":"error","message":"too long","type":"BadRequestError","param":null,"code":400}`}, kind: memory.ErrInvalid, tries: 1, text: "400: Bad Request: too long"},
		"vLLM of today":  {reply: modeltest.Reply{Status: 400, Body: `{"error":{"message":"too long","type":"BadRequestError","param":null,"code":400}}`}, kind: memory.ErrInvalid, tries: 1, text: "400: Bad Request: too long"},
		"FastAPI":        {reply: modeltest.Reply{Status: 422, Body: `{"detail":[{"loc":["body"],"msg":"field required"}]}`}, kind: memory.ErrInvalid, tries: 1, text: "422: Unprocessable Entity: [map[loc:[body] msg:field required]]"},
		"of another API": {reply: modeltest.Reply{Status: 400, Body: `[]`}, kind: memory.ErrInvalid, tries: 1, text: "400: Bad Request"},
	} {
		for _, call := range []string{"generate", "embed"} {
			t.Run(name+"/"+call, func(t *testing.T) {
				t.Parallel()
				s := modeltest.NewOpenAI(t, modeltest.Replies(c.reply))
				getenv := s.Getenv
				if c.key != "" {
					getenv = s.With("OPENAI_API_KEY", c.key)
				}
				err := run(t.Context(), t, open(t, getenv), call)
				if !errors.Is(err, c.kind) || memory.RetryAfter(err) != c.after {
					t.Errorf("error %v, to be retried after %v", err, memory.RetryAfter(err))
				}
				if want := "openai:m at " + strings.TrimSuffix(s.URL(), "/v1") + ": " + c.text; !strings.HasPrefix(
					fmt.Sprint(err),
					want,
				) {
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

// A failure that passes is tried again.
func TestAgain(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"generate", "embed"} {
		for name, first := range map[string]modeltest.Reply{
			"overloaded": {Status: 503}, "reset": {Reset: true}, "cut": {Cut: true}, "broken": {Body: "{"}, "limit": {Status: 429, Header: http.Header{"Retry-After-Ms": {"1"}}},
		} {
			t.Run(call+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := modeltest.NewOpenAI(t, modeltest.Replies(first, modeltest.Reply{}))
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
		s := modeltest.NewOpenAI(t, modeltest.Replies(modeltest.Reply{Delay: time.Hour}))
		c, err := openai.New(&openai.Options{Getenv: s.Getenv, Timeout: 20 * time.Millisecond, Wait: time.Microsecond})
		if err != nil {
			t.Fatal(err)
		}
		if err := run(t.Context(), t, c, call); !errors.Is(err, memory.ErrUnavailable) ||
			errors.Is(err, context.DeadlineExceeded) ||
			!strings.Contains(err.Error(), "no answer within 20ms") {
			t.Errorf("error %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		slow := modeltest.NewOpenAI(t, func(modeltest.Request) modeltest.Reply {
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
	c := open(t, modeltest.NewOpenAI(t, nil).With("OPENAI_BASE_URL", "http://127.0.0.1:1")) // where no server listens
	for _, call := range []string{"generate", "embed"} {
		if err := run(t.Context(), t, c, call); !errors.Is(err, memory.ErrUnavailable) ||
			!strings.Contains(err.Error(), "connection refused") {
			t.Errorf("error %v", err)
		}
	}
}

// partial is a service that takes only a part of the API.
func partial(refuse func(body string) string) modeltest.Script {
	return func(q modeltest.Request) modeltest.Reply {
		if message := refuse(string(q.Body)); message != "" {
			return modeltest.Reply{Status: 400, Message: message}
		}
		return modeltest.Reply{Text: `{"facts":[]}`}
	}
}

// A parameter that a service refuses is left out, also in later calls.
func TestPartialServices(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		model  string
		refuse func(body string) string
		calls  int // of the first prompt
		want   string
	}{
		"schema": {"m", func(body string) string {
			if strings.Contains(body, "json_schema") {
				return "'response_format.type' must be one of 'json_object' and 'text'"
			}
			return ""
		}, 2, `{"model": "m", "temperature": 0, "max_tokens": 1000, "response_format": {"type": "json_object"}, "messages": [
			{"role": "system", "content": "Find facts.\n\nAnswer with one JSON object that fits this JSON Schema, and with nothing else:\n` + strings.ReplaceAll(schema, `"`, `\"`) + `"},
			{"role": "user", "content": "I moved to Porto."}]}`},
		"max_tokens": {"m", func(body string) string {
			if strings.Contains(body, "max_tokens") {
				return "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
			}
			return ""
		}, 2, `{"model": "m", "temperature": 0, "max_completion_tokens": 1000, "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "strict": true, "schema": ` + schema + `}},
			"messages": [{"role": "system", "content": "Find facts."}, {"role": "user", "content": "I moved to Porto."}]}`},
		"temperature": {"m", func(body string) string {
			if strings.Contains(body, "temperature") {
				return "Unsupported value: 'temperature' does not support 0 with this model."
			}
			return ""
		}, 2, `{"model": "m", "max_tokens": 1000, "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "strict": true, "schema": ` + schema + `}},
			"messages": [{"role": "system", "content": "Find facts."}, {"role": "user", "content": "I moved to Porto."}]}`},
		"all": {"gpt-5", func(body string) string {
			for _, word := range []string{"json_schema", "max_tokens", "reasoning_effort"} {
				if strings.Contains(body, `"`+word+`"`) {
					return "Unrecognized request argument supplied: " + word
				}
			}
			return ""
		}, 4, `{"model": "gpt-5", "max_completion_tokens": 5096, "response_format": {"type": "json_object"}, "messages": [
			{"role": "system", "content": "Find facts.\n\nAnswer with one JSON object that fits this JSON Schema, and with nothing else:\n` + strings.ReplaceAll(schema, `"`, `\"`) + `"},
			{"role": "user", "content": "I moved to Porto."}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modeltest.NewCompatible(t, partial(c.refuse))
			g := open(t, s.Getenv).Generator(c.model)
			for range 2 {
				if a, err := g.Generate(t.Context(), prompt); err != nil || a.Text != `{"facts":[]}` || a.Calls != 1 {
					t.Fatalf("answer %+v, error %v", a, err)
				}
			}
			requests := s.Requests()
			if len(requests) != c.calls+1 {
				t.Errorf("%d calls", len(requests))
			}
			same(t, c.want, requests[len(requests)-1].Body)
		})
	}
}

// A service that refuses a prompt in every dialect makes an error, after a few
// calls. The next prompt is tried from the beginning.
func TestNoDialect(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		message string
		calls   int
	}{
		"bound":  {"max_tokens or max_completion_tokens is too large", 2},
		"format": {"response_format", 2},
		"effort": {"reasoning_effort", 1},
		"schema": {"Invalid schema for response_format 'answer'", 1},
		"length": {"maximum context length is 8192 tokens", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modeltest.NewCompatible(t, modeltest.Replies(modeltest.Reply{Status: 400, Message: c.message}))
			g := open(t, s.Getenv).Generator("m")
			for i := range 2 {
				if _, err := g.Generate(t.Context(), prompt); !errors.Is(err, memory.ErrInvalid) ||
					!strings.Contains(err.Error(), c.message) {
					t.Errorf("error %v", err)
				}
				if n := len(s.Requests()); n != c.calls*(i+1) {
					t.Errorf("%d calls", n)
				}
			}
		})
	}
}

// A generator may be called concurrently.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	s := modeltest.NewCompatible(t, partial(func(body string) string {
		if strings.Contains(body, "json_schema") {
			return "response_format"
		}
		return ""
	}))
	g := open(t, s.Getenv).Generator("m")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := g.Generate(t.Context(), prompt); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestNew(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env  map[string]string
		want string // in the error
	}{
		"nothing":          {nil, "set OPENAI_API_KEY, or OPENAI_BASE_URL for a service that needs none"},
		"key":              {map[string]string{"OPENAI_API_KEY": "k"}, ""},
		"local":            {map[string]string{"OPENAI_BASE_URL": "http://localhost:11434/v1"}, ""},
		"OpenAI by name":   {map[string]string{"OPENAI_BASE_URL": "https://api.openai.com/v1"}, "set OPENAI_API_KEY"},
		"OpenAI in Europe": {map[string]string{"OPENAI_BASE_URL": "https://eu.api.openai.com/v1"}, "set OPENAI_API_KEY"},
		"address":          {map[string]string{"OPENAI_BASE_URL": "localhost:11434", "OPENAI_API_KEY": modeltest.Key}, "OPENAI_BASE_URL"},
		"address with key": {map[string]string{"OPENAI_BASE_URL": "https://:" + modeltest.Key + "@host/v1"}, "OPENAI_BASE_URL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := openai.New(&openai.Options{Getenv: func(name string) string { return c.env[name] }})
			if (err != nil) != (c.want != "") ||
				err != nil && (!strings.Contains(err.Error(), c.want) || !errors.Is(err, memory.ErrInvalid)) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			modeltest.NoKey(t, fmt.Sprint(err))
		})
	}
}

// The environment of the process is the default.
func TestEnvironment(t *testing.T) {
	s := modeltest.NewOpenAI(t, nil)
	for _, name := range []string{"OPENAI_API_KEY", "OPENAI_BASE_URL"} {
		t.Setenv(name, s.Getenv(name))
	}
	t.Setenv("OPENAI_ORG_ID", "org-1")
	t.Setenv("OPENAI_PROJECT_ID", "proj-1")
	t.Setenv("OPENAI_ADMIN_KEY", "an-admin-key")
	c, err := openai.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), t, c, "generate"); err != nil {
		t.Fatal(err)
	}
	h := s.Requests()[0].Header
	if h.Get("OpenAI-Organization") != "org-1" || h.Get("OpenAI-Project") != "proj-1" {
		t.Errorf("header %v", h)
	}
}

// A service that needs no key gets none, and its vectors are scaled to unit length.
// A service that needs a key makes an error that says so.
func TestNoKey(t *testing.T) {
	t.Parallel()
	s := modeltest.NewCompatible(t, nil)
	c := open(t, s.Getenv)
	if err := run(t.Context(), t, c, "generate"); err != nil {
		t.Fatal(err)
	}
	if h := s.Requests()[0].Header; h.Get("Authorization") != "" {
		t.Errorf("header %v", h)
	}
	e, err := c.Embedder("bge-m3", 384)
	if err != nil {
		t.Fatal(err)
	}
	v, err := e.Embed(t.Context(), embed.Query, []string{"green tea"})
	if err != nil || math.Abs(cosine(v[0], v[0])-1) > 1e-6 {
		t.Errorf("%v, error %v", v, err)
	}
	strict := modeltest.NewOpenAI(t, nil)
	if err := run(t.Context(), t, open(t, strict.With("OPENAI_API_KEY", "")), "generate"); !errors.Is(
		err,
		memory.ErrInvalid,
	) ||
		!strings.Contains(err.Error(), "a call without a key (OPENAI_API_KEY is not set) is refused") {
		t.Errorf("error %v", err)
	}
}

// The base URL may end in a slash, and what a prompt says arrives as it is.
func TestBaseAndText(t *testing.T) {
	t.Parallel()
	s := modeltest.NewOpenAI(t, nil)
	c := open(t, s.With("OPENAI_BASE_URL", s.URL()+"/"))
	p := extract.Prompt{Data: "<a & b> \u2028 \"日本\"", Schema: prompt.Schema}
	if _, err := c.Generator("m").Generate(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if q := s.Requests()[0]; q.Path != "/v1/chat/completions" || q.Data != p.Data ||
		!strings.Contains(string(q.Body), "<a & b>") {
		t.Errorf("path %s, body %s", q.Path, q.Body)
	}
}

// Fields that memoryd does not need may be of any kind, and counts fractions.
func TestOtherFields(t *testing.T) {
	t.Parallel()
	s := modeltest.NewOpenAI(
		t,
		modeltest.Replies(modeltest.Reply{Body: `{"id":1,"created":"now","choices":[{"index":"0","logprobs":[],
		"message":{"role":3,"content":"{}","refusal":null},"finish_reason":null}],"usage":{"prompt_tokens":7.0,"completion_tokens":3e0,"cost":"none"}}`}),
	)
	got, err := open(t, s.Getenv).Generator("m").Generate(t.Context(), prompt)
	if diff := cmp.Diff(extract.Answer{Text: "{}", Usage: extract.Usage{Calls: 1, InputTokens: 7, OutputTokens: 3}}, got); err != nil ||
		diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}

func cosine(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestEmbedders(t *testing.T) {
	t.Parallel()
	s := modeltest.NewOpenAI(t, nil)
	c := open(t, s.Getenv)
	for _, x := range []struct {
		model     string
		dimension int
		want      embed.Model // zero if there is none
		sent      int         // dimensions
		err       string
	}{
		{"", 0, embed.Model{Name: "openai:text-embedding-3-small", Dimension: 1536, Noise: 0.1, Remote: true}, 1536, ""},
		{"text-embedding-3-small", 256, embed.Model{Name: "openai:text-embedding-3-small", Dimension: 256, Noise: 0.1, Remote: true}, 256, ""},
		{"text-embedding-3-large", 0, embed.Model{Name: "openai:text-embedding-3-large", Dimension: 3072, Noise: 0.1, Remote: true}, 3072, ""},
		{"text-embedding-ada-002", 0, embed.Model{Name: "openai:text-embedding-ada-002", Dimension: 1536, Noise: 0.65, Remote: true}, 0, ""},
		{"text-embedding-ada-002", 1536, embed.Model{Name: "openai:text-embedding-ada-002", Dimension: 1536, Noise: 0.65, Remote: true}, 0, ""},
		{"nomic-embed-text", 384, embed.Model{Name: "openai:nomic-embed-text", Dimension: 384, Remote: true}, 0, ""},
		{"nomic-embed-text", 0, embed.Model{}, 0, "openai:nomic-embed-text: the dimension of its vectors is not known: set -embedding-dimension: invalid argument"},
		{"nomic-embed-text", -1, embed.Model{}, 0, "-embedding-dimension -1"},
		{"text-embedding-3-small", 1537, embed.Model{}, 0, "openai:text-embedding-3-small: -embedding-dimension 1537: the model has 1536: invalid argument"},
		{"text-embedding-ada-002", 256, embed.Model{}, 0, "openai:text-embedding-ada-002: -embedding-dimension 256: the model has 1536: invalid argument"},
	} {
		e, err := c.Embedder(x.model, x.dimension)
		if err != nil || x.err != "" {
			if !strings.Contains(fmt.Sprint(err), x.err) || x.err == "" || !errors.Is(err, memory.ErrInvalid) {
				t.Errorf("%s, %d: error %v, want %q", x.model, x.dimension, err, x.err)
			}
			continue
		}
		if diff := cmp.Diff(x.want, e.Model()); diff != "" {
			t.Errorf("model (-want +got):\n%s", diff)
		}
		v, err := e.Embed(t.Context(), embed.Document, []string{"tea"})
		if err != nil || len(v[0]) != x.want.Dimension {
			t.Errorf("%s, %d: error %v", x.model, x.dimension, err)
			continue
		}
		all := s.Requests()
		if q := all[len(all)-1]; q.Dimension != x.sent || q.Path != "/v1/embeddings" {
			t.Errorf("%s, %d: %d dimensions were asked for, at %s", x.model, x.dimension, q.Dimension, q.Path)
		}
	}
	same(
		t,
		`{"model": "text-embedding-3-small", "input": ["tea"], "dimensions": 1536, "encoding_format": "float"}`,
		s.Requests()[0].Body,
	)
	same(t, `{"model": "text-embedding-ada-002", "input": ["tea"], "encoding_format": "float"}`, s.Requests()[3].Body)
}

// Vectors of several calls are in the order of their texts. The fake answers in
// another order.
func TestEmbedMany(t *testing.T) {
	t.Parallel()
	s := modeltest.NewOpenAI(t, nil)
	e, err := open(t, s.Getenv).Embedder("", 64)
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
		alone, err := e.Embed(t.Context(), embed.Query, texts[i:i+1])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(alone[0], v); diff != "" {
			t.Fatalf("text %d is not where it was (-alone +together):\n%s", i, diff)
		}
	}
}

// Long texts are cut, shorter for models that read less, and fewer fit into a call.
func TestEmbedLong(t *testing.T) {
	t.Parallel()
	long := make([]string, 40)
	for i := range long {
		long[i] = strings.Repeat("日", 5000)
	}
	for model, want := range map[string]struct{ sizes, bytes []int }{
		"":         {[]int{31, 9}, []int{7998, 7998}},
		"all-mini": {[]int{40}, []int{1998}},
	} {
		s := modeltest.NewOpenAI(t, nil)
		e, err := open(t, s.Getenv).Embedder(model, 384)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Embed(t.Context(), embed.Document, long); err != nil {
			t.Fatal(err)
		}
		var sizes, bytes []int
		for _, q := range s.Requests() {
			sizes, bytes = append(sizes, len(q.Texts)), append(bytes, len(q.Texts[0]))
		}
		if diff := cmp.Diff([][]int{want.sizes, want.bytes}, [][]int{sizes, bytes}); diff != "" {
			t.Errorf("%s: sizes of calls and of texts (-want +got):\n%s", model, diff)
		}
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
		"another dimension": {modeltest.Reply{Vectors: [][]float64{{1, 0}, {1, 0}}}, memory.ErrInvalid, "its vectors have 2 numbers, not 3: set -embedding-dimension"},
		"too few":           {modeltest.Reply{Vectors: [][]float64{{1, 0, 0}}}, memory.ErrUnavailable, "it has 1 vectors for 2 texts"},
		"too large":         {modeltest.Reply{Vectors: [][]float64{{1e39, 0, 0}, {1, 0, 0}}}, memory.ErrUnavailable, "a vector has a number that is not finite"},
		"twice":             {modeltest.Reply{Body: `{"data":[{"index":1,"embedding":[1,0,0]},{"index":1,"embedding":[1,0,0]}]}`}, memory.ErrUnavailable, "it has a vector for text 1 of 2, or two"},
		"of another":        {modeltest.Reply{Body: `{"data":[{"index":0,"embedding":[1,0,0]},{"index":2,"embedding":[1,0,0]}]}`}, memory.ErrUnavailable, "it has a vector for text 2 of 2, or two"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modeltest.NewOpenAI(t, modeltest.Replies(c.reply))
			e, err := open(t, s.Getenv).Embedder("m", 3)
			if err != nil {
				t.Fatal(err)
			}
			if v, err := e.Embed(t.Context(), embed.Document, []string{"tea", "coffee"}); !errors.Is(err, c.kind) ||
				!strings.Contains(fmt.Sprint(err), c.text) ||
				v != nil {
				t.Errorf("%v, error %v, want %q", v, err, c.text)
			}
		})
	}
}

// The key is sent in its header alone, and does not follow a redirect.
func TestKeyStays(t *testing.T) {
	t.Parallel()
	elsewhere := modeltest.NewOpenAI(t, nil)
	s := modeltest.NewOpenAI(
		t,
		modeltest.Replies(modeltest.Reply{Status: 308, Body: "{}", Header: http.Header{"Location": {elsewhere.URL()}}}),
	)
	for _, call := range []string{"generate", "embed"} {
		if err := run(t.Context(), t, open(t, s.Getenv), call); !errors.Is(err, memory.ErrInvalid) ||
			!strings.Contains(err.Error(), "set OPENAI_BASE_URL to the address itself") {
			t.Errorf("error %v", err)
		}
	}
	if n := len(elsewhere.Requests()); n != 0 {
		t.Errorf("%d calls followed", n)
	}
	for _, q := range s.Requests() {
		modeltest.NoKey(t, q.Path+string(q.Body))
		q.Header.Del("Authorization")
		modeltest.NoKey(t, fmt.Sprint(q.Header))
	}
}
