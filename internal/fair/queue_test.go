package fair_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/memoryd/memoryd/internal/fair"
	"github.com/memoryd/memoryd/memory"
)

func scope(app, user string) memory.Scope { return memory.Scope{App: app, User: user} }

// pop takes what is next, and charges it.
func pop(t *testing.T, q *fair.Queue[string], cost time.Duration) string {
	t.Helper()
	k := q.Pop()
	if k == nil {
		t.Fatal("nothing waits")
	}
	q.Charge(k, cost)
	return k.Value
}

// An app with much waiting delays another by one turn, and a user with much another
// user of the app by one turn of the app.
func TestQueueTakesTurns(t *testing.T) {
	q := fair.NewQueue[string]()
	for i := range 100 {
		q.Push(scope("flood", "u"), fmt.Sprint("flood ", i))
	}
	pop(t, q, time.Millisecond)
	q.Push(scope("flood", "v"), "another user")
	for i := range 3 {
		q.Push(scope("calm", "u"), fmt.Sprint("calm ", i))
	}
	var got []string
	for range 8 {
		got = append(got, pop(t, q, time.Millisecond))
	}
	want := []string{"calm 0", "another user", "calm 1", "flood 1", "calm 2", "flood 2", "flood 3", "flood 4"}
	if !slices.Equal(got, want) {
		t.Errorf("turns\n%q, want\n%q", got, want)
	}
}

// Turns count by the time they take: an app whose turns take ten times as long gets a
// tenth of them, also if it never has more than one waiting.
func TestQueueCountsTime(t *testing.T) {
	q := fair.NewQueue[string]()
	for range 1000 {
		q.Push(scope("short", "u"), "short")
	}
	turns := map[string]int{}
	q.Push(scope("long", "u"), "long")
	for range 110 {
		k := q.Pop()
		turns[k.Value]++
		if k.Value == "long" {
			q.Charge(k, 10*time.Millisecond)
			q.Push(scope("long", "u"), "long")
		} else {
			q.Charge(k, time.Millisecond)
		}
	}
	if n := turns["long"]; n < 9 || n > 12 {
		t.Errorf("%v, want about 10 long turns of 110", turns)
	}
}

// A turn that took very long delays the next one of its app, and so another user of
// the app, by eight turns of each other app at most, however many apps wait.
func TestQueueBoundsDebt(t *testing.T) {
	const apps = 50
	q := fair.NewQueue[string]()
	for i := range 20 * apps {
		q.Push(scope(fmt.Sprint("other ", i%apps), "u"), "other")
	}
	for range 2 * apps {
		pop(t, q, time.Millisecond)
	}
	q.Push(scope("long", "u"), "long")
	for pop(t, q, time.Millisecond) != "long" {
	}
	q.Push(scope("long", "u"), "long")
	for k := q.Pop(); ; k = q.Pop() {
		if k.Value == "long" {
			q.Charge(k, time.Minute)
			break
		}
		q.Charge(k, time.Millisecond)
	}
	q.Push(scope("long", "v"), "another user")
	turns := 0
	for k := q.Pop(); k.Value != "another user"; k = q.Pop() {
		q.Charge(k, time.Millisecond)
		turns++
	}
	// The minute is 60,000 turns of the others. Each of them has one under way too.
	if turns > 9*apps {
		t.Errorf("it waited for %d turns of %d apps", turns, apps)
	}
	if turns < 3*apps {
		t.Errorf("it waited for %d turns of %d apps: the long one was not paid for", turns, apps)
	}
}

// An app saves up nothing while it is away, and pays nothing for what others used.
func TestQueueForgets(t *testing.T) {
	q := fair.NewQueue[string]()
	for i := range 200 {
		q.Push(scope("a", "u"), "a")
		if i >= 100 {
			q.Push(scope("b", "u"), "b")
		}
	}
	var got []string
	for range 100 {
		got = append(got, pop(t, q, time.Millisecond))
	}
	if n := len(slices.DeleteFunc(got, func(s string) bool { return s == "a" })); n < 49 || n > 51 {
		t.Errorf("%d turns of b, want about half of 100", n)
	}
}

func TestQueueEstimatesWait(t *testing.T) {
	q := fair.NewQueue[string]()
	for range 1000 {
		q.Push(scope("flood", "u"), "flood")
	}
	for range 500 {
		pop(t, q, time.Millisecond)
	}
	if w := q.Wait(scope("flood", "u")); w < 400*time.Millisecond || w > 600*time.Millisecond {
		t.Errorf("the flood waits %v, want about 500ms", w)
	}
	if w := q.Wait(scope("flood", "quiet")); w > 2*time.Millisecond {
		t.Errorf("another user of the flooding app waits %v, want a turn or two", w)
	}
	if w := q.Wait(scope("calm", "u")); w != 0 {
		t.Errorf("another app waits %v", w)
	}
}

// reference is a Queue that looks at all that waits at each call.
type reference struct {
	items []*refItem
	used  map[string]float64 // by app, and by app and user
	now   map[string]float64 // of the apps, under "", and of each app's users
	begun map[string]int
	n     int
	mean  time.Duration
}

type refItem struct {
	scope   memory.Scope
	n       int
	charged time.Duration
}

// A user's key holds its app, which has no slash.
func userKey(s memory.Scope) string { return s.App + "/" + s.User }

func (r *reference) waiting(key, user string) (n int) {
	for _, i := range r.items {
		if key == "" || i.scope.App == key && (user == "" || i.scope.User == user) {
			n++
		}
	}
	return n
}

func (r *reference) begin(level, key string) {
	if _, ok := r.used[key]; !ok {
		r.n++
		r.used[key], r.begun[key] = r.now[level], r.n
	}
}

func (r *reference) push(s memory.Scope, n int) *refItem {
	r.begin("", s.App)
	r.begin(s.App, userKey(s))
	i := &refItem{scope: s, n: n}
	r.items = append(r.items, i)
	return i
}

// least picks the key that has used least of those that keys gives.
func (r *reference) least(level string, keys []string, waits func(string) bool) (best string) {
	for {
		best = ""
		for _, k := range keys {
			_, ok := r.used[k]
			if ok && (best == "" || r.used[k] < r.used[best] || r.used[k] == r.used[best] && r.begun[k] < r.begun[best]) {
				best = k
			}
		}
		r.now[level] = max(r.now[level], r.used[best])
		if waits(best) {
			return best
		}
		r.forget(best)
	}
}

// forget drops a flow, and with an app those of its users.
func (r *reference) forget(key string) {
	delete(r.used, key)
	delete(r.begun, key)
}

func (r *reference) pop(users []memory.Scope) *refItem {
	if len(r.items) == 0 {
		return nil
	}
	var apps, names []string
	for _, s := range users {
		apps = append(apps, s.App)
	}
	app := r.least("", apps, func(k string) bool { return r.waiting(k, "") > 0 })
	for _, s := range users {
		if s.App == app {
			names = append(names, userKey(s))
		}
	}
	user := r.least(app, names, func(k string) bool { return r.waiting(app, k[len(app)+1:]) > 0 })
	at := slices.IndexFunc(r.items, func(i *refItem) bool { return userKey(i.scope) == user })
	i := r.items[at]
	i.charged = max(r.mean, time.Microsecond)
	r.charge(i.scope, i.charged)
	r.take(at)
	return i
}

func (r *reference) take(at int) {
	s := r.items[at].scope
	r.items = slices.Delete(r.items, at, at+1)
	r.after(s.App, userKey(s), r.waiting(s.App, ""), r.waiting(s.App, s.User))
	r.after("", s.App, len(r.items), r.waiting(s.App, ""))
}

// after drops what nothing is left to order of.
func (r *reference) after(level, key string, total, own int) {
	switch {
	case total == 0:
		for k := range r.used {
			if level == "" || len(k) > len(level) && k[:len(level)+1] == level+"/" {
				r.forget(k)
			}
		}
		r.now[level] = 0
		if level == "" {
			clear(r.now)
		}
	case own == 0 && r.used[key] <= r.now[level]:
		r.forget(key)
	}
}

func (r *reference) charge(s memory.Scope, cost time.Duration) {
	if !r.add("", s.App, cost, 8, len(r.items)) {
		return
	}
	r.add(s.App, userKey(s), cost, 2, r.waiting(s.App, ""))
}

func (r *reference) add(level, key string, cost time.Duration, debt float64, total int) bool {
	if _, ok := r.used[key]; total == 0 || !ok && cost <= 0 {
		return false
	}
	r.begin(level, key)
	most := r.now[level] + debt*float64(max(r.mean, time.Microsecond))
	r.used[key] = max(r.now[level], min(r.used[key]+float64(cost), most))
	return true
}

// Any sequence of calls has the same turns as the reference, and leaves nothing
// behind once all have had theirs.
func TestQueueIsItsReference(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		q, r := fair.NewQueue[int](), &reference{used: map[string]float64{}, now: map[string]float64{}, begun: map[string]int{}}
		var users []memory.Scope
		for a := range 4 {
			for u := range 3 {
				users = append(users, scope(fmt.Sprint("a", a), fmt.Sprint("u", u)))
			}
		}
		type pair struct {
			ticket *fair.Ticket[int]
			ref    *refItem
		}
		var waiting, running []pair
		for n := range 400 {
			switch k := rnd.IntN(10); {
			case k < 5:
				s := users[rnd.IntN(len(users))]
				waiting = append(waiting, pair{q.Push(s, n), r.push(s, n)})
			case k < 8:
				ticket, ref := q.Pop(), r.pop(users)
				if (ticket == nil) != (ref == nil) || ticket != nil && ticket.Value != ref.n {
					t.Fatalf("seed %d, call %d: %+v, want %+v", seed, n, ticket, ref)
				}
				if ticket != nil {
					running = append(running, pair{ticket, ref})
					waiting = slices.DeleteFunc(waiting, func(p pair) bool { return p.ticket == ticket })
				}
			case k < 9 && len(running) > 0:
				p := running[0]
				running = running[1:]
				took := time.Duration(rnd.IntN(1000)) * time.Microsecond
				q.Charge(p.ticket, took)
				r.charge(p.ref.scope, took-p.ref.charged)
				if r.mean == 0 {
					r.mean = took
				}
				r.mean += (took - r.mean) / 16
			case len(waiting) > 0:
				i := rnd.IntN(len(waiting))
				p := waiting[i]
				waiting = slices.Delete(waiting, i, i+1)
				if !q.Remove(p.ticket) || q.Remove(p.ticket) {
					t.Fatalf("seed %d: what waits is removed once", seed)
				}
				r.take(slices.Index(r.items, p.ref))
			}
			if q.Len() != len(r.items) {
				t.Fatalf("seed %d, call %d: %d wait, want %d", seed, n, q.Len(), len(r.items))
			}
		}
	}
}

// Whoever waits gets a turn after at most as many turns as there are apps, for each
// of its own app that waited before it, if all turns take the same.
func TestQueueStarvesNobody(t *testing.T) {
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		q := fair.NewQueue[int]()
		const apps = 5
		due := map[int]int{} // by what waits: at which turn at the latest
		turn := 0
		for n := range 500 {
			for range rnd.IntN(4) {
				a := fmt.Sprint(min(rnd.IntN(20), apps-1))
				due[n] = turn + (q.LenApp(a)+2)*apps
				q.Push(scope(a, "u"), n)
				break
			}
			if k := q.Pop(); k != nil {
				q.Charge(k, time.Millisecond)
				if turn++; turn > due[k.Value] {
					t.Fatalf("seed %d: the turn of %d was %d, want %d at the latest", seed, k.Value, turn, due[k.Value])
				}
			}
		}
	}
}

// What a queue takes does not grow with the names that it has seen.
func BenchmarkQueue(b *testing.B) {
	for _, apps := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprint(apps, " apps"), func(b *testing.B) {
			q := fair.NewQueue[int]()
			for i := range apps {
				q.Push(scope(fmt.Sprint(i), "u"), i)
			}
			for b.Loop() {
				k := q.Pop()
				q.Charge(k, time.Millisecond)
				q.Push(k.Scope, k.Value)
			}
		})
	}
}
