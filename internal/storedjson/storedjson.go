// Package storedjson reads the JSON that stores of memories keep, as encoding/json does and in
// a third of its time. To read it is most of the work of filling an index.
package storedjson

import (
	"github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/memoryd/memoryd/memory"
)

// Decode reads JSON into v by the rules of encoding/json. encoding/json itself reads what
// this cannot, and says what is wrong with it: no rule that differs may make a memory
// unreadable.
func Decode(raw []byte, v any) error {
	if json.Unmarshal(raw, v, jsonv1.DefaultOptionsV1()) == nil {
		return nil
	}
	return memory.DecodeJSON(raw, v)
}
