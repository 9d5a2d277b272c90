package evals

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
	"github.com/memoryd/memoryd/sessionstore"
)

// Told is what became of a story whose sessions arrived in one order.
type Told struct {
	// Noticed is set if what the old turn said no longer holds because of the new turn.
	// No fact that comes from the old turn and has words of Ended holds, and each names a
	// successor, directly or over others, that comes from the new turn. If the old turn
	// has no such fact, its match is outdated by a memory from the new turn.
	Noticed bool
	// Missed tells at which step a change was lost, such as "both were kept". It is empty if
	// the change was noticed, and in a control.
	Missed string
	// WronglyEnded counts facts that were ended or forgotten although what they say is
	// still true: in a control those from the turns Keep, in a story of change those from
	// all turns of the user but the old one. A fact that only repeats another counts as
	// that one.
	WronglyEnded int
	// FirstHit is set if the first match for the question has words of Holds or comes
	// from the new turn.
	FirstHit bool
	// Told is set if the context for the question, of the default size, has a line with
	// words of Holds that is not outdated, and each line with words of Ended alone says
	// until when it held.
	Told bool

	Facts   []memory.Memory // also those that have ended
	Matches []memory.Match
	Block   string
}

// StoryScore is what became of a story: as it happened, and with the change first.
type StoryScore struct {
	Story  *Story
	Orders [2]Told
}

// storyPlayers is how many stories are played at a time. It is more than the scopes
// that ingestion works on, so that it never waits for a story.
const storyPlayers = 8

// RunStories plays stories, each in both orders of arrival and in a scope of its own.
// Its clock begins a day after the last of all turns.
func RunStories(ctx context.Context, x extract.Extractor, e embed.Embedder, stories []Story) (
	out []StoryScore, err error) {
	s, err := openStores(ctx, e, clockAfter(stories))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	r := retrieve.New(s.Memories, e, &retrieve.Options{Now: s.Now})
	out = make([]StoryScore, len(stories))
	_, err = s.ingest(ctx, x, e, 0, func(ctx context.Context, p *player) error {
		errs := make([]error, len(stories))
		var playing sync.WaitGroup
		next := make(chan int)
		for range storyPlayers {
			playing.Go(func() {
				for i := range next {
					out[i].Story = &stories[i]
					errs[i] = s.tell(ctx, p, r, i, &out[i])
				}
			})
		}
		for i := range stories {
			next <- i
		}
		close(next)
		playing.Wait()
		return errors.Join(errs...)
	})
	return out, err
}

// clockAfter returns a clock that begins a day after the last turn. Where stories were
// ahead of the clock, what they say would be dated in the future.
func clockAfter(stories []Story) func() time.Time {
	var last time.Time
	for i := range stories {
		for _, s := range stories[i].Sessions {
			if s.Time.After(last) {
				last = s.Time
			}
		}
	}
	ahead := last.Add(24 * time.Hour).Sub(time.Now())
	return func() time.Time { return time.Now().Add(ahead) }
}

// tell plays the story of a number in both orders. Errors name the number alone.
func (s *stores) tell(ctx context.Context, p *player, r *retrieve.Retriever, n int, score *StoryScore) error {
	for i := range score.Orders {
		sc := memory.Scope{App: fmt.Sprintf("story-%d", n+1), User: fmt.Sprintf("order-%d", i+1)}
		for _, at := range score.Story.order(i == 1) {
			key := sessionstore.Key{Scope: sc, ID: fmt.Sprint(at + 1)}
			op, err := p.take(ctx, key, score.Story.events[at])
			if err == nil {
				err = p.wait(ctx, key, op)
			}
			if err != nil {
				return fmt.Errorf("story %d: %w", n+1, err)
			}
		}
		if err := s.judge(ctx, r, sc, score.Story, &score.Orders[i]); err != nil {
			return fmt.Errorf("story %d: %w", n+1, err)
		}
	}
	return nil
}

// judge asks the question of a story, and judges the answers and the facts.
func (s *stores) judge(ctx context.Context, r *retrieve.Retriever, sc memory.Scope, story *Story, t *Told) error {
	all, err := history(ctx, s.Memories, sc)
	if err != nil {
		return err
	}
	t.Matches, err = r.Search(ctx, sc, retrieve.Request{Query: story.Question, TopK: asked})
	if err != nil {
		return err
	}
	b, err := r.Context(ctx, sc, retrieve.Request{Query: story.Question}, retrieve.DefaultMaxTokens)
	if err != nil {
		return err
	}
	t.Block = b.Text
	v := verdict{story: story, all: all, now: s.Now()}
	for _, m := range all {
		if m.Kind == memory.KindFact {
			t.Facts = append(t.Facts, *m)
		}
	}
	slices.SortFunc(t.Facts, func(a, b memory.Memory) int {
		if c := a.Timestamp.Compare(b.Timestamp); c != 0 {
			return c
		}
		return strings.Compare(a.Fact, b.Fact)
	})
	t.Noticed = !story.control() && v.noticed(t.Matches)
	if !t.Noticed && !story.control() {
		t.Missed = v.missed()
	}
	t.WronglyEnded = v.wronglyEnded()
	t.FirstHit = len(t.Matches) > 0 &&
		(has(t.Matches[0].Memory.Fact, story.Holds) || from(&t.Matches[0].Memory, story.new))
	t.Told = v.told(&b)
	return nil
}

// history returns all memories of a scope by their ids, also those that have ended.
func history(ctx context.Context, memories memory.Store, sc memory.Scope) (map[string]*memory.Memory, error) {
	out := map[string]*memory.Memory{}
	list := memory.List{PageSize: memory.MaxPageSize, Filter: memory.Filter{History: true}}
	for {
		page, err := memories.List(ctx, sc, list)
		if err != nil {
			return nil, err
		}
		for i := range page.Memories {
			out[page.Memories[i].ID] = &page.Memories[i]
		}
		if list.PageToken = page.NextPageToken; list.PageToken == "" {
			return out, nil
		}
	}
}

// verdict judges what became of a story.
type verdict struct {
	story *Story
	all   map[string]*memory.Memory
	now   time.Time
}

// noticed judges Told.Noticed.
func (v *verdict) noticed(matches []memory.Match) bool {
	said := false
	for _, m := range v.all {
		if m.Kind != memory.KindFact || !from(m, v.story.old) || !has(m.Fact, v.story.Ended) {
			continue
		}
		said = true
		if !v.original(m).Ended(v.now) || !v.leadsToNew(m) {
			return false
		}
	}
	return said || slices.ContainsFunc(matches, func(m memory.Match) bool {
		return m.Memory.Kind == memory.KindTurn && from(&m.Memory, v.story.old) && m.Outdated != nil &&
			slices.ContainsFunc(m.Outdated.By, func(id string) bool {
				return v.all[id] != nil && from(v.all[id], v.story.new)
			})
	})
}

// wronglyEnded judges Told.WronglyEnded.
func (v *verdict) wronglyEnded() int {
	ended := map[string]bool{} // ids
	for _, m := range v.all {
		if !slices.ContainsFunc(v.story.keep, func(id turnID) bool { return from(m, id) }) {
			continue
		}
		for _, id := range m.Forgotten {
			ended[id] = true
		}
		if m = v.original(m); m.Kind == memory.KindFact && m.Ended(v.now) && !from(m, v.story.old) {
			ended[m.ID] = true
		}
	}
	return len(ended)
}

// original returns the memory that m repeats, or m.
func (v *verdict) original(m *memory.Memory) *memory.Memory {
	for range memory.MaxSuccession {
		by := v.all[m.SupersededBy]
		if by == nil || !m.Repeats() {
			break
		}
		m = by
	}
	return m
}

// leadsToNew reports whether a memory that comes from the new turn took the place of
// m, or of what did.
func (v *verdict) leadsToNew(m *memory.Memory) bool {
	for range memory.MaxSuccession {
		if m = v.all[m.SupersededBy]; m == nil {
			return false
		}
		if from(m, v.story.new) {
			return true
		}
	}
	return false
}

// lead is what precedes the words of a line of a context.
var lead = regexp.MustCompile(`^\[\d+\] (\([^)]*\) )?(\((until|may have changed)[^)]*\) )?`)

// told judges Told.Told.
func (v *verdict) told(b *retrieve.Block) bool {
	holds, n := false, 0
	for line := range strings.Lines(b.Text) {
		at := lead.FindString(line)
		if at == "" {
			continue
		}
		m := &b.Memories[n]
		n++
		text := line[len(at):]
		switch {
		case has(text, v.story.Holds):
			holds = holds || m.Outdated == nil
		case has(text, v.story.Ended) && m.Outdated == nil && len(m.Newer) == 0:
			return false
		}
	}
	return holds
}

// from reports whether a memory comes from a turn.
func from(m *memory.Memory, id turnID) bool {
	return m.Source.SessionID == id.session && slices.Contains(m.Source.EventIDs, id.event)
}

// has reports whether a text has any of some words, in upper or lower case.
func has(text string, words []string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, strings.ToLower(w)) })
}
