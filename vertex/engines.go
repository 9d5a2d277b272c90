package vertex

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/appconfig"
	"github.com/memoryd/memoryd/internal/aip160"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// An engine is an app. How clients describe one is kept in the configuration of the app, as the
// object that they send: displayName, labels, contextSpec, spec and any other field. The part of
// contextSpec that says how memories are made becomes the rest of the configuration.

// Engines says which engines there are. With DeclaredEngines a client that
// misspells the id of an engine is told so, and does not begin with an empty one.
type Engines string

// The values of Engines.
const (
	// AnyEngine has an engine come into being by its first session or memory.
	AnyEngine Engines = "any"
	// DeclaredEngines are those that a client has created, and no others.
	DeclaredEngines Engines = "declared"
)

// ErrPrecondition says that something else must be done before a call.
var ErrPrecondition = errors.New("failed precondition")

// engineOf is the JSON of an engine: its description, with its name.
func (r Resource) engineOf(doc engineDoc) engineDoc {
	out := maps.Clone(doc)
	if out == nil {
		out = engineDoc{}
	}
	out["name"], _ = Encode(r.engine()) // a text
	return out
}

// doneEngine is the operation of a create or an update of an engine.
func (s *Service) doneEngine(r Resource, doc engineDoc) *Operation {
	op := doneOperation("ReasoningEngine", r.engineOf(doc), sessionstore.Micros(s.opts.Now()))
	op.Metadata.Type = typeURL + protos + "CreateReasoningEngineOperationMetadata"
	op.Name = r.engine() + "/operations/" + operationID(changedEngine, r.Engine, r.Engine)
	return op
}

// OperationMethod is the method that reads an operation. Those of engines take other rights, as the
// description of an engine is its configuration.
func OperationMethod(id string) string {
	if kind, _, _, ok := readOperationID(id); ok && (kind == changedEngine || kind == deletedEngine) {
		return "GetEngineOperation"
	}
	return "GetOperation"
}

// getEngineOperation reads an operation on an engine.
func (s *Service) getEngineOperation(ctx context.Context, call *Call) (any, error) {
	r := call.Resource
	kind, engine, _, ok := readOperationID(r.SubID)
	switch {
	case !ok || engine != r.Engine:
	case kind == deletedEngine:
		return s.engineDeleted(r), nil
	case kind == changedEngine:
		doc, _, _, err := s.engine(ctx, r)
		if err == nil {
			return s.doneEngine(r, doc), nil
		}
		return nil, err
	}
	return nil, fmt.Errorf("operation %.200q: %w", r.SubID, memory.ErrNotFound)
}

// engine reads the configuration of an engine, its description and its revision. One that is not
// declared has no description, and is there if its app has anything, unless engines must be
// declared.
func (s *Service) engine(ctx context.Context, r Resource) (engineDoc, *appconfig.Config, int64, error) {
	config, revision, err := s.ingest.Configs().Get(ctx, r.Engine)
	if err != nil {
		return nil, nil, 0, err
	}
	if config.Declared() {
		var doc engineDoc
		err := json.Unmarshal(config.Engine, &doc)
		return doc, config, revision, err
	}
	if s.opts.Engines != DeclaredEngines {
		there := revision > 0
		if !there {
			users, err := s.ingest.Users(ctx, r.Engine, "", 1)
			if err != nil {
				return nil, nil, 0, err
			}
			there = len(users) > 0
		}
		if there {
			return nil, config, revision, nil
		}
	}
	return nil, nil, 0, missingEngine(r)
}

func missingEngine(r Resource) error {
	return fmt.Errorf("engine %.200q: %w", r.engine(), memory.ErrNotFound)
}

// The configuration is cached for a second, so that the check costs no call of the store. A change
// by this memoryd holds at once, and one by another one of the same store within that second.

// declared reports whether calls on things of an engine are served: those of any engine, or of
// those that are declared. It reads as memoryd itself.
func (s *Service) declared(ctx context.Context, r Resource) error {
	if s.opts.Engines != DeclaredEngines || r.Engine == "" {
		return nil
	}
	config, err := s.ingest.Configs().Of(access.With(ctx, access.System), r.Engine)
	if err == nil && !config.Declared() {
		err = missingEngine(r)
	}
	return err
}

// A name without an engine is that of the collection: it is what creating and listing are about.

// engineCall reports whether a call is about an engine itself, and names one or none.
func engineCall(call *Call, named bool) error {
	if r := call.Resource; r.Kind != "" || (r.Engine != "") != named {
		return notHere(call)
	}
	return nil
}

// createEngine declares an engine, by an id of the client's or a new one. An app that is there
// already becomes the engine, with all that it has: an agent that began without an engine goes on.
func (s *Service) createEngine(ctx context.Context, call *Call) (any, error) {
	if err := engineCall(call, false); err != nil {
		return nil, err
	}
	doc, err := readEngine(call.Body)
	if err != nil {
		return nil, err
	}
	r := call.Resource
	if r.Engine = call.param("reasoningEngineId"); r.Engine == "" {
		r.Engine = newID()
	} else if !plainID.MatchString(r.Engine) {
		return nil, invalid("reasoningEngineId %.80q: want 1 to 63 letters, digits, - and _", r.Engine)
	}
	return s.changeEngine(ctx, r, func(before engineDoc, config *appconfig.Config) (engineDoc, error) {
		if config.Declared() {
			return nil, fmt.Errorf("engine %q: %w", r.engine(), memory.ErrExists)
		}
		doc["createTime"], err = Encode(Time{sessionstore.Micros(s.opts.Now())})
		return doc, err
	})
}

// maxChanges is how often a change of an engine is decided on again because another one came
// between.
const maxChanges = 5

// changeEngine gives an engine the description that decide makes of its own one, and has the
// configuration of the app follow it. Both are one document, so that they change in one step. The
// revision that was read is expected: a change that comes between is not undone.
func (s *Service) changeEngine(ctx context.Context, r Resource,
	decide func(engineDoc, *appconfig.Config) (engineDoc, error)) (any, error) {
	for try := 0; ; try++ {
		config, revision, err := s.ingest.Configs().Get(ctx, r.Engine)
		if err != nil {
			return nil, err
		}
		var before engineDoc
		if config.Declared() {
			if err := json.Unmarshal(config.Engine, &before); err != nil {
				return nil, err
			}
		}
		doc, err := decide(before, config)
		if err != nil {
			return nil, err
		}
		if err := doc.validate(); err != nil { // also of parts that are each valid
			return nil, err
		}
		if err := s.follow(config, before, doc); err != nil {
			return nil, err
		}
		if doc["updateTime"], err = Encode(Time{sessionstore.Micros(s.opts.Now())}); err != nil {
			return nil, err
		}
		if config.Engine, err = Encode(doc); err != nil {
			return nil, err
		}
		if err := config.Validate(); err != nil {
			return nil, fmt.Errorf("contextSpec.memoryBankConfig: %w", err)
		}
		_, err = s.ingest.Configs().Put(ctx, r.Engine, config, revision)
		if err == nil {
			return s.doneEngine(r, doc), nil
		}
		if !errors.Is(err, memory.ErrAborted) || try == maxChanges {
			return nil, err
		}
	}
}

// follow has the configuration of an app follow a change of the engine's description. It stays as it
// is where contextSpec does not change: the HTTP API may have changed it since.
func (s *Service) follow(config *appconfig.Config, before, after engineDoc) error {
	if bytes.Equal(before["contextSpec"], after["contextSpec"]) {
		return nil
	}
	fields, err := after.fields()
	if err != nil {
		return err
	}
	bank := fields.Context.MemoryBank
	if bank == nil {
		bank = &bankConfig{} // the defaults
	}
	if err := bank.configure(config, s.opts.Scopes); err != nil {
		return fmt.Errorf("contextSpec.memoryBankConfig: %w", err)
	}
	return nil
}

// getEngine reads an engine. One that is not declared has nothing but its name.
func (s *Service) getEngine(ctx context.Context, call *Call) (any, error) {
	if err := engineCall(call, true); err != nil {
		return nil, err
	}
	doc, _, _, err := s.engine(ctx, call.Resource)
	if err != nil {
		return nil, err
	}
	return call.Resource.engineOf(doc), nil
}

// updateEngine changes the fields of an engine that the mask names, or without one those that the
// body has. A path of the mask may name a part of contextSpec.
func (s *Service) updateEngine(ctx context.Context, call *Call) (any, error) {
	if err := engineCall(call, true); err != nil {
		return nil, err
	}
	in, err := readEngine(call.Body)
	if err != nil {
		return nil, err
	}
	if _, _, _, err := s.engine(ctx, call.Resource); err != nil {
		return nil, err
	}
	paths, err := readMask(call.param("updateMask"))
	if err != nil {
		return nil, err
	}
	paths = slices.DeleteFunc(paths, func(path []string) bool { return path[0] == "*" })
	if len(paths) == 0 {
		for name := range in {
			paths = append(paths, []string{name})
		}
	}
	return s.changeEngine(ctx, call.Resource, func(before engineDoc, _ *appconfig.Config) (engineDoc, error) {
		out := map[string]json.RawMessage(maps.Clone(before))
		if out == nil {
			out = map[string]json.RawMessage{}
		}
		if out["createTime"] == nil {
			if out["createTime"], err = Encode(Time{sessionstore.Micros(s.opts.Now())}); err != nil {
				return nil, err
			}
		}
		for _, path := range paths {
			if slices.Contains(outputOnly, path[0]) {
				continue
			}
			if err := setPath(out, in, path); err != nil {
				return nil, fmt.Errorf("updateMask: %.80q: %w", pathOf(path), err)
			}
		}
		return out, nil
	})
}

// listedEngines is how many apps a page of engines looks at, beyond its size.
const listedEngines = 1000

// listEngines lists engines by their ids. A caller for one app is shown that one. A page reads the
// configuration of each app that it looks at, so that it looks at a bounded number: it may have few
// engines, or none, although others follow.
func (s *Service) listEngines(ctx context.Context, call *Call) (any, error) {
	if err := engineCall(call, false); err != nil {
		return nil, err
	}
	in, err := call.list()
	if err != nil {
		return nil, err
	}
	where, err := aip160.Parse(in.Filter, aip160.Fields{"displayName": memory.TextField, "labels": memory.JSONField})
	if err != nil {
		return nil, err
	}
	after, err := base64.RawURLEncoding.DecodeString(in.PageToken)
	if err != nil {
		return nil, invalid("pageToken %.40q is not one of an earlier answer to this list", in.PageToken)
	}
	size := in.PageSize
	if size == 0 {
		size = memory.DefaultPageSize
	}
	apps, err := s.engineNames(ctx, string(after), max(size, listedEngines))
	if err != nil {
		return nil, err
	}
	var out struct {
		Engines       []engineDoc `json:"reasoningEngines,omitempty"`
		NextPageToken string      `json:"nextPageToken,omitempty"`
	}
	bytes := 0
	for i, app := range apps {
		r := call.Resource
		if r.Engine = app; plainID.MatchString(app) {
			doc, config, _, err := s.engine(ctx, r)
			if err != nil && !errors.Is(err, memory.ErrNotFound) {
				return nil, err
			}
			if err == nil && passesEngine(where, doc) {
				out.Engines = append(out.Engines, r.engineOf(doc))
				bytes += len(config.Engine)
			}
		}
		last := i+1 == len(apps)
		full := len(out.Engines) == size || bytes > memory.MaxListBytes
		if full && !last || last && len(apps) >= listedEngines { // others may follow
			out.NextPageToken = base64.RawURLEncoding.EncodeToString([]byte(app))
			break
		}
	}
	return out, nil
}

// engineNames are the ids of apps after one, in order. A caller for one app knows that alone.
func (s *Service) engineNames(ctx context.Context, after string, limit int) ([]string, error) {
	p := access.From(ctx)
	if p == nil || p.App == access.AllApps {
		return s.ingest.Apps(ctx, after, limit)
	}
	if err := access.Check(ctx, memory.Scope{App: p.App}, access.Admin); err != nil || p.App <= after {
		return nil, err
	}
	return []string{p.App}, nil
}

// passesEngine reports whether a filter holds of the description of an engine.
func passesEngine(where memory.Where, doc engineDoc) bool {
	fields, err := doc.fields()
	return err == nil && memory.Holds(where, func(c memory.Cmp) bool {
		if c.Field == "labels" {
			return c.OfTexts(fields.Labels)
		}
		return c.OfText(fields.DisplayName)
	})
}

// deleteEngine erases the app of an engine: its sessions, its state and its memories. An engine
// that has any of these is deleted with force alone. An app that no client has declared is not
// deleted by this name: those who made it by the HTTP API erase it there.
func (s *Service) deleteEngine(ctx context.Context, call *Call) (any, error) {
	if err := engineCall(call, true); err != nil {
		return nil, err
	}
	var in struct {
		Force bool `json:"force"`
	}
	if err := Decode(call.Body, &in); err != nil {
		return nil, err
	}
	r := call.Resource
	_, config, _, err := s.engine(ctx, r)
	if err != nil {
		return nil, err
	}
	if !config.Declared() {
		return nil, fmt.Errorf("%w: engine %q was not created here: PATCH it with a displayName, then DELETE it"+
			", or erase its app by the HTTP API, DELETE /v1/apps/%s",
			ErrPrecondition, r.engine(), r.Engine)
	}
	if !in.Force && call.param("force") != "true" {
		users, err := s.ingest.Users(ctx, r.Engine, "", 1)
		if err != nil {
			return nil, err
		}
		if len(users) > 0 {
			return nil, fmt.Errorf("%w: engine %q has sessions or memories: delete it with force", ErrPrecondition,
				r.engine())
		}
	}
	if err := s.gate.EraseApp(ctx, r.Engine); err != nil {
		return nil, err
	}
	return s.engineDeleted(r), nil
}

// engineDeleted is the operation of deleting an engine. It is answered for any engine: nothing is
// left that tells which ones there were.
func (s *Service) engineDeleted(r Resource) *Operation {
	op := doneOperation(emptyType, struct{}{}, s.opts.Now().Truncate(time.Microsecond))
	op.Name = r.engine() + "/operations/" + operationID(deletedEngine, r.Engine, r.Engine)
	return op
}
