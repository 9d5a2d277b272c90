package extract

import (
	"context"
	"errors"
)

// Prompt is one question to a model.
type Prompt struct {
	System string // the instructions; the same for every batch, so that providers can cache them
	Data   string // what the instructions apply to
	// Schema is a JSON Schema of the answer, which is an object. Every object in
	// it requires all of its properties and allows no others, as the strict modes
	// of providers demand.
	Schema map[string]any
	// MaxTokens bounds the answer.
	MaxTokens int
}

// Answer is the reply of a model.
type Answer struct {
	Text string // meant to be JSON; it may be anything
	Cut  bool   // the answer reached MaxTokens before its end
	Usage
}

// Usage counts the calls of a model and their tokens.
type Usage struct {
	Calls        int `json:"calls"`
	InputTokens  int `json:"inputTokens"`
	OutputTokens int `json:"outputTokens"` // includes the tokens of the model's thinking
}

// Add returns the sum of both.
func (u Usage) Add(o Usage) Usage {
	return Usage{u.Calls + o.Calls, u.InputTokens + o.InputTokens, u.OutputTokens + o.OutputTokens}
}

// ErrRefused means that the model declines to answer this prompt. It may answer
// the same prompt another time.
var ErrRefused = errors.New("the model refuses to answer")

// Generator is a language model that answers in JSON.
type Generator interface {
	// Model names the model with its provider: "gemini:gemini-2.5-flash".
	Model() string
	// Generate asks the model once. Implementations bound the duration of a call,
	// and retry a transient failure a few times within a short while. Errors:
	//   - memory.ErrUnavailable: unreachable, too slow, or a fault of the provider;
	//   - memory.ErrExhausted: a limit on rate or spending;
	//   - ErrRefused;
	//   - memory.ErrInvalid: an unknown model, a wrong key, an unacceptable prompt.
	// The first two may carry a memory.Later.
	Generate(ctx context.Context, p Prompt) (Answer, error)
}
