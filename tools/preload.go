package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
)

// PreloadMemory is the name of ADK's tool that no model calls: it runs before the
// model, with the words of the user.
const PreloadMemory = "preload_memory"

// The outcomes of a preload.
const (
	Found  Outcome = "found"
	Empty  Outcome = "empty"  // nothing is remembered of the words
	Late   Outcome = "late"   // the search took too long
	Failed Outcome = "failed" // the search failed
)

// preloadTopK is the number of memories that a block is chosen from, somewhat more
// than it has room for. With retrieve.MaxTopK a preload takes nearly twice as long.
const preloadTopK = 40

// Preloaded is a block to put in front of a model, in one of two places. It is empty
// if nothing is remembered of the user's words.
type Preloaded struct {
	// Text is the block, to append to the system instruction; see [Preloaded.Instruct].
	Text string `json:"text"`
	// Content is the same block as a content of its own, to put before the latest
	// turn of the user; see [Insert]. The contents before it stay as they were in
	// the last call, so that the model's prompt cache serves again.
	Content *Content `json:"content,omitzero"`
	// Memories are the memories in the block, in its order.
	Memories []Entry `json:"memories"`
	// Confidence is that of the search; see [retrieve.Answer].
	Confidence float64 `json:"confidence"`
}

// Instruct returns a system instruction with the block at its end.
func (p *Preloaded) Instruct(instruction string) string {
	if p.Text == "" || instruction == "" {
		return instruction + p.Text
	}
	return strings.TrimRight(instruction, "\n") + "\n\n" + p.Text
}

// Insert puts a block's content among the contents of a request to a model: before
// the latest turn of the user or, if several turns of the user follow each other
// there, before the first of them; at the very end if the user has no turn. users
// reports whether a content is a turn of the user. The result of a function is
// none, although its role is "user" too.
func Insert[C any](contents []C, block C, users func(C) bool) []C {
	end := len(contents)
	for end > 0 && !users(contents[end-1]) {
		end--
	}
	at := end
	for at > 0 && users(contents[at-1]) {
		at--
	}
	if end == 0 {
		at = len(contents)
	}
	return slices.Insert(slices.Clone(contents), at, block)
}

type preloadArgs struct {
	Query         string   `json:"query"`
	MinConfidence *float64 `json:"minConfidence,omitzero"`
}

var preloadMemory = declare(Tool{
	Name:     PreloadMemory,
	ReadOnly: true, Idempotent: true,
}, func(ctx context.Context, b *Toolbox, scope memory.Scope, args preloadArgs) (Preloaded, error) {
	if c := args.MinConfidence; c != nil && !(*c >= 0 && *c <= 1) {
		return Preloaded{}, invalid("args.minConfidence: want 0 to 1, not %v", *c)
	}
	return b.preloadWithin(ctx, scope, args)
})

// Preload returns what is worth knowing before a model answers userText: the block
// of [retrieve.Retriever.Preload], of at most [retrieve.DefaultMaxTokens]. Of
// userText the first [retrieve.MaxQuery] bytes count. Preload does not hold a turn
// up: if the search fails, or takes longer than Options.PreloadTimeout, the result
// is empty. Errors are ErrInvalid for an invalid scope, and those of ctx.
func (b *Toolbox) Preload(ctx context.Context, scope memory.Scope, userText string) (Preloaded, error) {
	return b.preloadWithin(ctx, scope, preloadArgs{Query: userText})
}

func (b *Toolbox) preloadWithin(ctx context.Context, scope memory.Scope, args preloadArgs) (Preloaded, error) {
	if err := scope.Validate(); err != nil {
		return Preloaded{}, err
	}
	begin := time.Now()
	p, outcome, err := b.preload(ctx, scope, args)
	if ctx.Err() != nil {
		return Preloaded{}, ctx.Err()
	}
	b.opts.Preloaded(outcome, time.Since(begin))
	if err != nil {
		b.opts.Log.Warn("a preload is empty", "app", scope.App, "user", scope.User, "err", err)
	}
	return p, nil
}

// errLate: a search took longer than PreloadTimeout.
var errLate = errors.New("the search is late")

func (b *Toolbox) preload(ctx context.Context, scope memory.Scope, args preloadArgs) (Preloaded, Outcome, error) {
	query := memory.Cut(strings.TrimSpace(args.Query), retrieve.MaxQuery)
	if query == "" {
		return Preloaded{}, Empty, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, b.opts.PreloadTimeout, errLate)
	defer cancel()
	block, err := inBackground(ctx, b.searches, func() (retrieve.Block, error) {
		request := b.byDefault(ctx, scope, retrieve.Request{Query: query})
		request.TopK = cmp.Or(request.TopK, preloadTopK)
		if args.MinConfidence != nil {
			request.MinConfidence = *args.MinConfidence
		}
		return b.retriever.Preload(ctx, scope, request, retrieve.DefaultMaxTokens)
	})
	switch {
	case err != nil && errors.Is(context.Cause(ctx), errLate):
		return Preloaded{}, Late, fmt.Errorf("%w: %v", errLate, b.opts.PreloadTimeout)
	case err != nil:
		return Preloaded{}, Failed, err
	case block.Text == "":
		return Preloaded{Confidence: block.Confidence}, Empty, nil
	}
	return Preloaded{
		Text:       block.Text,
		Content:    &Content{"user", []Part{{block.Text}}},
		Memories:   entriesOf(scope, query, block.Memories),
		Confidence: block.Confidence,
	}, Found, nil
}
