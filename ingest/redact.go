package ingest

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"sync"
	"time"

	"github.com/memoryd/memoryd/appconfig"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/redact"
	"github.com/memoryd/memoryd/sessionstore"
)

// Redactor replaces secrets in what comes into an app whose configuration asks for it,
// before it is stored and before a model sees it. It counts them by kind, and keeps
// nothing else of them.
//
// Events and state cross [Redactor.Sessions] and [Redactor.Together], the memories of
// clients [Service.Add] and [Service.Update], and the words of searches [Redactor.Query].
// All else is made of these. The ids that are derived from a text are derived from what it became.
type Redactor struct {
	configs *appconfig.Cache

	mu     sync.Mutex
	counts redact.Counts
}

// NewRedactor makes a Redactor by the configurations of apps.
func NewRedactor(configs *appconfig.Cache) *Redactor { return &Redactor{configs: configs} }

// Counts are how many secrets were replaced since the start, by their kind.
func (r *Redactor) Counts() map[string]float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string]float64{}
	for _, kind := range redact.Kinds() {
		out[string(kind)] = float64(r.counts[kind])
	}
	return out
}

func (r *Redactor) count(found redact.Counts) {
	if len(found) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts.Add(found)
}

// redaction is what one app has replaced. A nil one replaces nothing.
type redaction struct {
	by    *redact.Redactor
	state bool
	found redact.Counts
}

// of returns what an app has replaced; nil if nothing is. It fails if the configuration
// cannot be read: what is stored then could be what the owner wants kept nowhere.
func (r *Redactor) of(ctx context.Context, app string) (*redaction, error) {
	config, err := r.configs.Of(ctx, app)
	if err != nil || config.Redactor() == nil {
		return nil, err
	}
	return &redaction{by: config.Redactor(), state: config.Redaction.State}, nil
}

// field replaces the secrets in the value of a field; "" names prose.
func (d *redaction) field(name, text string) string {
	var found redact.Counts
	if name == "" {
		text, found = d.by.Text(text)
	} else {
		text, found = d.by.Field(name, text)
	}
	d.found.Add(found)
	return text
}

// event replaces the secrets in an event.
func (d *redaction) event(e sessionstore.Event) (sessionstore.Event, error) {
	return e.MapText(d.field, d.state)
}

// Events returns events of an app with their secrets replaced.
func (r *Redactor) Events(ctx context.Context, app string, events []sessionstore.Event) (
	[]sessionstore.Event, error) {
	d, err := r.of(ctx, app)
	if err != nil || d == nil || len(events) == 0 {
		return events, err
	}
	out := make([]sessionstore.Event, len(events))
	for i, e := range events {
		if out[i], err = d.event(e); err != nil {
			return nil, fmt.Errorf("redact an event: %w", err)
		}
	}
	r.count(d.found)
	return out, nil
}

// request replaces the secrets in the metadata and the labels that a request has for the
// memories it asks for.
func (r *Redactor) request(ctx context.Context, app string, request *sessionstore.Request) (
	*sessionstore.Request, error) {
	if request == nil || len(request.Metadata) == 0 && len(request.Labels) == 0 {
		return request, nil
	}
	d, err := r.of(ctx, app)
	if err != nil || d == nil {
		return request, err
	}
	out := *request
	out.Metadata = memory.Metadata(sessionstore.MapState(sessionstore.State(request.Metadata), d.field))
	out.Labels = maps.Clone(request.Labels)
	for name, value := range out.Labels {
		out.Labels[name] = d.field(name, value)
	}
	r.count(d.found)
	return &out, nil
}

// added returns a memory that a client adds with its secrets replaced.
func (r *Redactor) added(ctx context.Context, scope memory.Scope, n NewMemory) (NewMemory, error) {
	p, err := r.patch(ctx, scope, Patch{Fact: &n.Fact, DisplayName: &n.DisplayName, Description: &n.Description,
		Metadata: &n.Metadata})
	if err == nil {
		n.Fact, n.DisplayName, n.Description, n.Metadata = *p.Fact, *p.DisplayName, *p.Description, *p.Metadata
	}
	return n, err
}

// patch returns a client's change of a memory with the secrets replaced in all that it
// says. Topics are of the app, and stay.
func (r *Redactor) patch(ctx context.Context, scope memory.Scope, p Patch) (Patch, error) {
	d, err := r.of(ctx, scope.App)
	if err != nil || d == nil {
		return p, err
	}
	for _, text := range []**string{&p.Fact, &p.DisplayName, &p.Description} {
		if *text != nil {
			redacted := d.field("", **text)
			*text = &redacted
		}
	}
	if p.Metadata != nil && len(*p.Metadata) > 0 {
		metadata := memory.Metadata(sessionstore.MapState(sessionstore.State(*p.Metadata), d.field))
		p.Metadata = &metadata
	}
	r.count(d.found)
	return p, nil
}

// turns returns turns as an extractor may see them: the events may have been stored
// before the app asked for redaction.
func (r *Redactor) turns(ctx context.Context, app string, turns []extract.Turn) ([]extract.Turn, error) {
	d, err := r.of(ctx, app)
	if err != nil || d == nil {
		return turns, err
	}
	out := make([]extract.Turn, len(turns))
	for i, t := range turns {
		t.Text = d.field("", t.Text)
		out[i] = t
	}
	return out, nil
}

// pointless are the forms of facts that only say that there is a secret: "My PIN
// is [REDACTED:password]." and "[REDACTED:password] is my password".
var pointless = regexp.MustCompile(`(?i)` +
	`(?:\s(?:is|was|are|equals|to|ist|war|lautet|est|es|son|è|é|jest|wynosi|är|er|это|по)|[:=は是为為는은])` +
	`\s*\W?\[REDACTED:\w+\]\W*$` +
	`|^\W*(?:\S+\s+){0,3}\[REDACTED:\w+\]\W*\s+(?:is|was|as|ist|als|est|es|è|é|comme|come|como|jako|jest)\s` +
	`[^.!?]{0,40}\W*$` +
	`|^\W*\[REDACTED:\w+\]\W*$`)

// meaningful returns the facts that say more than that there is a secret, and how many
// others there are.
func meaningful(facts []extract.Fact) (kept []extract.Fact, dropped int) {
	for _, f := range facts {
		if !f.Forget && redact.Marked(f.Text) && pointless.MatchString(f.Text) {
			dropped++
			continue
		}
		kept = append(kept, f)
	}
	return kept, dropped
}

// Query returns the words of a search without secrets: a remote embedder or a model may
// see them. If the configuration of the app was never read, all kinds are replaced.
func (r *Redactor) Query(ctx context.Context, app, query string) string {
	return r.text(r.configs.Known(ctx, app), query)
}

// Message returns the text of an error about an app without secrets: it may repeat a part
// of the request.
func (r *Redactor) Message(ctx context.Context, app, message string) string {
	return r.text(r.configs.Known(ctx, app), message)
}

func (r *Redactor) text(config *appconfig.Config, text string) string {
	if by := config.Redactor(); by != nil {
		text, _ = by.Text(text)
	}
	return text
}

// Sessions returns a session store in which what is written has its secrets replaced. The
// other methods are those of the store; a test lists which.
func (r *Redactor) Sessions(of Sessions) Sessions { return redactedSessions{of, r} }

type redactedSessions struct {
	Sessions
	by *Redactor
}

// Create implements sessionstore.Store.
func (s redactedSessions) Create(ctx context.Context, key sessionstore.Key, create sessionstore.Create) (
	*sessionstore.Session, error) {
	d, err := s.by.of(ctx, key.App)
	if err != nil {
		return nil, err
	}
	if d != nil {
		d.labels(&create.Details)
		if d.state {
			create.State = sessionstore.MapState(create.State, d.field)
		}
		s.by.count(d.found)
	}
	if create.Events, err = s.by.Events(ctx, key.App, create.Events); err != nil {
		return nil, err
	}
	return s.Sessions.Create(ctx, key, create)
}

// labels replaces the secrets in the name and the labels of a session.
func (d *redaction) labels(of *sessionstore.Details) {
	of.DisplayName = d.field("", of.DisplayName)
	of.Labels = maps.Clone(of.Labels)
	for name, value := range of.Labels {
		of.Labels[name] = d.field(name, value)
	}
}

// Update implements sessionstore.Store.
func (s redactedSessions) Update(ctx context.Context, key sessionstore.Key, patch sessionstore.Patch) error {
	d, err := s.by.of(ctx, key.App)
	if err != nil {
		return err
	}
	if d != nil {
		details := patch.Details()
		d.labels(&details)
		if patch.DisplayName != nil {
			patch.DisplayName = &details.DisplayName
		}
		if patch.Labels != nil {
			patch.Labels = &details.Labels
		}
		s.by.count(d.found)
	}
	if patch.Events, err = s.by.Events(ctx, key.App, patch.Events); err != nil {
		return err
	}
	return s.Sessions.Update(ctx, key, patch)
}

// Append implements sessionstore.Store.
func (s redactedSessions) Append(ctx context.Context, key sessionstore.Key, events []sessionstore.Event,
	how sessionstore.Append) (sessionstore.Appended, error) {
	events, err := s.by.Events(ctx, key.App, events)
	if err == nil {
		how.Request, err = s.by.request(ctx, key.App, how.Request)
	}
	if err != nil {
		return sessionstore.Appended{}, err
	}
	return s.Sessions.Append(ctx, key, events, how)
}

// Fail implements sessionstore.Progress. The cause may repeat the answer of a model.
func (s redactedSessions) Fail(ctx context.Context, work sessionstore.Work, cause string, retry time.Time) error {
	return s.Sessions.Fail(ctx, work, s.by.Message(ctx, work.Key.App, cause), retry)
}

// Together returns both stores in one place with the secrets replaced in what is written;
// nil if of is nil.
func (r *Redactor) Together(of Together) Together {
	if of == nil {
		return nil
	}
	return redactedTogether{of, r}
}

type redactedTogether struct {
	Together
	by *Redactor
}

// AppendTurns implements Together. The turns that turn writes were worked out before, of
// events whose secrets Service.request has replaced.
func (t redactedTogether) AppendTurns(ctx context.Context, key sessionstore.Key, events []sessionstore.Event,
	how sessionstore.Append, turn TurnWriter) (sessionstore.Appended, sessionstore.Work, error) {
	events, err := t.by.Events(ctx, key.App, events)
	if err == nil {
		how.Request, err = t.by.request(ctx, key.App, how.Request)
	}
	if err != nil {
		return sessionstore.Appended{}, sessionstore.Work{}, err
	}
	return t.Together.AppendTurns(ctx, key, events, how, turn)
}
