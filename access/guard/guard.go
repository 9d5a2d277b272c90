// Package guard stands between a server and its stores: no call reaches a store unless
// the principal in its context may make it. A handler with a fault still touches the
// scopes of its principal alone. A context without a principal reaches nothing.
//
// Each guard has every method of its interface written out, and embeds nothing. A new
// method of a store does not compile until it has its check here.
package guard

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// everything is what only memoryd itself and the owner may do.
const everything = access.Read | access.Write | access.Admin

// Sessions returns a session store behind a guard.
func Sessions(of ingest.Sessions) ingest.Sessions { return sessions{of} }

// sessions checks the scope that each method names, with the verb for what it does. Reads
// across users take Admin. The methods by which memoryd itself works on requests, such as
// Claim and Save, take a principal with every verb: no key of a caller has them all.
type sessions struct{ of ingest.Sessions }

// sharedState refuses a change to the state of the app as a whole by a principal of one
// user. Every user of the app sees that state.
func sharedState(ctx context.Context, app string, states ...sessionstore.State) error {
	for _, state := range states {
		for key := range state {
			if !strings.HasPrefix(key, sessionstore.AppPrefix) {
				continue
			}
			if err := access.Check(ctx, memory.Scope{App: app}, access.Write); err != nil {
				return fmt.Errorf("state %.60q is that of all users: %w", key, err)
			}
		}
	}
	return nil
}

// deltas are the changes of state that events make.
func deltas(events []sessionstore.Event) []sessionstore.State {
	out := make([]sessionstore.State, len(events))
	for i := range events {
		out[i] = events[i].StateDelta
	}
	return out
}

// Create implements sessionstore.Store.
func (g sessions) Create(ctx context.Context, key sessionstore.Key, create sessionstore.Create) (
	*sessionstore.Session, error) {
	if err := access.Check(ctx, key.Scope, access.Write); err != nil {
		return nil, err
	}
	if err := sharedState(ctx, key.App, append(deltas(create.Events), create.State)...); err != nil {
		return nil, err
	}
	return g.of.Create(ctx, key, create)
}

// Get implements sessionstore.Store.
func (g sessions) Get(ctx context.Context, key sessionstore.Key, get sessionstore.Get) (
	*sessionstore.Session, error) {
	if err := access.Check(ctx, key.Scope, access.Read); err != nil {
		return nil, err
	}
	return g.of.Get(ctx, key, get)
}

// List implements sessionstore.Store.
func (g sessions) List(ctx context.Context, scope memory.Scope, list sessionstore.List) (sessionstore.Page, error) {
	if err := access.Check(ctx, scope, access.Read); err != nil {
		return sessionstore.Page{}, err
	}
	return g.of.List(ctx, scope, list)
}

// ListApp implements sessionstore.Store.
func (g sessions) ListApp(ctx context.Context, app string, list sessionstore.List) (sessionstore.Page, error) {
	if err := access.Check(ctx, memory.Scope{App: app}, access.Admin); err != nil {
		return sessionstore.Page{}, err
	}
	return g.of.ListApp(ctx, app, list)
}

// Find implements sessionstore.Store.
func (g sessions) Find(ctx context.Context, app, id string) ([]sessionstore.Key, error) {
	if err := access.Check(ctx, memory.Scope{App: app}, access.Admin); err != nil {
		return nil, err
	}
	return g.of.Find(ctx, app, id)
}

// State implements sessionstore.Store.
func (g sessions) State(ctx context.Context, scope memory.Scope, room int64) (sessionstore.State, error) {
	if err := access.Check(ctx, scope, access.Read); err != nil {
		return nil, err
	}
	return g.of.State(ctx, scope, room)
}

// mayAppend checks an append.
func mayAppend(ctx context.Context, key sessionstore.Key, events []sessionstore.Event) error {
	if err := access.Check(ctx, key.Scope, access.Write); err != nil {
		return err
	}
	return sharedState(ctx, key.App, deltas(events)...)
}

// Append implements sessionstore.Store.
func (g sessions) Append(ctx context.Context, key sessionstore.Key, events []sessionstore.Event,
	how sessionstore.Append) (sessionstore.Appended, error) {
	if err := mayAppend(ctx, key, events); err != nil {
		return sessionstore.Appended{}, err
	}
	return g.of.Append(ctx, key, events, how)
}

// Update implements sessionstore.Store.
func (g sessions) Update(ctx context.Context, key sessionstore.Key, patch sessionstore.Patch) error {
	if err := mayAppend(ctx, key, patch.Events); err != nil {
		return err
	}
	if patch.State != nil {
		if err := sharedState(ctx, key.App, *patch.State); err != nil {
			return err
		}
	}
	return g.of.Update(ctx, key, patch)
}

// Delete implements sessionstore.Store.
func (g sessions) Delete(ctx context.Context, key sessionstore.Key) error {
	if err := access.Check(ctx, key.Scope, access.Write); err != nil {
		return err
	}
	return g.of.Delete(ctx, key)
}

// Bind implements sessionstore.Progress.
func (g sessions) Bind(ctx context.Context, memories string) (string, error) {
	if err := access.Check(ctx, memory.Scope{}, everything); err != nil {
		return "", err
	}
	return g.of.Bind(ctx, memories)
}

// Rebind implements sessionstore.Progress.
func (g sessions) Rebind(ctx context.Context, memories string) (int, error) {
	if err := access.Check(ctx, memory.Scope{}, everything); err != nil {
		return 0, err
	}
	return g.of.Rebind(ctx, memories)
}

// Claim implements sessionstore.Progress.
func (g sessions) Claim(ctx context.Context, owner string, ttl time.Duration, limit int) (
	[]sessionstore.Work, error) {
	if err := access.Check(ctx, memory.Scope{}, everything); err != nil {
		return nil, err
	}
	return g.of.Claim(ctx, owner, ttl, limit)
}

// Renew implements sessionstore.Progress.
func (g sessions) Renew(ctx context.Context, scope memory.Scope, owner string, ttl time.Duration) error {
	if err := access.Check(ctx, scope, access.Write); err != nil {
		return err
	}
	return g.of.Renew(ctx, scope, owner, ttl)
}

// Events implements sessionstore.Progress.
func (g sessions) Events(ctx context.Context, work sessionstore.Work, after int64, limit int) (
	[]sessionstore.NumberedEvent, error) {
	if err := access.Check(ctx, work.Key.Scope, access.Read); err != nil {
		return nil, err
	}
	return g.of.Events(ctx, work, after, limit)
}

// Save implements sessionstore.Progress.
func (g sessions) Save(ctx context.Context, work sessionstore.Work, to int64, plan json.RawMessage) error {
	if err := access.Check(ctx, work.Key.Scope, access.Write); err != nil {
		return err
	}
	return g.of.Save(ctx, work, to, plan)
}

// Finish implements sessionstore.Progress.
func (g sessions) Finish(ctx context.Context, work sessionstore.Work, to int64, changes []sessionstore.Change) error {
	if err := access.Check(ctx, work.Key.Scope, access.Write); err != nil {
		return err
	}
	return g.of.Finish(ctx, work, to, changes)
}

// Fail implements sessionstore.Progress.
func (g sessions) Fail(ctx context.Context, work sessionstore.Work, cause string, retry time.Time) error {
	if err := access.Check(ctx, work.Key.Scope, access.Write); err != nil {
		return err
	}
	return g.of.Fail(ctx, work, cause, retry)
}

// Status implements sessionstore.Operations.
func (g sessions) Status(ctx context.Context, scope memory.Scope, id string) (*sessionstore.Operation, error) {
	if err := access.Check(ctx, scope, access.Read); err != nil {
		return nil, err
	}
	return g.of.Status(ctx, scope, id)
}

// Changes implements sessionstore.Operations.
func (g sessions) Changes(ctx context.Context, scope memory.Scope, id string, after sessionstore.ChangePosition) (
	[]json.RawMessage, sessionstore.ChangePosition, error) {
	if err := access.Check(ctx, scope, access.Read); err != nil {
		return nil, sessionstore.ChangePosition{}, err
	}
	return g.of.Changes(ctx, scope, id, after)
}

// Operations implements sessionstore.Operations.
func (g sessions) Operations(ctx context.Context, scope memory.Scope, list sessionstore.List) (
	[]sessionstore.Operation, string, error) {
	if err := access.Check(ctx, scope, access.Read); err != nil {
		return nil, "", err
	}
	return g.of.Operations(ctx, scope, list)
}

// AppOperations implements sessionstore.Operations.
func (g sessions) AppOperations(ctx context.Context, app string, list sessionstore.OperationList) (
	[]sessionstore.Operation, string, error) {
	if err := access.Check(ctx, memory.Scope{App: app}, access.Admin); err != nil {
		return nil, "", err
	}
	return g.of.AppOperations(ctx, app, list)
}

// Retry implements sessionstore.Operations.
func (g sessions) Retry(ctx context.Context, scope memory.Scope, id string) (*sessionstore.Operation, error) {
	if err := access.Check(ctx, scope, access.Write); err != nil {
		return nil, err
	}
	return g.of.Retry(ctx, scope, id)
}

// Subscribe implements sessionstore.Operations. It tells that something changed, and
// nothing of what: the reads that follow are checked.
func (g sessions) Subscribe(scope memory.Scope, changed func(session string)) (all bool, cancel func()) {
	return g.of.Subscribe(scope, changed)
}

// Backlog implements sessionstore.Operations.
func (g sessions) Backlog(ctx context.Context) (sessionstore.Backlog, error) {
	if err := access.Check(ctx, memory.Scope{}, everything); err != nil {
		return sessionstore.Backlog{}, err
	}
	return g.of.Backlog(ctx)
}

// Config implements sessionstore.Configs. Package appconfig reads configurations as
// memoryd itself.
func (g sessions) Config(ctx context.Context, app string) (json.RawMessage, int64, error) {
	if err := access.Check(ctx, memory.Scope{App: app}, access.Admin); err != nil {
		return nil, 0, err
	}
	return g.of.Config(ctx, app)
}

// PutConfig implements sessionstore.Configs.
func (g sessions) PutConfig(ctx context.Context, app string, doc json.RawMessage, expect int64) (int64, error) {
	if err := access.Check(ctx, memory.Scope{App: app}, access.Admin); err != nil {
		return 0, err
	}
	return g.of.PutConfig(ctx, app, doc, expect)
}

// Expire implements sessionstore.Expirer.
func (g sessions) Expire(ctx context.Context, limit int) (int, error) {
	if err := access.Check(ctx, memory.Scope{}, everything); err != nil {
		return 0, err
	}
	return g.of.Expire(ctx, limit)
}

// EraseSession implements sessionstore.Eraser.
func (g sessions) EraseSession(ctx context.Context, key sessionstore.Key, dryRun bool) (sessionstore.Erased, error) {
	if err := access.Check(ctx, key.Scope, access.Admin); err != nil {
		return sessionstore.Erased{}, err
	}
	return g.of.EraseSession(ctx, key, dryRun)
}

// EraseChanges implements sessionstore.Eraser.
func (g sessions) EraseChanges(ctx context.Context, scope memory.Scope, has func(json.RawMessage) bool) (int, error) {
	if err := access.Check(ctx, scope, access.Admin); err != nil {
		return 0, err
	}
	return g.of.EraseChanges(ctx, scope, has)
}

// EraseEvents implements sessionstore.Eraser.
func (g sessions) EraseEvents(ctx context.Context, key sessionstore.Key, events []string, dryRun bool) (int, error) {
	if err := access.Check(ctx, key.Scope, access.Admin); err != nil {
		return 0, err
	}
	return g.of.EraseEvents(ctx, key, events, dryRun)
}

// EraseUser implements sessionstore.Eraser.
func (g sessions) EraseUser(ctx context.Context, scope memory.Scope, dryRun bool) (sessionstore.Erased, error) {
	if err := access.Check(ctx, scope, access.Admin); err != nil {
		return sessionstore.Erased{}, err
	}
	return g.of.EraseUser(ctx, scope, dryRun)
}

// EraseApp implements sessionstore.Eraser.
func (g sessions) EraseApp(ctx context.Context, app string) error {
	if err := access.Check(ctx, memory.Scope{App: app}, access.Admin); err != nil {
		return err
	}
	return g.of.EraseApp(ctx, app)
}

// Users implements sessionstore.Eraser.
func (g sessions) Users(ctx context.Context, app, after string, limit int) ([]string, error) {
	if err := access.Check(ctx, memory.Scope{App: app}, access.Admin); err != nil {
		return nil, err
	}
	return g.of.Users(ctx, app, after, limit)
}

// Apps implements sessionstore.Eraser.
func (g sessions) Apps(ctx context.Context, after string, limit int) ([]string, error) {
	if err := access.Check(ctx, memory.Scope{}, access.Admin); err != nil {
		return nil, err
	}
	return g.of.Apps(ctx, after, limit)
}

// Together returns both stores in one file behind a guard; nil if of is nil.
func Together(of ingest.Together) ingest.Together {
	if of == nil {
		return nil
	}
	return together{of}
}

type together struct{ of ingest.Together }

// AppendTurns implements ingest.Together.
func (g together) AppendTurns(ctx context.Context, key sessionstore.Key, events []sessionstore.Event,
	how sessionstore.Append, turn ingest.TurnWriter) (sessionstore.Appended, sessionstore.Work, error) {
	if err := mayAppend(ctx, key, events); err != nil {
		return sessionstore.Appended{}, sessionstore.Work{}, err
	}
	return g.of.AppendTurns(ctx, key, events, how, turn)
}

// PutTurns implements ingest.Together.
func (g together) PutTurns(ctx context.Context, left sessionstore.Work, turn ingest.TurnWriter) (
	sessionstore.Work, error) {
	if err := access.Check(ctx, left.Key.Scope, access.Write); err != nil {
		return left, err
	}
	return g.of.PutTurns(ctx, left, turn)
}

// Unwritten implements ingest.Together.
func (g together) Unwritten(ctx context.Context, key sessionstore.Key) (sessionstore.Work, error) {
	if err := access.Check(ctx, key.Scope, access.Read); err != nil {
		return sessionstore.Work{}, err
	}
	return g.of.Unwritten(ctx, key)
}
