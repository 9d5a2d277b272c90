package movein

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// A memory of mem0 is a point of its vector store. The payload of a point has data, which is
// the text, user_id, agent_id, run_id, actor_id, role, attributed_to, created_at,
// updated_at, expiration_date, hash, text_lemmatized, and the metadata of the client between
// them. get_all gives {"results": [{"id", "memory", "metadata": {…}, …}]}, with what has a
// name above beside "metadata". mem0 Cloud gives the same with categories, a list of topics.

// mem0Lists are the fields that hold memories: results of get_all, memories of an export,
// and result.points of a scroll.
var mem0Lists = map[string]bool{"results": true, "memories": true, "result": true, "points": true}

// mem0Item is one memory, as get_all and the export have it, or as a point of the vector
// store.
type mem0Item struct {
	ID      json.RawMessage            `json:"id"` // a text, or the number of a point
	Payload map[string]json.RawMessage `json:"payload"`
}

// mem0Core are the fields of a memory that have a place of their own. All others become
// metadata, but those in mem0Derived, which follow from the text.
var (
	mem0Core = []string{"id", "data", "memory", "user_id", "actor_id", "role", "attributed_to", "created_at",
		"updated_at", "expiration_date", "categories", "metadata"}
	mem0Derived = []string{"hash", "text_lemmatized", "score", "score_details"}
)

// readMem0 reads the histories first: they have the earlier texts of the memories.
func readMem0(ctx context.Context, s *sink, files []string) error {
	var histories []*mem0History
	defer func() {
		for _, h := range histories {
			h.close()
		}
	}()
	var rest []string
	for _, file := range files {
		if isURL(file) {
			rest = append(rest, file)
			continue
		}
		f, _, begins, err := s.open(file, len(sqliteMagic))
		if err != nil {
			return err
		}
		_ = f.Close() // it was only read
		if string(begins) != sqliteMagic {
			rest = append(rest, file)
			continue
		}
		h, err := openMem0History(ctx, file)
		if err != nil {
			return err
		}
		histories = append(histories, h)
	}
	for _, file := range rest {
		if err := s.mem0File(ctx, file, histories); err != nil {
			return err
		}
	}
	for _, h := range histories {
		if err := h.rest(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// mem0File reads a file, or the pages of a collection at a URL.
func (s *sink) mem0File(ctx context.Context, file string, histories []*mem0History) error {
	do := func(i item) error { return s.mem0Item(ctx, file, i, histories) }
	if isURL(file) {
		return scroll(ctx, s, file, do)
	}
	f, r, _, err := s.open(file, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return s.mem0JSON(file, r, do)
}

// mem0JSON reads JSON of any of the forms.
func (s *sink) mem0JSON(file string, r io.Reader, do func(item) error) error {
	err := newStream(r).each(mem0Lists, do, func(name string, raw json.RawMessage) {
		if name == "relations" && len(raw) > 2 && raw[0] == '[' {
			s.report.leave("relations of mem0's graph", file, "")
		}
	})
	if err != nil {
		return in(file, "", err)
	}
	return nil
}

// mem0Item takes one memory.
func (s *sink) mem0Item(ctx context.Context, file string, i item, histories []*mem0History) error {
	place := shown(file) + ": " + i.place()
	fields, id, err := mem0Fields(i.raw)
	if err != nil {
		s.report.leave(badItem, place, err.Error())
		return nil
	}
	// mem0 keeps entities as points too, in a collection beside that of the memories.
	if _, entity := fields["linked_memory_ids"]; entity {
		s.report.leave("entities, which mem0 finds in the memories", place, "")
		return nil
	}
	f, err := s.mem0Fact(fields, id)
	if err != nil {
		s.report.leave(badMemory, place, err.Error())
		return nil
	}
	// The first history that knows the memory tells of it: ids are random, so two never do.
	for _, h := range histories {
		if f.past == nil {
			if f.past, err = h.past(ctx, s, place, id); err != nil {
				return err
			}
		}
	}
	return s.fact(place, f)
}

// mem0Fields returns the fields of a memory, in whichever form it comes.
func mem0Fields(raw json.RawMessage) (fields map[string]json.RawMessage, id string, err error) {
	var point mem0Item
	if err := object(raw, &point); err != nil {
		return nil, "", err
	}
	if fields = point.Payload; fields == nil {
		if err := object(raw, &fields); err != nil {
			return nil, "", err
		}
	}
	id = strings.Trim(string(point.ID), `"`)
	if id == "null" {
		id = ""
	}
	return fields, id, nil
}

// mem0Fact makes a fact of the fields of a memory.
func (s *sink) mem0Fact(fields map[string]json.RawMessage, id string) (f fact, err error) {
	var text struct {
		Data   string `json:"data"`
		Memory string `json:"memory"`
		User   string `json:"user_id"`
		Actor  string `json:"actor_id"`
		Role   string `json:"role"`
		By     string `json:"attributed_to"`
	}
	// The fields are read one by one, so that an error names the one that is wrong.
	for name, into := range map[string]*string{"data": &text.Data, "memory": &text.Memory, "user_id": &text.User,
		"actor_id": &text.Actor, "role": &text.Role, "attributed_to": &text.By} {
		if err := readText(fields, name, into); err != nil {
			return f, err
		}
	}
	f = fact{id: id, text: text.Data, author: text.Actor, trust: memory.TrustAgent, scope: s.scope("", text.User)}
	if f.text == "" {
		f.text = text.Memory
	}
	// A model wrote the text. mem0 of today notes whose words it rests on.
	if text.By == "user" || text.Role == "user" {
		f.trust = memory.TrustUser
	}
	if f.at, err = readTime("created_at", fields["created_at"], s.opts.Zone); err != nil {
		return f, err
	}
	if f.updated, err = readTime("updated_at", fields["updated_at"], s.opts.Zone); err != nil {
		return f, err
	}
	// A client may have deleted created_at from its metadata. A fact without any time would
	// count as said today, so it is left out.
	if f.at.IsZero() {
		f.at = f.updated
	}
	if f.at.IsZero() {
		return f, fmt.Errorf("%w: it has no created_at", memory.ErrInvalid)
	}
	// A memory is good through the day that is named, by UTC. A day that is too far away
	// for memoryd stands for none.
	f.expires, err = readTime("expiration_date", fields["expiration_date"], time.UTC)
	if far := !f.expires.Before(memory.MaxTime); err != nil && !far {
		return f, err
	} else if far {
		f.expires = time.Time{}
	} else if !f.expires.IsZero() {
		f.expires = f.expires.AddDate(0, 0, 1)
	}
	if raw := fields["categories"]; len(raw) > 0 && string(raw) != "null" {
		if err := json.Unmarshal(raw, &f.topics); err != nil {
			return f, fmt.Errorf("categories: %w", err)
		}
	}
	f.metadata, err = mem0Metadata(fields)
	return f, err
}

// readText reads a field as a text; one that is missing or null is "".
func readText(fields map[string]json.RawMessage, name string, into *string) error {
	raw := fields[name]
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%w: %s: want a text, not %.40s", memory.ErrInvalid, name, raw)
	}
	return nil
}

// mem0Metadata collects the fields that have no place of their own. Those of metadata,
// where get_all has them, lie beside the others.
func mem0Metadata(fields map[string]json.RawMessage) (memory.Metadata, error) {
	out := memory.Metadata{}
	if raw := fields["metadata"]; len(raw) > 0 && string(raw) != "null" {
		if err := json.Unmarshal(raw, &out); err != nil {
			return nil, errors.New("metadata: want an object")
		}
	}
	for name, raw := range fields {
		if !slices.Contains(mem0Core, name) && string(raw) != "null" {
			out[name] = raw
		}
	}
	maps.DeleteFunc(out, func(name string, raw json.RawMessage) bool { return slices.Contains(mem0Derived, name) })
	return out, nil
}
