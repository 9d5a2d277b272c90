package rules

// rule is one row of a table.
type rule struct {
	example string // a statement that this rule decides
	when    func(p *position) bool
	topics  topics                   // the verdict, where read is nil
	read    func(p *position) topics // gives the verdict
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
		if r.read != nil {
			return r.read(p)
		}
		return r.topics
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

// is holds where the word is w.
func is(w string) func(*position) bool {
	return func(p *position) bool { return p.word == w }
}

// otherwise holds everywhere; it makes the last rule of a table.
func otherwise(*position) bool { return true }
