package adk

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/memoryd/memoryd/memory"
)

// SaveTurn adds this turn to memory. It is an agent.AfterAgentCallback, for the
// AfterAgentCallbacks of an agent:
//
//	llmagent.Config{…, AfterAgentCallbacks: []agent.AfterAgentCallback{memories.SaveTurn}}
//
// Its cost does not grow with the session. If the session is in the same memoryd,
// SaveTurn makes memories of its new events. If the session is in another
// service, SaveTurn sends the events of this invocation. A failure, or a call that
// takes longer than MemoryOptions.SaveTimeout, does not fail the turn, unless
// MemoryOptions.Strict is set. For a session in the same memoryd the next turn
// makes up for it.
func (m *MemoryService) SaveTurn(ctx agent.Context) (*genai.Content, error) {
	// A callback's context hides the session. The context it wraps has it.
	s := ctx.WithDelta(nil).Session()
	within, cancel := context.Context(ctx), func() {}
	if !m.opts.Wait {
		within, cancel = context.WithTimeout(ctx, m.opts.SaveTimeout)
	}
	defer cancel()
	if err := m.saveTurn(within, ctx.InvocationID(), s); err != nil {
		return nil, m.tolerate(ctx, err)
	}
	return nil, nil
}

func (m *MemoryService) saveTurn(ctx context.Context, invocation string, s session.Session) error {
	if s == nil {
		return fmt.Errorf("%w: save the turn: the context has no session", memory.ErrInvalid)
	}
	if m.has(s) {
		return m.addStored(ctx, s)
	}
	turn := slices.DeleteFunc(
		eventsOf(s),
		func(e *session.Event) bool { return e == nil || e.InvocationID != invocation },
	)
	return m.AddEventsToMemory(ctx, s.AppName(), s.UserID(), s.ID(), turn)
}
