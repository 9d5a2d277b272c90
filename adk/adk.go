// Package adk gives agents of Google's Agent Development Kit for Go their
// sessions and their memory: a session.Service and a memory.Service over
// package client, so that memoryd is one that is served, or one in this
// process.
//
//	c, err := client.New("http://127.0.0.1:8080", nil)
//	memories := adk.NewMemoryService(c, nil)
//	r, err := runner.New(runner.Config{
//		AppName: "shop", Agent: a,
//		SessionService: adk.NewSessionService(c), MemoryService: memories,
//	})
//
// An agent looks things up with ADK's own tools, loadmemorytool and
// preloadmemorytool, and memories.SaveTurn, among its AfterAgentCallbacks, has
// each turn remembered.
//
// What fails is of one of the kinds of package memory of memoryd: errors.Is
// tells memory.ErrNotFound, memory.ErrInvalid or, when memoryd cannot be
// reached, memory.ErrUnavailable.
//
// It is a module of its own, so that memoryd does not carry ADK's dependencies.
package adk

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/adk/v2/platform"
	"google.golang.org/adk/v2/session"

	"github.com/memoryd/memoryd/client"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// toStore gives an event as it is stored, with an id, a time and without temp:
// state, and as it is sent. The event of the caller stays as it is.
func toStore(ctx context.Context, event *session.Event) (*session.Event, client.Event, error) {
	e := *event
	if e.ID == "" {
		e.ID = platform.NewUUID(ctx)
	}
	if e.Timestamp.IsZero() {
		e.Timestamp = platform.Now(ctx)
	}
	e.Timestamp = sessionstore.Micros(e.Timestamp)
	e.Actions.StateDelta = withoutTemp(e.Actions.StateDelta)
	doc, err := json.Marshal(&e)
	if err != nil {
		return nil, client.Event{}, fmt.Errorf("%w: event %q cannot be written as JSON: %v", memory.ErrInvalid, e.ID, err)
	}
	return &e, client.Event{ID: e.ID, Doc: doc}, nil
}

// fromStore reads an event as ADK has it.
func fromStore(e client.Event) (*session.Event, error) {
	out := &session.Event{}
	if err := json.Unmarshal(e.Doc, out); err != nil {
		return nil, fmt.Errorf("event %q cannot be read as an event of ADK: %w", e.ID, err)
	}
	return out, nil
}

// withoutTemp gives state without what is of one invocation only. What is nil
// stays so.
func withoutTemp(state map[string]any) map[string]any {
	if state == nil {
		return nil
	}
	out := make(map[string]any, len(state))
	for k, v := range state {
		if !strings.HasPrefix(k, session.KeyPrefixTemp) {
			out[k] = v
		}
	}
	return out
}
