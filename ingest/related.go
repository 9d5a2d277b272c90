package ingest

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/memoryd/memoryd/consolidate"
	"github.com/memoryd/memoryd/extract/canonical"
	"github.com/memoryd/memoryd/internal/analyzer"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Bounds on the search for related memories.
const (
	relatedLimit = 10_000 // memories with one of the keys: more than anyone says of one thing in a life
	keysTogether = 40     // lookup keys in one search
)

// related reads the stored memories that bear on new facts: those with the same
// lookup keys, those that bear on these, and so on, as what one of them excludes
// may hold without it.
type related struct {
	memories memory.Store
	scope    memory.Scope
	forms    consolidate.Forms
	facts    map[string]memory.Memory // by ID
	turns    map[string]memory.Memory // that ask to forget something, or may be forgotten, by ID
	values   map[string]memory.Memory // of profiles, that may be forgotten, by ID
	read     map[string]bool          // lookup keys
	listed   map[string]bool          // facts whose repetitions were read
}

func (s *Service) relatedTo(b *batch) *related {
	return &related{memories: s.memories, scope: b.key.Scope, forms: consolidate.Forms{},
		facts: map[string]memory.Memory{}, turns: b.turnMemories(), values: map[string]memory.Memory{},
		read: map[string]bool{}, listed: map[string]bool{}}
}

// turnMemories are the turns of a batch as they are stored, by ID.
func (b *batch) turnMemories() map[string]memory.Memory {
	out := map[string]memory.Memory{}
	for _, t := range b.standingTurns() {
		m := turnMemory(b.key, t)
		m.CreateTime = b.received[t.EventID].at
		out[m.ID] = m
	}
	return out
}

// loadFacts reads what bears on facts and requests to forget.
func (r *related) loadFacts(ctx context.Context, facts []consolidate.Fact) error {
	var keys []string
	for i := range facts {
		if text := facts[i].Memory.Fact; facts[i].Forget {
			keys = append(keys, wishKeys(canonical.WishOf(text))...)
		} else {
			keys = append(keys, r.forms.Of(text).LookupKeys()...)
		}
	}
	return r.load(ctx, append(keys, canonical.ForgetKey("")))
}

// wishKeys find the facts and the turns that a request to forget may be about.
func wishKeys(w canonical.Wish) (keys []string) {
	if w.Statement != "" {
		keys = append(keys, canonical.TextKey(w.Statement))
	}
	for i := range w.Subjects {
		keys = append(keys, w.Subjects[i].Keys()...)
		keys = append(keys, analyzer.Question(strings.Join(w.Subjects[i].Words(), " "))...)
	}
	return keys
}

// loadWithout reads what may hold again without a memory.
func (r *related) loadWithout(ctx context.Context, m *memory.Memory) error {
	if m.Repeats() { // what it repeats may say it in other words
		found, err := r.memories.Get(ctx, r.scope, []string{m.SupersededBy})
		if err != nil {
			return err
		}
		for i := range found {
			if err := r.load(ctx, r.add(&found[i])); err != nil {
				return err
			}
		}
	}
	if err := r.load(ctx, r.forms.Of(m.Fact).LookupKeys()); err != nil {
		return err
	}
	ended := memory.Filter{SupersededBy: m.ID, History: true}
	return each(ctx, r.memories, r.scope, ended, func(m *memory.Memory) error {
		r.add(m)
		return nil
	})
}

// load reads the memories that have any of some lookup keys, and those that bear
// on them.
func (r *related) load(ctx context.Context, keys []string) error {
	for {
		slices.Sort(keys)
		keys = slices.DeleteFunc(slices.Compact(keys), func(key string) bool { return r.read[key] })
		if len(keys) == 0 {
			var err error
			if keys, err = r.repetitions(ctx); err != nil || len(keys) == 0 {
				return err
			}
			continue
		}
		var next []string
		for some := range slices.Chunk(keys, keysTogether) {
			q := memory.Query{Terms: some, Limit: relatedLimit, Filter: memory.Filter{History: true}}
			found, err := r.memories.Search(ctx, r.scope, q)
			if err != nil {
				return err
			}
			for _, key := range some {
				r.read[key] = true
			}
			for _, run := range found.Runs { // a run of turns has several
				for i := range run {
					next = append(next, r.add(run[i].Memory)...)
				}
			}
		}
		keys = next
	}
}

// repetitions reads the repetitions of those facts that have more than were read, as they
// say it in other words, and returns the lookup keys of what bears on them.
func (r *related) repetitions(ctx context.Context) (keys []string, err error) {
	times := map[string]int{}
	for _, m := range r.facts {
		if m.Repeats() {
			times[m.SupersededBy]++
		}
	}
	for id, m := range r.facts {
		if m.Evidence <= times[id]+1 || r.listed[id] {
			continue
		}
		r.listed[id] = true
		again := memory.Filter{SupersededBy: id, History: true}
		err := each(ctx, r.memories, r.scope, again, func(m *memory.Memory) error {
			if m.Repeats() {
				keys = append(keys, r.add(m)...)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// add adds a memory, and returns the lookup keys of what bears on it.
func (r *related) add(m *memory.Memory) []string {
	if m.Kind == memory.KindTurn {
		r.turns[m.ID] = m.Clone()
		return nil
	}
	if m.Kind == memory.KindProfile {
		r.values[m.ID] = m.Clone()
		return nil
	}
	if _, known := r.facts[m.ID]; known {
		return nil
	}
	r.facts[m.ID] = m.Clone()
	return r.forms.Of(m.Fact).RelatedKeys()
}

// plan works out what an input changes of the memories that were read.
func (r *related) plan(in consolidate.Input) consolidate.Result {
	r.input(&in)
	return consolidate.Plan(in)
}

// input adds the memories that were read to an input.
func (r *related) input(in *consolidate.Input) {
	in.Forms = r.forms
	for _, m := range r.facts {
		in.Known = append(in.Known, m)
	}
	for _, t := range r.turns {
		in.Turns = append(in.Turns, t)
		if asked(&t, false) {
			in.Asked = append(in.Asked, t)
		}
		if asked(&t, true) {
			in.Confirmed = append(in.Confirmed, t)
		}
	}
	for _, v := range r.values {
		in.Values = append(in.Values, v)
	}
	slices.SortFunc(in.Values, func(a, b memory.Memory) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(in.Turns, func(a, b memory.Memory) int { return cmp.Compare(a.ID, b.ID) })
}

// asked reports whether an extractor has read a request to forget in a stored turn; one
// to forget everything counts once it is confirmed. Words alone are no request: they may
// be a quotation, or said in a game of roles.
func asked(t *memory.Memory, everything bool) bool {
	key := sessionstore.Key{Scope: t.Scope, ID: t.Source.SessionID}
	return slices.Contains(t.Forgotten, requestID(key, t.Source.EventID(), everything))
}

// each calls do with all memories of a scope that pass a filter.
func each(
	ctx context.Context, store memory.Store, scope memory.Scope, f memory.Filter, do func(*memory.Memory) error,
) error {
	list := memory.List{PageSize: memory.MaxPageSize, Filter: f}
	for {
		page, err := store.List(ctx, scope, list)
		if err != nil {
			return err
		}
		for i := range page.Memories {
			if err := do(&page.Memories[i]); err != nil {
				return err
			}
		}
		if page.NextPageToken == "" {
			return nil
		}
		list.PageToken = page.NextPageToken
	}
}
