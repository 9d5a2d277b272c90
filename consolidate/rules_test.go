package consolidate_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	diff "github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/consolidate"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/memory"
)

// fact is a stored fact of revision 1, said so many seconds after the epoch in an
// event of its own.
func fact(id string, at int, text string) memory.Memory {
	s := said{session: "s", event: id, author: "ann", sentence: text, at: at}
	m := s.memory()
	m.ID, m.Revision = id, 1
	return m
}

// given is a fact that a client gave.
func given(id string, at int, text string) memory.Memory {
	m := fact(id, at, text)
	m.Author, m.Source = "", memory.Source{}
	return m
}

// ended is a fact that another one has superseded.
func ended(m memory.Memory, at int, by string) memory.Memory {
	m.ValidTo, m.SupersededBy = epoch.Add(time.Duration(at)*time.Second), by
	return m
}

// counted is a fact that tells how often it was said.
func counted(m memory.Memory, times int) memory.Memory {
	m.Evidence = times
	return m
}

func edited(m memory.Memory, at int) memory.Memory {
	m.Edited, m.UpdateTime = true, epoch.Add(time.Duration(at)*time.Second)
	return m
}

// closed is a fact whose end, or that it has none, a client has set at a time.
func closed(m memory.Memory, at int) memory.Memory {
	m.ToEditTime, m.Labelled = epoch.Add(time.Duration(at)*time.Second), true
	return m
}

// opened is a fact whose beginning a client has set at a time.
func opened(m memory.Memory, from, at int) memory.Memory {
	m.ValidFrom, m.FromEditTime = epoch.Add(time.Duration(from)*time.Second), epoch.Add(time.Duration(at)*time.Second)
	m.Labelled = true
	return m
}

func expiring(m memory.Memory) memory.Memory {
	m.ExpireTime = epoch.Add(time.Hour)
	return m
}

// from makes new facts of memories.
func from(facts ...memory.Memory) (out []consolidate.Fact) {
	for i, m := range facts {
		m.Revision = 0
		text, forget := strings.CutPrefix(m.Fact, "forget: ")
		m.Fact = text
		out = append(out, consolidate.Fact{Seq: int64(i + 1), Memory: m, Forget: forget})
	}
	return out
}

// describe is a change in a line.
func describe(c consolidate.Change) string {
	line := fmt.Sprintf("%s %s %q", c.Action, c.Memory.ID, c.Memory.Fact)
	if m := &c.Memory; !m.ValidTo.IsZero() && c.Action != memory.Deleted {
		line += fmt.Sprintf(" until %d", m.ValidTo.Unix()-epoch.Unix())
		if m.SupersededBy != "" {
			line += " by " + m.SupersededBy
		}
	}
	if m := &c.Memory; m.Evidence > 0 {
		line += fmt.Sprintf(" said %d times", m.Evidence)
	}
	if c.For != "" {
		line += " for " + c.For
	}
	if c.Else != nil {
		line += " else " + c.Else.ID
	}
	return line
}

const (
	porto, lisbon = "I live in Porto.", "I live in Lisbon."
	sailing       = "I love sailing."
	dog, rex      = "Ann has a dog.", "Ann's dog is called Rex."

	createsLisbon = `CREATED b "I live in Lisbon."`
	createsRex    = `CREATED b "Ann's dog is called Rex."`
)

func known(facts ...memory.Memory) []memory.Memory { return facts }

// Each rule of Plan, in a case of its own.
func TestRules(t *testing.T) {
	bobs := fact("b", 2, lisbon)
	bobs.Author = "bob"
	before := fact("a", 1, dog)
	for name, c := range map[string]struct {
		known []memory.Memory
		new   []consolidate.Fact
		more  consolidate.Input
		// verdicts are of a model, on the new facts beside the known ones.
		verdicts []extract.Verdict
		want     []string
	}{
		"another value ends the first": {
			known: known(fact("a", 1, porto)), new: from(fact("b", 2, lisbon)),
			want: []string{createsLisbon, `UPDATED a "I live in Porto." until 2 by b for b`}},
		"a late arrival ends where a later statement begins": {
			known: known(fact("b", 2, lisbon)), new: from(fact("a", 1, porto)),
			want: []string{`CREATED a "I live in Porto." until 2 by b`}},
		"with consolidation disabled both hold": {
			known: known(fact("a", 1, porto)), new: from(fact("b", 2, lisbon)),
			more: consolidate.Input{Disabled: true},
			want: []string{createsLisbon}},
		"with consolidation disabled a repetition is found": {
			known: known(fact("a", 1, porto)), new: from(fact("b", 2, porto)),
			more: consolidate.Input{Disabled: true},
			want: []string{`CREATED b "I live in Porto." until 2 by a`, `UPDATED a "I live in Porto." said 2 times`}},
		"another author ends nothing": {
			known: known(fact("a", 1, porto)), new: from(bobs),
			want: []string{createsLisbon}},
		"a client's fact stands before an earlier one": {
			known: known(given("c", 5, sailing)), new: from(fact("a", 1, sailing)),
			want: []string{`CREATED a "I love sailing." until 1 by c`, `UPDATED c "I love sailing." said 2 times`}},
		"a client's fact stands before all that say the same": {
			known: known(given("c", 5, sailing)), new: from(fact("a", 1, sailing), fact("b", 3, sailing)),
			want: []string{`CREATED a "I love sailing." until 1 by c`, `CREATED b "I love sailing." until 3 by c`, `UPDATED c "I love sailing." said 3 times`}},
		"a statement from before a client's decision ends nothing": {
			known: known(edited(fact("a", 1, porto), 9)), new: from(fact("b", 2, lisbon)),
			want: []string{createsLisbon}},
		"a statement since a client's decision ends the fact": {
			known: known(edited(fact("a", 1, porto), 9)), new: from(fact("b", 10, lisbon)),
			want: []string{createsLisbon, `UPDATED a "I live in Porto." until 10 by b for b`}},
		"a statement from before a client set the end does not move it": {
			known: known(closed(ended(fact("a", 1, porto), 5, ""), 9)), new: from(fact("b", 3, lisbon)),
			want: []string{createsLisbon}},
		"a statement from before a client cleared the end does not end the fact": {
			known: known(closed(fact("a", 1, porto), 9), fact("b", 2, lisbon)), new: from(fact("c", 3, sailing)),
			want: []string{`CREATED c "I love sailing."`}},
		"a statement since a client set the end to come ends the fact before": {
			known: known(closed(ended(fact("a", 1, porto), 50, ""), 9)), new: from(fact("b", 10, lisbon)),
			want: []string{createsLisbon, `UPDATED a "I live in Porto." until 10 by b for b`}},
		"an end that a client has moved stays beside its successor": {
			known: known(closed(ended(fact("a", 1, porto), 3, "b"), 9), fact("b", 5, lisbon)), new: from(fact("c", 6, lisbon)),
			want: []string{`CREATED c "I live in Lisbon." until 6 by b`, `UPDATED b "I live in Lisbon." said 2 times`}},
		"an end that a client has moved outlasts its successor": {
			known: known(closed(ended(fact("a", 1, porto), 3, "b"), 9), fact("b", 5, lisbon)),
			more:  consolidate.Input{Withdrawn: []consolidate.Withdrawal{{Memory: fact("b", 5, lisbon)}}},
			want:  []string{`DELETED b "I live in Lisbon."`, `UPDATED a "I live in Porto." until 3`}},
		"a fact ends where a client has its successor begin": {
			known: known(fact("a", 1, porto), opened(fact("b", 5, lisbon), 3, 9)), new: from(fact("c", 6, lisbon)),
			want: []string{`CREATED c "I live in Lisbon." until 6 by b`, `UPDATED a "I live in Porto." until 3 by b`, `UPDATED b "I live in Lisbon." said 2 times`}},
		"what was said before a client ended a fact only repeats it": {
			known: known(closed(ended(fact("a", 1, porto), 3, ""), 9)), new: from(fact("b", 5, porto)),
			want: []string{`CREATED b "I live in Porto." until 5 by a`, `UPDATED a "I live in Porto." until 3 said 2 times`}},
		"what is said since a client ended a fact holds": {
			known: known(closed(ended(fact("a", 1, porto), 3, ""), 9)), new: from(fact("b", 10, porto)),
			want: []string{`CREATED b "I live in Porto."`}},
		"a model's verdict does not move an end that a client has cleared": {
			known: known(closed(fact("a", 1, dog), 9)), new: from(fact("b", 2, rex)),
			verdicts: []extract.Verdict{{Action: extract.Create, Same: -1, Against: []int{0}}},
			want:     []string{createsRex}},
		"a fact that expires ends nothing that lasts": {
			known: known(fact("a", 1, porto)), new: from(expiring(fact("b", 2, lisbon))),
			want: []string{createsLisbon}},
		"a fact that expires has no repetitions": {
			known: known(expiring(given("c", 1, sailing))), new: from(fact("b", 2, sailing)),
			want: []string{`CREATED b "I love sailing."`}},
		"a request to forget deletes earlier facts": {
			known: known(fact("a", 1, sailing), fact("c", 3, sailing)), new: from(fact("b", 2, "forget: "+sailing)),
			want: []string{`DELETED a "I love sailing."`}},
		"a stored turn asks to forget a fact that arrives late": {
			new:  from(fact("a", 1, sailing)),
			more: consolidate.Input{Asked: known(fact("t", 2, "Please forget that I love sailing."))}},
		"a fact holds again if the one that ended it is withdrawn": {
			known: known(ended(fact("a", 1, porto), 2, "b"), fact("b", 2, lisbon)),
			more:  consolidate.Input{Withdrawn: []consolidate.Withdrawal{{Memory: fact("b", 2, lisbon)}}},
			want:  []string{`DELETED b "I live in Lisbon."`, `UPDATED a "I live in Porto."`}},
		"an end that a model saw follows the chain past a withdrawn fact": {
			known: known(ended(fact("a", 1, dog), 2, "b"), ended(fact("b", 2, rex), 3, "c"), fact("c", 3, sailing)),
			more:  consolidate.Input{Withdrawn: []consolidate.Withdrawal{{Memory: ended(fact("b", 2, rex), 3, "c")}}},
			want:  []string{`DELETED b "Ann's dog is called Rex."`, `UPDATED a "Ann has a dog." until 3 by c`}},
		"a withdrawn fact is what it was before": {
			known: known(fact("a", 2, rex)),
			more:  consolidate.Input{Withdrawn: []consolidate.Withdrawal{{Memory: fact("a", 2, rex), Before: &before}}},
			want:  []string{`UPDATED a "Ann has a dog."`}},
		"a fact that was extended by withdrawn words keeps its own end": {
			known: known(ended(fact("a", 2, rex), 5, "x")),
			more: consolidate.Input{Withdrawn: []consolidate.Withdrawal{
				{Memory: ended(fact("a", 2, rex), 5, "x"), Before: &before}}},
			want: []string{`UPDATED a "Ann has a dog." until 5 by x`}},
		"a fact that withdrawn words ended holds again": {
			known: known(ended(fact("c", 1, sailing), 2, "a"), fact("a", 2, rex)),
			more:  consolidate.Input{Withdrawn: []consolidate.Withdrawal{{Memory: fact("a", 2, rex), Before: &before}}},
			want:  []string{`UPDATED a "Ann has a dog."`, `UPDATED c "I love sailing."`}},
		"words that a client has settled make no fact": {
			new:  from(fact("a", 1, "I live in Porto")),
			more: consolidate.Input{Settled: []memory.Source{fact("a", 1, porto).Source}}},
		"an end that was planned is made up for": {
			known: known(fact("a", 1, dog), fact("b", 2, rex)),
			more:  consolidate.Input{Planned: []consolidate.Change{{Memory: ended(fact("a", 1, dog), 2, "b")}}},
			want:  []string{`UPDATED a "Ann has a dog." until 2 by b`}},
		"a model sees that a fact is known": {
			known: known(fact("a", 1, dog)), new: from(fact("b", 2, rex)),
			verdicts: []extract.Verdict{{Action: extract.Nothing}},
			want:     []string{`CREATED b "Ann's dog is called Rex." until 2 by a`, `UPDATED a "Ann has a dog." said 2 times`}},
		"what a model has seen to be known goes with the fact that is forgotten": {
			known: known(counted(fact("a", 1, dog), 2), ended(fact("b", 2, rex), 2, "a")), new: from(fact("c", 3, "forget: the dog")),
			verdicts: []extract.Verdict{{Action: extract.Delete, Same: -1, Against: []int{0}}},
			want:     []string{`DELETED b "Ann's dog is called Rex."`, `DELETED a "Ann has a dog." said 2 times`}},
		"what a model has seen to be known stands for the fact that is taken back": {
			known: known(counted(fact("a", 1, dog), 2), ended(fact("b", 2, rex), 2, "a")),
			more:  consolidate.Input{Withdrawn: []consolidate.Withdrawal{{Memory: counted(fact("a", 1, dog), 2)}}},
			want:  []string{`DELETED a "Ann has a dog." said 2 times`, `UPDATED b "Ann's dog is called Rex."`}},
		"a repetition that is taken back no longer counts": {
			known: known(counted(fact("a", 1, dog), 3), ended(fact("b", 2, dog), 2, "a"), ended(fact("c", 3, rex), 3, "a")),
			more:  consolidate.Input{Withdrawn: []consolidate.Withdrawal{{Memory: ended(fact("c", 3, rex), 3, "a")}}},
			want:  []string{`DELETED c "Ann's dog is called Rex."`, `UPDATED a "Ann has a dog." said 2 times`}},
		"a fact that did not count its repetitions begins to": {
			known: known(fact("a", 1, dog), ended(fact("b", 2, dog), 2, "a")), new: from(fact("c", 3, dog)),
			want: []string{`CREATED c "Ann has a dog." until 3 by a`, `UPDATED a "Ann has a dog." said 3 times`}},
		"an attempt that did not come to it counts the repetition": {
			known: known(fact("a", 1, dog), ended(fact("b", 2, dog), 2, "a")),
			more:  consolidate.Input{Planned: []consolidate.Change{{Memory: ended(fact("b", 2, dog), 2, "a")}}},
			want:  []string{`UPDATED a "Ann has a dog." said 2 times`}},
		"a model cannot take a fact for known that has ended": {
			known: known(ended(fact("a", 1, dog), 2, "x")), new: from(fact("b", 3, rex)),
			verdicts: []extract.Verdict{{Action: extract.Nothing}},
			want:     []string{createsRex}},
		"a model extends a fact": {
			known: known(fact("a", 1, dog)), new: from(fact("b", 2, rex)),
			verdicts: []extract.Verdict{{Action: extract.Update, Text: "Ann has a dog called Rex."}},
			want:     []string{`UPDATED a "Ann has a dog called Rex." else b`}},
		"a model extends no fact of a client": {
			known: known(given("a", 1, dog)), new: from(fact("b", 2, rex)),
			verdicts: []extract.Verdict{{Action: extract.Update, Text: "Ann has a dog called Rex."}},
			want:     []string{createsRex}},
		"a model sees that two facts exclude each other": {
			known: known(fact("a", 1, dog)), new: from(fact("b", 2, rex)),
			verdicts: []extract.Verdict{{Action: extract.Create, Same: -1, Against: []int{0}}},
			want:     []string{createsRex, `UPDATED a "Ann has a dog." until 2 by b for b`}},
		"what a model saw to exclude each other does so when it is said again": {
			known: known(ended(fact("a", 1, dog), 2, "b"), fact("b", 2, rex)), new: from(fact("c", 3, dog)),
			want: []string{`CREATED c "Ann has a dog."`, `UPDATED b "Ann's dog is called Rex." until 3 by c for c`}},
		"a model does not move an end to a later time": {
			known: known(ended(fact("a", 1, dog), 2, "x")), new: from(fact("b", 3, rex)),
			verdicts: []extract.Verdict{{Action: extract.Create, Same: -1, Against: []int{0}}},
			want:     []string{createsRex}},
		"a model extends a fact once": {
			known: known(fact("a", 1, dog)), new: from(fact("b", 2, rex), fact("c", 3, sailing)),
			verdicts: []extract.Verdict{{Action: extract.Update, Text: "one"}, {Action: extract.Update, Text: "two"}},
			want:     []string{`CREATED c "I love sailing."`, `UPDATED a "one" else b`}},
		"a model finds the fact that a request to forget means": {
			known: known(fact("a", 1, dog)), new: from(fact("b", 2, "forget: the dog")),
			verdicts: []extract.Verdict{{Action: extract.Delete, Same: -1, Against: []int{0}}},
			want:     []string{`DELETED a "Ann has a dog."`}},
		"a model deletes nothing without a request to forget": {
			known: known(fact("a", 1, dog)), new: from(fact("b", 2, rex)),
			verdicts: []extract.Verdict{{Action: extract.Delete, Same: -1, Against: []int{0}}},
			want:     []string{createsRex}},
	} {
		t.Run(name, func(t *testing.T) {
			in := c.more
			in.Known, in.New = c.known, c.new
			if c.verdicts != nil {
				in.Compared = &consolidate.Comparison{Known: c.known, New: c.new, Verdicts: c.verdicts}
			}
			var got []string
			for _, change := range consolidate.Plan(in).Changes {
				got = append(got, describe(change))
			}
			if d := diff.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// A new home ends the one that is known.
func ExamplePlan() {
	march, april := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	porto := memory.Memory{ID: "1", Kind: memory.KindFact, Fact: "I live in Porto.", Timestamp: march, Revision: 1}
	lisbon := memory.Memory{ID: "2", Kind: memory.KindFact, Fact: "I moved to Lisbon.", Timestamp: april}
	plan := consolidate.Plan(consolidate.Input{
		Known: []memory.Memory{porto},
		New:   []consolidate.Fact{{Seq: 1, Memory: lisbon}},
	})
	for _, c := range plan.Changes {
		fmt.Printf("%s %q, superseded by %q\n", c.Action, c.Memory.Fact, c.Memory.SupersededBy)
	}
	// Output:
	// CREATED "I moved to Lisbon.", superseded by ""
	// UPDATED "I live in Porto.", superseded by "2"
}
