package qdrantstore

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/internal/storedjson"
	"github.com/memoryd/memoryd/memory"
)

// record is a memory as its point has it.
type record struct {
	memory.Current
	terms memory.Terms
	step  step  // the revision it is at
	n     int64 // of the write that it was changed by; 0 if that has none
	// sweeping is set while a sweep removes it.
	sweeping bool
	// removed is how many past revisions have expired and were removed, and due is when the
	// next of them expires that a sweep may remove, in microseconds; 0 if none does.
	removed, due int64
}

// state is what the rules of package memory decide by; nil if there is no
// point.
func (r *record) state() *memory.Current {
	if r == nil {
		return nil
	}
	return &r.Current
}

// step is one revision. Doc is the memory as it was then, and empty for the
// current revision, as the point has it. Write is the id of the write that made
// the revision.
type step struct {
	Revision  int64           `json:"revision"`
	Action    memory.Action   `json:"action"`
	Time      time.Time       `json:"time"`
	Actor     string          `json:"actor"`
	Operation string          `json:"operation,omitempty"`
	Labels    memory.Labels   `json:"labels,omitempty"`
	Write     string          `json:"write"`
	Doc       json.RawMessage `json:"doc,omitempty"`
	Expires   time.Time       `json:"expires,omitzero"`
}

// newStep is a revision without its memory.
func newStep(st *memory.Step, write string) step {
	return step{
		Revision: st.Revision, Action: st.Action, Time: st.Time, Actor: st.Actor, Operation: st.Operation,
		Labels: st.Labels, Write: write, Expires: st.ExpireTime,
	}
}

// newWrite names a write, or the writes of one import.
func newWrite() string { return uuid.NewString() }

// The payload fields that no filter asks for.
const (
	docField    = "doc"
	termsField  = "terms"
	lengthField = "length"
	stepField   = "step"
	pastField   = "past"
	// embeddedField says whether the point has a dense vector.
	embeddedField = "embedded"
)

// hiddenField is true of memories that no search finds.
const hiddenField = "hidden"

func decode(doc string, v any) error { return storedjson.Decode([]byte(doc), v) }

// recordFields is the payload of a memory's point that readRecord reads.
var recordFields = []string{docField, termsField, stepField, "gone", embeddedField, sweepingField, removedField,
	dueField}

// readRecord reads as many of recordFields as there are.
func readRecord(payload map[string]*qdrant.Value) (*record, error) {
	r := &record{Current: memory.Current{
		Deleted: payload["gone"].GetBoolValue(), Embedded: payload[embeddedField].GetBoolValue(),
	}, n: payload[changeField].GetIntegerValue() & maxWrites, sweeping: payload[sweepingField].GetBoolValue(),
		removed: payload[removedField].GetIntegerValue(), due: payload[dueField].GetIntegerValue()}
	for field, into := range map[string]any{docField: &r.Memory, termsField: &r.terms, stepField: &r.step} {
		if v, ok := payload[field]; ok {
			if err := decode(v.GetStringValue(), into); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

// past is the record's step as it is stored once another revision follows: with
// the memory as it was then.
func (r *record) past() (step, error) {
	st := r.step
	doc, err := memory.EncodeJSON(r.Memory)
	st.Doc = doc
	return st, err
}

// point writes a past step.
func (st *step) point(scope memory.Scope, id string) (*qdrant.PointStruct, error) {
	raw, err := memory.EncodeJSON(st)
	if err != nil {
		return nil, err
	}
	return &qdrant.PointStruct{
		Id: pastID(scope, id, st.Revision), Vectors: qdrant.NewVectorsMap(map[string]*qdrant.Vector{}),
		Payload: map[string]*qdrant.Value{pastField: qdrant.NewValueString(string(raw))},
	}, nil
}

// read gives a past step, which has its own Doc, as a memory.Step.
func (st *step) read() (memory.Step, error) {
	var m memory.Memory
	err := decode(string(st.Doc), &m)
	return st.of(m), err
}

// of gives a step of a memory as a memory.Step.
func (st *step) of(m memory.Memory) memory.Step {
	return memory.Step{
		Revision: st.Revision, Action: st.Action, Time: st.Time, Actor: st.Actor, Operation: st.Operation,
		Labels: st.Labels, ExpireTime: st.Expires, Memory: m,
	}
}

// point writes a record, with its vector if it has one. A deleted record has
// neither words nor vector.
func (r *record) point(vector []float32) (*qdrant.PointStruct, error) {
	m, terms := &r.Memory, r.terms
	if r.Deleted {
		terms, vector = nil, nil
	}
	payload, err := r.payload(terms, vector != nil)
	if err != nil {
		return nil, err
	}
	vectors := map[string]*qdrant.Vector{}
	if vector != nil {
		vectors[dense] = qdrant.NewVectorDense(vector)
	}
	if len(terms) > 0 && !m.State.Hidden() { // no statistics count the words of a hidden memory
		vectors[lexical] = lexicalVector(terms)
		var numbers []*qdrant.Value
		for w := range terms {
			numbers = append(numbers, qdrant.NewValueInt(wordNumber(m.Scope, w)))
		}
		payload["words"] = qdrant.NewValueFromList(numbers...)
	}
	return &qdrant.PointStruct{
		Id: pointID(m.Scope, m.ID), Payload: payload, Vectors: qdrant.NewVectorsMap(vectors),
	}, nil
}

// payload is all of a record's payload except the numbers of its words.
func (r *record) payload(terms memory.Terms, embedded bool) (map[string]*qdrant.Value, error) {
	m := &r.Memory
	doc, err := memory.EncodeJSON(m)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", memory.ErrInvalid, err) // only metadata can be invalid JSON
	}
	words, err := memory.EncodeJSON(terms)
	if err != nil {
		return nil, err
	}
	st, err := memory.EncodeJSON(r.step)
	if err != nil {
		return nil, err
	}
	text := qdrant.NewValueString
	micros := func(t time.Time) *qdrant.Value { return qdrant.NewValueInt(t.UnixMicro()) }
	payload := map[string]*qdrant.Value{
		"scope": text(tenant(m.Scope)), appField: text(m.App), personField: text(personName(m.User)),
		"id": text(m.ID), "kind": text(string(m.Kind)),
		"session": text(m.Source.SessionID), "gone": qdrant.NewValueBool(r.Deleted),
		"revision": qdrant.NewValueInt(m.Revision), embeddedField: qdrant.NewValueBool(embedded),
		"at": micros(m.Timestamp), "created": micros(m.CreateTime), "updated": micros(m.UpdateTime),
		docField: text(string(doc)), termsField: text(string(words)), stepField: text(string(st)),
		lengthField: qdrant.NewValueInt(int64(terms.Length())),
	}
	if !m.ValidTo.IsZero() {
		payload["until"] = micros(m.ValidTo)
	}
	if from := m.KnownFrom(); !from.Equal(m.Timestamp) {
		payload["known"] = micros(from)
	}
	if from := m.DatedFor(); !from.IsZero() {
		payload["from"] = micros(from)
	}
	if !m.ExpireTime.IsZero() {
		payload["expires"] = micros(m.ExpireTime)
	}
	if r.removed > 0 {
		payload[removedField] = qdrant.NewValueInt(r.removed)
	}
	if r.due > 0 {
		payload[dueField] = qdrant.NewValueInt(r.due)
	}
	if event := m.Source.EventID(); m.Kind == memory.KindTurn && event != "" {
		payload["event"] = text(event)
	}
	if m.SupersededBy != "" {
		payload["by"] = text(m.SupersededBy)
	}
	if m.Edited {
		payload["edited"] = qdrant.NewValueBool(true)
	}
	if len(m.Forgotten) > 0 {
		payload["forgotten"] = qdrant.NewValueBool(true)
	}
	if m.State != "" {
		payload["state"] = text(string(m.State))
	}
	if m.State.Hidden() {
		payload[hiddenField] = qdrant.NewValueBool(true)
	}
	if len(m.Topics) > 0 {
		payload["topics"] = texts(m.Topics)
	}
	if len(m.Metadata) > 0 {
		payload["metadata"] = texts(pairDigests(m.Metadata))
	}
	return payload, nil
}

// lexicalVector has each word with its term frequency part of BM25.
func lexicalVector(terms memory.Terms) *qdrant.Vector {
	length := terms.Length()
	weights := map[uint32]float32{}
	for w, f := range terms {
		weights[wordIndex(w)] += float32(memory.Saturate(float64(f), float64(length)))
	}
	return sparse(weights)
}

func sparse(weights map[uint32]float32) *qdrant.Vector {
	indices, values := make([]uint32, 0, len(weights)), make([]float32, 0, len(weights))
	for i, v := range weights {
		indices, values = append(indices, i), append(values, v)
	}
	return qdrant.NewVectorSparse(indices, values)
}

func texts(all []string) *qdrant.Value {
	out := make([]*qdrant.Value, len(all))
	for i, t := range all {
		out[i] = qdrant.NewValueString(t)
	}
	return qdrant.NewValueFromList(out...)
}
