package tools

import (
	"context"
	"encoding/json"
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

// The statuses of what was given to remember.
const (
	stored  = "stored"
	known   = "known"
	pending = "pending"
)

type remembered struct {
	Status   string   `json:"status"`
	Memories []change `json:"memories"`
}

type change struct {
	Action memory.Action `json:"action"`
	ID     string        `json:"id"`
	Fact   string        `json:"fact"`
	// SupersededBy is of a statement that holds no more.
	SupersededBy string `json:"supersededBy,omitzero"`
}

var remember = declare(Tool{
	Name: "remember",
	Description: "Stores one lasting fact about this user, for later conversations. Call it when the user asks you to remember something, " +
		"or tells something of lasting use: who they are, what they like, what they plan, how they want things done. " +
		"Give one fact a call. It is compared with what is known: what is known already is not stored twice, and what it plainly contradicts gives way, so look nothing up before. " +
		"Gives what has changed, with ids that forget takes. Leave out passwords and what the user does not want kept.",
	Idempotent: true,
}, func(ctx context.Context, b *Toolbox, scope memory.Scope, args rememberArgs) (remembered, error) {
	if strings.TrimSpace(args.Fact) == "" {
		return remembered{}, invalid("args.fact is empty")
	}
	op, err := b.ingest.IngestFacts(
		ctx,
		scope,
		[]ingest.GivenFact{{Fact: args.Fact, Topics: args.Topics}},
		ingest.RequestOptions{},
	)
	if err != nil {
		return remembered{}, err
	}
	waited, err := b.ingest.Wait(ctx, scope, op.ID, b.opts.RememberWait)
	switch {
	case err != nil && ctx.Err() != nil:
		return remembered{}, err
	case err != nil: // it is taken in all the same
		b.opts.Log.Warn("what comes of a fact is not known yet", "operation", op.ID, "err", err)
	default:
		op = waited
	}
	return changesOf(op, args.Fact)
})

// changesOf tells what came of a fact.
func changesOf(op *sessionstore.Operation, fact string) (remembered, error) {
	switch op.State {
	case sessionstore.Failed:
		return remembered{}, failure(
			"the fact was taken in, but could not be stored: tell the user that it is not remembered; it can be tried again later",
		)
	case sessionstore.Succeeded:
	default:
		return remembered{Status: pending}, nil
	}
	out := remembered{Status: known}
	for _, raw := range op.Changes {
		var c ingest.Changed
		if err := json.Unmarshal(raw, &c); err != nil {
			return out, err
		}
		if m := c.Memory; m != nil {
			out.Status = stored
			out.Memories = append(
				out.Memories,
				change{c.Action, m.ID, retrieve.Passage(fact, m.Fact, maxText), m.SupersededBy},
			)
		}
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
	Name: "forget",
	Description: "Deletes one memory of this user by its id. Call it when the user asks to have something forgotten, or says that a memory is wrong; " +
		"when something has merely changed, call remember with what holds now instead. What a deleted memory took the place of does not come back by itself: remember it anew. " +
		"Find the id with search_memory first, and see that it is the right memory. If several memories say it, delete each.",
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
