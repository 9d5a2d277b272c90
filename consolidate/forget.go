package consolidate

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/canonical"
	"github.com/memoryd/memoryd/memory"
)

// request is a request to forget.
type request struct {
	wish  canonical.Wish
	by    *memory.Memory // the request, or the turn that has it
	fact  *Fact          // of a new request; nil of one in a stored turn
	found bool           // something that it names
}

// covers reports whether a fact or a turn tells what is to be forgotten: it was said
// before the request, and says the statement, or is about the subject. A confirmed
// request to forget everything covers all that was said before, by whomever.
func (r *request) covers(m *memory.Memory, text func(fact string) string) bool {
	if Chronological(m, r.by) >= 0 {
		return false
	}
	if r.wish.Everything {
		return true
	}
	if m.Kind.Statement() && !sameAuthor(m, r.by) {
		return false
	}
	if m.Kind.Statement() && r.wish.Statement != "" && r.wish.Statement == text(m.Fact) {
		return true
	}
	if m.Kind == memory.KindProfile && r.namesField(m) {
		return true
	}
	voice := canonical.Voice{Author: r.by.Author, Other: m.Kind == memory.KindTurn && m.Author != r.by.Author}
	return slices.ContainsFunc(r.wish.Subjects, func(s canonical.Subject) bool { return s.About(m.Fact, voice) })
}

// namesField reports whether what is to be forgotten is the field of a value: the words of
// the value begin with the name of the field, which a description in brackets may follow.
func (r *request) namesField(value *memory.Memory) bool {
	label, _, _ := strings.Cut(value.Fact, ": ")
	label, _, _ = strings.Cut(label, " (")
	return slices.ContainsFunc(r.wish.Subjects, func(s canonical.Subject) bool { return s.Means(label) })
}

// forget deletes every fact that a request to forget covers, and notes the turns that
// one covers.
func (p *planner) forget(facts []Fact) {
	for i := range facts {
		f := &facts[i]
		if !f.Forget {
			continue
		}
		wish := canonical.WishOf(f.Memory.Fact)
		if wish.Everything {
			p.everything = append(p.everything, *f)
			continue
		}
		p.requests = append(p.requests, &request{wish: wish, by: &f.Memory, fact: f})
		if wish.Names() {
			p.forgotten = append(p.forgotten, f.Memory)
		}
	}
	p.requests = append(p.requests, p.in.earlier()...)
	if len(p.requests) == 0 {
		return
	}
	text := func(fact string) string { return p.forms.Of(fact).Text }
	repetitions := p.repetitions()
	for _, s := range p.statements() {
		if p.forgets(s.now.ID) { // as a repetition
			continue
		}
		told := false
		for _, r := range p.requests {
			if !r.covers(&s.now, text) {
				continue
			}
			r.found, told = true, true
			p.forgetRepetitions(repetitions, s.now.ID, r.by, "to be forgotten")
		}
		if told {
			p.forgotten = append(p.forgotten, s.now)
			p.entry(p.in.Last, &s.now).delete("to be forgotten")
		}
	}
	for i := range p.in.Values {
		m := &p.in.Values[i]
		for _, r := range p.requests {
			if r.covers(m, text) {
				r.found = true
				p.forgetValue(p.in.Last, m, "to be forgotten")
			}
		}
	}
	p.forgetTurns(text)
}

// earlier returns the requests to forget in stored turns.
func (in *Input) earlier() (out []*request) {
	for i := range in.Asked {
		for _, wish := range canonical.Wishes(in.Asked[i].Fact) {
			if !wish.Everything {
				out = append(out, &request{wish: wish, by: &in.Asked[i]})
			}
		}
	}
	for i := range in.Confirmed {
		out = append(out, &request{wish: canonical.Wish{Everything: true}, by: &in.Confirmed[i]})
	}
	return out
}

// Forgets reports whether a request to forget, among the new facts or in a stored turn, is
// about a new value of a profile.
func (in *Input) Forgets(value *memory.Memory) bool {
	requests := in.earlier()
	for i := range in.New {
		if f := &in.New[i]; f.Forget {
			if wish := canonical.WishOf(f.Memory.Fact); !wish.Everything {
				requests = append(requests, &request{wish: wish, by: &f.Memory})
			}
		}
	}
	return slices.ContainsFunc(requests, func(r *request) bool { return r.covers(value, canonical.Text) })
}

// forgets reports whether a fact is already to be deleted.
func (p *planner) forgets(id string) bool {
	return p.changes.entries[id] != nil && p.changes.entries[id].gone
}

// forgetTurns notes the turns that requests cover. A turn that was forgotten before is
// not known any longer.
func (p *planner) forgetTurns(text func(string) string) {
	for i := range p.in.Turns {
		t := p.in.Turns[i].Clone()
		var by []string
		for _, r := range p.requests {
			if len(r.wish.Subjects) == 0 && !r.wish.Everything || !r.covers(&t, text) {
				continue
			}
			r.found = r.found || len(t.Forgotten) == 0 || slices.Contains(t.Forgotten, r.by.ID)
			by = append(by, r.by.ID)
		}
		if len(by) > 0 {
			t.Forgotten = by
			p.forgotten = append(p.forgotten, t)
		}
	}
}
