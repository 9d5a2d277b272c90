package vertex

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memoryd/memoryd/internal/aip160"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// A name is read as one resource, whose name is the same text again, escaped as in a path or not. The id of
// a stream's session tells its stream, and that of a user the user.
func FuzzNames(f *testing.F) {
	for _, name := range []string{"projects/p/locations/l/reasoningEngines/1/sessions/s/events/e", "memoryBanks/1/memories/m",
		"reasoningEngines/1//s", "reasoningEngines/1/sessions/s/operations/o", "projects/p/locations/l/operations/o",
		"reasoningEngines", "reasoningEngines/1/", "projects//locations//reasoningEngines/1", "reasoningEngines/1/a%/b+c/ /ü",
		"default", "*", "~stream~", "a%2Fb", "..", "\u0085"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		r, err := ParseName(name, false)
		if err == nil && r.Engine != "" { // an operation may come without the engine
			parts := []string{strings.TrimSuffix(r.Prefix, "/")}
			for _, part := range []string{r.Collection, r.Engine, r.Kind, r.ID, r.SubKind, r.SubID} {
				if part != "" {
					parts = append(parts, part)
				}
			}
			if again := strings.TrimPrefix(strings.Join(parts, "/"), "/"); again != name {
				t.Errorf("%q is read as %+v, which is named %q", name, r, again)
			}
			for i, part := range parts[1:] {
				parts[i+1] = url.PathEscape(part)
			}
			path := strings.TrimPrefix(strings.Join(parts, "/"), "/")
			if r.Prefix == "" || !strings.Contains(r.Prefix, "%") { // which has been escaped already
				if got, err := ParseName(path, true); err != nil || got != r {
					t.Errorf("%q is read as %+v, %v; want %+v", path, got, err, r)
				}
			}
		}
		if id, err := streamOf(name); err == nil {
			stream := unescape(strings.TrimPrefix(id, sessionstore.StreamPrefix))
			if stream != name && (name != "" || stream != "default") || !sessionstore.Aside(id) {
				t.Errorf("the stream %q has the session %q, which reads as %q", name, id, stream)
			}
		}
		if user, err := userOf(name); err == nil && (userID(user) != name || !canonical(user) && !strings.Contains(name, "*")) {
			t.Errorf("the user %q is %q, which reads as %q", name, user, userID(user))
		}
	})
}

// part is a filter in words of the service, and whether it holds of what a client is shown.
type part[T any] struct {
	text  string
	holds func(T) bool
}

// combined is a random expression of parts.
func combined[T any](random *rand.Rand, leaf func() part[T], depth int) part[T] {
	if depth == 0 || random.IntN(3) == 0 {
		return leaf()
	}
	a, b := combined(random, leaf, depth-1), combined(random, leaf, depth-1)
	switch random.IntN(4) {
	case 0:
		return part[T]{"(" + a.text + " AND " + b.text + ")", func(v T) bool { return a.holds(v) && b.holds(v) }}
	case 1:
		return part[T]{"(" + a.text + " " + b.text + ")", func(v T) bool { return a.holds(v) && b.holds(v) }}
	case 2:
		return part[T]{"(" + a.text + " OR " + b.text + ")", func(v T) bool { return a.holds(v) || b.holds(v) }}
	}
	return part[T]{"NOT (" + a.text + ")", func(v T) bool { return !a.holds(v) }}
}

// quoted is a value of a filter.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// odd are ids and values of which one must not be taken for another.
var odd = []string{"ann", "Ann", "a/b", "a%2Fb", "~ann", "%7Eann", "~user_id=ann", "..", "user_id=ann", "x&user_id=ann", "a b",
	`q"\`, "ü", "\u0085", "(?:", ".+", "1", "true"}

// A filter holds of a memory natively if and only if it holds of what clients are shown of it.
func TestFiltersOfMemories(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	one := func(of []string) string { return of[random.IntN(len(of))] }
	keys := []string{"user_id", "app_name", "a b", "a&", "a=", "~", "ü"}
	topics := append([]string{"sport", "a b"}, managedTopics()...)
	day := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	newMemory := func() *memory.Memory {
		scope := map[string]string{}
		for range 1 + random.IntN(3) {
			scope[one(keys)] = one(append([]string{""}, odd...))
		}
		if random.IntN(2) == 0 {
			scope = map[string]string{"user_id": one(odd)}
		}
		user, err := UserOf(scope)
		if err != nil {
			t.Fatal(err)
		}
		m := &memory.Memory{ID: "m", Scope: memory.Scope{App: "1", User: user}, Fact: one(odd), DisplayName: one(odd),
			Kind: memory.KindFact, CreateTime: day.AddDate(0, 0, random.IntN(3))}
		if random.IntN(2) == 0 {
			m.Topics = []string{one(topics)}
		}
		if random.IntN(3) == 0 {
			m.Kind, m.Profile = memory.KindProfile, &memory.Profile{SchemaID: "s", Field: "f", Value: []byte(`1`)}
		}
		return m
	}
	negated := func(p part[*memoryBody], field, value string) part[*memoryBody] {
		if random.IntN(2) == 0 {
			return part[*memoryBody]{field + " != " + value, func(b *memoryBody) bool { return !p.holds(b) }}
		}
		return part[*memoryBody]{field + "=" + value, p.holds}
	}
	leaf := func() part[*memoryBody] {
		value := one(odd)
		switch random.IntN(7) {
		case 0:
			return negated(part[*memoryBody]{"", func(b *memoryBody) bool { return textOr(b.Fact) == value }}, "fact",
				quoted(value))
		case 1:
			return negated(part[*memoryBody]{"", func(b *memoryBody) bool { return textOr(b.DisplayName) == value }},
				one([]string{"display_name", "displayName"}), quoted(value))
		case 2, 3:
			key := one(keys)
			return negated(part[*memoryBody]{"", func(b *memoryBody) bool {
				got, ok := b.Scope[key]
				return ok && got == value
			}}, "scope."+quoted(key), quoted(value))
		case 4:
			scope := map[string]string{"user_id": value}
			if random.IntN(2) == 0 {
				scope = maps.Clone(ScopeOf(newMemory().User))
			}
			raw, err := json.Marshal(scope)
			if err != nil {
				t.Fatal(err)
			}
			return negated(part[*memoryBody]{"", func(b *memoryBody) bool { return maps.Equal(b.Scope, scope) }}, "scope",
				quoted(string(raw)))
		case 5:
			if random.IntN(2) == 0 {
				of := one([]string{"NATURAL_LANGUAGE_COLLECTION", string(profileType)})
				return negated(part[*memoryBody]{"", func(b *memoryBody) bool {
					return (b.MemoryType == profileType) == (of == string(profileType))
				}}, "memory_type", of)
			}
			at := day.AddDate(0, 0, random.IntN(3))
			return part[*memoryBody]{"create_time>=" + quoted(at.Format(time.RFC3339)), func(b *memoryBody) bool {
				return !b.CreateTime.Before(at)
			}}
		}
		topic := one(topics)
		return part[*memoryBody]{"topics:" + quoted(topic), func(b *memoryBody) bool {
			return slices.ContainsFunc(b.Topics, func(of topicBody) bool {
				return of.Label == topic || string(of.Managed) == topic
			})
		}}
	}
	s, held := &Service{}, 0
	for range 5000 {
		m, filter := newMemory(), combined(random, leaf, 2)
		where, err := s.where(filtersIn{Filter: filter.text})
		if err != nil {
			t.Fatalf("%s: %v", filter.text, err)
		}
		shown := Resource{Collection: engines, Engine: "1"}.memoryOf(m, nil)
		want := filter.holds(shown)
		if got := memory.Holds(where, m.Compare); got != want {
			raw, _ := json.Marshal(shown)
			t.Fatalf("%s\nof %s: %v, want %v\nnatively %s of %q", filter.text, raw, got, want, where, m.User)
		}
		if want {
			held++
		}
	}
	if held < 500 || held > 4500 {
		t.Errorf("%d filters of 5000 held", held)
	}
}

// A filter holds of a session natively if and only if it holds of what clients are shown of it, and the
// user whose sessions are read for it is one that it asks for.
func TestFiltersOfSessions(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	one := func(of []string) string { return of[random.IntN(len(of))] }
	leaf := func() part[*sessionBody] {
		value := one(odd)
		user := part[*sessionBody]{one([]string{"user_id", "userId"}) + "=" + quoted(value), func(b *sessionBody) bool {
			return b.UserID == value
		}}
		switch random.IntN(4) {
		case 0:
			return user
		case 1:
			return part[*sessionBody]{strings.Replace(user.text, "=", " != ", 1), func(b *sessionBody) bool {
				return !user.holds(b)
			}}
		case 2:
			return part[*sessionBody]{"labels." + quoted("a b") + "=" + quoted(value), func(b *sessionBody) bool {
				return b.Labels["a b"] == value
			}}
		}
		return part[*sessionBody]{"display_name=" + quoted(value), func(b *sessionBody) bool {
			return b.DisplayName != nil && *b.DisplayName == value
		}}
	}
	asked := 0
	for range 5000 {
		user, err := userOf(one(odd))
		if err != nil {
			t.Fatal(err)
		}
		session := &sessionstore.Session{Key: sessionstore.Key{Scope: memory.Scope{App: "1", User: user}, ID: "s"},
			Details: sessionstore.Details{DisplayName: one(odd), Labels: map[string]string{"a b": one(odd)}}}
		filter := combined(random, leaf, 2)
		where, err := aip160.Parse(filter.text, aip160.Fields(sessionstore.WhereFields()))
		if err != nil {
			t.Fatalf("%s: %v", filter.text, err)
		}
		of, rest, err := ofUser(where)
		if err != nil {
			t.Fatalf("%s: %v", filter.text, err)
		}
		shown, err := Resource{Collection: engines, Engine: "1"}.bodyOf(session)
		if err != nil {
			t.Fatal(err)
		}
		if of != "" {
			asked++
		}
		got, want := (of == "" || of == user) && (rest == nil || session.Match(rest)), filter.holds(shown)
		if got != want {
			t.Fatalf("%s\nof %s: %v, want %v", filter.text, fmt.Sprint(shown.UserID, session.Details), got, want)
		}
	}
	if asked < 300 {
		t.Errorf("%d filters of 5000 ask for one user", asked)
	}
}
