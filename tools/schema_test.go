package tools

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// Every line of descriptions.txt describes a tool or a field that a model is told of.
func TestDescriptions(t *testing.T) {
	told := map[string]bool{}
	var walk func(s *jsonschema.Schema)
	walk = func(s *jsonschema.Schema) {
		if s == nil {
			return
		}
		told[s.Description] = true
		walk(s.Items)
		for _, p := range s.Properties {
			walk(p)
		}
	}
	for _, tool := range append(All(), preloadMemory) {
		told[tool.Description], told[tool.Instruction] = true, true
		walk(tool.Parameters)
		walk(tool.Result)
	}
	for _, name := range slices.Sorted(maps.Keys(descriptions)) {
		if !told[descriptions[name]] {
			t.Errorf("nothing is described by %q", name)
		}
	}
}
