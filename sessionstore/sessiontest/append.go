package sessiontest

import (
	"fmt"
	"strings"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// appendCases are the promises of Store.Append about events, other than the
// order of concurrent calls and the request.
func appendCases() []testCase {
	return []testCase{
		{"stores events in order", appendInOrder},
		{"gives ids and times", appendGivesIDs},
		{"nothing", appendNothing},
		{"partial", appendPartial},
		{"temp state", appendTemp},
		{"repeated id", appendRepeated},
		{"repeated id within a call", appendRepeatedWithin},
		{"repeated call", appendRepeatedCall},
		{"an id belongs to its session", appendIDsPerSession},
		{"last update time", appendLastUpdateTime},
		{"missing session", appendMissing},
		{"makes the session", appendCreates},
		{"keeps state", appendKeepsState},
		{"all or nothing", appendAllOrNothing},
		{"leaves its arguments alone", appendLeavesArguments},
		{"many events", appendMany},
		{"many events, some of them repeated", appendManyRepeated},
	}
}

// Append answers the events as stored, in the order of the call, and Get reads
// the same. Clients keep the answer in place of the events that they sent.
func appendInOrder(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{}`)
	f.clock.advance(time.Second)
	first := f.append(key, f.said("e2"), f.said("e1"))
	f.hasEvents("first answer", first.Events, "e2", "e1")
	f.clock.advance(time.Second)
	second := f.append(key, f.said("e3"))
	f.equal("LastUpdateTime", second.LastUpdateTime, f.now())
	if second.Operation != nil {
		f.t.Errorf("an operation without a request: %+v", second.Operation)
	}
	got := f.get(key)
	f.equal("events", got.Events, append(first.Events, second.Events...))
	f.equal("LastUpdateTime read", got.LastUpdateTime, second.LastUpdateTime)
}

// Events without an id get distinct ones, and those without a timestamp get the
// present time. The events of one call keep their order. Retries are recognized
// by their ids, and ingestion orders by timestamp, so every stored event has
// both.
func appendGivesIDs(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{}`)
	f.clock.advance(time.Minute)
	one := f.append(key, f.event(`{"author":"user","content":"one","x":1.50}`)).Events[0]
	f.equal("timestamp", one.Timestamp, f.now())
	want := fmt.Sprintf(`{"author":"user","content":{"parts":[{"text":"one"}],"role":"user"},"x":1.50,"id":"%s",`+
		`"timestamp":"%s"}`,
		one.ID, sessionstore.FormatTime(one.Timestamp))
	f.equal("document", string(one.Doc), want)

	f.clock.advance(time.Minute)
	given := f.append(key, f.event(`{"author":"user","content":"two"}`), f.event(`{"author":"user","content":"three"}`),
		f.event(`{"author":"user","content":"four","timestamp":null,"id":null}`), f.event(`{"id":"zz",`+
			`"author":"user"}`), f.event(`{"id":"aa","author":"user"}`))
	seen := map[string]bool{"": true, one.ID: true}
	for i, e := range given.Events {
		if seen[e.ID] {
			f.t.Errorf("event %d is given the id %q", i, e.ID)
		}
		seen[e.ID] = true
		// A store may tell the events of a call apart by a few microseconds.
		if d := e.Timestamp.Sub(f.now()); d < 0 || d > time.Millisecond {
			f.t.Errorf("event %d is given the time %v, now is %v", i, e.Timestamp, f.now())
		}
	}
	f.equal("events", f.get(key).Events, append([]sessionstore.Event{one}, given.Events...))

	kept := f.event(`{"id":"mine","author":"user"}`)
	if e := f.append(key, kept).Events[0]; e.ID != "mine" || !e.Timestamp.Equal(f.now()) {
		f.t.Errorf("an event with an id alone is stored as %+v", e)
	}
	at := start.AddDate(-1, 0, 0)
	dated := f.event(fmt.Sprintf(`{"author":"user","timestamp":%q}`, at.Format(time.RFC3339Nano)))
	if e := f.append(key, dated).Events[0]; e.ID == "" || !e.Timestamp.Equal(sessionstore.Micros(at)) {
		f.t.Errorf("an event with a time alone is stored as %+v", e)
	}
}

// Appending no events changes nothing, and answers when the session was
// updated. A request for memories of stored events is such a call.
func appendNothing(f *fixture) {
	key := session(ann, "s1")
	want := f.create(key, `{"k":1}`, f.said("e1"))
	f.clock.advance(time.Minute)
	f.equal("LastUpdateTime", f.append(key).LastUpdateTime, want.LastUpdateTime)
	f.equal("Get", f.get(key), want)
}

// A partial event is answered as it came. It is neither stored nor applied,
// wherever it stands in the call. Agents stream partial events and then send
// the whole one. Stored, the text would be remembered twice.
func appendPartial(f *fixture) {
	key := session(ann, "s1")
	want := f.create(key, `{"k":1}`)
	f.clock.advance(time.Minute)
	bare := f.event(`{"author":"agent","partial":true,"content":"hel","actions":{"stateDelta":{"k":2,"user:k":2,` +
		`"app:k":2,"temp:k":2}}}`)
	full := f.event(`{"id":"e1","author":"agent","partial":true,"timestamp":"2030-01-01T00:00:00.000000Z"}`)
	out := f.append(key, bare, full)
	f.equal("echo", out.Events, []sessionstore.Event{bare, full})
	f.equal("LastUpdateTime", out.LastUpdateTime, want.LastUpdateTime)
	f.equal("Get", f.get(key), want)

	whole := f.said("e1") // the id of a partial event is not taken
	out = f.append(key, bare, whole, full)
	f.equal("echo", out.Events, []sessionstore.Event{bare, whole, full})
	f.equal("LastUpdateTime", out.LastUpdateTime, f.now())
	f.hasEvents("events", f.get(key).Events, "e1")
	f.append(key, f.event(`{"id":"e2","author":"agent","partial":false}`))
	f.hasEvents("events", f.get(key).Events, "e1", "e2")
}

// temp: keys are dropped from the state and from the stored event. The rest of
// the event stays. ADK uses temp: for the length of one invocation. Such values
// may be large, or secrets.
func appendTemp(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{}`)
	e := f.event(`{"x":1,"id":"e1","author":"user","timestamp":"2024-05-08T13:56:00.000000Z",` +
		`"actions":{"y":[1.0],"stateDelta":{"temp:a":1,"k":{"b":1.50,"a":2},"temp:b":3},"artifactDelta":{"temp:f":1}}}`)
	out := f.append(key, e)
	want := `{"x":1,"id":"e1","author":"user","timestamp":"2024-05-08T13:56:00.000000Z",` +
		`"actions":{"y":[1.0],"stateDelta":{"k":{"b":1.50,"a":2}},"artifactDelta":{"temp:f":1}}}`
	f.equal("answer", string(out.Events[0].Doc), want)
	got := f.get(key)
	f.equal("document", string(got.Events[0].Doc), want)
	f.hasState("delta", got.Events[0].StateDelta, `{"k":{"b":1.50,"a":2}}`)
	f.hasState("state", got.State, `{"k":{"b":1.50,"a":2}}`)
}

// An event whose id the session has is not stored again, nor is its state
// applied, however it differs. The answer is the stored one. A client that did
// not see the answer sends the call again. A second copy would double the turn
// and its memories.
func appendRepeated(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{}`)
	stored := f.append(key, f.sets("e1", `{"n":1,"user:n":1,"app:n":1}`)).Events[0]
	f.append(key, f.sets("e2", `{"n":2,"user:n":2,"app:n":2}`))
	want := f.get(key)
	f.clock.advance(time.Minute)
	for _, again := range []sessionstore.Event{
		f.event(string(stored.Doc)),
		f.sets("e1", `{"n":3,"user:n":3,"app:n":3,"more":3}`),
		f.event(`{"id":"e1","author":"somebody else","content":"other words"}`),
	} {
		out := f.append(key, again)
		f.equal("answer", out.Events, []sessionstore.Event{stored})
		f.equal("LastUpdateTime", out.LastUpdateTime, want.LastUpdateTime)
		f.equal("Get", f.get(key), want)
	}
}

// The same holds for an id that occurs twice in one call: the first is stored.
// A batch that was put together from several sources may have an event twice.
func appendRepeatedWithin(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{}`)
	first := f.sets("e1", `{"n":1}`)
	out := f.append(key, first, f.sets("e2", `{"m":1}`), f.sets("e1", `{"n":2}`), first)
	f.equal("answer", out.Events, []sessionstore.Event{first, out.Events[1], first, first})
	got := f.get(key)
	f.hasEvents("events", got.Events, "e1", "e2")
	f.hasState("state", got.State, `{"n":1,"m":1}`)
}

// A call that is sent again with more events stores only the new ones. Clients
// send a session whole, again and again, as it grows.
func appendRepeatedCall(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{}`)
	first := f.append(key, f.sets("e1", `{"n":1}`), f.sets("e2", `{"n":2}`))
	f.clock.advance(time.Minute)
	second := f.append(key, f.sets("e1", `{"n":10}`), f.sets("e3", `{"m":3}`), f.sets("e2", `{"n":20}`))
	f.hasEvents("answer", second.Events, "e1", "e3", "e2")
	f.equal("answer", second.Events[0], first.Events[0])
	f.equal("answer", second.Events[2], first.Events[1])
	f.equal("LastUpdateTime", second.LastUpdateTime, f.now())
	got := f.get(key)
	f.hasEvents("events", got.Events, "e1", "e2", "e3")
	f.hasState("state", got.State, `{"n":2,"m":3}`)
}

// Event ids belong to their session: the same id in another session is another
// event. Clients number events from 1 in each session.
func appendIDsPerSession(f *fixture) {
	keys := []sessionstore.Key{session(ann, "s1"), session(ann, "s2"), session(bob, "s1")}
	for i, key := range keys {
		f.create(key, `{}`)
		f.append(key, f.sets("e1", fmt.Sprintf(`{"n":%d}`, i)))
	}
	for i, key := range keys {
		got := f.get(key)
		f.equal("a repetition", f.append(key, f.said("e1")).Events, got.Events)
		f.hasEvents("events", got.Events, "e1")
		f.hasState("state", got.State, fmt.Sprintf(`{"n":%d}`, i))
	}
}

// LastUpdateTime is the timestamp of the event stored last, even if it is older
// than others or in the future. ADK compares it with the copy of the session
// that a client has, to see whether that is stale.
func appendLastUpdateTime(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{}`)
	at := f.now()
	for i, c := range []struct {
		ids  []string
		want time.Duration
	}{
		{[]string{"+1h"}, time.Hour},
		{[]string{"-1h"}, -time.Hour},
		{[]string{"+3h", "+2h"}, 2 * time.Hour},
		{[]string{"+4h", "-1h"}, 4 * time.Hour}, // the latter is there already
		{[]string{"+1h"}, 4 * time.Hour},
	} {
		var events []sessionstore.Event
		for _, id := range c.ids {
			d, err := time.ParseDuration(id)
			if err != nil {
				f.t.Fatal(err)
			}
			events = append(events, f.saidAt(id, at.Add(d)))
		}
		out := f.append(key, events...)
		f.equal(fmt.Sprintf("answer %d", i), out.LastUpdateTime, at.Add(c.want))
		f.equal(fmt.Sprintf("Get %d", i), f.get(key).LastUpdateTime, at.Add(c.want))
		f.equal(fmt.Sprintf("List %d", i), f.list(ann, 0)[0].LastUpdateTime, at.Add(c.want))
	}
}

// A missing session is ErrNotFound, and the call stores nothing. The session of
// another user is missing too. If the error differed between the two, it would
// reveal that another user has such a session.
func appendMissing(f *fixture) {
	f.create(session(bob, "s1"), `{}`)
	for _, events := range [][]sessionstore.Event{nil, {f.sets("e1", `{"user:k":1,"app:k":1}`)}} {
		_, err := f.Append(f.t.Context(), session(ann, "s1"), events,
			sessionstore.Append{Request: &sessionstore.Request{ID: sessionstore.OperationID(ann, "1")}})
		f.isA("Append", err, memory.ErrNotFound)
	}
	f.missing(session(ann, "s1"))
	f.hasState("state", f.create(session(ann, "s2"), `{}`).State, `{}`)
	_, err := f.Status(f.t.Context(), ann, sessionstore.OperationID(ann, "1"))
	f.isA("Status", err, memory.ErrNotFound)
	f.hasEvents("bob's", f.get(session(bob, "s1")).Events)
}

// With Create a missing session is made in the same step, and an existing one
// is used. Ingestion of a conversation needs no earlier call, and two
// concurrent first calls must not fail.
func appendCreates(f *fixture) {
	key, empty := session(ann, "s1"), session(ann, "s2")
	out := f.appendWith(empty, sessionstore.Append{Create: true})
	f.equal("LastUpdateTime of an empty one", out.LastUpdateTime, f.now())
	f.hasEvents("an empty one", f.get(empty).Events)

	at := f.now()
	f.clock.advance(time.Minute)
	out = f.appendWith(key, sessionstore.Append{Create: true}, f.event(fmt.Sprintf(
		`{"id":"e1","author":"user","timestamp":%q,"actions":{"stateDelta":{"k":1,`+
			`"app:k":1}}}`, sessionstore.FormatTime(at))))
	f.equal("LastUpdateTime", out.LastUpdateTime, at)
	f.appendWith(key, sessionstore.Append{Create: true}, f.said("e2"))
	got := f.get(key)
	f.hasEvents("events", got.Events, "e1", "e2")
	f.hasState("state", got.State, `{"k":1,"app:k":1}`)
	_, err := f.Create(f.t.Context(), key, sessionstore.Create{})
	f.isA("Create", err, memory.ErrExists)
}

// KeepState stores events with their stateDelta, and leaves state as it is.
// Ingestion stores finished conversations, whose deltas are old: they must not
// overwrite present state.
func appendKeepsState(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{"k":1,"user:k":1,"app:k":1}`)
	f.clock.advance(time.Second)
	e := f.sets("e1", `{"k":2,"user:k":2,"app:k":2,"more":2}`)
	out := f.appendWith(key, sessionstore.Append{KeepState: true}, e, f.sets("e2", `{"temp:k":2}`))
	f.equal("answer", out.Events[0], e)
	f.equal("LastUpdateTime", out.LastUpdateTime, f.now())
	got := f.get(key)
	f.equal("events", got.Events, out.Events)
	f.hasState("state", got.State, `{"k":1,"user:k":1,"app:k":1}`)
	if strings.Contains(string(got.Events[1].Doc), "temp:") {
		f.t.Errorf("temp: state is stored: %s", got.Events[1].Doc)
	}

	f.append(key, f.sets("e1", `{"k":3}`)) // a repetition applies nothing either
	f.hasState("state", f.get(key).State, `{"k":1,"user:k":1,"app:k":1}`)
	made := session(ann, "s2")
	f.appendWith(made, sessionstore.Append{KeepState: true, Create: true}, e)
	f.hasState("state of a session it made", f.get(made).State, `{"user:k":1,"app:k":1}`)
}

// Events, state and request are stored together: if the request fails, as one
// with the id of another operation may, nothing is stored. A client that sees
// an error sends the call again, and events without their state or request
// could not be repaired.
func appendAllOrNothing(f *fixture) {
	taken := f.ask(session(ann, "s1"), f.said("e1"))
	f.finish(f.claimOne(session(ann, "s1")), 1)
	key := session(ann, "s2")
	want := f.create(key, `{"k":1}`)
	events := []sessionstore.Event{f.sets("e1", `{"k":2,"user:k":2}`), f.said("e2")}
	out, err := f.Append(f.t.Context(), key, events, sessionstore.Append{Request: &sessionstore.Request{ID: taken.ID}})
	got := f.get(key)
	if err != nil {
		f.equal("answer beside an error", out, sessionstore.Appended{})
		f.equal("Get", got, want)
		f.idle("the call failed")
		return
	}
	f.hasEvents("events", got.Events, "e1", "e2")
	f.hasState("state", got.State, `{"k":2,"user:k":2}`)
	f.equal("events requested", f.claimOne(key).Requested, int64(2))
}

// The slice of events and its events stay as the caller had them. A client that
// retries sends the same slice.
func appendLeavesArguments(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{}`)
	in := []sessionstore.Event{f.event(`{"author":"user","actions":{"stateDelta":{"temp:k":1,"k":1}}}`)}
	want := []sessionstore.Event{f.event(string(in[0].Doc))}
	out, err := f.Append(f.t.Context(), key, in, sessionstore.Append{})
	if err != nil {
		f.t.Fatal(err)
	}
	f.equal("argument", in, want)
	stored := string(out.Events[0].Doc)
	for i := range out.Events[0].Doc {
		out.Events[0].Doc[i] = '!'
	}
	f.equal("events", string(f.get(key).Events[0].Doc), stored)
}

// A call takes as many events as an import has, and a session holds all of many
// calls. Costs must not grow with the length of the session, and no limit of a
// database on parameters may show.
func appendMany(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{}`)
	var want []string
	for range 3 {
		var events []sessionstore.Event
		for range 400 {
			id := fmt.Sprintf("e%d", len(want))
			want = append(want, id)
			events = append(events, f.sets(id, fmt.Sprintf(`{"n":%d}`, len(want))))
		}
		f.append(key, events...)
	}
	got := f.get(key)
	f.hasEvents("events", got.Events, want...)
	f.hasState("state", got.State, `{"n":1200}`)
	f.hasEvents("the last", f.getSome(key, sessionstore.Get{NumRecent: 2}).Events, want[1198:]...)
}

// The same holds for many events, which a store may write in other ways than few: of
// those that come again, some in the same call, each is stored once, where it came
// first, and the state is that of the new ones. The answer has each as it is stored. A
// new session of the id has none of them.
func appendManyRepeated(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{}`)
	var want []string
	for round := range 3 {
		// Old and new events in stretches of all lengths up to 37.
		var events []sessionstore.Event
		var sent []string
		old := 0
		for length := 1; len(sent) < 700; length = length%37 + 1 {
			for range length {
				id := fmt.Sprintf("e%d", len(want))
				if length%2 == round%2 && old < len(want) {
					id = want[old]
					old++
				} else {
					want = append(want, id)
				}
				sent = append(sent, id)
				events = append(events, f.sets(id, fmt.Sprintf(`{"n":%d,"r%d":%d}`, len(want), round, len(want))))
			}
		}
		f.clock.advance(time.Minute)
		out := f.append(key, events...)
		got := f.get(key)
		f.hasEvents("events", got.Events, want...)
		stored := map[string]sessionstore.Event{}
		for _, e := range got.Events {
			stored[e.ID] = e
		}
		var asStored []sessionstore.Event
		for _, id := range sent {
			asStored = append(asStored, stored[id])
		}
		f.equal("answer", out.Events, asStored)
		f.equal("answer to the repetition", f.append(key, events...).Events, asStored)
		f.equal("Get after the repetition", f.get(key), got)
	}
	f.delete(key)
	f.create(key, `{}`)
	var events []sessionstore.Event
	for _, id := range want {
		events = append(events, f.said(id))
	}
	f.equal("answer of the new session", f.append(key, events...).Events, events)
	f.hasEvents("events of the new session", f.get(key).Events, want...)
}
