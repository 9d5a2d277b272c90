package bench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"sync"
)

// turnsPerSession is the length of a session that ingest fills before it begins
// the next one.
const turnsPerSession = 40

// scope is one user of one app, and what memoryd has acknowledged of it.
type scope struct {
	index int
	path  string // /v1/apps/APP/users/USER

	mu         sync.Mutex
	turns      []*turn           // by number
	facts      []*fact           // stored by themselves
	sessions   map[string]string // the operation of each session that has one
	unanswered []*turn           // of ingest: sent again with the next request
	appending  []string          // sessions that were created and not asked memories of
	creating   int
}

// turn is an event with a text.
type turn struct {
	n       int
	session string
	text    string
	asked   bool // memories of it were asked for
	acked   bool
}

// fact is a memory that POST memories stored.
type fact struct {
	marker string
	id     string
}

func (t *turn) id() string { return fmt.Sprintf("e%d", t.n) }

// event is the turn as a request has it.
func (t *turn) event() map[string]any {
	return map[string]any{"id": t.id(), "author": "user", "content": t.text}
}

// newScopes makes the users of a run. Their apps have the run in their names.
func newScopes(run string, users, apps int) []*scope {
	out := make([]*scope, users)
	for i := range out {
		out[i] = newScope(i, fmt.Sprintf("bench-%s-%d", run, i%apps), fmt.Sprintf("u%d", i))
	}
	return out
}

func newScope(index int, app, user string) *scope {
	return &scope{index: index, path: "/v1/apps/" + app + "/users/" + user, sessions: map[string]string{}}
}

// add makes the next turn of a session.
func (s *scope) add(run string, r *rand.Rand, session string, asked bool) *turn {
	t := &turn{n: len(s.turns), session: session, asked: asked}
	t.text = sentence(r, markerOf(run, s.index, t.n))
	s.turns = append(s.turns, t)
	return t
}

// acked returns a turn that was acknowledged, nil if the scope has none yet.
func (s *scope) acked(r *rand.Rand) *turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.turns) == 0 {
		return nil
	}
	// From a random one on: most are acknowledged.
	for i, from := 0, r.IntN(len(s.turns)); i < len(s.turns); i++ {
		if t := s.turns[(from+i)%len(s.turns)]; t.acked && t.asked {
			return t
		}
	}
	return nil
}

// acknowledge notes that turns are stored, and the operation of their session.
func (s *scope) acknowledge(turns []*turn, operation string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range turns {
		t.acked = true
		if _, known := s.sessions[t.session]; !known || operation != "" {
			s.sessions[t.session] = operation
		}
	}
}

// picker chooses users.
type picker struct{ sums []float64 }

// zipfExponent is that of the distribution of requests over users: the busiest of
// 100 users makes a fifth of all requests.
const zipfExponent = 1.0

func newPicker(n int, uniform bool) picker {
	p := picker{sums: make([]float64, n)}
	sum := 0.0
	for i := range n {
		weight := 1.0
		if !uniform {
			weight = 1 / math.Pow(float64(i+1), zipfExponent)
		}
		sum += weight
		p.sums[i] = sum
	}
	return p
}

// pick returns the index of a user.
func (p picker) pick(r *rand.Rand) int {
	x := r.Float64() * p.sums[len(p.sums)-1]
	return min(sort.SearchFloat64s(p.sums, x), len(p.sums)-1)
}
