package qdrantstore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/memory"
)

// record is a memory as its point has it.
type record struct {
	memory memory.Memory
	gone   bool
	terms  memory.Terms
	vector bool
	step   step // that made it what it is
}

// step is one revision. Doc is the memory as it was then, and empty for the
// current one, which the point has. Write tells by which write it was made.
type step struct {
	Revision  int64           `json:"revision"`
	Action    memory.Action   `json:"action"`
	Time      time.Time       `json:"time"`
	Actor     string          `json:"actor"`
	Operation string          `json:"operation,omitempty"`
	Write     string          `json:"write"`
	Doc       json.RawMessage `json:"doc,omitempty"`
}

// payload fields that are only read whole.
const (
	docField    = "doc"
	termsField  = "terms"
	lengthField = "length"
	stepField   = "step"
	pastField   = "past"
)

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // metadata stays as it was written
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func decode(doc string, v any) error {
	if err := json.Unmarshal([]byte(doc), v); err != nil {
		return fmt.Errorf("stored memory: %w", err)
	}
	return nil
}

// whole is the payload of a memory's point that readRecord reads.
var whole = []string{docField, termsField, stepField, "gone", "embedded"}

// readRecord reads what there is of whole.
func readRecord(payload map[string]*qdrant.Value) (*record, error) {
	r := &record{gone: payload["gone"].GetBoolValue(), vector: payload["embedded"].GetBoolValue()}
	for field, into := range map[string]any{docField: &r.memory, termsField: &r.terms, stepField: &r.step} {
		if v, ok := payload[field]; ok {
			if err := decode(v.GetStringValue(), into); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

// past is the record's step with the memory as it was then, once another has
// followed.
func (r *record) past() (step, error) {
	st := r.step
	doc, err := encode(r.memory)
	st.Doc = doc
	return st, err
}

// point writes a step out that others have followed.
func (st *step) point(scope memory.Scope, id string) (*qdrant.PointStruct, error) {
	raw, err := encode(st)
	if err != nil {
		return nil, err
	}
	return &qdrant.PointStruct{Id: pastID(scope, id, st.Revision), Payload: map[string]*qdrant.Value{pastField: qdrant.NewValueString(string(raw))},
		Vectors: qdrant.NewVectorsMap(map[string]*qdrant.Vector{})}, nil
}

// read gives a step that has its own Doc as a memory.Step.
func (st *step) read() (memory.Step, error) {
	var m memory.Memory
	err := decode(string(st.Doc), &m)
	return st.of(m), err
}

// of gives a step of a memory as a memory.Step.
func (st *step) of(m memory.Memory) memory.Step {
	return memory.Step{Revision: st.Revision, Action: st.Action, Time: st.Time, Actor: st.Actor, Operation: st.Operation, Memory: m}
}

// point writes a record out, with its vector if it is to have one.
func (r *record) point(vector []float32) (*qdrant.PointStruct, error) {
	m := &r.memory
	doc, err := encode(m)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", memory.ErrInvalid, err) // only metadata can be no JSON
	}
	terms := r.terms
	if r.gone {
		terms, vector = nil, nil
	}
	words, err := encode(terms)
	if err != nil {
		return nil, err
	}
	text := qdrant.NewValueString
	number := func(t time.Time) *qdrant.Value { return qdrant.NewValueInt(t.UnixMicro()) }
	payload := map[string]*qdrant.Value{
		"scope": text(name(m.Scope)), "id": text(m.ID), "kind": text(string(m.Kind)), "session": text(m.Source.SessionID), "gone": qdrant.NewValueBool(r.gone),
		"revision": qdrant.NewValueInt(m.Revision), "embedded": qdrant.NewValueBool(vector != nil),
		"at": number(m.Timestamp), "created": number(m.CreateTime), "updated": number(m.UpdateTime),
		docField: text(string(doc)), termsField: text(string(words)), lengthField: qdrant.NewValueInt(int64(terms.Length())),
	}
	if !m.ValidTo.IsZero() {
		payload["until"] = number(m.ValidTo)
	}
	if m.Kind == memory.KindTurn && len(m.Source.EventIDs) > 0 {
		payload["event"] = text(m.Source.EventIDs[0])
	}
	if m.SupersededBy != "" {
		payload["by"] = text(m.SupersededBy)
	}
	if !m.ExpireTime.IsZero() {
		payload["expires"] = number(m.ExpireTime)
	}
	if len(m.Topics) > 0 {
		payload["topics"] = texts(m.Topics)
	}
	if len(m.Metadata) > 0 {
		payload["metadata"] = texts(pairs(m.Metadata))
	}
	raw, err := encode(r.step)
	if err != nil {
		return nil, err
	}
	payload[stepField] = text(string(raw))
	vectors := map[string]*qdrant.Vector{}
	if vector != nil {
		vectors[dense] = qdrant.NewVectorDense(vector)
	}
	if len(terms) > 0 {
		length := terms.Length()
		weights := map[uint32]float32{}
		var numbers []*qdrant.Value
		for w, f := range terms {
			weights[wordPlace(w)] += float32(memory.Saturate(float64(f), float64(length)))
			numbers = append(numbers, qdrant.NewValueInt(wordNumber(m.Scope, w)))
		}
		payload["words"] = qdrant.NewValueFromList(numbers...)
		vectors[lexical] = sparse(weights)
	}
	return &qdrant.PointStruct{Id: pointID(m.Scope, m.ID), Payload: payload, Vectors: qdrant.NewVectorsMap(vectors)}, nil
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
