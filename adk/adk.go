// Package adk implements the services of Google's Agent Development Kit for Go: a
// session.Service and a memory.Service over package client. The client calls a
// memoryd that runs as a server, or one in this process.
//
//	c, err := client.New("http://127.0.0.1:8080", nil)
//	memories := adk.NewMemoryService(c, nil)
//	r, err := runner.New(runner.Config{
//		AppName: "shop", Agent: a,
//		SessionService: adk.NewSessionService(c), MemoryService: memories,
//	})
//
// An agent searches memory with ADK's own tools, loadmemorytool and
// preloadmemorytool. memories.SaveTurn, as one of its AfterAgentCallbacks, adds
// each turn to memory.
//
// Errors have the kinds of memoryd's package memory: errors.Is matches
// memory.ErrNotFound, memory.ErrInvalid and, if memoryd cannot be reached,
// memory.ErrUnavailable.
//
// The package is a module of its own, so that memoryd does not carry ADK's
// dependencies.
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

// toStore returns an event in the two forms in which ADK and the client store it:
// with an id and a time, and without temp: state. It does not change the caller's
// event. ErrInvalid if the event cannot be encoded as JSON.
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
		return nil, client.Event{}, fmt.Errorf("%w: event %q cannot be encoded as JSON: %v",
			memory.ErrInvalid, e.ID, err)
	}
	return &e, client.Event{ID: e.ID, Doc: doc}, nil
}

// fromStore decodes a stored event into ADK's type. Its time is on the clock of the
// speaker, if that is known.
func fromStore(e client.Event) (*session.Event, error) {
	out := &session.Event{}
	if err := json.Unmarshal(e.Doc, out); err != nil {
		return nil, fmt.Errorf("event %q cannot be decoded as an event of ADK: %w", e.ID, err)
	}
	out.Timestamp = e.UTCOffset.In(out.Timestamp)
	return out, nil
}

// withoutTemp returns state without its temp: keys, which live for one invocation
// only. A nil state stays nil.
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
