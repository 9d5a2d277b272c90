package rules

import (
	"testing"

	"github.com/memoryd/memoryd/extract/english"
)

// The texts of tables and the program have the same tables, and no table has a word twice.
func TestTables(t *testing.T) {
	for _, p := range tables.Problems() {
		t.Error(p)
	}
}

// Every rule decides its own example: none is hidden by those above it.
func TestExamples(t *testing.T) {
	for name, table := range map[string]table{
		"being": beingRules, "progress": progressRules, "having": havingRules, "doing": doingRules, "habit": habitRules,
		"event": eventRules, "liking": likingRules, "future": futureRules, "would": wouldRules, "wish": wishRules,
		"ability": abilityRules,
	} {
		for k := range table {
			var fired []*rule
			c := newClause(english.Split(table[k].example))
			c.fired = func(r *rule) { fired = append(fired, r) }
			c.judge()
			decided := false
			for _, r := range fired {
				decided = decided || r == &table[k]
			}
			if !decided {
				t.Errorf("%s: %q is not decided by the rule that it is the example of", name, table[k].example)
				for _, r := range fired {
					t.Logf("but by that of %q", r.example)
				}
			}
		}
	}
	for k := range otherSubjects {
		c := newClause(english.Split(otherSubjects[k].example))
		if _, known := otherSubjects[k].read(c); !known || c.otherSubject() == none {
			t.Errorf("%q has no other subject than the speaker", otherSubjects[k].example)
		}
	}
}
