package tools

import (
	"context"
	"errors"
	"strings"

	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
	"github.com/memoryd/memoryd/sessionstore"
)

type rememberArgs struct {
	Fact   string   `json:"fact"`
	Topics []string `json:"topics,omitzero"`
}

// The statuses of a fact to remember.
const (
	stored  = "stored"
	known   = "known"   // it was remembered before, and no text changed
	pending = "pending" // it is stored durably, and not yet a memory
	held    = "held"    // it reads like an order to an agent, and waits for a review
)

type remembered struct {
	Status   string   `json:"status"`
	Memories []change `json:"memories"`
}

type change struct {
	Action memory.Action `json:"action"`
	ID     string        `json:"id"`
	Fact   string        `json:"fact"`
	// SupersededBy is set for a statement that is no longer valid.
	SupersededBy string `json:"supersededBy,omitzero"`
}

var remember = declare(Tool{
	Name:       "remember",
	Idempotent: true,
}, func(ctx context.Context, b *Toolbox, scope memory.Scope, args rememberArgs) (remembered, error) {
	if strings.TrimSpace(args.Fact) == "" {
		return remembered{}, invalid("args.fact is empty")
	}
	if !b.ingest.Configs().Known(ctx, scope.App).For(scope.User).Keeps(args.Topics) {
		return remembered{}, failure("nothing of these topics is kept here: tell the user that it is not remembered")
	}
	facts := []ingest.GivenFact{{Fact: args.Fact, Topics: args.Topics, Trust: memory.TrustAgent}}
	op, err := b.ingest.IngestFacts(ctx, scope, facts, ingest.RequestOptions{})
	if err != nil {
		return remembered{}, err
	}
	waited, err := b.ingest.Wait(ctx, scope, op.ID, b.opts.RememberWait)
	if waited != nil {
		op = waited
	}
	if err != nil && ctx.Err() == nil && !op.Done() { // the fact is stored durably all the same
		b.opts.Log.Warn("waiting for a fact failed", "operation", op.ID, "err", err)
	}
	return b.changesOf(ctx, op, args.Fact)
})

// changesOf returns the changes that a fact has made.
func (b *Toolbox) changesOf(ctx context.Context, op *sessionstore.Operation, fact string) (remembered, error) {
	switch op.State {
	case sessionstore.Failed:
		return remembered{}, failure("the fact was taken in, but could not be stored: " +
			"tell the user that it is not remembered; it can be tried again later")
	case sessionstore.Succeeded:
	default:
		return remembered{Status: pending}, nil
	}
	out := remembered{Status: known}
	for after, more := (sessionstore.ChangePosition{}), true; more; more = after != (sessionstore.ChangePosition{}) {
		page, next, err := b.ingest.Changes(ctx, op.Key.Scope, op.ID, after)
		if err != nil { // the fact is stored all the same
			b.opts.Log.Warn("the changes of a fact were not read", "operation", op.ID, "err", err)
			return remembered{Status: pending}, ctx.Err()
		}
		for _, c := range page {
			if m := c.Memory; m != nil && m.State.Hidden() {
				out.Status = held
			} else if m != nil && !c.SaidAgain() {
				out.Status = stored
				text := retrieve.Shown(fact, &memory.Match{Memory: *m}, maxText)
				out.Memories = append(out.Memories, change{c.Action, m.ID, text, m.SupersededBy})
			}
		}
		after = next
	}
	return out, nil
}

type forgetArgs struct {
	ID string `json:"id"`
}

type forgotten struct {
	Forgotten string `json:"forgotten"`
}

var forget = declare(Tool{
	Name:        "forget",
	Destructive: true, Idempotent: true,
}, func(ctx context.Context, b *Toolbox, scope memory.Scope, args forgetArgs) (forgotten, error) {
	if err := memory.ValidateID("memory", args.ID); err != nil {
		return forgotten{}, err
	}
	err := b.ingest.Delete(ctx, scope, args.ID)
	if errors.Is(err, memory.ErrNotFound) {
		err = failure("no memory has this id, or it is gone already: find ids with search_memory")
	}
	return forgotten{args.ID}, err
})
