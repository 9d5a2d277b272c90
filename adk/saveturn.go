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

// SaveTurn has what was said in this turn remembered. It is an
// agent.AfterAgentCallback, for the AfterAgentCallbacks of an agent:
//
//	llmagent.Config{…, AfterAgentCallbacks: []agent.AfterAgentCallback{memories.SaveTurn}}
//
// It costs the same however long the session is: of a session that is in the
// same memoryd it asks for memories of what is new, and of one of another
// service it sends the events of this invocation. If it fails, or takes longer
// than MemoryOptions.SaveTimeout, the turn is not failed (but see
// MemoryOptions.Strict), and in the first case the next one makes up for it.
func (m *MemoryService) SaveTurn(ctx agent.Context) (*genai.Content, error) {
	// A callback's context does not show the session, the one it is made of does.
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
	turn := slices.DeleteFunc(eventsOf(s), func(e *session.Event) bool { return e == nil || e.InvocationID != invocation })
	return m.AddEventsToMemory(ctx, s.AppName(), s.UserID(), s.ID(), turn)
}
