package sqlitedb

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// pushed adds a write of a user of an app, or an urgent one for the app "urgent". A
// user of the name "background" stands for a write that no request waits for.
func pushed(q *queue, app, user string) *job {
	j := &job{turn: For(memory.Scope{App: app, User: user}), background: user == "background"}
	if app == "urgent" {
		j.turn = Urgent()
	}
	q.push(j)
	return j
}

// group takes a group of writes as the writer does, each of which takes a millisecond,
// and its commit five. It returns the apps and users in their order.
func group(q *queue) (names []string) {
	var jobs []*job
	for j := q.first(); j != nil; j = q.join() {
		j.took = time.Millisecond
		jobs = append(jobs, j)
		name := "urgent"
		if !j.turn.urgent {
			name = j.turn.scope.App + " " + j.turn.scope.User
		}
		names = append(names, name)
	}
	q.charge(jobs, time.Duration(len(jobs)+5)*time.Millisecond)
	return names
}

func wantGroups(t *testing.T, q *queue, want ...[]string) {
	t.Helper()
	var got [][]string
	for names := group(q); names != nil; names = group(q) {
		got = append(got, names)
	}
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("groups\n%q, want\n%q", got, want)
	}
}

// A write of an app of which no other waits ends its group before the next app of which
// many do. Apps take turns, and users within their app.
func TestGroups(t *testing.T) {
	flood := func(q *queue, n int) {
		for i := range n {
			pushed(q, "flood", fmt.Sprint("u", i%2))
		}
	}
	t.Run("one app is one group", func(t *testing.T) {
		q := newQueue()
		flood(q, 4)
		wantGroups(t, q, []string{"flood u0", "flood u1", "flood u0", "flood u1"})
	})
	t.Run("a write beside a flood", func(t *testing.T) {
		q := newQueue()
		flood(q, 4)
		pushed(q, "calm", "u")
		wantGroups(t, q, []string{"flood u0", "calm u"}, []string{"flood u1", "flood u0", "flood u1"})
	})
	t.Run("several that write little share a group", func(t *testing.T) {
		q := newQueue()
		flood(q, 4)
		for _, app := range []string{"a", "b", "c"} {
			pushed(q, app, "u")
		}
		wantGroups(t, q, []string{"flood u0", "a u", "b u", "c u"}, []string{"flood u1", "flood u0", "flood u1"})
	})
	t.Run("two floods", func(t *testing.T) {
		q := newQueue()
		for range 3 {
			pushed(q, "a", "u")
			pushed(q, "b", "u")
		}
		// The last write of an app that has written all ends no group: nothing follows.
		wantGroups(t, q, []string{"a u", "b u", "a u", "b u", "a u", "b u"})
	})
	t.Run("work in the background ends no group", func(t *testing.T) {
		q := newQueue()
		flood(q, 3)
		pushed(q, "calm", "background")
		wantGroups(t, q, []string{"flood u0", "calm background", "flood u1", "flood u0"})
	})
	t.Run("urgent writes come first and join any group", func(t *testing.T) {
		q := newQueue()
		flood(q, 3)
		pushed(q, "calm", "u")
		pushed(q, "urgent", "")
		first := q.first()
		pushed(q, "urgent", "")
		if next := q.join(); !first.turn.urgent || !next.turn.urgent {
			t.Errorf("the first two are %+v and %+v", first.turn, next.turn)
		}
		for q.join() != nil {
		}
		wantGroups(t, q, []string{"flood u1", "flood u0"})
	})
}

// A write that left has no turn, and is not waited for.
func TestGroupWithoutThoseThatLeft(t *testing.T) {
	q := newQueue()
	for range 2 {
		pushed(q, "flood", "u")
	}
	gone, urgent := pushed(q, "calm", "u"), pushed(q, "urgent", "")
	if !q.leave(gone) || !q.leave(urgent) || q.leave(gone) || q.leave(urgent) {
		t.Error("a write leaves once")
	}
	wantGroups(t, q, []string{"flood u", "flood u"})
	if !q.empty() {
		t.Error("something waits")
	}
}

// Groups are long while one app writes, and short while several do, but never so short
// that the disk is busy with commits alone.
func TestGroupTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where no time goes by
		q := newQueue()
		want := func(what string, after, want time.Duration) {
			t.Helper()
			if got := q.groupTime(time.Now().Add(after)); got != want {
				t.Errorf("%s: a group of %v, want %v", what, got, want)
			}
		}
		alone := func(apps ...string) {
			for _, app := range apps {
				pushed(q, app, "u")
				group(q)
			}
		}
		want("nothing was written", 0, maxGroupTime)
		alone("flood", "flood", "flood")
		pushed(q, "calm", "background")
		group(q)
		want("one app, and work in the background", 0, maxGroupTime)
		alone("calm", "flood")
		want("two apps", 0, minGroupTime)
		want("two apps, long ago", 2*sharedFor, maxGroupTime)
		for range 100 {
			q.charge([]*job{{took: time.Millisecond}}, 11*time.Millisecond)
		}
		if got := q.groupTime(time.Now()); got < 19*time.Millisecond || got > 20*time.Millisecond {
			t.Errorf("with commits of 10ms a group of %v", got)
		}
		for range 100 {
			q.charge([]*job{{took: time.Millisecond}}, time.Minute)
		}
		want("with commits of a minute", 0, maxGroupTime)
	})
}
