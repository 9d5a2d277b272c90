package rules

import "github.com/memoryd/memoryd/extract/english"

// rule is one row of a table.
type rule struct {
	example string                   // a statement that this rule decides
	then    func(p *position) topics // the verdict
	when    func(p *position) bool
}

// table is a list of rules. The first one that holds decides, so a rule may rely on those above it not to hold.
type table []rule

// decide gives the verdict of the first rule that holds, none if no rule does.
func (t table) decide(p *position) topics {
	for k := range t {
		r := &t[k]
		if !r.when(p) {
			continue
		}
		if p.fired != nil {
			p.fired(r)
		}
		return r.then(p)
	}
	return none
}

// position is a word of a clause with the facts that most rules ask for.
type position struct {
	*clause
	i       int
	word    string // the word at i
	next    string // the word after it
	rest    int    // how many content words are behind word i
	past    bool   // the verb before it is in the past
	negated bool   // the verb is negated
}

// from is the position at word i.
func (c *clause) from(i int) *position {
	return &position{clause: c, i: i, word: c.at(i), next: c.at(i + 1), rest: c.content(i + 1)}
}

// points reports whether the word n behind the position points at something that only the conversation shows.
func (p *position) points(n int) bool { return english.Deictic.Has(p.at(p.i + n)) }

// namesObject reports whether an object follows that says something by itself: "of dogs", but not "of that".
func (p *position) namesObject() bool { return p.rest > 0 && !english.Deictic.Has(p.object(p.i+1)) }

// is holds where the word is w.
func is(w string) func(*position) bool {
	return func(p *position) bool { return p.word == w }
}

// in holds where the word is in s.
func in(s english.Set) func(*position) bool {
	return func(p *position) bool { return s.Has(p.word) }
}

// otherwise holds everywhere; it makes the last rule of a table.
func otherwise(*position) bool { return true }

// as is the verdict t.
func as(t topics) func(*position) topics {
	return func(*position) topics { return t }
}

// rest is the verdict of judge on the clause from n words behind the position on.
func rest(n int, judge func(c *clause, i int) topics) func(*position) topics {
	return func(p *position) topics { return judge(p.clause, p.i+n) }
}
