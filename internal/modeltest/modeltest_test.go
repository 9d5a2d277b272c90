package modeltest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/internal/modeltest"
)

// post sends a body with a key to a server, and reads the answer.
func post(t *testing.T, url, header, key, body string) (status int, answer map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set(header, key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return resp.StatusCode, answer
}

// The servers refuse what the services would refuse, in their words.
func TestGeminiRefuses(t *testing.T) {
	t.Parallel()
	s := modeltest.NewGemini(t, nil)
	const contents = `"contents":[{"role":"user","parts":[{"text":"x"}]}]`
	one := `{"model":"models/m","content":{"parts":[{"text":"x"}]}}`
	for name, c := range map[string]struct {
		path, key, body string
		status          int
		message         string
	}{
		"right":        {"/v1beta/models/m:generateContent", modeltest.Key, `{` + contents + `}`, 200, ""},
		"no key":       {"/v1beta/models/m:generateContent", "", `{` + contents + `}`, 403, "unregistered callers"},
		"wrong key":    {"/v1beta/models/m:generateContent", "other", `{` + contents + `}`, 400, "API key not valid"},
		"path":         {"/v1/models/m:generateContent", modeltest.Key, `{}`, 404, "not found"},
		"method":       {"/v1beta/models/m:embedContent", modeltest.Key, `{}`, 404, "is not supported for embedContent"},
		"field":        {"/v1beta/models/m:generateContent", modeltest.Key, `{` + contents + `,"prompt":1}`, 400, `unknown field "prompt"`},
		"no contents":  {"/v1beta/models/m:generateContent", modeltest.Key, `{}`, 400, "contents is not specified"},
		"empty":        {"/v1beta/models/m:generateContent", modeltest.Key, `{"contents":[{"role":"user","parts":[{"text":""}]}]}`, 400, "must not be empty"},
		"role":         {"/v1beta/models/m:generateContent", modeltest.Key, `{"contents":[{"role":"system","parts":[{"text":"x"}]}]}`, 400, "valid role"},
		"schema":       {"/v1beta/models/m:generateContent", modeltest.Key, `{` + contents + `,"generationConfig":{"responseJsonSchema":{}}}`, 400, "response_json_schema"},
		"no thinking":  {"/v1beta/models/gemini-2.5-pro:generateContent", modeltest.Key, `{` + contents + `,"generationConfig":{"thinkingConfig":{"thinkingBudget":0}}}`, 400, "thinking mode"},
		"embed":        {"/v1beta/models/m:batchEmbedContents", modeltest.Key, `{"requests":[` + one + `]}`, 200, ""},
		"embed 101":    {"/v1beta/models/m:batchEmbedContents", modeltest.Key, `{"requests":[` + one + strings.Repeat(","+one, 100) + `]}`, 400, "at most 100"},
		"embed empty":  {"/v1beta/models/m:batchEmbedContents", modeltest.Key, `{"requests":[{"model":"models/m","content":{"parts":[{"text":""}]}}]}`, 400, "content is empty"},
		"embed other":  {"/v1beta/models/m:batchEmbedContents", modeltest.Key, `{"requests":[{"model":"models/n","content":{"parts":[{"text":"x"}]}}]}`, 400, "must match"},
		"Vertex, two":  {"/v1beta1/projects/p/locations/l/publishers/google/models/gemini-embedding-001:predict", modeltest.Key, `{"instances":[{"content":"x"},{"content":"y"}]}`, 400, "must be 1"},
		"not JSON":     {"/v1beta/models/m:generateContent", modeltest.Key, `{`, 400, "Invalid JSON payload"},
		"JSON, twice":  {"/v1beta/models/m:generateContent", modeltest.Key, `{` + contents + `}{}`, 400, "Invalid JSON payload"},
		"Vertex, none": {"/v1beta1/publishers/google/models/m:embedContent", modeltest.Key, `{"content":{}}`, 400, "empty"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, answer := post(t, s.URL()+c.path, "x-goog-api-key", c.key, c.body)
			e, _ := answer["error"].(map[string]any)
			if status != c.status ||
				c.status != 200 &&
					(e["code"] != float64(status) || !strings.Contains(fmt.Sprint(e["message"]), c.message) || e["status"] == "") {
				t.Errorf("%d: %v", status, answer)
			}
		})
	}
}

func TestOpenAIRefuses(t *testing.T) {
	t.Parallel()
	s := modeltest.NewOpenAI(t, nil)
	const messages = `"messages":[{"role":"user","content":"x"}]`
	format := func(schema string) string {
		return `{"model":"m",` + messages + `,"response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":` + schema + `}}}`
	}
	for name, c := range map[string]struct {
		path, key, body string
		status          int
		message         string
	}{
		"right":             {"/chat/completions", modeltest.Key, `{"model":"m",` + messages + `}`, 200, ""},
		"no key":            {"/chat/completions", "", `{}`, 401, "didn't provide"},
		"wrong key":         {"/chat/completions", "key-of-others", `{}`, 401, "Incorrect API key"},
		"path":              {"/completions", modeltest.Key, `{}`, 404, "Invalid URL"},
		"field":             {"/chat/completions", modeltest.Key, `{"model":"m",` + messages + `,"prompt":1}`, 400, `unknown field "prompt"`},
		"schema":            {"/chat/completions", modeltest.Key, format(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`), 200, ""},
		"open schema":       {"/chat/completions", modeltest.Key, format(`{"type":"object","properties":{},"required":[]}`), 400, "additionalProperties"},
		"optional property": {"/chat/completions", modeltest.Key, format(`{"type":"object","properties":{"a":{"type":"string"}},"required":[],"additionalProperties":false}`), 400, "'required'"},
		"deep": {"/chat/completions", modeltest.Key,
			format(`{"type":"object","properties":{"a":{"type":"array","items":{"anyOf":[{"type":"object"}]}}},"required":["a"],"additionalProperties":false}`), 400, "context=().a.items.anyOf[0]"},
		"json unsaid":  {"/chat/completions", modeltest.Key, `{"model":"m",` + messages + `,"response_format":{"type":"json_object"}}`, 400, "the word 'json'"},
		"max_tokens":   {"/chat/completions", modeltest.Key, `{"model":"gpt-5",` + messages + `,"max_tokens":1}`, 400, "max_completion_tokens"},
		"temperature":  {"/chat/completions", modeltest.Key, `{"model":"o3",` + messages + `,"temperature":0}`, 400, "temperature"},
		"both bounds":  {"/chat/completions", modeltest.Key, `{"model":"m",` + messages + `,"max_tokens":1,"max_completion_tokens":1}`, 400, "at the same time"},
		"embed":        {"/embeddings", modeltest.Key, `{"model":"m","input":["x"],"encoding_format":"float"}`, 200, ""},
		"embed empty":  {"/embeddings", modeltest.Key, `{"model":"m","input":[""],"encoding_format":"float"}`, 400, "empty string"},
		"embed 2049":   {"/embeddings", modeltest.Key, `{"model":"m","input":["x"` + strings.Repeat(`,"x"`, 2048) + `],"encoding_format":"float"}`, 400, "2048"},
		"embed base64": {"/embeddings", modeltest.Key, `{"model":"m","input":["x"],"encoding_format":"base64"}`, 400, "encoding_format"},
		"dimensions":   {"/embeddings", modeltest.Key, `{"model":"m","input":["x"],"encoding_format":"float","dimensions":9}`, 400, "dimensions"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			key := c.key
			if key != "" {
				key = "Bearer " + key
			}
			status, answer := post(t, s.URL()+c.path, "Authorization", key, c.body)
			e, _ := answer["error"].(map[string]any)
			if status != c.status || c.status != 200 && !strings.Contains(fmt.Sprint(e["message"]), c.message) {
				t.Errorf("%d: %v", status, answer)
			}
		})
	}
}

// One script drives either service, and sees the same requests.
func TestOneScript(t *testing.T) {
	t.Parallel()
	script := func() modeltest.Script {
		return modeltest.Replies(modeltest.Reply{Text: "one"}, modeltest.Reply{Text: "two", Finish: modeltest.Length})
	}
	google, openAI := modeltest.NewGemini(t, script()), modeltest.NewCompatible(t, script())
	var texts [][2]any
	for range 3 {
		_, g := post(
			t,
			google.URL()+"/v1beta/models/m:generateContent",
			"x-goog-api-key",
			modeltest.Key,
			`{"systemInstruction":{"parts":[{"text":"s"}]},"contents":[{"role":"user","parts":[{"text":"d"}]}],"generationConfig":{"maxOutputTokens":5}}`,
		)
		_, o := post(
			t,
			openAI.URL()+"/chat/completions",
			"",
			"",
			`{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"d"}],"max_tokens":5}`,
		)
		candidate := g["candidates"].([]any)[0].(map[string]any)
		choice := o["choices"].([]any)[0].(map[string]any)
		texts = append(
			texts,
			[2]any{
				candidate["content"].(map[string]any)["parts"].([]any)[0].(map[string]any)["text"],
				candidate["finishReason"],
			},
			[2]any{choice["message"].(map[string]any)["content"], choice["finish_reason"]},
		)
	}
	want := [][2]any{
		{"one", "STOP"},
		{"one", "stop"},
		{"two", "MAX_TOKENS"},
		{"two", "length"},
		{"two", "MAX_TOKENS"},
		{"two", "length"},
	}
	if diff := cmp.Diff(want, texts); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	a, b := google.Requests()[0], openAI.Requests()[0]
	a.Path, b.Path, a.Header, b.Header, a.Body, b.Body = "", "", nil, nil, nil, nil
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("requests (-google +openai):\n%s", diff)
	}
	if diff := cmp.Diff(modeltest.Request{Kind: "generate", Model: "m", System: "s", Data: "d", MaxTokens: 5}, a); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}
