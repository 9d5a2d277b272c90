package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
)

// PreloadMemory is the name of ADK's tool that no model calls: it runs before
// the model does, with what the user has said.
const PreloadMemory = "preload_memory"

// What comes of a preload.
const (
	Found  Outcome = "found"
	Empty  Outcome = "empty"
	Late   Outcome = "late"   // the search took too long
	Failed Outcome = "failed" // the search failed
)

// preloadTopK is how many memories a block is chosen from: somewhat more than it
// has room for. With retrieve.MaxTopK a preload takes nearly twice as long.
const preloadTopK = 40

// Preloaded is what to put in front of a model, in either of two places. All of
// it is empty if nothing is remembered of what the user said.
type Preloaded struct {
	// Text is a block to append to the system instruction; see [Preloaded.Instruct].
	Text string `json:"text"`
	// Content is the same block as a content of its own, to put before the latest
	// turn of the user, see [Insert]: what stands before it stays as it was at the
	// last call, so that a model's cache of the prompt serves again.
	Content *Content `json:"content,omitzero"`
	// Memories are those in the block, in its order.
	Memories []Entry `json:"memories"`
}

// Instruct is a system instruction with the block at its end.
func (p *Preloaded) Instruct(instruction string) string {
	if p.Text == "" || instruction == "" {
		return instruction + p.Text
	}
	return strings.TrimRight(instruction, "\n") + "\n\n" + p.Text
}

// Insert puts a block's content among the contents of a request to a model:
// before the latest turn of the user, or of the turns at the end that are all
// the user's before the first, or at the very end if there is none. users
// reports whether a content is a turn of the user, which what a function
// answered is not, although its role is "user" too.
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
	Query string `json:"query"`
}

var preloadMemory = declare(Tool{
	Name:        PreloadMemory,
	Description: "Gives what is remembered of what the user has said, to put in front of a model before it is called.",
	ReadOnly:    true, Idempotent: true,
}, func(ctx context.Context, b *Toolbox, scope memory.Scope, args preloadArgs) (Preloaded, error) {
	return b.Preload(ctx, scope, args.Query)
})

// Preload searches for what is worth knowing before a model answers userText, of
// which the first [retrieve.MaxQuery] bytes count: the block that
// [retrieve.Retriever.Preload] makes, of [retrieve.DefaultMaxTokens]. It does
// not hold a turn up: it is empty if the search fails, or is not over within
// Options.PreloadTimeout. Errors are ErrInvalid for a scope that is none, and
// those of ctx.
func (b *Toolbox) Preload(ctx context.Context, scope memory.Scope, userText string) (Preloaded, error) {
	if err := scope.Validate(); err != nil {
		return Preloaded{}, err
	}
	begin := time.Now()
	p, outcome, err := b.preload(ctx, scope, memory.Cut(strings.TrimSpace(userText), retrieve.MaxQuery))
	if ctx.Err() != nil {
		return Preloaded{}, ctx.Err()
	}
	b.opts.Preloaded(outcome, time.Since(begin))
	if err != nil {
		b.opts.Log.Warn("a preload is empty", "app", scope.App, "user", scope.User, "err", err)
	}
	return p, nil
}

// errLate: a search took longer than a preload may.
var errLate = errors.New("the search is late")

func (b *Toolbox) preload(ctx context.Context, scope memory.Scope, query string) (Preloaded, Outcome, error) {
	if query == "" {
		return Preloaded{}, Empty, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, b.opts.PreloadTimeout, errLate)
	defer cancel()
	block, err := inBackground(ctx, b.searches, func() (retrieve.Block, error) {
		return b.retriever.Preload(
			ctx,
			scope,
			retrieve.Request{Query: query, TopK: preloadTopK},
			retrieve.DefaultMaxTokens,
		)
	})
	switch {
	case err != nil && errors.Is(context.Cause(ctx), errLate):
		return Preloaded{}, Late, fmt.Errorf("%w: %v", errLate, b.opts.PreloadTimeout)
	case err != nil:
		return Preloaded{}, Failed, err
	case block.Text == "":
		return Preloaded{}, Empty, nil
	}
	return Preloaded{
		Text:     block.Text,
		Content:  &Content{"user", []Part{{block.Text}}},
		Memories: entriesOf(scope, query, block.Memories),
	}, Found, nil
}
