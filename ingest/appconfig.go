package ingest

import (
	"context"
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
	config = config.For(b.key.User)
	b.policy, b.ttl, b.overlap = policyOf(config), config.TTL, config.Triggers.Overlap
	b.config, b.policy.Allowed = config, b.work.Request.AllowedTopics
	if len(b.policy.Allowed) == 0 { // else values, which have no topic, are not asked for
		b.policy.Profiles = profilesOf(config)
	}
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

// CheckRequest reports the first of the options that is not valid, or that the
// configuration of the app rules out.
func (s *Service) CheckRequest(ctx context.Context, scope memory.Scope, o RequestOptions) error {
	for _, check := range []func() error{o.Metadata.Validate, o.MetadataMerge.Validate,
		func() error { return o.Labels.Validate("labels") }} {
		if err := check(); err != nil {
			return err
		}
	}
	if len(o.AllowedTopics) == 0 {
		return nil
	}
	config, err := s.configs.Of(ctx, scope.App)
	if err != nil {
		return err
	}
	return config.For(scope.User).CheckAllowed("allowedTopics", o.AllowedTopics)
}

// annotate gives the memories of a plan that new facts update or say again the metadata of
// the request.
func (b *batch) annotate(changes []consolidate.Change) {
	r := &b.work.Request
	for i := range changes {
		if c := &changes[i]; c.Told && len(r.Metadata) > 0 && c.Action == memory.Updated {
			c.Memory.Metadata = r.Merged(c.Memory.Metadata)
		}
	}
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
func (s *Service) expire(b *batch, changes []consolidate.Change) {
	created, updated := b.ttl.Created.Duration, b.ttl.Updated.Duration
	if created == 0 && updated == 0 {
		return
	}
	now := sessionstore.Micros(s.opts.Now())
	for i := range changes {
		c := &changes[i]
		switch c.Action {
		case memory.Created:
			setExpiry(&c.Memory, now, created)
		case memory.Updated:
			if c.Reason == consolidate.SaidAgain {
				keepLonger(&c.Memory, now, updated)
			} else {
				setExpiry(&c.Memory, now, updated)
			}
		}
		if c.Else != nil {
			setExpiry(c.Else, now, created)
		}
	}
}

// setExpiry has a memory expire after a time, unless that is 0 or a client has a say in it.
func setExpiry(m *memory.Memory, now time.Time, ttl time.Duration) {
	if ttl > 0 && (m.DefaultExpiry || m.ExpireTime.IsZero() && !consolidate.Chosen(m)) {
		m.ExpireTime, m.DefaultExpiry = now.Add(ttl), true
	}
}

// keepLonger has a fact that was said again expire later.
func keepLonger(m *memory.Memory, now time.Time, ttl time.Duration) {
	if ttl > 0 && m.DefaultExpiry && m.ExpireTime.Before(now.Add(ttl)) {
		m.ExpireTime = now.Add(ttl)
	}
}
