package quota_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/quota"
	"github.com/memoryd/memoryd/quota/quotatest"
)

func TestLocal(t *testing.T) {
	quotatest.Run(t, func(*testing.T) quotatest.Harness {
		return quotatest.Harness{
			Open:   func(_ *testing.T, now func() time.Time) quota.Counter { return quota.NewLocal(now) },
			Settle: func(quota.Counter) {},
		}
	})
}

var (
	ann = memory.Scope{App: "shop", User: "ann"}
	key = &access.Principal{ID: "key:k", App: "shop", Can: access.Read}
)

// refused checks that a request is refused by a flag, and when it may come again.
func refused(t *testing.T, l *quota.Limiter, r quota.Request, flag string, after time.Duration) {
	t.Helper()
	_, err := l.Begin(t.Context(), r)
	refusal := (*memory.Refusal)(nil)
	if !errors.As(err, &refusal) || refusal.Flag() != flag || memory.RetryAfter(err) != after ||
		!strings.Contains(err.Error(), "-"+flag) {
		t.Errorf("%+v: %v, after %v, want -%s after %v", r, err, memory.RetryAfter(err), flag, after)
	}
}

func passes(t *testing.T, l *quota.Limiter, r quota.Request) (end func()) {
	t.Helper()
	end, err := l.Begin(t.Context(), r)
	if err != nil {
		t.Errorf("%+v: %v", r, err)
		return func() {}
	}
	return end
}

// Each limit counts what it is of: the key, the app, the user in its app.
func TestLimiter(t *testing.T) {
	now := func() time.Time { return time.Unix(1_800_000_000, 0) }
	one := func(l quota.Limits) *quota.Limiter { return quota.New(l, &quota.Options{Now: now}) }
	of := func(p *access.Principal, app, user string) quota.Request {
		return quota.Request{By: p, Scope: memory.Scope{App: app, User: user}}
	}
	other := &access.Principal{ID: "key:other", App: "shop", Can: access.Read}
	for _, c := range []struct {
		flag   string
		limits quota.Limits
		same   []quota.Request // count together
		others []quota.Request // do not
		after  time.Duration
	}{
		{"key-rate", quota.Limits{KeyRate: .5}, []quota.Request{of(key, "shop", "ann"), of(key, "shop", "bob"), of(key, "", "")},
			[]quota.Request{of(other, "shop", "ann"), of(access.Owner, "shop", "ann"), of(nil, "shop", "ann")}, 2 * time.Second},
		{"app-rate", quota.Limits{AppRate: 1}, []quota.Request{of(key, "shop", "ann"), of(access.Owner, "shop", "bob"), of(other, "shop", "")},
			[]quota.Request{of(access.Owner, "bank", "ann"), of(key, "", "")}, time.Second},
		{"user-rate", quota.Limits{UserRate: 1}, []quota.Request{of(key, "shop", "ann"), of(access.Owner, "shop", "ann")},
			[]quota.Request{of(key, "shop", "bob"), of(key, "bank", "ann"), of(key, "shop", "")}, time.Second},
		{"key-requests", quota.Limits{KeyRequests: 1}, []quota.Request{of(key, "shop", "ann"), of(key, "shop", "")},
			[]quota.Request{of(other, "shop", "ann"), of(access.Owner, "shop", "ann")}, time.Second},
		{"app-requests", quota.Limits{AppRequests: 1}, []quota.Request{of(key, "shop", "ann"), of(other, "shop", "bob")},
			[]quota.Request{of(key, "bank", "ann")}, time.Second},
		{"user-requests", quota.Limits{UserRequests: 1}, []quota.Request{of(key, "shop", "ann"), of(other, "shop", "ann")},
			[]quota.Request{of(key, "shop", "bob"), of(key, "shop", "")}, time.Second},
	} {
		for _, first := range c.same {
			l := one(c.limits)
			end := passes(t, l, first)
			for _, r := range c.same {
				refused(t, l, r, c.flag, c.after)
			}
			for _, r := range c.others {
				passes(t, l, r)
			}
			stream := first
			stream.Stream = true
			if strings.HasSuffix(c.flag, "-requests") {
				passes(t, l, stream)
				end()
				passes(t, l, first)
			} else {
				refused(t, l, stream, c.flag, c.after)
			}
		}
	}
	if one(quota.Limits{}) != nil {
		t.Error("there is a limiter without limits")
	}
}

// A rate of more than one a second lets as many come at once.
func TestBurst(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	l := quota.New(quota.Limits{UserRate: 2.5}, &quota.Options{Now: func() time.Time { return now }})
	passes(t, l, quota.Request{Scope: ann})
	passes(t, l, quota.Request{Scope: ann})
	refused(t, l, quota.Request{Scope: ann}, "user-rate", 400*time.Millisecond)
	now = now.Add(400 * time.Millisecond)
	passes(t, l, quota.Request{Scope: ann})
	refused(t, l, quota.Request{Scope: ann}, "user-rate", 400*time.Millisecond)
}

// failing is a counter of several processes that does not answer.
type failing struct {
	quota.Counter
	err   error
	asked atomic.Int64
}

func (f *failing) Pass(ctx context.Context, app, id string, gates []quota.Gate) (int, time.Duration, error) {
	if f.asked.Add(1); f.err != nil {
		return 0, 0, f.err
	}
	return f.Counter.Pass(ctx, app, id, gates)
}

// While the counter of several processes is away, this one counts for itself, and does
// not ask with each request.
func TestSharedIsAway(t *testing.T) {
	f := &failing{Counter: quota.NewLocal(nil), err: fmt.Errorf("%w: redis", memory.ErrUnavailable)}
	l := quota.New(quota.Limits{UserRequests: 2}, &quota.Options{Shared: f})
	r := quota.Request{Scope: ann}
	end := passes(t, l, r)
	passes(t, l, r)
	refused(t, l, r, "user-requests", time.Second)
	end()
	passes(t, l, r)
	refused(t, l, r, "user-requests", time.Second)
	f.err = errors.New("a fault")
	l = quota.New(quota.Limits{UserRequests: 2}, &quota.Options{Shared: f})
	if _, err := l.Begin(t.Context(), r); !errors.Is(err, f.err) {
		t.Errorf("a fault of the counter: %v", err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	f.err = over.Err()
	if _, err := l.Begin(over, r); !errors.Is(err, context.Canceled) {
		t.Errorf("a request that is over: %v", err)
	}
}

// What a request pays for all limits in one process, and for none.
func BenchmarkBegin(b *testing.B) {
	l := quota.New(quota.Limits{KeyRate: 1e4, AppRate: 1e4, UserRate: 1e4, KeyRequests: 10, AppRequests: 10, UserRequests: 10}, nil)
	for b.Loop() {
		if end, err := l.Begin(b.Context(), quota.Request{By: key, Scope: ann}); err == nil {
			end()
		}
	}
}

// A meter refuses the call after the one that reaches a limit, until midnight UTC.
func TestMeter(t *testing.T) {
	now := time.Date(2026, 5, 1, 22, 30, 0, 0, time.FixedZone("", -2*60*60)) // 0:30 of May 2 in UTC
	refusedBy := func(m *quota.Meter, flag string) {
		t.Helper()
		err := m.Begin(t.Context(), memory.Scope{App: "shop", User: "ann"})
		refusal := (*memory.Refusal)(nil)
		if !errors.As(err, &refusal) || refusal.Flag() != flag || memory.RetryAfter(err) != 23*time.Hour+30*time.Minute ||
			!strings.Contains(err.Error(), "2026-05-03T00:00:00Z") {
			t.Errorf("%v, want a refusal by -%s", err, flag)
		}
	}
	begins := func(m *quota.Meter, app string) {
		t.Helper()
		if err := m.Begin(t.Context(), memory.Scope{App: app, User: "bob"}); err != nil {
			t.Error(err)
		}
	}
	opts := &quota.Options{Now: func() time.Time { return now }}
	calls := quota.NewMeter(quota.DayLimits{AppCalls: 2}, opts)
	begins(calls, "shop")
	begins(calls, "shop")
	refusedBy(calls, "app-model-calls")
	begins(calls, "bank")
	tokens := quota.NewMeter(quota.DayLimits{AppTokens: 100}, opts)
	for range 2 {
		begins(tokens, "shop")
		if err := tokens.Add(t.Context(), memory.Scope{App: "shop"}, 99); err != nil {
			t.Error(err)
		}
	}
	refusedBy(tokens, "app-model-tokens")
	begins(tokens, "bank")
	// Each user has a share of their own, within that of the app.
	users := quota.NewMeter(quota.DayLimits{UserCalls: 1, UserTokens: 50, AppCalls: 4}, opts)
	ann, bob := memory.Scope{App: "shop", User: "ann"}, memory.Scope{App: "shop", User: "bob"}
	if err := users.Begin(t.Context(), ann); err != nil {
		t.Error(err)
	}
	refusedBy(users, "user-model-calls")
	if err := users.Add(t.Context(), bob, 60); err != nil {
		t.Error(err)
	}
	if err := users.Begin(t.Context(), bob); err == nil || !strings.Contains(err.Error(), "-user-model-tokens") {
		t.Errorf("tokens of a user: %v", err)
	}
	for _, user := range []string{"cleo", "dan", "eve"} {
		if err := users.Begin(t.Context(), memory.Scope{App: "shop", User: user}); err != nil {
			t.Error(err)
		}
	}
	if err := users.Begin(t.Context(), memory.Scope{App: "shop", User: "fay"}); err == nil ||
		!strings.Contains(err.Error(), "-app-model-calls") {
		t.Errorf("calls of an app: %v", err)
	}
	now = now.Add(23*time.Hour + 30*time.Minute)
	begins(calls, "shop")
	begins(users, "shop")
	begins(tokens, "shop")
	if quota.NewMeter(quota.DayLimits{}, nil) != nil {
		t.Error("there is a meter without limits")
	}
}
