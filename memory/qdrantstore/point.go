package qdrantstore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/memory"
)

// record is a memory as its point has it.
type record struct {
	memory  memory.Memory
	gone    bool
	terms   memory.Terms
	vector  bool
	history []step
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
	docField     = "doc"
	termsField   = "terms"
	lengthField  = "length"
	historyField = "history"
)

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // metadata stays as it was written
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func decode(doc string, v any) error {
	// A search reads a thousand of them, so by the faster package; metadata may
	// be any JSON, also such as it would refuse.
	if err := jsonv2.Unmarshal([]byte(doc), v, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return fmt.Errorf("stored memory: %w", err)
	}
	return nil
}

// readRecord reads a point with all its payload.
func readRecord(payload map[string]*qdrant.Value) (*record, error) {
	r := &record{gone: payload["gone"].GetBoolValue(), vector: payload["embedded"].GetBoolValue()}
	if err := decode(payload[docField].GetStringValue(), &r.memory); err != nil {
		return nil, err
	}
	if err := decode(payload[termsField].GetStringValue(), &r.terms); err != nil {
		return nil, err
	}
	for _, v := range payload[historyField].GetListValue().GetValues() {
		var st step
		if err := decode(v.GetStringValue(), &st); err != nil {
			return nil, err
		}
		r.history = append(r.history, st)
	}
	return r, nil
}

// next is the record after one more step.
func (r *record) next(m memory.Memory, st step) (*record, error) {
	out := &record{memory: m}
	if r != nil {
		out.history = append(out.history, r.history...)
		last := &out.history[len(out.history)-1]
		doc, err := encode(r.memory)
		if err != nil {
			return nil, err
		}
		last.Doc = doc
	}
	out.history = append(out.history, st)
	return out, nil
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
		"topics": texts(m.Topics), "metadata": texts(pairs(m.Metadata)),
		docField: text(string(doc)), termsField: text(string(words)), lengthField: qdrant.NewValueInt(int64(terms.Length())),
	}
	if !m.ValidTo.IsZero() {
		payload["until"] = number(m.ValidTo)
	}
	if !m.ExpireTime.IsZero() {
		payload["expires"] = number(m.ExpireTime)
	}
	var history []*qdrant.Value
	for _, st := range r.history {
		raw, err := encode(st)
		if err != nil {
			return nil, err
		}
		history = append(history, text(string(raw)))
	}
	payload[historyField] = qdrant.NewValueFromList(history...)
	vectors := map[string]*qdrant.Vector{}
	if vector != nil {
		vectors[dense] = qdrant.NewVectorDense(vector)
	}
	if len(terms) > 0 {
		length := terms.Length()
		weights := map[uint32]float32{}
		var numbers []*qdrant.Value
		for w, f := range terms {
			weights[wordPlace(w)] += float32(memory.Saturate(f, length))
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
