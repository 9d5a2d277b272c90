package memory

import (
	"encoding/json"
	"testing"
	"time"
)

func TestFilterMatch(t *testing.T) {
	hour := func(n int) time.Time { return noon.Add(time.Duration(n) * time.Hour) }
	md := func(k, v string) Metadata { return Metadata{k: json.RawMessage(v)} }
	// The sample is said at noon, holds for an hour from then, and expires
	// after two; it is now a minute past noon.
	now := noon.Add(time.Minute)
	for _, c := range []struct {
		name   string
		filter Filter
		edit   func(m *Memory)
		want   bool
	}{
		{"no filter", Filter{}, nil, true},
		{"expired", Filter{}, func(m *Memory) { m.ExpireTime = now }, false},
		{"expired since, as of before", Filter{AsOf: hour(0)}, func(m *Memory) { m.ExpireTime = now }, false},
		{"superseded", Filter{}, func(m *Memory) { m.ValidTo = now }, false},
		{"superseded in a moment", Filter{}, func(m *Memory) { m.ValidTo = now.Add(1) }, true},
		{"never superseded", Filter{}, func(m *Memory) { m.ValidTo = time.Time{} }, true},
		{"superseded since, as of before", Filter{AsOf: hour(0)}, func(m *Memory) { m.ValidTo = now }, true},
		{"as of when it was said", Filter{AsOf: noon}, nil, true},
		{"as of before it was said", Filter{AsOf: noon.Add(-1)}, nil, false},
		{"as of before its end", Filter{AsOf: hour(1).Add(-1)}, nil, true},
		{"as of its end", Filter{AsOf: hour(1)}, nil, false},
		{"said later than now", Filter{}, func(m *Memory) { m.Timestamp = hour(3) }, true},
		{"kind", Filter{Kinds: []Kind{KindTurn}}, nil, true},
		{"kinds", Filter{Kinds: []Kind{KindFact, KindTurn}}, nil, true},
		{"other kind", Filter{Kinds: []Kind{KindFact}}, nil, false},
		{"topic", Filter{Topics: []string{"drink"}}, nil, true},
		{"any topic", Filter{Topics: []string{"work", "food"}}, nil, true},
		{"other topic", Filter{Topics: []string{"Food", "foo", ""}}, nil, false},
		{"topic of none", Filter{Topics: []string{"food"}}, func(m *Memory) { m.Topics = nil }, false},
		{"since then", Filter{Since: noon}, nil, true},
		{"since later", Filter{Since: noon.Add(1)}, nil, false},
		{"until then", Filter{Until: noon}, nil, true},
		{"until before", Filter{Until: noon.Add(-1)}, nil, false},
		{"in another zone", Filter{Since: noon.In(time.FixedZone("east", 3600)), Until: noon}, nil, true},
		{"session", Filter{SessionID: "s"}, nil, true},
		{"other session", Filter{SessionID: "S"}, nil, false},
		{"metadata", Filter{Metadata: md("lang", `"en"`)}, nil, true},
		{"other value", Filter{Metadata: md("lang", `"de"`)}, nil, false},
		{"other name", Filter{Metadata: md("Lang", `"en"`)}, nil, false},
		{"null for missing", Filter{Metadata: md("missing", `null`)}, nil, false},
		{"one of two names", Filter{Metadata: Metadata{"lang": json.RawMessage(`"en"`), "n": json.RawMessage(`1`)}},
			nil, false},
		{"all at once", Filter{
			Kinds: []Kind{KindTurn}, Topics: []string{"food"}, Since: noon, Until: noon, SessionID: "s",
			Metadata: md("lang", `"en"`), AsOf: noon,
		}, nil, true},
		{"all but one", Filter{
			Kinds: []Kind{KindTurn}, Topics: []string{"food"}, Since: noon, Until: noon, SessionID: "t",
			Metadata: md("lang", `"en"`), AsOf: noon,
		}, nil, false},
	} {
		m := sample()
		if c.edit != nil {
			c.edit(&m)
		}
		if got := c.filter.Match(&m, now); got != c.want {
			t.Errorf("%s: Match is %v, want %v", c.name, got, c.want)
		}
	}
}

func TestSameJSON(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`1`, `1.0`, true}, {`1`, `10e-1`, true}, {`0`, `-0`, true}, {`0.1`, `0.10`, true}, {`1`, `2`, false},
		{`1`, `"1"`, false}, {`1`, `true`, false}, {`true`, `"true"`, false}, {`true`, `false`, false},
		{`null`, `null`, true},
		{`null`, `""`, false}, {`null`, `0`, false}, {`null`, `false`, false}, {`"A"`, `"\u0041"`, true},
		{`"A"`, `"a"`, false},
		{`[1, 2]`, `[1.0,2]`, true}, {`[1,2]`, `[2,1]`, false}, {`[]`, `{}`, false}, {`[]`, `null`, false},
		{`[[1]]`, `[1]`, false},
		{`{"a":1,"b":[2]}`, `{ "b": [2.0], "a": 1 }`, true}, {`{"a":1}`, `{"a":1,"b":null}`, false},
		{`{"a":{"n":1}}`, `{"a":{"n":1.0}}`, true},
		{`9007199254740993`, `9007199254740992`, false}, {`12345678901234567890`, `12345678901234567890`, true},
		{`1e999`, `1e999`, true}, {`1e999`, `2e999`, false},
		{`1`, `x`, false}, {``, `null`, false},
	} {
		if got := SameJSON(json.RawMessage(c.a), json.RawMessage(c.b)); got != c.want {
			t.Errorf("SameJSON(%s, %s) = %v, want %v", c.a, c.b, got, c.want)
		}
		if got := SameJSON(json.RawMessage(c.b), json.RawMessage(c.a)); got != c.want {
			t.Errorf("SameJSON(%s, %s) = %v, want %v", c.b, c.a, got, c.want)
		}
	}
}
