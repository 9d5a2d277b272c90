package fair_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/internal/fair"
	"github.com/memoryd/memoryd/memory"
)

// fill takes places for a scope until it is refused one.
func fill(t *testing.T, p *fair.Places, s memory.Scope) (free []func()) {
	t.Helper()
	for {
		f, err := p.Take(s)
		if err != nil {
			if !errors.Is(err, memory.ErrExhausted) || !strings.Contains(err.Error(), "-requests") {
				t.Errorf("error %v", err)
			}
			return free
		}
		free = append(free, f)
	}
}

// A user alone has a quarter of the places, and its app half with other users. Two apps
// have a third each, and one that comes new finds a place, as does a new user.
func TestPlaces(t *testing.T) {
	p := fair.NewPlaces(120)
	var all []func()
	has := map[string]int{}
	for _, take := range []struct {
		app, user string
		want      int
	}{
		{"flood", "u", 30}, {"flood", "v", 15}, {"second", "u", 18},
		{"flood", "w", 3}, {"second", "v", 9}, {"third", "u", 11},
	} {
		free := fill(t, p, scope(take.app, take.user))
		all = append(all, free...)
		if has[take.app] += len(free); len(free) != take.want {
			t.Errorf("%s of %s has %d places, want %d; apps have %v", take.user, take.app, len(free), take.want, has)
		}
	}
	for _, f := range all {
		f()
	}
	if s := p.Stats(); s.Used != 0 || s.Refused != 6 {
		t.Errorf("%+v", s)
	}
	for i := range 200 {
		all = append(all, fill(t, p, scope("many", fmt.Sprint(i)))...)
	}
	if used := p.Stats().Used; used != 60 {
		t.Errorf("an app of many users has %d of 120", used)
	}
}

// Whatever apps and users take and give back, one by one, no app has more than half and
// no user more than a quarter, an app that has none finds some, and so does a user that
// has none of an app that has less than is free.
func TestSharesKeepRoom(t *testing.T) {
	const total = 100
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		s, held := fair.NewShares(total), []memory.Scope{}
		for range 2000 {
			who := scope(fmt.Sprint(rnd.IntN(8)), fmt.Sprint(rnd.IntN(1+rnd.IntN(8))))
			if rnd.IntN(3) == 0 && len(held) > 0 {
				i := rnd.IntN(len(held))
				s.Add(held[i], -1)
				held = slices.Delete(held, i, i+1)
				continue
			}
			app, user := s.Has(who)
			fits := s.Fits(who, 1, 0)
			if !fits && (app == 0 || user == 0 && app+1 < s.Free()) {
				t.Fatalf("seed %d: %v has %d of its app's %d and finds none of %d", seed, who, user, app, s.Free())
			}
			if fits {
				s.Add(who, 1)
				held = append(held, who)
			}
			app, user = s.Has(who)
			if fits && (app > total/2 || user > total/4) || s.Free() != int64(total-len(held)) || s.Free() < 1 {
				t.Fatalf("seed %d: %v has %d, its app %d, and %d are free", seed, who, user, app, s.Free())
			}
		}
		for _, who := range held {
			s.Add(who, -1)
		}
		if app, user := s.Has(scope("0", "0")); app != 0 || user != 0 || s.Free() != total {
			t.Errorf("seed %d: %d, %d and %d free at the end", seed, app, user, s.Free())
		}
	}
}
