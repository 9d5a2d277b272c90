// Package tools has what an agent does with its memory, as plain Go values:
// each tool's name, description and schema as a model is told of them, and what
// a call of it does. It speaks no protocol; those are packages server and mcp.
//
// Whose memory it is comes with a call and is never among the arguments: a
// model cannot name another scope.
package tools

import (
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
	"github.com/memoryd/memoryd/internal/strict"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
)

// Tool is one tool as a model is told of it.
type Tool struct {
	Name, Description string
	// Instruction goes into the system instruction of an agent that has the
	// tool; "" if its description says enough.
	Instruction string
	// Parameters is the schema of the arguments, an object without other
	// properties than these, and Result that of what a call answers, unless that
	// is {"error": …}.
	Parameters, Result *jsonschema.Schema
	// What a call may do: nothing but read; take away what is remembered; the
	// same again, when it is called again.
	ReadOnly, Destructive, Idempotent bool

	// bind reads arguments and gives the call with them.
	bind func(args json.RawMessage) (call, error)
}

// call does what a tool does, in a scope.
type call func(ctx context.Context, b *Toolbox, scope memory.Scope) (any, error)

// All are the tools that are declared to models, always in the same order.
func All() []*Tool { return slices.Clone(declared) }

var declared = []*Tool{loadMemory, searchMemory, remember, forget}

// find gives the tool of a name. PreloadMemory is one too, though no model is
// told of it.
func find(name string) (*Tool, error) {
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

// declare gives a tool its schemas, which are those of the function's types, and
// has the function called with what the arguments say.
func declare[A, R any](t Tool, run func(ctx context.Context, b *Toolbox, scope memory.Scope, args A) (R, error)) *Tool {
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

// Check refuses arguments that are no object, lack one that is required, or have
// one of another type or that the tool does not take, as a scope would be. A
// null is as if absent, and so are no arguments at all. The error is ErrInvalid,
// and says what is wanted. Values that are out of range are Call's to refuse.
func (t *Tool) Check(args json.RawMessage) error {
	_, err := t.bind(args)
	return err
}

// read is Check, and puts what it reads into v.
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
			return fmt.Errorf(
				"tool %s: %w: args: there is no %.60q: it takes %s",
				t.Name,
				memory.ErrInvalid,
				name,
				t.takes(),
			)
		}
	}
	for _, name := range t.Parameters.Required {
		if given[name] == nil || string(given[name]) == "null" {
			return fmt.Errorf(
				"tool %s: %w: args.%s is missing: it takes %s",
				t.Name,
				memory.ErrInvalid,
				name,
				t.takes(),
			)
		}
	}
	if err := strict.Decode("args", raw, v); err != nil {
		return fmt.Errorf("tool %s: %w", t.Name, err)
	}
	return nil
}

// takes lists the arguments, those that may be left out in brackets.
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

// Outcome is what came of a call, or of a preload.
type Outcome string

// What comes of a call.
const (
	Done      Outcome = "done"
	NotDone   Outcome = "not_done" // the result is {"error": …}
	Malformed Outcome = "malformed"
	Broken    Outcome = "broken" // by a fault of ours, or nobody waits for it any more
)

// Options are what New lets one choose.
type Options struct {
	// PreloadTimeout is how long Preload searches. Defaults to
	// DefaultPreloadTimeout.
	PreloadTimeout time.Duration
	// RememberWait is how long remember waits for what comes of a fact. Defaults
	// to DefaultRememberWait.
	RememberWait time.Duration
	// Called is told of every call of a tool that there is, and Preloaded of
	// every preload. Default to nobody.
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

// New makes a Toolbox.
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

// failure is what a model is told when a tool could not do what it was asked:
// what went wrong, and what to do about it.
type failure string

func (f failure) Error() string { return string(f) }

// Call calls a tool and gives its result, a JSON object. What a tool itself
// fails at is a result too: {"error": "what went wrong and what to do about it"}.
// Errors are ErrInvalid (a malformed call, see [Tool.Check], or a value out of
// range), ErrNotFound (there is no such tool), those of ctx, and faults of ours.
func (b *Toolbox) Call(
	ctx context.Context,
	scope memory.Scope,
	name string,
	args json.RawMessage,
) (json.RawMessage, error) {
	t, err := find(name)
	if err != nil {
		return nil, err
	}
	result, outcome, err := b.call(ctx, scope, t, args)
	b.opts.Called(t.Name, outcome)
	if err != nil {
		return nil, err
	}
	return strict.Encode(result)
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

// words tells a model of an error, unless it is a fault of ours. Where a store
// is, and what is wrong with it, is for the log.
func (b *Toolbox) words(t *Tool, err error) (string, bool) {
	var f failure
	switch {
	case errors.As(err, &f):
		return string(f), true
	case errors.Is(err, memory.ErrAborted):
		return "somebody else has changed the same memory just now: search again and decide again", true
	case errors.Is(err, memory.ErrUnavailable),
		errors.Is(err, memory.ErrExhausted),
		errors.Is(err, context.DeadlineExceeded):
		b.opts.Log.Warn("a tool could not be served", "tool", t.Name, "err", err)
		return "the memory cannot be reached just now: go on without it, or try again later", true
	}
	return "", false
}
