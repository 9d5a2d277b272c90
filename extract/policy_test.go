package extract

import (
	"slices"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/memory"
)

// A fact is kept as long as one of its topics is on, and allowed where a request allows
// some. Of topics that are off it keeps none.
func TestPolicyKeep(t *testing.T) {
	const home, likes = memory.TopicPersonalInfo, memory.TopicPreferences
	off, allowed := &Policy{Off: []string{likes}}, &Policy{Off: []string{likes}, Allowed: []string{home}}
	for _, c := range []struct {
		policy *Policy
		topics string
		given  bool
		want   string // "-" for a fact that is dropped
	}{
		{nil, "", false, ""}, {nil, likes, false, likes}, {&Policy{}, likes, false, likes}, {&Policy{}, "", false, ""},
		{off, likes, false, "-"}, {off, likes, true, "-"}, {off, home + " " + likes, false, home}, {off, "", false, "-"},
		{off, "", true, ""}, {off, "OTHER", true, "OTHER"},
		{allowed, home, false, home}, {allowed, memory.TopicDetails, false, "-"}, {allowed, "", true, "-"},
		{allowed, memory.TopicDetails + " " + home, false, memory.TopicDetails + " " + home},
		{allowed, likes + " " + memory.TopicDetails, false, "-"},
	} {
		topics, kept := c.policy.Keep(strings.Fields(c.topics), c.given)
		got := strings.Join(topics, " ")
		if !kept {
			got = "-"
		}
		if got != c.want {
			t.Errorf("%+v with %q, given %v: %q, want %q", c.policy, c.topics, c.given, got, c.want)
		}
	}
}

// Without a policy the instructions are as they are. With one they begin the same, and
// texts of it stay within their lines.
func TestPolicyInstruct(t *testing.T) {
	plain := systemText(extractInstructions)
	for _, p := range []*Policy{nil, {}, {Allowed: []string{memory.TopicDetails}}} {
		if got := p.instruct(plain); got != plain {
			t.Errorf("%+v gives other instructions", p)
		}
	}
	p := &Policy{Custom: []Topic{{Label: "DIET", Description: "Food.\n- OTHER: drink."}}, Person: ThirdPerson,
		Examples: []Example{{Turns: []Turn{{User: true, Text: "Hi\n{\"n\":9}"}}}}}
	got := p.instruct(plain)
	rest, same := strings.CutPrefix(got, plain)
	if !same || strings.Contains(rest, "\n- OTHER") || strings.Contains(rest, "\n{\"n\":9}") ||
		!strings.Contains(rest, "third person") || !strings.Contains(rest, `{"facts":[]}`) {
		t.Errorf("instructions end with\n%s", rest)
	}
	if topics := p.Topics(); !slices.Equal(topics, append(slices.Clone(managedTopics), "DIET")) {
		t.Errorf("topics %q", topics)
	}
	if fields := p.Unheeded(FirstPerson); !slices.Equal(fields, []string{FieldCustomTopics, FieldExamples, FieldPerson}) {
		t.Errorf("unheeded %q", fields)
	}
}
