package canonical

import (
	"slices"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/extract/english"
)

// The texts of the tables and the program have the same tables, and no table has
// a word twice.
func TestTables(t *testing.T) {
	for _, problem := range slices.Concat(tables.Problems(), frameTables.Problems(), orderTables.Problems()) {
		t.Error(problem)
	}
}

// Every slot of a frame is one that the program reads, and every frame can begin: its first
// token is a word.
func TestFrameSlots(t *testing.T) {
	known := strings.Fields("place town company job trade field name years thing other bare number date phone email " +
		"address transport product maker provider given noun title year grade color shift shifts school pay business")
	for _, list := range frames {
		for _, f := range list {
			if f.tokens[0].words == nil || f.tokens[0].optional {
				t.Errorf("a frame of %q begins with no word", f.attribute)
			}
			for _, token := range f.tokens {
				if token.slot != "" && !slices.Contains(known, token.slot) {
					t.Errorf("a frame of %q has an unknown slot %q", f.attribute, token.slot)
				}
			}
		}
	}
}

// Every rule that drops words does so in its example, and the fact would have
// another text without the rule.
func TestDropRules(t *testing.T) {
	for _, rules := range []struct {
		list   []dropRule
		byWord map[string][]dropRule
	}{{intensifiers, intensifiersByWord}, {functionWords, functionWordsByWord}} {
		for i, rule := range rules.list {
			long, short := pair(t, rule.example)
			if Text(long) != Text(short) {
				t.Errorf("%q has the text %q, and %q has %q", long, Text(long), short, Text(short))
			}
			without := byWord(slices.Delete(slices.Clone(rules.list), i, i+1))
			saved := map[string][]dropRule{}
			for w := range strings.FieldsSeq(rule.words) {
				saved[w] = rules.byWord[w]
				rules.byWord[w] = without[w]
			}
			if Text(long) == Text(short) {
				t.Errorf("%q does not need the rule for %q", long, rule.words)
			}
			for w, list := range saved {
				rules.byWord[w] = list
			}
		}
	}
}

// Every rule for the end of a statement reads its example.
func TestEndRules(t *testing.T) {
	for _, rule := range endRules {
		fact, ended := pair(t, rule.example)
		if got := Of(fact).Ends; got != Text(ended) {
			t.Errorf("%q ends %q, want %q", fact, got, Text(ended))
		}
	}
}

// attributeExamples lists the examples of all rules for attributes.
func attributeExamples() (out []string) {
	for _, rule := range predicateRules {
		out = append(out, rule.example)
	}
	for _, rule := range nounRules {
		out = append(out, rule.example)
	}
	for _, rule := range tasteRules {
		out = append(out, rule.example)
	}
	for _, rule := range directiveRules {
		out = append(out, rule.example)
	}
	return out
}

// Every rule for an attribute reads its example, and no rule hides another.
func TestAttributeRules(t *testing.T) {
	for _, rule := range predicateRules {
		for _, verb := range english.Split(rule.verbs) {
			if got := predicateRulesByVerb[verb.Text]; got.verbs != rule.verbs {
				t.Errorf("two rules read the verb %q", verb.Text)
			}
		}
	}
	if len(nounRulesByAttribute) != len(nounRules) {
		t.Error("two rules read one attribute")
	}
	for _, example := range attributeExamples() {
		fact, want := pair(t, example)
		if got := asserted(Of(fact)); !slices.Contains(got, want) {
			t.Errorf("%q claims %q, want %q", fact, got, want)
		}
	}
}

// Every phrase that asks to forget passes the first look, however it is written.
func TestMayRequestForgetting(t *testing.T) {
	for phrase := range forgetting.All() {
		blanks := strings.Join(phrase, " ")
		for _, s := range []string{
			blanks, strings.ToUpper(blanks), strings.Join(phrase, "-"), strings.Replace(blanks, "t", "\uff54", 1),
		} {
			if text := "Please " + s + " I live in Porto."; !mayRequestForgetting(text) {
				t.Errorf("%q does not pass", text)
			}
		}
	}
	if text := "I live in Porto, and that is all."; mayRequestForgetting(text) {
		t.Errorf("%q passes", text)
	}
}
