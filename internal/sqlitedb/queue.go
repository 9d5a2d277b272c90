package sqlitedb

import (
	"slices"
	"sync"
	"time"

	"github.com/memoryd/memoryd/internal/fair"
	"github.com/memoryd/memoryd/memory"
)

// Turn says whose write waits, for the order in which writes get their turn.
type Turn struct {
	scope   memory.Scope
	urgent  bool
	freeing bool // see Freeing
}

// For is a turn among the writes of a scope. A scope without a user stands for an
// app as a whole, and the zero scope for work of memoryd itself that may wait, such
// as a move to another model.
func For(scope memory.Scope) Turn { return Turn{scope: scope} }

// Urgent is a turn before all others, for short writes that must not wait for what
// clients write: a claim of work, and the check of a disk.
func Urgent() Turn { return Turn{urgent: true} }

// WriteStats are figures of the writes of a DB since it was opened.
type WriteStats struct {
	Waiting int           // writes that wait now
	Writes  int64         // that had their turn
	Waited  time.Duration // by all of them together
	Commits int64         // groups of writes
	Slowest time.Duration // the longest group with its commit
}

// queue has the writes that wait.
type queue struct {
	wake chan struct{} // has a value if something may wait

	mu     sync.Mutex
	alone  int  // writes in the group in progress of apps of which no other waits
	cut    bool // it ended for their sake
	urgent []*job
	turns  *fair.Queue[*job]
	stats  WriteStats
	app    string        // whose turn was last, among writes that requests wait for
	shared time.Time     // when that was last another app than before
	commit time.Duration // that a commit takes, over the last few
}

func newQueue() *queue {
	return &queue{wake: make(chan struct{}, 1), turns: fair.NewQueue[*job]()}
}

// push adds a write.
func (q *queue) push(j *job) {
	q.mu.Lock()
	j.asked = time.Now()
	if j.turn.urgent {
		q.urgent = append(q.urgent, j)
	} else {
		j.ticket = q.turns.Push(j.turn.scope, j)
	}
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// first takes the write that begins a group; nil if none waits.
func (q *queue) first() *job {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.alone, q.cut = 0, false
	return q.take()
}

// join takes the next write of a group that has begun. It is nil, and the group ends,
// if none waits, or if an app of which many wait would delay one that waits for
// nothing but the end of the group.
func (q *queue) join() *job {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.alone > 0 && len(q.urgent) == 0 {
		if t := q.turns.Peek(); t != nil && (t.Scope.App == "" || q.turns.LenApp(t.Scope.App) > 1) {
			q.cut = true
			return nil
		}
	}
	return q.take()
}

// take takes the write whose turn it is. The caller holds q.mu.
func (q *queue) take() *job {
	var j *job
	if len(q.urgent) > 0 {
		j = q.urgent[0]
		q.urgent = slices.Delete(q.urgent, 0, 1)
	} else if t := q.turns.Pop(); t != nil {
		j = t.Value
		if !j.background && t.Scope.App != "" {
			if q.app != "" && q.app != t.Scope.App {
				q.shared = time.Now()
			}
			q.app = t.Scope.App
		}
		if j.alone = t.Scope.App != "" && !j.background && q.turns.LenApp(t.Scope.App) == 0; j.alone {
			q.alone++
		}
	} else {
		return nil
	}
	q.stats.Writes++
	q.stats.Waited += time.Since(j.asked)
	return j
}

// empty reports whether no write waits.
func (q *queue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.urgent) == 0 && q.turns.Len() == 0
}

// groupTime bounds how long the writes of a group run: maxGroupTime while one app
// writes, and less while several do, so that one that writes little does not wait until
// much of another is written and flushed. It is twice the time of a commit at least, so
// that a slow disk is not kept busy by flushing alone.
func (q *queue) groupTime(now time.Time) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	if now.Sub(q.shared) > sharedFor {
		return maxGroupTime
	}
	return min(max(minGroupTime, 2*q.commit), maxGroupTime)
}

// leave takes out a write whose caller waits no longer. It reports whether the write
// had not begun.
func (q *queue) leave(j *job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if j.ticket != nil {
		return q.turns.Remove(j.ticket)
	}
	i := slices.Index(q.urgent, j)
	if i >= 0 {
		q.urgent = slices.Delete(q.urgent, i, i+1)
	}
	return i >= 0
}

// charge counts how long the writes of a group took, of all that the group took. The
// writes that ended it pay for its commit.
func (q *queue) charge(group []*job, all time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stats.Commits++
	q.stats.Slowest = max(q.stats.Slowest, all)
	rest := all
	for _, j := range group {
		rest -= j.took
	}
	q.commit += (rest - q.commit) / 16
	for _, j := range group {
		if q.cut && j.alone {
			j.took += rest / time.Duration(q.alone)
		}
		if j.ticket != nil {
			q.turns.Charge(j.ticket, j.took)
		}
	}
}

// wait estimates how long a write in a scope would wait for its turn.
func (q *queue) wait(scope memory.Scope) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.turns.Wait(scope)
}

// Writes returns the figures of the writes.
func (db *DB) Writes() WriteStats {
	db.queue.mu.Lock()
	defer db.queue.mu.Unlock()
	out := db.queue.stats
	out.Waiting = len(db.queue.urgent) + db.queue.turns.Len()
	return out
}
