package redissession

import (
	"context"
	"crypto/rand"
	"maps"

	"github.com/redis/go-redis/v9"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// The modes of append.lua for a session that is there or missing.
const (
	modeNew    = "new"    // it must not be there
	modeOld    = "old"    // it must be there
	modeMake   = "make"   // it is made if it is missing
	modeHidden = "hidden" // a hidden one is made, beside any that is there
	modePatch  = "patch"  // it must be there, and is changed in any case
	// modeReplace is modePatch, and its state takes the place of the session's own.
	modeReplace = "replace"
)

// Create implements sessionstore.Store.
func (s *Store) Create(ctx context.Context, key sessionstore.Key, create sessionstore.Create) (
	*sessionstore.Session, error) {
	key, err := sessionstore.NewKey(key)
	if err != nil {
		return nil, err
	}
	details, err := create.Details.Prepare(s.now())
	if err != nil {
		return nil, key.Wrap("create", err)
	}
	release := func(error) {}
	if create.UniqueInApp {
		var cancel context.CancelFunc
		if ctx, cancel, release, err = s.claimID(ctx, key); err != nil {
			return nil, key.Wrap("create", err)
		}
		defer cancel()
	}
	made, err := s.append(ctx, key, modeNew, create.State, create.Events, sessionstore.Append{}, detailsOf(details)...)
	release(err)
	if err != nil {
		return nil, key.Wrap("create", err)
	}
	out, err := s.Get(ctx, key, sessionstore.Get{NoState: create.NoState})
	if err != nil {
		return nil, err
	}
	out.Events = sessionstore.Created(made.Events)
	return out, nil
}

// Append implements sessionstore.Store.
func (s *Store) Append(ctx context.Context, key sessionstore.Key, events []sessionstore.Event,
	opts sessionstore.Append) (sessionstore.Appended, error) {
	if err := key.Validate(); err != nil {
		return sessionstore.Appended{}, err
	}
	if err := opts.Validate(); err != nil {
		return sessionstore.Appended{}, key.Wrap("append", err)
	}
	mode := modeOld
	switch {
	case opts.OneShot:
		mode = modeHidden
	case opts.Create:
		mode = modeMake
	}
	out, err := s.append(ctx, key, mode, nil, events, opts)
	if opts.Request != nil { // it may have resumed work that was given up
		s.notify.Changed(key)
	}
	if err != nil {
		return sessionstore.Appended{}, key.Wrap("append", err)
	}
	return out, nil
}

// Update implements sessionstore.Store.
func (s *Store) Update(ctx context.Context, key sessionstore.Key, patch sessionstore.Patch) error {
	if err := key.Validate(); err != nil {
		return err
	}
	patch, err := patch.Prepare(s.now())
	if err == nil {
		mode, state := modePatch, sessionstore.State(nil)
		if patch.State != nil {
			mode, state = modeReplace, *patch.State
		}
		_, err = s.append(ctx, key, mode, state, patch.Events, sessionstore.Append{}, patchOf(patch)...)
	}
	if err != nil {
		return key.Wrap("update", err)
	}
	return nil
}

// detailsOf are the fields of a new session, and their values.
func detailsOf(d sessionstore.Details) (fields []any) {
	if d.DisplayName != "" {
		fields = append(fields, "name", d.DisplayName)
	}
	if len(d.Labels) > 0 {
		fields = append(fields, "labels", sessionstore.LabelsDoc(d.Labels))
	}
	if !d.ExpireTime.IsZero() {
		fields = append(fields, "expires", micros(d.ExpireTime), "chosen", 1)
	}
	return fields
}

// patchOf are the fields of a session that a patch sets, and their values.
func patchOf(p sessionstore.Patch) (fields []any) {
	if p.DisplayName != nil {
		fields = append(fields, "name", *p.DisplayName)
	}
	if p.Labels != nil {
		fields = append(fields, "labels", sessionstore.LabelsDoc(*p.Labels))
	}
	switch {
	case p.ExpireTime == nil:
	case p.ExpireTime.IsZero():
		fields = append(fields, "chosen", 0) // renew in common.lua sets when it expires
	default:
		fields = append(fields, "expires", micros(*p.ExpireTime), "chosen", 1)
	}
	return fields
}

// append is one step in the slot of the session, and one before and one behind it in
// the slot of its app if the app's keys change: see steps.
func (s *Store) append(ctx context.Context, key sessionstore.Key, mode string, state sessionstore.State,
	events []sessionstore.Event, opts sessionstore.Append, details ...any) (out sessionstore.Appended, err error) {
	operation, request := "", []byte(nil)
	if opts.Request != nil {
		operation = opts.Request.ID
		if request, err = opts.Request.Doc(); err != nil {
			return out, err
		}
		if err := s.enlist(ctx, partitionOf(key.Scope)); err != nil {
			return out, err
		}
	}
	if mode != modeOld && mode != modePatch && mode != modeReplace {
		if err := s.listInApps(ctx, key.App); err != nil {
			return out, err
		}
	}
	box := outbox{partitionOf(key.Scope), key.App}
	out.Events = sessionstore.Prepare(events, s.now())
	forApp, err := s.appDelta(opts, state, events)
	if err != nil {
		return out, err
	}
	var sent []int
	answer, delivered, err := s.steps(ctx, box, mode, forApp, func(token, reserved string) []any {
		args := []any{name(key.Scope), key.App, key.User, key.ID, s.clock(), mode, truth(!opts.ChangesState()),
			operation, request, s.expired(), s.ttl(), s.lastDelivered(box), s.opts.MaxState, token,
			reserved, s.opts.MaxSessions, len(details)}
		args = append(args, details...)
		args = append(args, triggerText(opts.Trigger), truth(opts.OwnTrigger), truth(opts.Flush))
		args, sent = appendEvents(appendState(args, state), out.Events)
		return args
	})
	if err != nil {
		return out, err
	}
	switch answer.text(0) {
	case "EXISTS":
		return out, memory.ErrExists
	case "MISSING":
		return out, s.missing(key.Scope)
	case "SESSIONS":
		return out, sessionstore.TooManySessions(s.opts.MaxSessions)
	case "STATE":
		owner := map[string]string{"s": "session", "u": "user"}[answer.text(1)]
		return out, sessionstore.CheckState(owner, answer.num(2), answer.num(3), s.opts.MaxState)
	}
	out.LastUpdateTime = sessionstore.FromMicros(answer.num(2))
	for had := answer.list(3); len(had) > 0; had = had[2:] {
		i := sent[had.num(0)-1]
		if out.Events[i], err = sessionstore.ReadEvent([]byte(had.text(1))); err != nil {
			return out, err
		}
	}
	if opts.Request != nil {
		op, err := operationOf(key.Scope, answer.list(4))
		if err != nil {
			return out, err
		}
		out.Operation = &op
		if op.ID == opts.Request.ID {
			s.counts.Requested(op.State)
		}
		first, last := answer.list(4).num(2), answer.list(4).num(3)
		out.Requested = sessionstore.Work{Key: key, Ref: answer.text(1), Done: first, Requested: last}
	}
	if !delivered {
		err = s.deliver(ctx, box, answer.list(5))
	}
	if !opts.ChangesState() {
		// All is stored. At most the list of the app lacks the session, until a process
		// that looks for work delivers its name.
		return out, nil
	}
	return out, err
}

// triggerText is a trigger as append.lua has it: "" for none.
func triggerText(t *sessionstore.Trigger) string {
	if t == nil {
		return ""
	}
	return t.Text()
}

// reservedFor is how long room in the state of an app stays reserved for a change,
// in seconds. It is much longer than the change takes to come, and short enough for
// a change that never comes not to be in the way of others for long.
const reservedFor = 60

// appDelta is what a call changes of the state of its app. ErrInvalid if the call
// changes more state than an owner may have.
func (s *Store) appDelta(opts sessionstore.Append, state sessionstore.State, events []sessionstore.Event) (
	sessionstore.State, error) {
	forApp := sessionstore.State{}
	if !opts.ChangesState() {
		return forApp, nil
	}
	deltas := []sessionstore.State{state}
	for _, e := range events {
		if !e.Partial {
			deltas = append(deltas, e.StateDelta)
		}
	}
	for _, delta := range deltas {
		if err := sessionstore.CheckDelta(delta, s.opts.MaxState); err != nil {
			return nil, err
		}
		maps.Copy(forApp, delta.Split().App)
	}
	return forApp, nil
}

// steps reserves room for a change of the app's state, appends, and delivers what that
// leaves in the outbox. It returns the answer of append.lua, and whether all is
// delivered; args makes that script's arguments.
//
// On one server the three go in one round trip. A proxy may still spread the keys over
// several servers. append.lua then finds no reservation and stores nothing, or
// deliver.lua finds an empty outbox, and the steps follow one another as on a cluster.
func (s *Store) steps(ctx context.Context, box outbox, mode string, forApp sessionstore.State,
	args func(token, reserved string) []any) (answer reply, delivered bool, err error) {
	prefix, token := partitionPrefix(box.partition), ""
	if len(forApp) > 0 {
		token = rand.Text()
	}
	if _, one := s.redis.(*redis.Client); one && (token != "" || mode == modeNew) {
		reserved := ""
		calls := []call{{}, {deliverScript, appPrefix(box.app), []any{box.partition, "", prefix, box.app}}}
		if token != "" {
			reserved = appPrefix(box.app) + "reserved"
			calls = append([]call{s.reserveCall(box.app, token, true, forApp)}, calls...)
		}
		last := len(calls) - 1
		calls[last-1] = call{appendScript, prefix, args(token, reserved)}
		answers := s.together(ctx, calls...)
		if token != "" {
			if err := s.reserved(answers[0]); err != nil {
				return nil, false, err
			}
		}
		answer = replyOf(answers[last-1].value)
		if err := answers[last-1].err; err != nil {
			return nil, false, err
		}
		if answer.text(0) != "ROOM" {
			if answer.text(0) != "OK" || answers[last].err != nil {
				return answer, false, nil
			}
			applied := reply{answers[last].value}
			s.noteDelivered(box, applied.text(0))
			return answer, applied.num(0) >= answer.num(6), nil
		}
	}
	if token != "" {
		if err := s.reserved(s.together(ctx, s.reserveCall(box.app, token, false, forApp))[0]); err != nil {
			return nil, false, err
		}
	}
	v, err := s.run(ctx, appendScript, prefix, args(token, "")...)
	return replyOf(v), false, err
}

// reserveCall reserves room in the state of an app for a change. always stores the
// reservation also if the state does not grow.
func (s *Store) reserveCall(app, token string, always bool, forApp sessionstore.State) call {
	args := []any{token, reservedFor, s.opts.MaxState, truth(always)}
	for k, v := range forApp {
		args = append(args, k, len(v))
	}
	return call{reserveScript, appPrefix(app), args}
}

// reserved is the error of a reserveCall: ErrInvalid if there is no room.
func (s *Store) reserved(a answer) error {
	if r := replyOf(a.value); a.err == nil && r.text(0) == "STATE" {
		return sessionstore.CheckState("app", r.num(1), r.num(2), s.opts.MaxState)
	}
	return a.err
}

// appendEvents adds events to a script's arguments: how many, then each. It also
// returns the place in events of each event sent: partial ones are not.
func appendEvents(args []any, events []sessionstore.Event) (_ []any, sent []int) {
	count := len(args)
	args = append(args, 0)
	for i, e := range events {
		if !e.Partial {
			sent = append(sent, i)
			args = append(args, e.ID, e.Timestamp.UnixMicro(), truth(e.RewindBefore != ""), []byte(e.Doc))
			args = appendState(args, e.StateDelta)
		}
	}
	args[count] = len(sent)
	return args, sent
}

// truth is a boolean as scripts have it.
func truth(v bool) string {
	if v {
		return "1"
	}
	return ""
}

// appendState adds a delta to a script's arguments: how many keys, then owner,
// name and value of each.
func appendState(args []any, delta sessionstore.State) []any {
	parts := delta.Split()
	args = append(args, len(parts.App)+len(parts.User)+len(parts.Session))
	for owner, state := range map[string]sessionstore.State{"a": parts.App, "u": parts.User, "s": parts.Session} {
		for k, v := range state {
			args = append(args, owner, k, []byte(v))
		}
	}
	return args
}

// Delete implements sessionstore.Store.
func (s *Store) Delete(ctx context.Context, key sessionstore.Key) error {
	v, err := s.run(ctx, deleteScript, scopePrefix(key.Scope), name(key.Scope), key.App, key.ID, s.clock())
	if err == nil {
		err = s.deliver(ctx, outbox{partitionOf(key.Scope), key.App}, replyOf(v))
	}
	if err != nil {
		return key.Wrap("delete", err)
	}
	return nil
}
