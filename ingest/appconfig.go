package ingest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/memoryd/memoryd/appconfig"
	"github.com/memoryd/memoryd/consolidate"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// configure reads what the configuration of the app, and the request, say of a batch.
func (s *Service) configure(ctx context.Context, b *batch) error {
	config, err := s.configs.Of(ctx, b.key.App)
	if err != nil {
		return err
	}
	b.policy, b.ttl = policyOf(config), config.TTL
	b.policy.Allowed = b.work.Request.AllowedTopics
	if ttl := b.work.Request.TTL; ttl > 0 {
		b.ttl = appconfig.TTL{Created: appconfig.Duration{Duration: ttl}, Updated: appconfig.Duration{Duration: ttl}}
	}
	return nil
}

// policyOf is what the configuration of an app says of the facts that it wants.
func policyOf(config *appconfig.Config) *extract.Policy {
	p := &extract.Policy{Person: extract.Person(config.Person)}
	for _, topic := range appconfig.ManagedTopics() {
		if !config.On(topic) {
			p.Off = append(p.Off, topic)
		}
	}
	for _, t := range config.CustomTopics {
		p.Custom = append(p.Custom, extract.Topic(t))
	}
	for i := range config.Examples {
		var e extract.Example
		for _, raw := range config.Examples[i].Conversation {
			event, err := sessionstore.AcceptEvent("", raw)
			if err != nil {
				continue // it was valid when it was stored
			}
			if turn, ok := extract.ReadTurn("example", event); ok {
				e.Turns = append(e.Turns, turn)
			}
		}
		for _, f := range config.Examples[i].Facts {
			e.Facts = append(e.Facts, extract.ExampleFact{Text: f.Fact, Topic: f.Topic})
		}
		p.Examples = append(p.Examples, e)
	}
	return p
}

// CheckRequest reports the first of the options that the configuration of the app rules
// out.
func (s *Service) CheckRequest(ctx context.Context, app string, o RequestOptions) error {
	if len(o.AllowedTopics) == 0 {
		return nil
	}
	config, err := s.configs.Of(ctx, app)
	if err != nil {
		return err
	}
	return config.CheckAllowed("allowedTopics", o.AllowedTopics)
}

// keep returns the facts of the topics that are kept. Requests to forget always are.
func (b *batch) keep(facts []extract.Fact, given bool) (kept []extract.Fact) {
	for _, f := range facts {
		topics, ok := b.policy.Keep(f.Topics, given)
		if f.Forget {
			kept = append(kept, f)
		} else if ok {
			f.Topics = topics
			kept = append(kept, f)
		}
	}
	return kept
}

// maxUnheeded bounds the pairs of app and field that the log has told of.
const maxUnheeded = 10_000

// warnUnheeded logs which fields of the configuration the extractor could not heed, once
// for each app and field.
func (s *Service) warnUnheeded(app string, fields []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, field := range fields {
		if name := app + "/" + field; !s.unheeded[name] && len(s.unheeded) < maxUnheeded {
			s.unheeded[name] = true
			s.opts.Log.Warn("the extractor cannot heed a part of an app's configuration: only a model can (-extractor)",
				"app", app, "field", field, "extractor", s.extractor.Name())
		}
	}
}

// expire has the memories of a plan expire as the configuration or the request says, from
// now on. It does so before the plan is stored, so that a retry writes the same times.
// The expiry that a client has set stays.
func (s *Service) expire(ctx context.Context, b *batch, changes []consolidate.Change) ([]consolidate.Change, error) {
	created, updated := b.ttl.Created.Duration, b.ttl.Updated.Duration
	if created == 0 && updated == 0 {
		return changes, nil
	}
	now := sessionstore.Micros(s.opts.Now())
	for i := range changes {
		c := &changes[i]
		switch c.Action {
		case memory.Created:
			setExpiry(&c.Memory, now, created)
		case memory.Updated:
			setExpiry(&c.Memory, now, updated)
		}
		if c.Else != nil {
			setExpiry(c.Else, now, created)
		}
	}
	renewed, err := s.keepLonger(ctx, b, changes, now)
	return append(changes, renewed...), err
}

// setExpiry has a memory expire after a time, unless that is 0 or a client has a say in it.
func setExpiry(m *memory.Memory, now time.Time, ttl time.Duration) {
	if ttl > 0 && (m.DefaultExpiry || m.ExpireTime.IsZero() && !consolidate.Chosen(m)) {
		m.ExpireTime, m.DefaultExpiry = now.Add(ttl), true
	}
}

// keepLonger has the facts expire later that a batch only repeats: each was said again, and its
// repetition is never found itself.
func (s *Service) keepLonger(ctx context.Context, b *batch, changes []consolidate.Change, now time.Time) (
	out []consolidate.Change, err error) {
	ttl := b.ttl.Updated.Duration
	if ttl == 0 {
		return nil, nil
	}
	first := map[string]int64{} // the event that repeats it, by the ID of the fact
	for i := range changes {
		if m := &changes[i].Memory; changes[i].Action == memory.Created && consolidate.Repetition(m) {
			first[m.SupersededBy] = changes[i].Seq
		}
	}
	for i := range changes {
		delete(first, changes[i].Memory.ID)
	}
	var ids []string
	for id := range first {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	known, err := s.memories.Get(ctx, b.key.Scope, ids)
	if err != nil {
		return nil, fmt.Errorf("read the facts that are said again: %w", err)
	}
	for _, m := range known {
		if m.DefaultExpiry && m.ExpireTime.Before(now.Add(ttl)) {
			m.ExpireTime = now.Add(ttl)
			out = append(out, consolidate.Change{Seq: first[m.ID], Action: memory.Updated, Expect: m.Revision,
				Memory: m, Reason: "said again"})
		}
	}
	return out, nil
}
