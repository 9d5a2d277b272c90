package server

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/sessionstore"
)

// detailFields are the fields of a session in a request that a client may set. Raw values
// tell an absent field from null.
type detailFields struct {
	DisplayName rawValue `json:"displayName"`
	Labels      rawValue `json:"labels"`
	ExpireTime  rawValue `json:"expireTime"`
}

// given reports whether a field has a value that is not null.
func given(raw rawValue) bool { return len(raw) > 0 && string(raw) != "null" }

// patch reads the fields, and a ttl beside them. An absent field is nil, and null is the
// zero value.
func (f *detailFields) patch(ttl rawValue) (p sessionstore.Patch, err error) {
	if p.DisplayName, err = optional[string]("displayName", json.RawMessage(f.DisplayName)); err != nil {
		return p, err
	}
	if p.Labels, err = optional[map[string]string]("labels", json.RawMessage(f.Labels)); err != nil {
		return p, err
	}
	if given(ttl) && given(f.ExpireTime) {
		return p, invalid("expireTime and ttl: want one of them")
	}
	expires, err := optional[moment]("expireTime", json.RawMessage(f.ExpireTime))
	if err != nil {
		return p, err
	}
	lasts, err := optional[lifetime]("ttl", json.RawMessage(ttl))
	if err != nil {
		return p, err
	}
	switch {
	case lasts != nil && lasts.Duration > 0:
		at := time.Now().Add(lasts.Duration)
		p.ExpireTime = &at
	case expires != nil:
		p.ExpireTime = &expires.Time
	case lasts != nil:
		p.ExpireTime = &time.Time{}
	}
	return p, nil
}

// patchSession answers PATCH {scope}/sessions/{id} with the session without its
// events. It records a change of state as an event, as ADK's servers do.
func (s *Server) patchSession(c echo.Context, key sessionstore.Key) error {
	var req struct {
		detailFields
		State      rawValue `json:"state"`
		StateDelta rawValue `json:"stateDelta"`
		TTL        rawValue `json:"ttl"`
	}
	if err := decodeBody(c, &req); err != nil {
		return err
	}
	patch, err := req.patch(req.TTL)
	if err != nil {
		return err
	}
	if given(req.State) {
		state, err := parseState("state", req.State)
		if err != nil {
			return err
		}
		patch.State = &state
	}
	if given(req.StateDelta) {
		delta, err := parseState("stateDelta", req.StateDelta)
		if err != nil {
			return err
		}
		event, err := sessionstore.NewStateEvent("p-"+uuid.NewString(), delta)
		if err != nil {
			return err
		}
		patch.Events = []sessionstore.Event{event}
	} else if patch.State == nil && patch.DisplayName == nil && patch.Labels == nil && patch.ExpireTime == nil {
		return invalid("nothing to change: want state, stateDelta, displayName, labels, expireTime or ttl")
	}
	if err := s.sessions.Update(c.Request().Context(), key, patch); err != nil {
		return err
	}
	return s.sendPatched(c, key)
}
