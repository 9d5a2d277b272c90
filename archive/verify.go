package archive

import (
	"errors"
	"fmt"
	"strings"

	"github.com/memoryd/memoryd/appconfig"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// verifier checks the lines one after the other, and counts them.
type verifier struct {
	head   *Heading
	end    *Ending
	counts Counts
	// at is the session whose events come, and events are the ids of those so far.
	at       sessionstore.Key
	events   map[string]bool
	sessions map[sessionstore.Key]bool // that are complete
	configs  map[string]bool           // apps whose configuration has come
}

// take checks one line.
func (v *verifier) take(l *line) error {
	if v.head == nil {
		return v.heading(l.Heading)
	}
	if v.end != nil {
		return errors.New("something follows the end")
	}
	if err := v.check(l); err != nil {
		return err
	}
	v.end = l.Ending
	v.counts.add(l)
	return nil
}

// heading checks the first line.
func (v *verifier) heading(h *Heading) error {
	if h == nil {
		return errors.New("it does not begin as an export of memoryd")
	}
	if h.Format != Format {
		return fmt.Errorf("it is of format %d; this memoryd has format %d", h.Format, Format)
	}
	v.head, v.events, v.sessions = h, map[string]bool{}, map[sessionstore.Key]bool{}
	v.configs = map[string]bool{}
	return nil
}

// check checks a line after the first one.
func (v *verifier) check(l *line) error {
	if len(v.events) > 0 && l.Events == nil && l.Session == nil {
		return fmt.Errorf("session %q of app %q, user %q has events, and no line of its own follows them",
			v.at.ID, v.at.App, v.at.User)
	}
	switch {
	case l.Heading != nil:
		return errors.New("it has a second beginning")
	case l.Config != nil:
		return v.checkConfig(l.Config)
	case l.Shared != nil:
		shared := sessionstore.SharedState{Scope: l.Shared.Scope, State: l.Shared.State}
		return shared.Validate()
	case l.Events != nil:
		return v.checkEvents(l.Events)
	case l.Session != nil:
		return v.checkSession(l.Session)
	case l.Memory != nil:
		return l.Memory.Validate(v.head.Dimension)
	}
	return nil
}

// checkConfig checks the configuration of an app: each is one that can be used, and comes
// once.
func (v *verifier) checkConfig(l *configLine) error {
	if err := l.Validate(); err != nil {
		return err
	}
	if v.configs[l.App] {
		return fmt.Errorf("the configuration of app %q comes twice", l.App)
	}
	v.configs[l.App] = true
	if err := appconfig.Check(l.Doc); err != nil {
		return fmt.Errorf("the configuration of app %q: %w", l.App, err)
	}
	return nil
}

// checkEvents checks some events of a session: each is as a store keeps it, and
// comes once.
func (v *verifier) checkEvents(l *eventsLine) error {
	key := sessionstore.Key{Scope: l.Scope, ID: l.Session}
	if err := key.Validate(); err != nil {
		return err
	}
	if len(v.events) > 0 && key != v.at {
		return fmt.Errorf("events of session %q come among those of session %q", key.ID, v.at.ID)
	}
	if v.sessions[key] {
		return fmt.Errorf("session %q of app %q, user %q comes twice", key.ID, key.App, key.User)
	}
	v.at = key
	for i, raw := range l.Events {
		e, err := sessionstore.ParseEvent(raw)
		if err != nil {
			return fmt.Errorf("events[%d]: %w", i, err)
		}
		if err := checkEvent(&e); err != nil {
			return fmt.Errorf("events[%d]: %w", i, err)
		}
		if v.events[e.ID] {
			return fmt.Errorf("events[%d]: event %q comes twice in session %q", i, e.ID, key.ID)
		}
		v.events[e.ID] = true
	}
	return nil
}

// checkEvent checks what a store has added to an event, or left out.
func checkEvent(e *sessionstore.Event) error {
	switch {
	case e.ID == "":
		return errors.New("the event has no id")
	case e.Timestamp.IsZero():
		return errors.New("the event has no timestamp")
	case e.Partial:
		return errors.New("the event is partial, and such events are not stored")
	}
	for key := range e.StateDelta {
		if strings.HasPrefix(key, sessionstore.TempPrefix) {
			return fmt.Errorf("actions.stateDelta: %.60q is state of one invocation, which is not stored", key)
		}
	}
	return nil
}

// checkSession checks the line that follows the events of a session.
func (v *verifier) checkSession(l *sessionLine) error {
	r := l.record()
	if err := r.Validate(); err != nil {
		return err
	}
	if len(v.events) > 0 && r.Key != v.at {
		return fmt.Errorf("session %q comes after events of session %q", r.ID, v.at.ID)
	}
	if v.sessions[r.Key] {
		return fmt.Errorf("session %q of app %q, user %q comes twice", r.ID, r.App, r.User)
	}
	if n := int64(len(v.events)); r.Events != n {
		return fmt.Errorf("%w: the session has %d events, not %d", memory.ErrInvalid, n, r.Events)
	}
	if err := ingest.ValidatePlan(r.Scope, r.Plan); err != nil {
		return err
	}
	v.sessions[r.Key] = true
	clear(v.events)
	return nil
}
