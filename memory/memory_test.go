package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// sample has every field.
func sample() Memory {
	return Memory{
		ID: "m", Scope: Scope{"app", "ann"}, Kind: KindTurn, Fact: "likes tea", Author: "Ann",
		Topics: []string{"food", "drink"}, Trust: TrustAgent,
		Timestamp: noon, ValidFrom: noon.Add(-time.Hour), ValidTo: noon.Add(time.Hour), SupersededBy: "newer",
		Edited: true, EditTime: noon.Add(-time.Minute), Labelled: true, ReceiveTime: noon.Add(-time.Hour), CreateTime: noon, UpdateTime: noon,
		ExpireTime: noon.Add(2 * time.Hour), Revision: 3,
		Source:   Source{SessionID: "s", EventIDs: []string{"e1", "e2"}, Quote: "I like tea"},
		Metadata: Metadata{"lang": json.RawMessage(`"en"`)},
	}
}

// value is a value of field f of the profile s.
func value(raw string) *Profile {
	return &Profile{SchemaID: "s", Field: "f", Value: json.RawMessage(raw)}
}

func TestValidate(t *testing.T) {
	many := func(n int) []string {
		var out []string
		for i := range n {
			out = append(out, fmt.Sprint("t", i))
		}
		return out
	}
	for _, c := range []struct {
		name  string
		edit  func(m *Memory)
		field string // "" where the memory is valid
	}{
		{"all fields", func(*Memory) {}, ""},
		{"the least", func(m *Memory) {
			*m = Memory{ID: "m", Scope: m.Scope, Kind: KindFact, Fact: "x", Timestamp: noon}
		}, ""},
		{"longest fact", func(m *Memory) { m.Fact = strings.Repeat("x", MaxFact) }, ""},
		{"most topics", func(m *Memory) { m.Topics = many(MaxTopics) }, ""},
		{"earliest", func(m *Memory) { m.Timestamp = MinTime }, ""},
		{"latest", func(m *Memory) { m.Timestamp = MaxTime.Add(-time.Nanosecond) }, ""},
		{"no id", func(m *Memory) { m.ID = "" }, "memory id"},
		{"id with slash", func(m *Memory) { m.ID = "a/b" }, "memory id"},
		{"no app", func(m *Memory) { m.App = "" }, "app id"},
		{"no user", func(m *Memory) { m.User = "" }, "user id"},
		{"no kind", func(m *Memory) { m.Kind = "" }, "kind"},
		{"other kind", func(m *Memory) { m.Kind = "FACT" }, "kind"},
		{"no fact", func(m *Memory) { m.Fact = "" }, "fact"},
		{"fact too long", func(m *Memory) { m.Fact = strings.Repeat("x", MaxFact+1) }, "fact"},
		{"fact not UTF-8", func(m *Memory) { m.Fact = "a\xff" }, "fact"},
		{"too many topics", func(m *Memory) { m.Topics = many(MaxTopics + 1) }, "topics"},
		{"empty topic", func(m *Memory) { m.Topics = []string{"food", ""} }, "topics[1]"},
		{"metadata too large", func(m *Memory) {
			m.Metadata = Metadata{"k": json.RawMessage(`"` + strings.Repeat("x", MaxMetadata) + `"`)}
		}, "metadata"},
		{"displayName too long", func(m *Memory) { m.DisplayName = strings.Repeat("x", MaxDisplayName+1) }, "displayName"},
		{"displayName of other bytes", func(m *Memory) { m.DisplayName = "\xff" }, "displayName"},
		{"description too long", func(m *Memory) { m.Description = strings.Repeat("x", MaxDescription+1) }, "description"},
		{"metadata without name", func(m *Memory) { m.Metadata = Metadata{"": json.RawMessage(`1`)} }, "metadata"},
		{"no timestamp", func(m *Memory) { m.Timestamp = time.Time{} }, "timestamp"},
		{"timestamp too early", func(m *Memory) { m.Timestamp = MinTime.Add(-1) }, "timestamp"},
		{"timestamp too late", func(m *Memory) { m.Timestamp = MaxTime }, "timestamp"},
		{"validFrom", func(m *Memory) { m.ValidFrom = MaxTime }, "validFrom"},
		{"validTo", func(m *Memory) { m.ValidTo = MinTime.Add(-1) }, "validTo"},
		{"expireTime", func(m *Memory) { m.ExpireTime = MaxTime }, "expireTime"},
		{"a value of a profile", func(m *Memory) { m.Kind, m.Profile = KindProfile, value(`["a", 1, true]`) }, ""},
		{"a profile without a value", func(m *Memory) { m.Kind, m.Profile = KindProfile, value(``) }, "value"},
		{"a value of null", func(m *Memory) { m.Kind, m.Profile = KindProfile, value(`null`) }, "value"},
		{"a value that is an object", func(m *Memory) { m.Kind, m.Profile = KindProfile, value(`{}`) }, "value"},
		{"a list of lists", func(m *Memory) { m.Kind, m.Profile = KindProfile, value(`[[]]`) }, "value"},
		{"a value too large", func(m *Memory) {
			m.Kind, m.Profile = KindProfile, value(`"`+strings.Repeat("x", MaxProfileValue)+`"`)
		}, "value"},
		{"a profile of nothing", func(m *Memory) { m.Kind = KindProfile }, "schemaId"},
		{"a profile without a schema", func(m *Memory) {
			m.Kind, m.Profile = KindProfile, &Profile{Field: "f", Value: json.RawMessage(`1`)}
		}, "schemaId"},
		{"a profile without a field", func(m *Memory) {
			m.Kind, m.Profile = KindProfile, &Profile{SchemaID: "s", Value: json.RawMessage(`1`)}
		}, "field"},
		{"a turn with a value", func(m *Memory) { m.Profile = value(`1`) }, "schemaId, field and value"},
		{"a shared profile", func(m *Memory) {
			m.Kind, m.Profile, m.Scope = KindProfile, value(`1`), Shared("app")
		}, "kind"},
	} {
		m := sample()
		c.edit(&m)
		switch err := m.Validate(); {
		case c.field == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.field != "" && (!errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c.field)):
			t.Errorf("%s: error %v, want ErrInvalid that names %s", c.name, err, c.field)
		}
	}
}

// Every field that a writer sets counts as content; those that the store sets
// do not. A field that is added to Memory must be named here.
func TestSameContent(t *testing.T) {
	edits := map[string]func(m *Memory){
		"ID":            func(m *Memory) { m.ID = "other" },
		"Scope":         func(m *Memory) { m.User = "bob" },
		"Kind":          func(m *Memory) { m.Kind = KindFact },
		"Fact":          func(m *Memory) { m.Fact += "." },
		"Author":        func(m *Memory) { m.Author = "" },
		"Topics":        func(m *Memory) { m.Topics = []string{"drink", "food"} },
		"Timestamp":     func(m *Memory) { m.Timestamp = m.Timestamp.Add(time.Microsecond) },
		"ValidFrom":     func(m *Memory) { m.ValidFrom = time.Time{} },
		"ValidTo":       func(m *Memory) { m.ValidTo = time.Time{} },
		"ExpireTime":    func(m *Memory) { m.ExpireTime = time.Time{} },
		"DefaultExpiry": func(m *Memory) { m.DefaultExpiry = !m.DefaultExpiry },
		"SupersededBy":  func(m *Memory) { m.SupersededBy = "" },
		"Edited":        func(m *Memory) { m.Edited = false },
		"EditTime":      func(m *Memory) { m.EditTime = time.Time{} },
		"Labelled":      func(m *Memory) { m.Labelled = false },
		"Forgotten":     func(m *Memory) { m.Forgotten = []string{"f"} },
		"ReceiveTime":   func(m *Memory) { m.ReceiveTime = time.Time{} },
		"Source":        func(m *Memory) { m.Source.EventIDs = []string{"e1"} },
		"SessionID":     func(m *Memory) { m.Source.SessionID = "t" },
		"Quote":         func(m *Memory) { m.Source.Quote = "" },
		"Passage":       func(m *Memory) { m.Source.Passage = &Passage{Document: "d", Number: 1} },
		"Metadata":      func(m *Memory) { m.Metadata = Metadata{"lang": json.RawMessage(`"de"`)} },
		"more": func(m *Memory) {
			m.Metadata = Metadata{"lang": json.RawMessage(`"en"`),
				"n": json.RawMessage(`1`)}
		},
	}
	edits["FromEditTime"] = func(m *Memory) { m.FromEditTime = m.Timestamp.Add(time.Second) }
	edits["ToEditTime"] = func(m *Memory) { m.ToEditTime = m.Timestamp.Add(time.Second) }
	edits["Evidence"] = func(m *Memory) { m.Evidence = 2 }
	edits["ConfirmedTime"] = func(m *Memory) { m.ConfirmedTime = m.Timestamp.Add(time.Second) }
	edits["DisplayName"] = func(m *Memory) { m.DisplayName = "Drinks" }
	edits["Description"] = func(m *Memory) { m.Description = "What to drink." }
	edits["Trust"] = func(m *Memory) { m.Trust = TrustExternal }
	edits["State"] = func(m *Memory) { m.State = Quarantined }
	edits["Reason"] = func(m *Memory) { m.Reason = "orders" }
	edits["Retracted"] = func(m *Memory) { m.Retract("I live in Rome.", m.Timestamp) }
	edits["UTCOffset"] = func(m *Memory) { m.UTCOffset = "+05:30" }
	stores := map[string]func(m *Memory){
		"CreateTime": func(m *Memory) { m.CreateTime = time.Time{} },
		"UpdateTime": func(m *Memory) { m.UpdateTime = time.Time{} },
		"Revision":   func(m *Memory) { m.Revision++ },
		"Shared":     func(m *Memory) { m.Shared = true }, // the form of the API
	}
	for i := range reflect.TypeFor[Memory]().NumField() {
		name := reflect.TypeFor[Memory]().Field(i).Name
		if edits[name] == nil && name != "Profile" && stores[name] == nil {
			t.Errorf("no case for field %s", name)
		}
	}
	check := func(name string, edit func(m *Memory), want bool) {
		t.Helper()
		a, b := sample(), sample()
		edit(&b)
		if a.SameContent(&b) != want || b.SameContent(&a) != want {
			t.Errorf("with another %s, the content is the same: want %v", name, want)
		}
	}
	for name, edit := range edits {
		check(name, edit, false)
	}
	for name, edit := range stores {
		check(name, edit, true)
	}
	for other, want := range map[string]bool{`[1.0,"\u0061"]`: true, `[1]`: false} {
		a, b := sample(), sample()
		a.Profile, b.Profile = value(`[1, "a"]`), value(other)
		if got := a.SameContent(&b); got != want {
			t.Errorf("the values [1, \"a\"] and %s are the same content: %v", other, got)
		}
		if b.Profile = nil; a.SameContent(&b) || b.SameContent(&a) {
			t.Error("a value and none are the same content")
		}
		for _, p := range []*Profile{{"t", "f", a.Value}, {"s", "g", a.Value}} {
			if b.Profile = p; a.SameContent(&b) {
				t.Errorf("the value of another field is the same content: %+v", p)
			}
		}
	}
	check("zone", func(m *Memory) { m.Timestamp = m.Timestamp.In(time.FixedZone("east", 3600)) }, true)
	check("spelling", func(m *Memory) { m.Metadata = Metadata{"lang": json.RawMessage(` "\u0065n"`)} }, true)
	none, empty := sample(), sample()
	none.Topics, none.Metadata, none.Source.EventIDs = nil, nil, nil
	empty.Topics, empty.Metadata, empty.Source.EventIDs = []string{}, Metadata{}, []string{}
	if !none.SameContent(&empty) {
		t.Error("no list and an empty one are not the same content")
	}
}

func TestClone(t *testing.T) {
	m := sample()
	c := m.Clone()
	if !reflect.DeepEqual(c, m) {
		t.Errorf("the clone is %+v, want %+v", c, m)
	}
	c.Topics[0], c.Source.EventIDs[0] = "spoilt", "spoilt"
	c.Metadata["lang"][1], c.Metadata["more"] = 'X', json.RawMessage(`1`)
	if want := sample(); !reflect.DeepEqual(m, want) {
		t.Errorf("what is done to the clone shows: %+v, want %+v", m, want)
	}
	p := Memory{Profile: value(`1`)}
	if c := p.Clone(); c.Profile == p.Profile || &c.Value[0] == &p.Value[0] || !c.Profile.same(p.Profile) {
		t.Errorf("the clone shares its value: %+v", c.Profile)
	}
	none := Memory{}
	if c := none.Clone(); c.Topics == nil || len(c.Topics) != 0 {
		t.Errorf("without topics, the clone has %#v, want an empty list", c.Topics)
	}
}

func TestLive(t *testing.T) {
	m := sample()
	for _, c := range []struct {
		expire time.Time
		want   bool
	}{
		{time.Time{}, true}, {noon.Add(time.Microsecond), true}, {noon, false}, {noon.Add(-time.Microsecond), false},
	} {
		if m.ExpireTime = c.expire; m.Live(noon) != c.want {
			t.Errorf("a memory that expires at %v is live: %v, want %v", c.expire, !c.want, c.want)
		}
	}
}

// The names in JSON are the HTTP contract's.
func TestJSON(t *testing.T) {
	raw, err := json.Marshal(sample())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"id":"m","appName":"app","userId":"ann","kind":"turn","fact":"likes tea","author":"Ann",` +
		`"topics":["food","drink"],"timestamp":"2026-03-01T12:00:00Z","receiveTime":"2026-03-01T11:00:00Z","validFrom":"2026-03-01T11:00:00Z",` +
		`"validTo":"2026-03-01T13:00:00Z","supersededBy":"newer","edited":true,"editTime":"2026-03-01T11:59:00Z","labelled":true,"trust":"agent",` +
		`"createTime":"2026-03-01T12:00:00Z","updateTime":"2026-03-01T12:00:00Z",` +
		`"expireTime":"2026-03-01T14:00:00Z","revision":3,` +
		`"source":{"sessionId":"s","eventIds":["e1","e2"],"quote":"I like tea"},"metadata":{"lang":"en"}}`
	if string(raw) != want {
		t.Errorf("as JSON:\n%s\nwant\n%s", raw, want)
	}
}
