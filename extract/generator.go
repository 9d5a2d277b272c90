package extract

import (
	"context"
	"errors"
)

// Prompt is one question to a model.
type Prompt struct {
	System string // what to do; the same for every batch, so that providers can cache it
	Data   string // what to do it with
	// Schema is a JSON Schema of the answer: an object. In every object all
	// properties are required and no others allowed, as the strict modes of
	// providers have it.
	Schema map[string]any
	// MaxTokens bounds the answer.
	MaxTokens int
}

// Answer is what a model says.
type Answer struct {
	Text string // to be read as JSON, which it may not be
	Cut  bool   // it reached MaxTokens before its end
	Usage
}

// Usage is what calls of a model cost.
type Usage struct {
	Calls        int `json:"calls"`
	InputTokens  int `json:"inputTokens"`
	OutputTokens int `json:"outputTokens"` // those of its thinking included
}

// Add is the cost of both.
func (u Usage) Add(o Usage) Usage {
	return Usage{u.Calls + o.Calls, u.InputTokens + o.InputTokens, u.OutputTokens + o.OutputTokens}
}

// ErrRefused: the model declines to answer this prompt. Asked again it may not.
var ErrRefused = errors.New("the model refuses to answer")

// Generator is a language model that answers in JSON.
type Generator interface {
	// Model names it, with its provider: "gemini:gemini-2.5-flash".
	Model() string
	// Generate asks it once. Implementations bound the time of a call, and try
	// again, a few times and for a short while, where the failure is one that
	// passes. Errors: memory.ErrUnavailable (away, too slow, a fault of the
	// provider), memory.ErrExhausted (a limit on rate or spending), both perhaps
	// with a memory.Later; ErrRefused; memory.ErrInvalid (an unknown model, a
	// wrong key, a prompt it cannot take).
	Generate(ctx context.Context, p Prompt) (Answer, error)
}
