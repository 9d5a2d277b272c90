package qdrantstore

import (
	"time"

	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/memory"
)

// notAfter matches times up to t.
func notAfter(field string, t time.Time) *qdrant.Condition {
	return qdrant.NewRange(field, &qdrant.Range{Lte: qdrant.PtrOf(float64(t.UnixMicro()))})
}

// before matches times before t.
func before(field string, t time.Time) *qdrant.Condition {
	return qdrant.NewRange(field, &qdrant.Range{Lt: qdrant.PtrOf(float64(t.UnixMicro()))})
}

// after matches times after t.
func after(field string, t time.Time) *qdrant.Condition {
	return qdrant.NewRange(field, &qdrant.Range{Gt: qdrant.PtrOf(float64(t.UnixMicro()))})
}

// known passes, as the Should of a filter, the memories that are known by a time; see
// memory.Memory.KnownFrom. Only those that are known before their Timestamp have the
// field for it.
func known(at time.Time) []*qdrant.Condition {
	return []*qdrant.Condition{notAfter("at", at), notAfter("known", at)}
}

// live passes the memories of a scope that can be read at now.
func live(scope memory.Scope, now time.Time) *qdrant.Filter {
	return &qdrant.Filter{
		Must:    []*qdrant.Condition{qdrant.NewMatch("scope", tenant(scope))},
		MustNot: []*qdrant.Condition{qdrant.NewMatchBool("gone", true), notAfter("expires", now)},
	}
}

// liveOfApp passes the memories of all users of an app that can be read at now.
func liveOfApp(app string, now time.Time) *qdrant.Filter {
	out := ofUsers(app)
	out.MustNot = append(out.MustNot, qdrant.NewMatchBool("gone", true), notAfter("expires", now))
	return out
}

// ofUsers passes the memories of all users of an app, deleted and expired ones too.
func ofUsers(app string) *qdrant.Filter {
	return &qdrant.Filter{
		Must: []*qdrant.Condition{qdrant.NewMatch(appField, app)},
		MustNot: []*qdrant.Condition{
			qdrant.NewMatchKeywords("scope", tenant(memory.Shared(app)), tenant(memory.Documents(app)))},
	}
}

// visible passes those of them that are not hidden; see memory.State.
func visible(scope memory.Scope, now time.Time) *qdrant.Filter {
	out := live(scope, now)
	out.MustNot = append(out.MustNot, qdrant.NewMatchBool(hiddenField, true))
	return out
}

// filter is memory.Filter in Qdrant's terms; see Filter.Match. Complete says that it
// passes exactly what f passes; if not, it passes more.
func filter(scope memory.Scope, f *memory.Filter, now time.Time) (out *qdrant.Filter, complete bool) {
	out, complete = filterAmong(live(scope, now), f, now, func(id string) *qdrant.Condition {
		return qdrant.NewHasID(pointID(scope, id))
	})
	return out, complete && f.Person.Is(scope.User)
}

// filterDeleted is filter of a list of deleted memories; see memory.List.Match.
func filterDeleted(scope memory.Scope, f *memory.Filter, now time.Time) (out *qdrant.Filter, complete bool) {
	all := *f
	all.History = true
	gone := &qdrant.Filter{Must: []*qdrant.Condition{qdrant.NewMatch("scope", tenant(scope)),
		qdrant.NewMatchBool("gone", true)}}
	out, complete = filterAmong(gone, &all, now, func(id string) *qdrant.Condition {
		return qdrant.NewHasID(pointID(scope, id))
	})
	return out, complete && f.Person.Is(scope.User)
}

// filterOfApp is filter across all users of an app.
func filterOfApp(app string, f *memory.Filter, now time.Time) (out *qdrant.Filter, complete bool) {
	among := liveOfApp(app, now)
	must, _ := memory.Conjuncts(f.Where)
	for _, c := range must {
		if user, ok := c.Value.AsText(); ok && c.Field == memory.FieldUser && c.Op == memory.OpEqual {
			among.Must = append(among.Must, qdrant.NewMatch("scope", tenant(memory.Scope{App: app, User: user})))
		}
	}
	if p := f.Person; p != (memory.Person{}) {
		names := []string{personName(p.User)}
		if p.Part != "" {
			names = append(names, personPrefix+p.Part)
		}
		among.Must = append(among.Must, qdrant.NewMatchKeywords(personField, names...))
	}
	return filterAmong(among, f, now, func(id string) *qdrant.Condition {
		return qdrant.NewMatch("id", id)
	})
}

// filterAmong narrows a filter by f. named passes the memories that have an id.
func filterAmong(out *qdrant.Filter, f *memory.Filter, now time.Time, named func(string) *qdrant.Condition) (
	_ *qdrant.Filter, complete bool) {
	if f.State == "" && !f.Hidden {
		out.MustNot = append(out.MustNot, qdrant.NewMatchBool(hiddenField, true))
	}
	must := func(c *qdrant.Condition) { out.Must = append(out.Must, c) }
	not := func(c *qdrant.Condition) { out.MustNot = append(out.MustNot, c) }
	at := f.CurrentAt(now)
	if !f.AsOf.IsZero() {
		out.Should = known(at)
	}
	if !f.History {
		not(notAfter("until", at))
		not(after("from", at))
		not(qdrant.NewMatchBool("forgotten", true))
	}
	if f.State != "" {
		must(qdrant.NewMatch("state", string(f.State)))
	}
	if f.SupersededBy != "" {
		must(qdrant.NewMatch("by", f.SupersededBy))
	}
	if len(f.Kinds) > 0 {
		var kinds []string
		for _, k := range f.Kinds {
			kinds = append(kinds, string(k))
		}
		must(qdrant.NewMatchKeywords("kind", kinds...))
	}
	if len(f.Topics) > 0 {
		must(qdrant.NewMatchKeywords("topics", f.Topics...))
	}
	if !f.Since.IsZero() {
		// Stored times are whole microseconds, so a time between two of them
		// begins at the second.
		not(before("at", memory.Micros(f.Since.Add(time.Microsecond-1))))
	}
	if !f.Until.IsZero() {
		must(notAfter("at", f.Until))
	}
	if f.SessionID != "" {
		must(qdrant.NewMatch("session", f.SessionID))
	}
	for _, digest := range pairDigests(f.Metadata) {
		must(qdrant.NewMatch("metadata", digest))
	}
	return out, narrow(out, f.Where, named)
}

// ended passes the facts of a scope that have ended at the time that a filter asks
// about.
func ended(scope memory.Scope, f *memory.Filter, now time.Time) *qdrant.Filter {
	out := visible(scope, now)
	out.Must = append(out.Must, qdrant.NewMatch("kind", string(memory.KindFact)), notAfter("until", f.CurrentAt(now)))
	return out
}

// keys is memory.Filter.IsKey in Qdrant's terms.
func keys(scope memory.Scope, f *memory.Filter, now time.Time) *qdrant.Filter {
	out := ended(scope, f, now)
	if !f.AsOf.IsZero() {
		out.Should = known(f.AsOf)
	}
	return out
}
