package main

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/internal/redistest"
)

// Three memoryd on one Redis and one Qdrant, all given the same and different
// sessions and one of them killed in the middle, end with every event once and
// with the memories of a single one on the embedded store.
func TestScaleOut(t *testing.T) {
	t.Parallel()
	scaleOut(t, redistest.Start(t).URL())
}

// The same on a cluster.
func TestScaleOutOnCluster(t *testing.T) {
	t.Parallel()
	scaleOut(t, redistest.StartCluster(t).URL())
}

func scaleOut(t *testing.T, sessions string) {
	memories := qdranttest.Start(t).URL(t)
	calm := start(t, t.TempDir())
	var many [3]*process
	for i := range many {
		many[i] = start(t, t.TempDir(), "-sessions", sessions, "-memories", memories)
	}
	killed := many[2]
	random := rand.New(rand.NewPCG(3, 4))
	var senders sync.WaitGroup
	for u := range killUsers {
		all := userPieces(u)
		if rest := send(calm.url, all, -1); rest != nil {
			t.Fatalf("%d pieces were not taken:\n%s", len(rest), calm.logs.String())
		}
		// Each piece goes to one of them, some to two, in any order.
		var plan [len(many)][]piece
		for _, p := range all {
			to := random.IntN(len(many))
			plan[to] = append(plan[to], p)
			if random.IntN(3) == 0 {
				plan[(to+1)%len(many)] = append(plan[(to+1)%len(many)], p)
			}
		}
		for i, pieces := range plan {
			random.Shuffle(len(pieces), func(i, j int) { pieces[i], pieces[j] = pieces[j], pieces[i] })
			senders.Go(func() {
				rest := send(many[i].url, pieces, -1)
				if many[i] == killed { // what it did not acknowledge goes to another
					rest = send(many[0].url, rest, -1)
				}
				if rest != nil {
					t.Errorf("%d pieces were not taken:\n%s", len(rest), many[0].logs.String())
				}
			})
		}
	}
	time.Sleep(100 * time.Millisecond)
	killed.kill()
	senders.Wait()
	want := contents(t, calm.url)
	for _, p := range many[:2] {
		if diff := gocmp.Diff(want, contents(t, p.url)); diff != "" {
			t.Errorf("(-one, embedded +three, one of them killed):\n%s", diff)
		}
	}
}
