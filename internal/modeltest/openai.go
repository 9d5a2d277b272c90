package modeltest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// NewOpenAI runs a server that is as strict as OpenAI's.
func NewOpenAI(t testing.TB, script Script) *Server {
	t.Helper()
	return newOpenAI(t, script, false)
}

// NewCompatible runs a server with OpenAI's API that needs no key, and does not
// scale vectors to unit length.
func NewCompatible(t testing.TB, script Script) *Server {
	t.Helper()
	s := newOpenAI(t, script, true)
	delete(s.env, "OPENAI_API_KEY")
	return s
}

func newOpenAI(t testing.TB, script Script, open bool) *Server {
	t.Helper()
	s := start(t, openAI{open}, script)
	s.base += "/v1"
	s.env = map[string]string{"OPENAI_API_KEY": Key, "OPENAI_BASE_URL": s.base}
	return s
}

// openAI is the dialect of OpenAI (platform.openai.com/docs/api-reference). An open
// server is one of the compatible services, which accept requests without a key.
type openAI struct{ open bool }

// read implements dialect.
func (c openAI) read(r *http.Request, body []byte) (q Request, f *fault) {
	switch given := r.Header.Get("Authorization"); {
	case given == "Bearer "+Key, given == "" && c.open:
	case given == "":
		return q, &fault{
			status:  http.StatusUnauthorized,
			message: "You didn't provide an API key.",
			code:    "invalid_api_key",
		}
	default: // OpenAI repeats a part of a wrong key, and so must the server
		return q, &fault{
			status:  http.StatusUnauthorized,
			message: "Incorrect API key provided: " + strings.TrimPrefix(given, "Bearer ")[:8] + "***.",
			code:    "invalid_api_key",
		}
	}
	if kind := r.Header.Get("Content-Type"); r.Method != http.MethodPost || kind != "application/json" {
		return q, &fault{
			status:  http.StatusBadRequest,
			message: "you must POST with content type application/json, not " + kind,
		}
	}
	var err error
	switch r.URL.Path {
	case "/v1/chat/completions":
		q.Kind = "generate"
		err = chat(&q, body)
	case "/v1/embeddings":
		q.Kind = "embed"
		err = embeddings(&q, body)
	default:
		return q, &fault{status: http.StatusNotFound, message: "Invalid URL (POST " + r.URL.Path + ")"}
	}
	if err != nil {
		return q, &fault{status: http.StatusBadRequest, message: err.Error()}
	}
	return q, nil
}

// formatName matches the names of response formats, and reasoning the models that
// take an effort rather than a temperature.
var (
	formatName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	reasoning  = regexp.MustCompile(`^(o\d|gpt-[5-9])`)
)

// chat reads /chat/completions. Like the service, it refuses parameters of the other
// kind of model, a schema that is not strict, and json_object without the word JSON
// in a message.
func chat(q *Request, body []byte) error {
	var in struct {
		Model    string
		Messages []struct {
			Role    string
			Content string
		}
		ResponseFormat *struct {
			Type       string
			JSONSchema *struct {
				Name   string
				Strict bool
				Schema map[string]any
			} `json:"json_schema"`
		} `json:"response_format"`
		Temperature         *float64
		MaxTokens           int    `json:"max_tokens"`
		MaxCompletionTokens int    `json:"max_completion_tokens"`
		ReasoningEffort     string `json:"reasoning_effort"`
	}
	if err := decode(body, &in); err != nil {
		return fmt.Errorf("Unrecognized request argument supplied: %v", err)
	}
	q.Model, q.MaxTokens = in.Model, max(in.MaxTokens, in.MaxCompletionTokens)
	switch {
	case in.Model == "":
		return fmt.Errorf("you must provide a model parameter")
	case len(in.Messages) == 0:
		return fmt.Errorf("Invalid 'messages': empty array.")
	case in.MaxTokens > 0 && in.MaxCompletionTokens > 0:
		return fmt.Errorf("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
	case reasoning.MatchString(in.Model) && in.MaxTokens > 0:
		return fmt.Errorf("Unsupported parameter: 'max_tokens' is not supported with this model. " +
			"Use 'max_completion_tokens' instead.")
	case reasoning.MatchString(in.Model) && in.Temperature != nil:
		return fmt.Errorf("Unsupported value: 'temperature' does not support %v with this model. "+
			"Only the default (1) value is supported.", *in.Temperature)
	case !reasoning.MatchString(in.Model) && in.ReasoningEffort != "":
		return fmt.Errorf("Unrecognized request argument supplied: reasoning_effort")
	}
	for _, m := range in.Messages {
		switch m.Role {
		case "system":
			q.System += m.Content
		case "user":
			q.Data += m.Content
		default:
			return fmt.Errorf("Invalid value: '%s'. Supported values are: 'system' and 'user'.", m.Role)
		}
	}
	f := in.ResponseFormat
	switch {
	case f == nil || f.Type == "text":
	case f.Type == "json_object" && f.JSONSchema == nil:
		if !strings.Contains(strings.ToLower(q.System+q.Data), "json") {
			return fmt.Errorf(
				"'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
			)
		}
	case f.Type == "json_schema" && f.JSONSchema != nil && formatName.MatchString(f.JSONSchema.Name):
		if !f.JSONSchema.Strict || f.JSONSchema.Schema["type"] != "object" {
			return fmt.Errorf(
				"Invalid schema for response_format '%s': it must be strict, of an object.",
				f.JSONSchema.Name,
			)
		}
		if err := strict(f.JSONSchema.Schema, "()"); err != nil {
			return fmt.Errorf("Invalid schema for response_format '%s': %w", f.JSONSchema.Name, err)
		}
		q.Schema = f.JSONSchema.Schema
	default:
		return fmt.Errorf("Invalid value: 'response_format'.")
	}
	return nil
}

// strict checks the rules of OpenAI's strict mode for every object in a schema.
func strict(schema any, path string) error {
	switch s := schema.(type) {
	case []any:
		for i, part := range s {
			if err := strict(part, fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
	case map[string]any:
		if properties, ok := s["properties"].(map[string]any); ok || s["type"] == "object" {
			if s["additionalProperties"] != false {
				return fmt.Errorf("In context=%s, 'additionalProperties' is required to be supplied "+
					"and to be false.", path)
			}
			var required []string
			list, _ := s["required"].([]any)
			for _, name := range list {
				required = append(required, fmt.Sprint(name))
			}
			slices.Sort(required)
			if !slices.Equal(required, slices.Sorted(maps.Keys(properties))) {
				return fmt.Errorf("In context=%s, 'required' is required to be supplied "+
					"and to be an array including every key in properties.", path)
			}
			for name, property := range properties {
				if err := strict(property, path+"."+name); err != nil {
					return err
				}
			}
		}
		for _, name := range []string{"items", "anyOf", "$defs", "definitions"} {
			if err := strict(s[name], path+"."+name); err != nil {
				return err
			}
		}
	}
	return nil
}

// dimensions has the dimensions of OpenAI's models. Other models have 384 here.
var dimensions = map[string]int{
	"text-embedding-3-small": 1536,
	"text-embedding-3-large": 3072,
	"text-embedding-ada-002": 1536,
}

// otherDimension is that of small sentence encoders, which Ollama serves.
const otherDimension = 384

// embeddings reads /embeddings, with the limits of the service: 2,048 texts, and
// 300,000 tokens, taken as four bytes each.
func embeddings(q *Request, body []byte) error {
	var in struct {
		Model          string
		Input          []string
		Dimensions     int
		EncodingFormat string `json:"encoding_format"`
	}
	if err := decode(body, &in); err != nil {
		return fmt.Errorf("Unrecognized request argument supplied: %v", err)
	}
	q.Model, q.Texts, q.Dimension = in.Model, in.Input, in.Dimensions
	size := 0
	for _, text := range in.Input {
		if text == "" {
			return fmt.Errorf("Invalid 'input': input cannot be an empty string.")
		}
		size += len(text)
	}
	switch {
	case in.Model == "":
		return fmt.Errorf("you must provide a model parameter")
	case in.EncodingFormat != "float":
		return fmt.Errorf("this server only has the encoding_format 'float'")
	case len(in.Input) == 0 || len(in.Input) > 2048:
		return fmt.Errorf("Invalid 'input': array must have 1 to 2048 elements.")
	case size > 4*300_000:
		return fmt.Errorf("Requested tokens exceed the maximum of 300000 tokens per request.")
	case in.Dimensions != 0 && !strings.HasPrefix(in.Model, "text-embedding-3-"):
		return fmt.Errorf("This model does not support specifying dimensions.")
	}
	return nil
}

// answer implements dialect. A refusal takes the place of the content, and thinking
// counts among the completion tokens.
func (c openAI) answer(q Request, r Reply) any {
	if q.Kind == "embed" {
		return c.vectors(q, r)
	}
	choices := []any{}
	if !r.NoAnswer {
		finish := r.Finish
		switch finish {
		case Stop:
			finish = "stop"
		case Filtered:
			finish = "content_filter"
		}
		message := map[string]any{"role": "assistant", "content": r.text(), "refusal": nil}
		if r.Refusal != "" {
			message["content"], message["refusal"] = nil, r.Refusal
		}
		if r.Thought != "" {
			message["reasoning_content"] = r.Thought // of DeepSeek and vLLM; OpenAI keeps it to itself
		}
		choices = append(choices,
			map[string]any{"index": 0, "message": message, "logprobs": nil, "finish_reason": finish})
	}
	return map[string]any{
		"id":      "chatcmpl-1",
		"object":  "chat.completion",
		"created": 1,
		"model":   q.Model,
		"choices": choices,
		"usage": map[string]any{
			"prompt_tokens":             r.Input,
			"completion_tokens":         r.Output + r.Thinking,
			"total_tokens":              r.Input + r.Output + r.Thinking,
			"completion_tokens_details": map[string]any{"reasoning_tokens": r.Thinking},
		},
	}
}

// vectors answers /embeddings in reverse order. Compatible services do not scale
// vectors to unit length.
func (c openAI) vectors(q Request, r Reply) any {
	dimension, scale := dimensions[q.Model], 1.0
	if dimension == 0 {
		dimension = otherDimension
	}
	if q.Dimension != 0 {
		dimension = q.Dimension
	}
	if c.open {
		scale = 3
	}
	data := []any{}
	for i, v := range vectors(q, r, dimension, scale) {
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": v})
	}
	slices.Reverse(data) // the index of a vector tells its text, not its place
	return map[string]any{
		"object": "list",
		"data":   data,
		"model":  q.Model,
		"usage":  map[string]any{"prompt_tokens": r.Input, "total_tokens": r.Input},
	}
}

// fault implements dialect.
func (openAI) fault(f fault) any {
	kind := "invalid_request_error"
	switch {
	case f.status == http.StatusTooManyRequests:
		kind = "requests"
	case f.status >= 500:
		kind = "server_error"
	}
	e := map[string]any{"message": f.message, "type": kind, "param": nil, "code": nil}
	if f.param != "" {
		e["param"] = f.param
	}
	if f.code != "" {
		e["code"] = f.code
	}
	return map[string]any{"error": e}
}

// jwtClaims reads the claims of a token, without checking its signature.
func jwtClaims(token string, into any) error {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return fmt.Errorf("a token of %d parts", len(parts))
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}
