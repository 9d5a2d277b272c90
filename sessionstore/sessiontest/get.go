package sessiontest

import (
	"fmt"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// getCases are the promises of Store.Get: which session it finds, and which of
// its events it reads.
func getCases() []testCase {
	return []testCase{
		{"missing or another user's", getMissing},
		{"the last n", getNumRecent},
		{"after", getAfter},
		{"the last n, then after", getBoth},
		{"order", getOrder},
		{"times to the microsecond", getMicroseconds},
		{"belongs to the caller", getCallersOwn},
	}
}

// A session is found only by its whole key; any other key is ErrNotFound. Each
// part of the key is a boundary between users.
func getMissing(f *fixture) {
	f.missing(session(ann, "s1"))
	f.create(session(ann, "s1"), `{}`, f.said("e1"))
	for _, key := range []sessionstore.Key{
		session(bob, "s1"),
		session(memory.Scope{App: "bank", User: "ann"}, "s1"),
		session(memory.Scope{App: "ann", User: "shop"}, "s1"),
		session(memory.Scope{App: "shop", User: "Ann"}, "s1"),
		session(ann, "S1"), session(ann, "s"), session(ann, "s11"), session(ann, "e1"), session(ann, "%"),
		session(ann, "s*"),
	} {
		f.missing(key)
	}
	f.hasEvents("events", f.get(session(ann, "s1")).Events, "e1")
}

// NumRecent is how many of the last events are read: none for 0, all for a
// negative one, and all there are for one too large. State is always read. ADK
// reads the last turns of long conversations this way.
func getNumRecent(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{"k":1}`)
	var ids []string
	for i := range 5 {
		ids = append(ids, fmt.Sprintf("e%d", i))
		f.append(key, f.saidAt(ids[i], f.now().Add(time.Duration(i)*time.Second)))
	}
	for n, want := range map[int][]string{0: nil, 1: ids[4:], 2: ids[3:], 4: ids[1:], 5: ids, 6: ids, 1 << 30: ids,
		-1: ids, -7: ids} {
		got := f.getSome(key, sessionstore.Get{NumRecent: n})
		what := fmt.Sprintf("NumRecent %d", n)
		f.hasEvents(what, got.Events, want...)
		f.hasState(what, got.State, `{"k":1}`)
		f.equal(what, got.LastUpdateTime, f.now().Add(4*time.Second))
	}
}

// After is inclusive, to the microsecond. The zero time is no limit, even for
// old events. A client that polls passes the time of the last event that it
// has.
func getAfter(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{}`)
	at := f.now()
	old := memory.MinTime
	f.append(key, f.saidAt("old", old), f.saidAt("e1", at), f.saidAt("e2", at), f.saidAt("e3",
		at.Add(time.Microsecond)), f.saidAt("e4", at.Add(time.Hour)))
	for _, c := range []struct {
		after time.Time
		want  []string
	}{
		{time.Time{}, []string{"old", "e1", "e2", "e3", "e4"}},
		{old, []string{"old", "e1", "e2", "e3", "e4"}},
		{old.Add(time.Microsecond), []string{"e1", "e2", "e3", "e4"}},
		{at, []string{"e1", "e2", "e3", "e4"}},
		{at.Add(time.Nanosecond), []string{"e3", "e4"}},
		{at.Add(time.Microsecond), []string{"e3", "e4"}},
		{at.Add(time.Hour).In(time.FixedZone("east", 3600)), []string{"e4"}},
		{at.Add(time.Hour + time.Microsecond), nil},
		{memory.MaxTime, nil},
		{time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), nil},
		{time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC), []string{"old", "e1", "e2", "e3", "e4"}},
	} {
		got := f.getSome(key, sessionstore.Get{NumRecent: -1, After: c.after})
		f.hasEvents(fmt.Sprintf("After %v", c.after), got.Events, c.want...)
	}
}

// With both limits the last n events are taken first, and of those the ones not
// before After. ADK applies its two limits in this order.
func getBoth(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{}`)
	at := f.now()
	for i := range 6 {
		f.append(key, f.saidAt(fmt.Sprintf("e%d", i), at.Add(time.Duration(i)*time.Second)))
	}
	for _, c := range []struct {
		n, after int
		want     []string
	}{
		{3, 0, []string{"e3", "e4", "e5"}},
		{3, 4, []string{"e4", "e5"}},
		{1, 4, []string{"e5"}},
		{3, 6, nil},
		{0, 0, nil},
		{-1, 4, []string{"e4", "e5"}},
	} {
		got := f.getSome(key, sessionstore.Get{NumRecent: c.n, After: at.Add(time.Duration(c.after) * time.Second)})
		f.hasEvents(fmt.Sprintf("the last %d, after %d", c.n, c.after), got.Events, c.want...)
	}
}

// Events are in order of timestamp, and of arrival if their timestamps are
// equal, whatever order they came in. The last n are the last of that order.
// Events of several writers arrive late, and a model has to read them as they
// were said.
func getOrder(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{}`)
	at := f.now()
	sec := func(id string, s int) sessionstore.Event { return f.saidAt(id, at.Add(time.Duration(s)*time.Second)) }
	// Ids begin in reverse order, so that an order by id shows. Their digits are the
	// seconds of their timestamps.
	f.append(key, sec("z0", 0), sec("y2", 2), sec("x1", 1))
	f.append(key, sec("w0", 0))
	f.append(key, sec("v-", -1), sec("u2", 2), sec("t1", 1), sec("a2", 2))
	want := []string{"v-", "z0", "w0", "x1", "t1", "y2", "u2", "a2"}
	f.hasEvents("all", f.get(key).Events, want...)
	for n := range len(want) + 1 {
		f.hasEvents(fmt.Sprintf("the last %d", n), f.getSome(key, sessionstore.Get{NumRecent: n}).Events,
			want[len(want)-n:]...)
	}
	f.hasEvents("after", f.getSome(key, sessionstore.Get{NumRecent: 4, After: at.Add(2 * time.Second)}).Events, "y2",
		"u2", "a2")
}

// Times are UTC and have microseconds, in all years that an event may have.
// Other resolutions would make events of one moment change their order after a
// restart.
func getMicroseconds(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{}`)
	for i, at := range []time.Time{
		memory.MinTime,
		time.Date(1900, 2, 28, 23, 59, 59, 999999000, time.UTC),
		time.Date(1969, 12, 31, 23, 59, 59, 999999000, time.UTC),
		time.Unix(0, 0).UTC(),
		time.Date(2024, 2, 29, 1, 2, 3, 4000, time.UTC),
		memory.MaxTime.Add(-time.Microsecond),
	} {
		id := fmt.Sprintf("e%d", i)
		out := f.append(key, f.saidAt(id, at))
		got := f.get(key)
		if last := got.Events[len(got.Events)-1]; last.ID != id {
			f.t.Errorf("the last event is %s, want %s", last.ID, id)
		} else {
			f.equal("timestamp", last.Timestamp, at)
		}
		for _, update := range []time.Time{out.LastUpdateTime, got.LastUpdateTime, f.list(ann, 0)[0].LastUpdateTime} {
			if !update.Equal(at) || update.Location() != time.UTC {
				f.t.Errorf("LastUpdateTime is %v, want %v", update, at)
			}
		}
	}
}

// The answer of Get belongs to the caller: a write into it changes no stored
// data. Backends with a cache must hand out copies.
func getCallersOwn(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{"k":1}`, f.said("e1"))
	got := f.get(key)
	got.State["k"], got.State["more"] = []byte("2"), []byte("2")
	for i := range got.Events[0].Doc {
		got.Events[0].Doc[i] = '!'
	}
	f.hasState("state", f.get(key).State, `{"k":1}`)
	f.equal("events", f.get(key).Events, []sessionstore.Event{f.said("e1")})
}
