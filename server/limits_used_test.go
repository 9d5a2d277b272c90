package server_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/quota"
)

// limitsOf reads limits as name, limit and used, and checks when they reset.
func (a *api) limitsOf(path, key string) map[string][2]float64 {
	a.t.Helper()
	raw := a.do("GET", path+"/limits", nil, "Authorization", "Bearer "+key)
	var body struct {
		Limits []struct {
			Name        string
			Limit, Used float64
			ResetTime   *time.Time
		}
	}
	if err := json.Unmarshal(raw.raw, &body); err != nil || raw.status != 200 {
		a.t.Fatalf("%s: %d, %s, %v", path, raw.status, raw.raw, err)
	}
	out := map[string][2]float64{}
	for _, l := range body.Limits {
		out[l.Name] = [2]float64{l.Limit, l.Used}
		resets := map[string]bool{"key-rate": true, "app-rate": true, "user-rate": true, "app-model-calls": true,
			"app-model-tokens": true, "user-model-calls": true, "user-model-tokens": true}[l.Name] && l.Used > 0
		if (l.ResetTime != nil) != resets || resets && time.Until(*l.ResetTime) > 25*time.Hour {
			a.t.Errorf("%s resets at %v", l.Name, l.ResetTime)
		}
	}
	return out
}

// The limits of an app tell its use and that of what it shares, those of a user tell theirs,
// and both tell the use of the key that asks. Neither lists a use without a limit.
func TestLimitsUsed(t *testing.T) {
	now := time.Now()
	opts := &quota.Options{Now: func() time.Time { return now }}
	meter := quota.NewMeter(quota.DayLimits{AppCalls: 50, AppTokens: 500, UserTokens: 100}, opts)
	m := &failing{}
	a := start(t, func(s *setup) {
		s.memories = m.wrap
		s.server.Quotas = quota.New(quota.Limits{KeyRate: 100, AppRate: 100, UserRate: 100, UserRequests: 1000}, opts)
		s.server.ModelQuotas, s.server.MaxSessions = meter, 30
		s.ingest.Limits, s.ingest.SharedLimits = ingest.Limits{Memories: 20}, ingest.Limits{Memories: 10, Bytes: 1 << 20}
	})
	admin := a.admin()
	ann := a.key(admin, "app", "ann", "read")
	user := "/v1/apps/app/users/ann"
	for _, session := range []string{"s1", "s2"} {
		a.want(200, "POST", user+"/memories/ingest?wait=true", map[string]any{"sessionId": session, "events": []any{
			map[string]any{"id": "e1", "author": "user", "content": "I live in Porto."}}}, "Authorization", "Bearer "+admin)
	}
	scope := memory.Scope{App: "app", User: "ann"}
	if err := errors.Join(meter.Begin(t.Context(), scope), meter.Add(t.Context(), scope, 40)); err != nil {
		t.Fatal(err)
	}
	memories := float64(len(list(a.want(200, "GET", user+"/memories?history=true", nil, "Authorization", "Bearer "+admin), "memories")))
	same(t, "ann's, by her key", a.limitsOf(user, ann), map[string][2]float64{"key-rate": {100, 1}, "user-rate": {100, 4},
		"user-requests": {1000, 1}, "user-model-tokens": {100, 40}, "user-memories": {20, memories}, "user-sessions": {30, 2}})
	same(t, "bob's", a.limitsOf("/v1/apps/app/users/bob", admin), map[string][2]float64{"key-rate": {100, 5},
		"user-rate": {100, 1}, "user-requests": {1000, 1}, "user-model-tokens": {100, 0}, "user-memories": {20, 0}, "user-sessions": {30, 0}})
	same(t, "the app's", a.limitsOf("/v1/apps/app", admin), map[string][2]float64{"key-rate": {100, 6}, "app-rate": {100, 7},
		"app-model-calls": {50, 1}, "app-model-tokens": {500, 40}, "shared-memories": {10, 0}, "shared-bytes": {1 << 20, 0}})
	a.want(403, "GET", "/v1/apps/app/limits", nil, "Authorization", "Bearer "+ann)
	a.want(403, "GET", "/v1/apps/app/users/bob/limits", nil, "Authorization", "Bearer "+ann)
	m.fail(memory.ErrUnavailable)
	a.want(503, "GET", user+"/limits", nil, "Authorization", "Bearer "+admin)
	m.fail(nil)

	b := start(t)
	same(t, "of a memoryd without limits", string(b.do("GET", user+"/limits", nil).raw), `{"limits":[]}`+"\n")
}
