// Package tools has the tools of an agent's memory, as plain Go values: each with
// the name, description and schema that a model sees, and the function that a call
// runs. It knows no protocol; packages server and mcp do.
//
// The scope comes with a call and is never among the arguments, so that a model
// cannot name another.
package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/internal/legible"
	"github.com/memoryd/memoryd/internal/strict"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
)

// Tool is one tool as a model sees it.
type Tool struct {
	Name, Description string
	// Instruction goes into the system instruction of an agent that has the
	// tool; "" if its description says enough.
	Instruction string
	// Parameters is the schema of the arguments, an object without any other
	// properties. Result is the schema of an answer, unless that is {"error": …}.
	Parameters, Result *jsonschema.Schema
	// ReadOnly tools change nothing. Destructive ones may delete a memory. A second
	// call of an Idempotent one with the same arguments changes nothing more.
	ReadOnly, Destructive, Idempotent bool
	// ForHosts tools are declared over the Model Context Protocol alone: a host has no code
	// that calls memoryd. All else that calls a tool by its name may call them too.
	ForHosts bool

	// bind reads the arguments and returns the call with them.
	bind func(args json.RawMessage) (call, error)
}

// call runs a tool in a scope.
type call func(ctx context.Context, b *Toolbox, scope memory.Scope) (any, error)

// All returns the tools that are declared to models, always in the same order.
func All() []*Tool { return slices.Clone(declared) }

var declared = []*Tool{loadMemory, searchMemory, remember, forget, saveConversation}

// Find returns the tool of a name. PreloadMemory is among them, although it is not
// declared to models. The error is ErrNotFound, with the names that there are.
func Find(name string) (*Tool, error) {
	callable := append(All(), preloadMemory)
	var names []string
	for _, t := range callable {
		if t.Name == name {
			return t, nil
		}
		names = append(names, t.Name)
	}
	return nil, fmt.Errorf("tool %.60q: %w: there are %s", name, memory.ErrNotFound, strings.Join(names, ", "))
}

// declare completes a tool with its descriptions, and with the schemas of run's
// types. A call reads the arguments into an A and runs run.
func declare[A, R any](t Tool, run func(ctx context.Context, b *Toolbox, scope memory.Scope, args A) (R, error)) *Tool {
	t.Description, t.Instruction = descriptions[t.Name], descriptions[t.Name+".instruction"]
	t.Parameters, t.Result = schemaOf[A](), schemaOf[R]()
	t.bind = func(raw json.RawMessage) (call, error) {
		var args A
		if err := t.read(raw, &args); err != nil {
			return nil, err
		}
		return func(ctx context.Context, b *Toolbox, scope memory.Scope) (any, error) {
			return run(ctx, b, scope, args)
		}, nil
	}
	return &t
}

// Check refuses arguments that are not an object, that lack a required field, or
// that have a field of the wrong type or one the tool does not take, such as a
// scope. A null counts as absent, and no arguments as an empty object. The error is
// ErrInvalid and says what the tool takes. Values out of range are refused by Call.
func (t *Tool) Check(args json.RawMessage) error {
	_, err := t.bind(args)
	return err
}

// read reads checked arguments into v.
func (t *Tool) read(raw json.RawMessage, v any) error {
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	var given map[string]json.RawMessage
	if err := strict.Decode("args", raw, &given); err != nil {
		return fmt.Errorf("tool %s: %w", t.Name, err)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if t.Parameters.Properties[name] == nil {
			return t.malformed("args: there is no %.60q: it takes %s", name, t.takes())
		}
	}
	for _, name := range t.Parameters.Required {
		if given[name] == nil || string(given[name]) == "null" {
			return t.malformed("args.%s is missing: it takes %s", name, t.takes())
		}
	}
	if err := strict.Decode("args", raw, v); err != nil {
		return fmt.Errorf("tool %s: %w", t.Name, err)
	}
	return nil
}

func (t *Tool) malformed(format string, args ...any) error {
	return fmt.Errorf("tool %s: %w", t.Name, invalid(format, args...))
}

// takes lists the arguments, the optional ones in brackets.
func (t *Tool) takes() string {
	var out []string
	for _, name := range t.Parameters.PropertyOrder {
		if !slices.Contains(t.Parameters.Required, name) {
			name = "[" + name + "]"
		}
		out = append(out, name)
	}
	return strings.Join(out, ", ")
}

// Outcome is the result of a call, or of a preload, as metrics count it.
type Outcome string

// The outcomes of a call.
const (
	Done      Outcome = "done"
	NotDone   Outcome = "not_done"  // the result is {"error": …}
	Malformed Outcome = "malformed" // the arguments or a value are refused
	Broken    Outcome = "broken"    // an internal error, or the caller left
)

// Options of New. The zero value is the default.
type Options struct {
	// PreloadTimeout is the longest that Preload searches. Defaults to
	// DefaultPreloadTimeout.
	PreloadTimeout time.Duration
	// RememberWait is the longest that remember waits until a fact is stored.
	// Defaults to DefaultRememberWait.
	RememberWait time.Duration
	// Called is called after every call of an existing tool, and Preloaded after
	// every preload. Both default to nothing.
	Called    func(tool string, outcome Outcome)
	Preloaded func(outcome Outcome, took time.Duration)
	Log       *slog.Logger // Defaults to discarding.
}

// Defaults of Options.
const (
	DefaultPreloadTimeout = 300 * time.Millisecond
	DefaultRememberWait   = 5 * time.Second
)

// Toolbox calls tools on one memory.
type Toolbox struct {
	retriever *retrieve.Retriever
	ingest    *ingest.Service
	opts      Options

	searches *background // of preloads
}

// New returns a Toolbox that reads through retriever and writes through ingest,
// both over the same stores.
func New(retriever *retrieve.Retriever, ingest *ingest.Service, opts *Options) *Toolbox {
	b := &Toolbox{
		retriever: retriever,
		ingest:    ingest,
		searches:  newBackground(max(minSearches, 4*runtime.GOMAXPROCS(0))),
	}
	if opts != nil {
		b.opts = *opts
	}
	if b.opts.PreloadTimeout == 0 {
		b.opts.PreloadTimeout = DefaultPreloadTimeout
	}
	if b.opts.RememberWait == 0 {
		b.opts.RememberWait = DefaultRememberWait
	}
	if b.opts.Called == nil {
		b.opts.Called = func(string, Outcome) {}
	}
	if b.opts.Preloaded == nil {
		b.opts.Preloaded = func(Outcome, time.Duration) {}
	}
	if b.opts.Log == nil {
		b.opts.Log = slog.New(slog.DiscardHandler)
	}
	return b
}

// Wait returns when the searches are over that outlived their preloads, because
// the store does not heed its context. Close the store only after Wait. Preloads
// that begin meanwhile are not waited for.
func (b *Toolbox) Wait() { b.searches.wait() }

// failure is the error of a tool in words for a model: what went wrong, and what to
// do about it.
type failure string

func (f failure) Error() string { return string(f) }

// Call calls a tool and returns its result, a JSON object, whose texts have no
// characters that cannot be seen; see package legible. A failure that a model
// can act on is a result too: {"error": "what went wrong and what to do about it"}.
// Errors are ErrInvalid (a malformed call, see [Tool.Check], or a value out of
// range), ErrNotFound (there is no such tool), those of ctx, and internal ones.
func (b *Toolbox) Call(
	ctx context.Context, scope memory.Scope, name string, args json.RawMessage,
) (json.RawMessage, error) {
	t, err := Find(name)
	if err != nil {
		return nil, err
	}
	result, outcome, err := b.call(ctx, scope, t, args)
	b.opts.Called(t.Name, outcome)
	if err != nil {
		return nil, err
	}
	raw, err := strict.Encode(result)
	if err != nil {
		return nil, err
	}
	return shown(raw)
}

// shown returns JSON with its texts as a model may see them.
func shown(raw []byte) ([]byte, error) {
	isPlain := func(r rune) bool { return ' ' <= r && r <= '~' && r != '\\' }
	if !bytes.ContainsFunc(raw, func(r rune) bool { return !isPlain(r) }) {
		return raw, nil
	}
	return strict.MapText(raw, legible.Text)
}

func (b *Toolbox) call(ctx context.Context, scope memory.Scope, t *Tool, args json.RawMessage) (any, Outcome, error) {
	if err := scope.Validate(); err != nil {
		return nil, Malformed, err
	}
	do, err := t.bind(args)
	if err != nil {
		return nil, Malformed, err
	}
	result, err := do(ctx, b, scope)
	switch {
	case err == nil:
		return result, Done, nil
	case errors.Is(err, memory.ErrInvalid):
		return nil, Malformed, fmt.Errorf("tool %s: %w", t.Name, err)
	case ctx.Err() != nil:
		return nil, Broken, fmt.Errorf("tool %s: %w", t.Name, ctx.Err())
	}
	if words, ok := b.words(t, err); ok {
		return struct {
			Error string `json:"error"`
		}{words}, NotDone, nil
	}
	return nil, Broken, fmt.Errorf("tool %s: %w", t.Name, err)
}

// words returns an error in words for a model, and false for an internal error. The
// address and the state of a store go to the log only.
func (b *Toolbox) words(t *Tool, err error) (string, bool) {
	var f failure
	var refusal *memory.Refusal
	switch {
	case errors.As(err, &f):
		return string(f), true
	case errors.Is(err, memory.ErrAborted):
		return "somebody else has changed the same memory just now: search again and decide again", true
	case errors.As(err, &refusal):
		return refusal.Error() + ": go on without the memory, or try again later", true
	case errors.Is(err, memory.ErrUnavailable), errors.Is(err, memory.ErrExhausted),
		errors.Is(err, context.DeadlineExceeded):
		b.opts.Log.Warn("a tool call failed", "tool", t.Name, "err", err)
		return "the memory cannot be reached just now: go on without it, or try again later", true
	}
	return "", false
}
