package consolidate_test

import (
	"testing"

	"github.com/memoryd/memoryd/consolidate"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/memory"
)

// value is the stored value of a field of a profile.
func value(id string, at int, words string) memory.Memory {
	m := fact(id, at, words)
	m.Kind = memory.KindProfile
	m.Profile = &memory.Profile{SchemaID: "person", Field: id, Value: []byte(`"x"`)}
	return m
}

// A request to forget deletes the values that it names by their field or by their words,
// if they were said before. Nothing else that is said changes a value.
func TestValues(t *testing.T) {
	for _, c := range []struct {
		wish   string
		at     int
		value  memory.Memory
		forget bool
	}{
		{"my city", 5, value("city", 1, "City: Porto"), true},
		{"my city", 5, value("city", 1, "City (Where the user lives): Porto"), true},
		{"my shoe size", 5, value("size", 1, "Shoe size: 42"), true},
		{"my age", 5, value("age", 1, "Age: 30"), true},
		{"chess", 5, value("hobbies", 1, "Hobbies: chess"), true},
		{"my city", 5, value("city", 6, "City: Porto"), false},
		{"my sister's city", 5, value("city", 1, "City: Porto"), false},
		{"my city", 5, value("age", 1, "Age: 30"), false},
		{"my favourite color", 5, value("color", 1, "Favourite color: blue"), false}, // for a model to decide
		{"my color", 5, value("color", 1, "Favourite color: blue"), false},
	} {
		request := consolidate.Fact{Seq: 7, Forget: true, Memory: fact("request", c.at, c.wish)}
		in := consolidate.Input{New: []consolidate.Fact{request}, Values: []memory.Memory{c.value}, Last: 9}
		got := consolidate.Plan(in)
		deleted := len(got.Changes) == 1 && got.Changes[0].Action == memory.Deleted &&
			got.Changes[0].Memory.ID == c.value.ID && got.Changes[0].Expect == 1
		if deleted != c.forget || !deleted && len(got.Changes) > 0 || len(got.NotFound) == 0 != c.forget {
			t.Errorf("forget %q of %q: changes %+v, not found %+v", c.wish, c.value.Fact, got.Changes, got.NotFound)
		}
		if in.Forgets(&c.value) != c.forget {
			t.Errorf("Forgets(%q) of %q is %v", c.value.Fact, c.wish, !c.forget)
		}
	}
}

// A model may see that a request is about a value. Its verdicts on facts leave values as
// they are.
func TestVerdictsOnValues(t *testing.T) {
	known := []memory.Memory{value("city", 1, "City: Porto")}
	request := consolidate.Fact{Seq: 7, Forget: true, Memory: fact("request", 5, "where Ann has her flat")}
	in := consolidate.Input{New: []consolidate.Fact{request}, Last: 9}
	in.Compared = &consolidate.Comparison{Known: known, New: in.New,
		Verdicts: []extract.Verdict{{Action: extract.Delete, Same: -1, Against: []int{0}, Reason: "asked"}}}
	got := consolidate.Plan(in)
	if len(got.Changes) != 1 || got.Changes[0].Action != memory.Deleted || got.Changes[0].Memory.ID != "city" ||
		len(got.NotFound) != 0 || len(got.Forgotten) == 0 {
		t.Errorf("a request that the model sees to be about it: %+v", got)
	}
	moved := consolidate.Fact{Seq: 7, Memory: fact("moved", 5, "Ann lives in Rome.")}
	for _, v := range []extract.Verdict{{Action: extract.Create, Same: -1, Against: []int{0}},
		{Action: extract.Nothing, Same: 0}, {Action: extract.Update, Same: 0, Text: "Ann lives in Rome and Porto."}} {
		in := consolidate.Input{New: []consolidate.Fact{moved}, Last: 9}
		in.Compared = &consolidate.Comparison{Known: known, New: in.New, Verdicts: []extract.Verdict{v}}
		got := consolidate.Plan(in)
		if len(got.Changes) != 1 || got.Changes[0].Memory.ID != "moved" || got.Changes[0].Action != memory.Created {
			t.Errorf("the verdict %+v on a fact: %+v", v, got.Changes)
		}
	}
}
