package redissession_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/memoryd/memoryd/internal/redistest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
	"github.com/memoryd/memoryd/sessionstore/redissession"
)

// proxy has the keys of apps on another server, as a proxy that spreads keys over
// several servers does. The client takes it for one server.
type proxy struct{ apps *redis.Client }

func (p proxy) DialHook(next redis.DialHook) redis.DialHook { return next }

// forApp reports whether a command, or the first key of a script, is of an app.
func (p proxy) forApp(cmd redis.Cmder) bool {
	args, at := cmd.Args(), 1
	if strings.HasPrefix(cmd.Name(), "eval") {
		at = 3
	}
	return len(args) > at && strings.HasPrefix(fmt.Sprint(args[at]), "memoryd:{a:")
}

func (p proxy) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if p.forApp(cmd) {
			return p.apps.Process(ctx, cmd)
		}
		return next(ctx, cmd)
	}
}

func (p proxy) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		var failed error
		for _, cmd := range cmds {
			if p.forApp(cmd) {
				failed = errors.Join(failed, p.apps.Process(ctx, cmd))
			} else {
				failed = errors.Join(failed, next(ctx, []redis.Cmder{cmd}))
			}
		}
		return failed
	}
}

// Behind a proxy that has the keys of apps on another server, appends of app: state are
// applied, listed and limited as on one server.
func TestBehindProxy(t *testing.T) {
	one, apps := redistest.Start(t), redistest.Start(t)
	s := open(t, one.URL(), &redissession.Options{MaxState: 1000})
	defer s.Close()
	redissession.Hook(s, proxy{apps.Client(t)})
	state := sessionstore.State{"app:a": []byte(`"created"`), "k": []byte(`1`)}
	_, err := s.Create(t.Context(), key("ann", "s"), sessionstore.Create{State: state})
	must(t, err)
	_, err = s.Create(t.Context(), key("cy", "s"), sessionstore.Create{})
	must(t, err)
	for i := range 3 {
		must(t, add(t, s, key("bob", "s"), event(t, fmt.Sprint("e", i), fmt.Sprintf(`, "app:b": %d`, i))))
		got, err := s.Get(t.Context(), key("ann", "s"), sessionstore.Get{})
		must(t, err)
		if a, b := string(got.State["app:a"]), string(got.State["app:b"]); a != `"created"` || b != fmt.Sprint(i) {
			t.Errorf("the state of the app is %s and %s after change %d", a, b, i)
		}
	}
	large := event(t, "large", fmt.Sprintf(`, "app:c": %q`, strings.Repeat("x", 900)))
	if err := add(t, s, key("bob", "s"), large); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("app: state beyond the limit: %v", err)
	}
	page, err := s.ListApp(t.Context(), "app", sessionstore.List{})
	if err != nil || len(page.Sessions) != 3 {
		t.Errorf("the app has %d sessions, %v", len(page.Sessions), err)
	}
	if keys := keysOf(t, one, "memoryd:{a:*"); len(keys) > 0 {
		t.Errorf("keys of the app on the wrong server: %q", keys)
	}
}
