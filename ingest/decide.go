package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/memory"
)

// Bounds on what is compared. What a model is shown does not grow with the
// memory: so many neighbours of a new fact, and of all of them together.
const (
	marksLimit     = 10_000 // memories with some marks: more say the same than anybody says in a life
	soughtTogether = 40     // marks looked for in one search
	nearCurrent    = 5
	nearHistory    = 2
	nearTogether   = 40
	nearCandidates = 30
)

// uncompared is after how many attempts facts are added without comparing them,
// where a model answers, but with nothing of use: better twice than never.
const uncompared = 5

// candidate is a fact on its way to being a memory.
type candidate struct {
	seq    int64 // of the event it comes from
	memory memory.Memory
	form   extract.Form
	forget bool // it only takes back what says the same
}

// decision is a batch being decided on. Every statement becomes a memory, also
// one that says what is known; which of them hold, and when, follows from what
// they say and when they were said alone. So neither the order in which
// sessions arrive nor where one batch ends makes a difference.
type decision struct {
	*Service
	*draft
	batch *batch
	plain bool // facts are merged only where they say the same
	cost  extract.Cost
	known map[string]*memory.Memory // stored facts that bear on what is decided
	wants []memory.Memory           // stored turns that want something forgotten
	forms map[string]*extract.Form  // of texts
	asked map[string]bool           // marks that were looked for
	// reverted are memories that are as they were before, and the times at which
	// their last words, which are taken back, were said.
	reverted map[string]time.Time
}

func (s *Service) decision(b *batch, plain bool) *decision {
	return &decision{Service: s, draft: newDraft(), batch: b, plain: plain, known: map[string]*memory.Memory{}, forms: map[string]*extract.Form{}, asked: map[string]bool{}, reverted: map[string]time.Time{}}
}

// form reads a fact, once.
func (d *decision) form(fact string) *extract.Form {
	if d.forms[fact] == nil {
		f := extract.FormOf(fact)
		d.forms[fact] = &f
	}
	return d.forms[fact]
}

// candidatesOf makes a candidate of each fact.
func (d *decision) candidatesOf(facts []extract.Fact) []candidate {
	key := d.batch.key
	var out []candidate
	ordinals := map[[2]string]int{}
	seen := map[[2]string]bool{}
	for i := range facts {
		f := &facts[i]
		says := [2]string{f.EventIDs[0], fmt.Sprint(f.Forget, d.form(f.Text).Gist)}
		if seen[says] { // nobody says a thing twice in one breath
			continue
		}
		seen[says] = true
		rests := [2]string{f.EventIDs[0], f.Quote}
		out = append(out, candidate{seq: d.batch.seq[f.EventIDs[0]], forget: f.Forget, form: *d.form(f.Text), memory: memory.Memory{
			ID: factID(key, f.EventIDs[0], f.Quote, ordinals[rests]), Scope: key.Scope, Kind: memory.KindFact, Fact: extract.Cut(f.Text, memory.MaxFact),
			Author: f.Author, Topics: f.Topics, Timestamp: f.Timestamp, ValidFrom: f.ValidFrom,
			Source: memory.Source{SessionID: key.ID, EventIDs: f.EventIDs, Quote: f.Quote},
		}})
		ordinals[rests]++
	}
	return out
}

// decide has facts become memories, and what they change of others part of the
// draft.
func (d *decision) decide(ctx context.Context, candidates []candidate) error {
	slices.SortStableFunc(candidates, func(a, b candidate) int { return said(&a.memory, &b.memory) })
	var marks []string
	for i := range candidates {
		marks = append(marks, candidates[i].sought()...)
	}
	if err := d.learn(ctx, marks); err != nil {
		return err
	}
	var asked []candidate // to forget
	for _, c := range candidates {
		switch {
		case c.forget:
			asked = append(asked, c)
		case d.known[c.memory.ID] == nil && d.entries[c.memory.ID] == nil:
			d.create(c.seq, c.memory, "")
		}
	}
	d.forget(asked)
	d.arrange()
	if !d.plain {
		if err := d.consolidate(ctx, candidates); err != nil {
			return err
		}
		d.arrange()
	}
	return nil
}

// learn reads the memories with any of some marks, and what bears on those, and
// so on: what one of them excludes may hold without it.
func (d *decision) learn(ctx context.Context, marks []string) error {
	for {
		slices.Sort(marks)
		marks = slices.DeleteFunc(slices.Compact(marks), func(m string) bool { return d.asked[m] })
		if len(marks) == 0 {
			return nil
		}
		var next []string
		for some := range slices.Chunk(marks, soughtTogether) {
			found, err := d.memories.Search(ctx, d.batch.key.Scope, memory.Query{Terms: some, Limit: marksLimit, Filter: memory.Filter{History: true}})
			if err != nil {
				return err
			}
			for _, m := range some {
				d.asked[m] = true
			}
			for _, run := range found.Runs { // turns one after another are one
				for i := range run {
					next = append(next, d.learned(&run[i].Memory)...)
				}
			}
		}
		marks = next
	}
}

// learned takes a memory in, and gives the marks of what bears on it.
func (d *decision) learned(m *memory.Memory) []string {
	switch {
	case m.Kind == memory.KindTurn:
		if !slices.ContainsFunc(d.wants, func(w memory.Memory) bool { return w.ID == m.ID }) {
			d.wants = append(d.wants, *m)
		}
	case d.known[m.ID] == nil:
		d.known[m.ID] = m
		return bearing(d.form(m.Fact))
	}
	return nil
}

// forget drafts the end of what says what is to be forgotten, and was said
// before: what is asked for now, and what was, by a fact's own author.
func (d *decision) forget(asked []candidate) {
	now, turns := map[string][]*memory.Memory{}, map[string][]*memory.Memory{} // by gist
	for i := range asked {
		gist := extract.ToForget(asked[i].memory.Fact)
		now[gist] = append(now[gist], &asked[i].memory)
	}
	for i := range d.wants {
		for _, gist := range extract.Forgotten(d.wants[i].Fact) {
			turns[gist] = append(turns[gist], &d.wants[i])
		}
	}
	for _, s := range d.statements() {
		gist := d.form(s.now.Fact).Gist
		// A turn may be the assistant's, which has no say in what has no author.
		if slices.ContainsFunc(now[gist], func(by *memory.Memory) bool { return oneAuthor(&s.now, by) && said(&s.now, by) < 0 }) ||
			slices.ContainsFunc(turns[gist], func(t *memory.Memory) bool { return s.now.Author == t.Author && said(&s.now, t) < 0 }) {
			e := d.entry(d.batch.to, &s.now)
			e.gone, e.because, e.reason = true, "", "to be forgotten"
		}
	}
}

// entry is the draft's entry of a memory, stored or new.
func (d *decision) entry(seq int64, m *memory.Memory) *entry {
	if e := d.entries[m.ID]; e != nil {
		return e
	}
	return d.change(seq, d.known[m.ID])
}

// oneAuthor reports whether two memories are of one author. What a client gave
// has none, and is anybody's.
func oneAuthor(a, b *memory.Memory) bool {
	return a.Author == b.Author || a.Author == "" || b.Author == ""
}

// clients reports whether a client gave a fact, or changed it.
func clients(m *memory.Memory) bool { return len(m.Source.EventIDs) == 0 || m.Edited }

// statement is a fact among others, as the draft has it.
type statement struct {
	now  memory.Memory
	form *extract.Form
	to   time.Time // when it ceased to hold
	by   string    // what ended it
}

// statements are all facts known, stored and new, in the order in which they
// were said.
func (d *decision) statements() []*statement {
	var out []*statement
	for _, id := range d.draft.order {
		if e := d.entries[id]; !e.gone {
			out = append(out, &statement{now: e.now})
		}
	}
	for id, m := range d.known {
		if d.entries[id] == nil {
			out = append(out, &statement{now: *m})
		}
	}
	slices.SortFunc(out, func(a, b *statement) int { return cmp.Or(said(&a.now, &b.now), cmp.Compare(a.now.ID, b.now.ID)) })
	return out
}

// arrange finds out when each fact holds: until something is said that excludes
// it. Of those that say the same while they hold only the first stands; the
// others are kept as said again, and never hold themselves, unless what stood
// is taken back. What a client gave stands before all.
func (d *decision) arrange() {
	all := d.statements()
	byGist, bySlot, ending, byID := map[string][]*statement{}, map[string][]*statement{}, map[string][]*statement{}, map[string]*statement{}
	against := map[string][]string{} // gists that a model has seen to exclude each other
	for _, s := range all {
		s.form = d.form(s.now.Fact)
		byID[s.now.ID] = s
		byGist[s.form.Gist] = append(byGist[s.form.Gist], s)
		if s.form.Slot != "" {
			bySlot[s.form.Slot] = append(bySlot[s.form.Slot], s)
		}
		if s.form.Ends != "" {
			ending[s.form.Ends] = append(ending[s.form.Ends], s)
		}
	}
	for _, s := range all {
		// An end that forms do not tell of stays: a model has seen it, or it is
		// of what is not looked at now.
		to, id := d.end(&s.now)
		if by := byID[id]; by == nil || s.now.Edited || by.form.Gist != s.form.Gist && (d.plain || !by.form.Excludes(s.form)) {
			s.to, s.by = to, id
		}
		if by := byID[s.by]; by != nil && !by.now.Edited { // whoever says either again ends the other
			against[s.form.Gist] = append(against[s.form.Gist], by.form.Gist)
			against[by.form.Gist] = append(against[by.form.Gist], s.form.Gist)
		}
	}
	for _, s := range all {
		if d.plain {
			break
		}
		opposed := [][]*statement{bySlot[s.form.Slot], ending[s.form.Gist], byGist[s.form.Ends]}
		for _, gist := range against[s.form.Gist] {
			opposed = append(opposed, byGist[gist])
		}
		for _, near := range opposed {
			for _, o := range near {
				excludes := s.form.Excludes(o.form) || slices.Contains(against[s.form.Gist], o.form.Gist)
				// What is to expire ends nothing that lasts, and nothing said before a
				// client has decided ends what it has decided on.
				if s.now.Edited && !o.now.Timestamp.After(s.now.UpdateTime) {
					continue
				}
				if !excludes || said(&s.now, &o.now) >= 0 || !oneAuthor(&s.now, &o.now) || !o.now.ExpireTime.IsZero() {
					continue
				}
				to, by := ended(&s.now, &o.now), byID[s.by]
				if s.to.IsZero() || to.Before(s.to) || to.Equal(s.to) && by != nil && said(&o.now, &by.now) < 0 {
					s.to, s.by = to, o.now.ID
				}
				break // they are in order
			}
		}
	}
	for _, same := range byGist {
		for i, s := range same {
			if clients(&s.now) {
				continue
			}
			for j, o := range same {
				stands := clients(&o.now) || j < i && !(o.by != "" && o.to.Equal(o.now.Timestamp))
				held := o.to.IsZero() || s.now.Timestamp.Before(o.to)
				if by := byID[o.by]; by != nil {
					held = said(&s.now, &by.now) < 0
				}
				if o != s && stands && held && oneAuthor(&s.now, &o.now) && o.now.ExpireTime.IsZero() {
					s.to, s.by = s.now.Timestamp, o.now.ID
					break
				}
			}
		}
	}
	for _, s := range all {
		if s.now.ValidTo.Equal(s.to) && s.now.SupersededBy == s.by {
			continue
		}
		e := d.entry(d.batch.to, &s.now)
		e.now.ValidTo, e.now.SupersededBy, e.because = s.to, s.by, s.by
		switch {
		case s.by == "":
			e.reason = "it holds again"
		case saidAgain(&e.now):
			e.reason = "it was said before"
		default:
			e.reason = "both cannot hold"
		}
	}
}

// end is when a memory ceased to hold, and by what. What is taken back has ended
// nothing: what has ended that has, where a model has seen it, and forms do not
// tell better.
func (d *decision) end(m *memory.Memory) (to time.Time, by string) {
	to, by = m.ValidTo, m.SupersededBy
	for by != "" && d.entries[by] != nil && d.entries[by].was != nil && (d.gone(by) || to.Equal(d.reverted[by])) {
		was := d.entries[by].was
		if f, o := d.form(m.Fact), d.form(was.Fact); f.Gist == o.Gist || f.Excludes(o) {
			return time.Time{}, ""
		}
		to, by = was.ValidTo, was.SupersededBy
	}
	return to, by
}

// ended is when one memory ends another: when it was said, or just after both
// were, as a memory that ends when it was said is only said again.
func ended(earlier, later *memory.Memory) time.Time {
	if !later.Timestamp.After(earlier.Timestamp) {
		return earlier.Timestamp.Add(time.Microsecond)
	}
	return later.Timestamp
}

// saidAgain reports whether a memory only says again what another one says.
func saidAgain(m *memory.Memory) bool {
	return m.SupersededBy != "" && m.ValidTo.Equal(m.Timestamp)
}

// consolidate has the extractor compare what is new with what is known nearby.
func (d *decision) consolidate(ctx context.Context, candidates []candidate) error {
	var fresh []candidate
	for _, c := range candidates {
		if e := d.entries[c.memory.ID]; c.forget || e != nil && e.was == nil && !e.gone && !saidAgain(&e.now) {
			fresh = append(fresh, c)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	var c extract.Comparison
	var err error
	if c.Known, err = d.neighbours(ctx, fresh); err != nil {
		return err
	}
	for i := range fresh {
		m := &fresh[i].memory
		c.New = append(c.New, extract.New{Text: m.Fact, Author: m.Author, Timestamp: m.Timestamp, Forget: fresh[i].forget})
	}
	out, err := d.extractor.Consolidate(ctx, c, d.cost.Repaired)
	d.cost.Usage = d.cost.Usage.Add(out.Usage)
	d.cost.Repaired = out.Repaired
	d.cost.Asked = append(d.cost.Asked, out.Asked...)
	if err != nil && d.batch.work.Attempts >= uncompared && !errors.Is(err, memory.ErrUnavailable) && !errors.Is(err, memory.ErrExhausted) && ctx.Err() == nil {
		d.opts.Log.Error("facts stay uncompared with what is known: no answer is of use", "facts", len(fresh), "err", err)
		return nil
	}
	if err != nil {
		return err
	}
	at := func(seq int64, place int) *entry {
		if place < len(c.Known) {
			return d.entry(seq, &c.Known[place])
		}
		return d.entries[fresh[place-len(c.Known)].memory.ID] // nil for what only takes back
	}
	for i, v := range out.Verdicts {
		f := &fresh[i]
		e := d.entries[f.memory.ID]
		switch v.Action {
		case extract.Nothing:
			if same := at(f.seq, v.Same); same != nil && same.holds(&f.memory) {
				e.gone = true
				continue
			}
		case extract.Delete:
			for _, place := range v.Against {
				if other := at(f.seq, place); other != nil && said(&other.now, &f.memory) < 0 {
					other.gone, other.because, other.reason = true, "", v.Reason
				}
			}
			continue
		case extract.Update:
			// A second text for one memory does not know of the first.
			if target := at(f.seq, v.Same); !clients(&target.now) && target.added == nil && target.holds(&f.memory) {
				d.extend(target, e, v)
				e = target
			}
		}
		for _, place := range v.Against {
			other := at(f.seq, place)
			if other == nil || other == e || other.gone {
				continue
			}
			earlier, later := other, e
			if cmp.Or(said(&earlier.now, &later.now), cmp.Compare(place, len(c.Known)+i)) > 0 {
				earlier, later = later, earlier
			}
			d.supersede(earlier, later, v.Reason)
		}
	}
	return nil
}

// holds reports whether a memory stands for what says the same at a later time,
// or at an earlier one.
func (e *entry) holds(m *memory.Memory) bool {
	return !e.gone && e.now.ExpireTime.IsZero() && (e.now.ValidTo.IsZero() || m.Timestamp.Before(e.now.ValidTo))
}

// extend has a stored memory say what a new fact adds to it.
func (d *decision) extend(target, added *entry, v extract.Verdict) {
	m, from := &target.now, &added.now
	m.Fact = v.Text
	for _, t := range from.Topics {
		if !slices.Contains(m.Topics, t) && len(m.Topics) < memory.MaxTopics {
			m.Topics = append(m.Topics, t)
		}
	}
	if said(m, from) < 0 { // its newest words are what it rests on now; its revisions have the older ones
		m.Source, m.Author, m.Timestamp = from.Source, from.Author, from.Timestamp
		if !from.ValidFrom.IsZero() {
			m.ValidFrom = from.ValidFrom
		}
	}
	alone := added.now.Clone()
	target.seq, target.reason, target.added = added.seq, v.Reason, &alone
	added.gone = true
}

// neighbours are the stored facts that a model compares new ones with: those
// near them by words and meaning.
func (d *decision) neighbours(ctx context.Context, fresh []candidate) ([]memory.Memory, error) {
	if d.extractor.Budget() == 0 {
		return nil, nil
	}
	near, err := d.near(ctx, fresh)
	if err != nil {
		return nil, err
	}
	var out []memory.Memory
	taken := map[string]bool{}
	// The nearest of each first, so that no fact goes without for others' sake.
	room := d.extractor.Budget()
	for rank := range nearCurrent + nearHistory {
		for i := range near {
			if rank >= len(near[i]) || len(out) == nearTogether || room <= 0 {
				continue
			}
			m := near[i][rank]
			if d.known[m.ID] == nil {
				d.known[m.ID] = &m
			}
			if !taken[m.ID] && !d.gone(m.ID) {
				taken[m.ID] = true
				out = append(out, m)
				room -= extract.Tokens(m.Fact)
			}
		}
	}
	slices.SortFunc(out, func(a, b memory.Memory) int { return said(&a, &b) })
	return out, nil
}

// near finds, for each new fact, the stored facts nearest to it.
func (d *decision) near(ctx context.Context, fresh []candidate) ([][]memory.Memory, error) {
	texts := make([]string, len(fresh))
	for i := range fresh {
		texts[i] = fresh[i].memory.Fact
	}
	vectors, err := d.embed(ctx, texts)
	if err != nil {
		return nil, err
	}
	out := make([][]memory.Memory, len(fresh))
	for i := range fresh {
		m := &fresh[i].memory
		found, err := d.memories.Search(ctx, m.Scope, memory.Query{Terms: terms(m.Fact), Vector: vectors[i], Limit: nearCandidates,
			Filter: memory.Filter{Kinds: []memory.Kind{memory.KindFact}, History: true}})
		if err != nil {
			return nil, err
		}
		out[i] = nearest(found)
	}
	return out, nil
}

// nearest ranks what was found by words and meaning, half and half, and gives
// the best that are current, then the best that are history.
func nearest(found memory.Found) (out []memory.Memory) {
	best := 0.0
	for _, run := range found.Runs {
		best = max(best, memory.LexicalScore(found.Stats, run[0].Freqs, run[0].Length))
	}
	score := func(c *memory.Candidate) float64 {
		return c.Cosine + memory.LexicalScore(found.Stats, c.Freqs, c.Length)/max(best, 1e-9)
	}
	slices.SortFunc(found.Runs, func(a, b []memory.Candidate) int {
		return cmp.Or(cmp.Compare(score(&b[0]), score(&a[0])), cmp.Compare(a[0].Memory.ID, b[0].Memory.ID))
	})
	for _, current := range []bool{true, false} {
		left := nearCurrent
		if !current {
			left = nearHistory
		}
		for _, run := range found.Runs {
			if m := run[0].Memory; m.ValidTo.IsZero() == current && left > 0 && !saidAgain(&m) && !standsIn(&m) {
				out = append(out, m)
				left--
			}
		}
	}
	return out
}

// said compares when two memories were said; of two at the same time,
// whichever session brought its one first, the same counts as first. What one
// event says compares as equal.
func said(a, b *memory.Memory) int {
	event := func(m *memory.Memory) string {
		if len(m.Source.EventIDs) == 0 {
			return ""
		}
		return m.Source.EventIDs[0]
	}
	return cmp.Or(a.Timestamp.Compare(b.Timestamp), cmp.Compare(event(a), event(b)), cmp.Compare(a.Source.SessionID, b.Source.SessionID))
}
