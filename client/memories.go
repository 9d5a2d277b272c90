package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/memoryd/memoryd/appconfig"
	"github.com/memoryd/memoryd/internal/aip160"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Ingest stores events in a session, which it creates if it is missing, and makes
// memories of them. It returns once the events are durable; with wait once the
// memories are made, or after 30 s with the operation as it is then.
func (u *User) Ingest(ctx context.Context, session string, events []Event, wait bool) (*Operation, error) {
	return u.IngestWith(ctx, session, events, IngestOptions{Wait: wait})
}

// IngestOptions are the choices of IngestWith.
type IngestOptions struct {
	// Trigger says when the memories are made. The session keeps it until a request brings
	// another. Nil leaves the session its own, or that of the app's configuration.
	Trigger *appconfig.Trigger
	// ForceFlush makes the memories at once of all that waits in the session.
	ForceFlush bool
	Wait       bool // as in Ingest
}

// IngestWith is Ingest with choices.
func (u *User) IngestWith(ctx context.Context, session string, events []Event, opts IngestOptions) (*Operation, error) {
	events, err := withIDs(events)
	if err != nil {
		return nil, err
	}
	body := struct {
		Session string             `json:"sessionId"`
		Events  []Event            `json:"events"`
		Trigger *appconfig.Trigger `json:"trigger,omitzero"`
		Flush   bool               `json:"forceFlush,omitzero"`
		zoned
		making
	}{session, events, opts.Trigger, opts.ForceFlush, zoned{u.zone}, u.making}
	return u.operation(ctx, "/memories/ingest", body, opts.Wait)
}

// Fact is a statement that a client adds itself.
type Fact struct {
	// ID is the ID that the memory is to have; "" has memoryd choose one. See AddMemory.
	ID          string          `json:"id,omitempty"`
	Fact        string          `json:"fact"`
	Author      string          `json:"author,omitempty"`      // who said it, up to 256 bytes
	DisplayName string          `json:"displayName,omitempty"` // up to 256 bytes
	Description string          `json:"description,omitempty"` // up to 4 KiB
	Topics      []string        `json:"topics,omitempty"`
	Metadata    memory.Metadata `json:"metadata,omitempty"`
	TTL         time.Duration   `json:"-"`                   // 0 is that of the app's configuration, or no end
	ExpireTime  time.Time       `json:"expireTime,omitzero"` // in place of TTL
	// RevisionTTL is how long the revision lives that this makes; 0 is that of the app's
	// configuration. RevisionExpireTime is when it expires, in its place.
	RevisionTTL        time.Duration `json:"-"`
	RevisionExpireTime time.Time     `json:"revisionExpireTime,omitzero"`
	Labels             memory.Labels `json:"labels,omitempty"` // of the revision
	ValidFrom          time.Time     `json:"validFrom,omitzero"`
	// Trust is the source of the fact; "" is memory.TrustUser. A fact of another source
	// that tries to instruct the agent is quarantined: see Review.
	Trust memory.Trust `json:"trust,omitempty"`
}

// ProfileValue is a value for a field of a structured profile of the user.
type ProfileValue struct {
	SchemaID    string          `json:"schemaId"`
	Field       string          `json:"field"`
	Value       any             `json:"value"`                 // as JSON it is what the schema allows
	DisplayName string          `json:"displayName,omitempty"` // up to 256 bytes
	Description string          `json:"description,omitempty"` // up to 4 KiB
	Topics      []string        `json:"topics,omitempty"`
	Metadata    memory.Metadata `json:"metadata,omitempty"`
	TTL         time.Duration   `json:"-"`                   // 0 is that of the app's configuration, or no end
	ExpireTime  time.Time       `json:"expireTime,omitzero"` // in place of TTL
	// Trust is the source of the value; "" is memory.TrustUser.
	Trust memory.Trust `json:"trust,omitempty"`
}

// AddProfileValue stores a value for a field that has none; see Change.Value for one that
// has. The error is memory.ErrExists if the field has another value, and memory.ErrInvalid
// if the app has no such field, or its schema does not allow the value. A call can be
// repeated.
func (u *User) AddProfileValue(ctx context.Context, v ProfileValue) (memory.Memory, error) {
	var out memory.Memory
	body := struct {
		Kind memory.Kind `json:"kind"`
		ProfileValue
		TTL string `json:"ttl,omitempty"`
		zoned
	}{Kind: memory.KindProfile, ProfileValue: v, zoned: zoned{u.zone}}
	if v.TTL != 0 {
		body.TTL = v.TTL.String()
	}
	err := u.do(ctx, call{method: http.MethodPost, path: "/memories", body: body, answer: &out, idempotent: true})
	return out, err
}

// Profiles are the values of a user's structured profiles, and the ids of the memories that
// hold them, by schema and field.
type Profiles struct {
	Profiles map[string]map[string]json.RawMessage `json:"profiles"`
	IDs      map[string]map[string]string          `json:"ids"`
}

// Profiles reads the structured profiles of the user.
func (u *User) Profiles(ctx context.Context) (out Profiles, err error) {
	err = u.do(ctx, call{method: http.MethodGet, path: "/profiles", query: url.Values{"ids": {"true"}}, answer: &out,
		idempotent: true})
	return out, err
}

// AddMemory stores a fact without extraction or comparison. With an ID it can be repeated:
// the same fact under the same ID is the same memory, and another fact memory.ErrExists, as
// is the ID of a memory that was deleted. Without one it is not retried if it may have
// arrived: that could store the fact twice.
func (u *User) AddMemory(ctx context.Context, f Fact) (memory.Memory, error) {
	var out memory.Memory
	body := struct {
		Fact
		TTL         string `json:"ttl,omitempty"`
		RevisionTTL string `json:"revisionTtl,omitempty"`
		zoned
	}{Fact: f, zoned: zoned{u.zone}}
	if f.RevisionTTL != 0 {
		body.RevisionTTL = f.RevisionTTL.String()
	}
	if f.TTL != 0 {
		body.TTL = f.TTL.String()
	}
	err := u.do(ctx, call{method: http.MethodPost, path: "/memories", body: body, answer: &out,
		idempotent: f.ID != ""})
	return out, err
}

// Memory reads one memory; memory.ErrNotFound if there is none of that id.
func (u *User) Memory(ctx context.Context, id string) (memory.Memory, error) {
	var out memory.Memory
	err := u.do(
		ctx,
		call{method: http.MethodGet, path: "/memories/" + url.PathEscape(id), answer: &out, idempotent: true},
	)
	return out, err
}

// Memories reads a page of memories. Of list's filter it supports Kinds, Topics,
// SessionID, State, History and Where; a filter by another field is memory.ErrInvalid.
func (u *User) Memories(ctx context.Context, list memory.List) (out memory.Page, err error) {
	q, err := listQuery(list)
	if err == nil {
		err = u.do(ctx, call{method: http.MethodGet, path: "/memories", query: q, answer: &out, idempotent: true})
	}
	return out, err
}

// listQuery is a list of memories as the query of a request.
func listQuery(list memory.List) (url.Values, error) {
	f := list.Filter
	if !f.Since.IsZero() || !f.Until.IsZero() || !f.AsOf.IsZero() || len(f.Metadata) > 0 || f.SupersededBy != "" ||
		f.Hidden {
		return nil, fmt.Errorf(
			"%w: list memories: a field is none of kinds, topics, session, state, history and where: use a search",
			memory.ErrInvalid,
		)
	}
	q := url.Values{"topic": f.Topics}
	for _, k := range f.Kinds {
		q.Add("kind", string(k))
	}
	if f.SessionID != "" {
		q.Set("sessionId", f.SessionID)
	}
	if f.State != "" {
		q.Set("state", string(f.State))
	}
	if f.History {
		q.Set("history", "true")
	}
	if list.Deleted {
		q.Set("deleted", "true")
	}
	if f.Where != nil {
		q.Set("filter", f.Where.String())
	}
	if list.Order != (memory.Order{}) {
		order := list.Order.Field + " desc"
		if list.Order.Ascending {
			order = list.Order.Field + " asc"
		}
		q.Set("orderBy", order)
	}
	if list.PageSize != 0 {
		q.Set("pageSize", strconv.Itoa(list.PageSize))
	}
	if list.PageToken != "" {
		q.Set("pageToken", list.PageToken)
	}
	return q, nil
}

// ParseFilter reads a filter, such as `metadata.priority >= 3 AND NOT topics:work`, for
// the Where of a list. The error names the byte at which the filter is wrong.
func ParseFilter(filter string) (memory.Where, error) { return aip160.Parse(filter, aip160.Memories) }

// EachMemory yields memories in the order of a list, from as many pages as they take.
// An error ends it.
func (u *User) EachMemory(ctx context.Context, list memory.List) iter.Seq2[memory.Memory, error] {
	return func(yield func(memory.Memory, error) bool) {
		for {
			page, err := u.Memories(ctx, list)
			if err != nil {
				yield(memory.Memory{}, err)
				return
			}
			for _, m := range page.Memories {
				if !yield(m, nil) {
					return
				}
			}
			if list.PageToken = page.NextPageToken; list.PageToken == "" {
				return
			}
		}
	}
}

// Change is an update of a memory. A nil field keeps its value, an empty value
// clears it.
type Change struct {
	Fact        *string
	Value       any // of the value of a profile; nil leaves it
	DisplayName *string
	Description *string
	Topics      *[]string
	Metadata    *memory.Metadata
	TTL         *time.Duration // from now; 0 never expires
	ExpireTime  *time.Time     // in place of TTL; the zero time never expires
	// RevisionTTL and RevisionExpireTime are those of the new revision; see Fact.
	RevisionTTL        time.Duration
	RevisionExpireTime time.Time
	Labels             memory.Labels // of the new revision
	// ValidFrom and ValidTo are when a fact begins and ceases to hold.
	ValidFrom, ValidTo *time.Time
}

// UpdateMemory changes a memory and makes a new revision.
func (u *User) UpdateMemory(ctx context.Context, id string, c Change) (out memory.Memory, err error) {
	err = u.do(ctx, call{method: http.MethodPatch, path: "/memories/" + url.PathEscape(id), body: c.body(),
		answer: &out})
	return out, err
}

// body returns the fields that are to change, as a request has them.
func (c *Change) body() map[string]any {
	body := map[string]any{}
	if c.Fact != nil {
		body["fact"] = *c.Fact
	}
	if c.Value != nil {
		body["value"] = c.Value
	}
	if c.DisplayName != nil {
		body["displayName"] = *c.DisplayName
	}
	if c.Description != nil {
		body["description"] = *c.Description
	}
	if c.Topics != nil {
		body["topics"] = *c.Topics
	}
	if c.Metadata != nil {
		body["metadata"] = *c.Metadata
	}
	if c.TTL != nil {
		body["ttl"] = c.TTL.String()
	}
	if c.RevisionTTL != 0 {
		body["revisionTtl"] = c.RevisionTTL.String()
	}
	if !c.RevisionExpireTime.IsZero() {
		body["revisionExpireTime"] = c.RevisionExpireTime
	}
	if len(c.Labels) > 0 {
		body["labels"] = c.Labels
	}
	for name, t := range map[string]*time.Time{"validFrom": c.ValidFrom, "validTo": c.ValidTo,
		"expireTime": c.ExpireTime} {
		switch {
		case t == nil:
		case t.IsZero():
			body[name] = nil
		default:
			body[name] = *t
		}
	}
	return body
}

// DeleteMemory deletes a memory; memory.ErrNotFound if there is none of that id.
// Its revisions stay, and Rollback restores it. A retry that finds none succeeds.
func (u *User) DeleteMemory(ctx context.Context, id string) error {
	return u.do(ctx, call{method: http.MethodDelete, path: "/memories/" + url.PathEscape(id),
		idempotent: true, gone: true})
}

// Revisions reads the revisions of a memory, newest first.
func (u *User) Revisions(ctx context.Context, id string) (all []memory.Revision, err error) {
	return u.RevisionsWhere(ctx, id, "")
}

// RevisionsWhere reads the revisions of a memory that pass a filter, such as
// `labels.release = "7" AND createTime < 2026-03-01T00:00:00Z`, newest first. It knows the
// fields revision, action, fact, createTime, actor, operation and labels.NAME.
func (u *User) RevisionsWhere(ctx context.Context, id, filter string) (all []memory.Revision, err error) {
	for token := ""; ; {
		var out struct {
			Revisions     []memory.Revision `json:"revisions"`
			NextPageToken string            `json:"nextPageToken"`
		}
		path := "/memories/" + url.PathEscape(id) + "/revisions"
		query := page(sessionstore.List{PageSize: memory.MaxPageSize, PageToken: token})
		if filter != "" {
			query.Set("filter", filter)
		}
		err := u.do(ctx, call{method: http.MethodGet, path: path, query: query, answer: &out, idempotent: true})
		if err != nil {
			return nil, err
		}
		all = append(all, out.Revisions...)
		if token = out.NextPageToken; token == "" {
			return all, nil
		}
	}
}

// Quarantined reads the memories that wait for a review, newest first.
func (u *User) Quarantined(ctx context.Context) iter.Seq2[memory.Memory, error] {
	return u.EachMemory(ctx, memory.List{Filter: memory.Filter{State: memory.Quarantined}})
}

// Review lets a memory pass that was quarantined, or keeps it hidden. The operation that
// extracts the facts of a turn is "" for any other memory, and for one that is rejected.
// memory.ErrExists if the memory was never quarantined, or was approved before and shall
// be rejected.
func (u *User) Review(ctx context.Context, id string, approve bool) (m memory.Memory, operation string, err error) {
	decision := "reject"
	if approve {
		decision = "approve"
	}
	var out struct {
		memory.Memory
		Operation string `json:"operation"`
	}
	err = u.do(ctx, call{method: http.MethodPost, path: "/memories/" + url.PathEscape(id) + "/review",
		body: map[string]any{"decision": decision}, answer: &out})
	return out.Memory, out.Operation, err
}

// Search is a question, with filters.
type Search struct {
	Query string `json:"query"`
	// Queries are up to 8 other wordings of Query, such as guesses at what was said. A
	// match of any of them is found, with its best score.
	Queries  []string `json:"queries,omitempty"`
	TopK     int      `json:"topK,omitempty"`     // 1 to 100; 0 means 10
	MinScore float64  `json:"minScore,omitempty"` // 0 to 1
	// MinConfidence has the answer be without memories if its confidence is below: 0 to 1.
	MinConfidence float64 `json:"minConfidence,omitempty"`

	Kinds     []memory.Kind   `json:"kinds,omitempty"`
	Topics    []string        `json:"topics,omitempty"`
	Since     time.Time       `json:"since,omitzero"`
	Until     time.Time       `json:"until,omitzero"`
	AsOf      time.Time       `json:"asOf,omitzero"`
	SessionID string          `json:"sessionId,omitempty"`
	Metadata  memory.Metadata `json:"metadata,omitempty"`
	Filter    string          `json:"filter,omitempty"` // an expression; see ParseFilter
	Explain   bool            `json:"explain,omitempty"`
	// Lines asks a search for Match.Line, and for what a model is better shown once: a
	// fact and its turn are one match.
	Lines bool `json:"lines,omitempty"`
	// Shared has the search find the shared knowledge of the app too, or not; nil leaves it
	// to the configuration of the app.
	Shared *bool `json:"shared,omitempty"`
}

// Search finds memories by meaning and words, best first. Finding none is not an
// error.
func (u *User) Search(ctx context.Context, s Search) ([]memory.Match, error) {
	out, err := u.Answer(ctx, s)
	return out.Memories, err
}

// Answer is Search, and tells how likely it is that the first match answers.
func (u *User) Answer(ctx context.Context, s Search) (out Answer, err error) {
	body := struct {
		Search
		zoned
	}{s, zoned{u.zone}}
	err = u.do(
		ctx,
		call{method: http.MethodPost, path: "/memories/search", body: body, answer: &out, idempotent: true},
	)
	return out, err
}

// Block is a text for a prompt, made of memories.
type Block struct {
	Text     string         `json:"text"`     // "" if nothing was found
	Memories []memory.Match `json:"memories"` // the first is cited as [1]
	Tokens   int            `json:"tokens"`   // an estimate for Text
	// Confidence and Signs are those of the search; see Answer.
	Confidence float64       `json:"confidence"`
	Signs      []memory.Part `json:"signs,omitempty"`
}

// Context searches memories and makes a block of them of at most maxTokens; 0
// means 1024.
func (u *User) Context(ctx context.Context, s Search, maxTokens int) (Block, error) {
	body := struct {
		Search
		MaxTokens int `json:"maxTokens,omitempty"`
		zoned
	}{s, maxTokens, zoned{u.zone}}
	var out Block
	err := u.do(
		ctx,
		call{method: http.MethodPost, path: "/memories/context", body: body, answer: &out, idempotent: true},
	)
	return out, err
}

// Tools are the declarations of memoryd's tools, in the forms that models' APIs
// take.
type Tools struct {
	// FunctionDeclarations is Gemini's form, for one entry of its tools.
	FunctionDeclarations []json.RawMessage `json:"functionDeclarations"`
	// Tools is the form of OpenAI's chat completions.
	Tools []json.RawMessage `json:"tools"`
	// Instructions are texts by tool, for the system instruction of an agent that
	// has the tool.
	Instructions map[string]string `json:"instructions"`
}

// Tools reads the declarations of the tools.
func (c *Client) Tools(ctx context.Context) (Tools, error) {
	var out Tools
	err := c.do(ctx, call{method: http.MethodGet, path: "/v1/tools", answer: &out, idempotent: true})
	return out, err
}

// CallTool runs a tool with the arguments of a model, a JSON object. The result is
// a JSON object for the model, even if the tool failed.
func (u *User) CallTool(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	if !json.Valid(args) {
		return nil, fmt.Errorf("%w: call of %s: the arguments are not valid JSON", memory.ErrInvalid, name)
	}
	var out struct {
		Result json.RawMessage `json:"result"`
	}
	err := u.do(
		ctx,
		call{
			method: http.MethodPost,
			path:   "/tools/" + url.PathEscape(name),
			body:   map[string]any{"args": args},
			answer: &out,
			// The tools that read.
			idempotent: slices.Contains([]string{"load_memory", "preload_memory", "search_memory"}, name),
		},
	)
	if err == nil && out.Result == nil {
		err = errors.New("memoryd's answer has no result")
	}
	return out.Result, err
}
