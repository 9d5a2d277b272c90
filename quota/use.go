package quota

import (
	"context"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// Use is a limit that is set, and how much of it is used.
type Use struct {
	Flag  string  // that sets it, without its dash
	Limit float64 // its value
	Used  int64   // of a rate, how many of those that may come at once
	// Until is when none of it is used if nothing else comes; 0 where time alone gives
	// nothing back.
	Until time.Duration
}

// Uses returns the limits of the key of a request, and those of its scope: of its user, or
// of its app if it names none. A request that is in progress is part of what is used. A nil
// Limiter has none.
func (l *Limiter) Uses(ctx context.Context, r Request) ([]Use, error) {
	if l == nil {
		return nil, nil
	}
	of := "app"
	if r.Scope.User != "" {
		of = "user"
	}
	// The gates of a user come with those of the app, which a key of one user learns nothing
	// of.
	all, bounds := l.gates(r)
	var gates []Gate
	var out []Use
	for i, b := range bounds {
		if b.of == of || b.of == "key" {
			gates = append(gates, all[i])
			out = append(out, Use{Flag: b.flag[1:], Limit: b.limit})
		}
	}
	return out, l.used(ctx, r.Scope.App, gates, nil, out)
}

// Uses returns the limits of a user on a day, or those of an app if the scope has no user.
// A nil Meter has none.
func (m *Meter) Uses(ctx context.Context, scope memory.Scope) ([]Use, error) {
	if m == nil {
		return nil, nil
	}
	of, amounts := "app", m.amounts(scope, 0, 0)
	if scope.User != "" {
		of, amounts = "user", amounts[2:]
	}
	var names []string
	var out []Use
	for i, what := range []string{"calls", "tokens"} {
		if i < len(amounts) && amounts[i].Most > 0 {
			names = append(names, amounts[i].Name)
			out = append(out, Use{Flag: of + "-model-" + what, Limit: float64(amounts[i].Most)})
		}
	}
	return out, m.used(ctx, scope.App, nil, names, out)
}

// used reads how much of gates and amounts is taken, into the limits that they are of.
func (t *together) used(ctx context.Context, app string, gates []Gate, names []string, out []Use) error {
	if len(out) == 0 {
		return nil
	}
	_, err := t.do(ctx, func(ctx context.Context, c Counter) error {
		used, err := c.Used(ctx, app, gates, names)
		if err != nil {
			return err
		}
		for i, u := range used {
			out[i].Used, out[i].Until = u.N, u.Until
		}
		return nil
	})
	return err
}
