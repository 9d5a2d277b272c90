package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// The types below are the parts of the API that memoryd uses, under the names
// of its reference (platform.openai.com/docs/api-reference). Answers have many
// more fields, and those of other services differ: all that is not here is
// ignored. lenient.go has the forms in which services write the rest.

// chatRequest is the body of POST /chat/completions.
type chatRequest struct {
	Model               string         `json:"model"`
	Messages            []message      `json:"messages"`
	ResponseFormat      responseFormat `json:"response_format"`
	MaxTokens           int            `json:"max_tokens,omitempty"`
	MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
	Temperature         *float64       `json:"temperature,omitempty"` // 0 is not the default
	ReasoningEffort     string         `json:"reasoning_effort,omitempty"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type responseFormat struct {
	Type       string      `json:"type"` // json_schema or json_object
	JSONSchema *jsonSchema `json:"json_schema,omitempty"`
}

type jsonSchema struct {
	Name   string         `json:"name"`
	Strict bool           `json:"strict"`
	Schema map[string]any `json:"schema"`
}

// chatAnswer is what POST /chat/completions answers.
type chatAnswer struct {
	Choices []struct {
		Message struct {
			Content text `json:"content"`
			Refusal text `json:"refusal"`
		} `json:"message"`
		FinishReason text `json:"finish_reason"`
	} `json:"choices"`
	Usage usage `json:"usage"`
}

// embeddingRequest is the body of POST /embeddings.
type embeddingRequest struct {
	Model          string   `json:"model"`
	Input          []string `json:"input"`
	Dimensions     int      `json:"dimensions,omitempty"`
	EncodingFormat string   `json:"encoding_format"`
}

// embeddingAnswer is what POST /embeddings answers. The index of a vector is
// that of its text.
type embeddingAnswer struct {
	Data []struct {
		Index     number `json:"index"`
		Embedding vector `json:"embedding"`
	} `json:"data"`
}

// post sends one request and reads its answer into out. It does not look at the
// status: [remote.Do], which calls it, has seen it, and asks for an error when
// it is not one of success.
func (c *Client) post(ctx context.Context, path string, in, out any) error {
	body, err := encode(in)
	if err != nil {
		return fmt.Errorf("the request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header = c.header.Clone()
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("error reading response body: %w", err)
	}
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("status %s", resp.Status)
	}
	// A decoder reads the first value, and ignores what some proxies append.
	if err := json.NewDecoder(bytes.NewReader(answer)).Decode(out); err != nil {
		return unreadable(err)
	}
	return nil
}

// encode writes v as JSON that keeps <, > and &, which transcripts are full of:
// escaped, each would be six bytes, and tokens where a schema is told in words.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
