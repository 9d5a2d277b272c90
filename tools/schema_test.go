package tools

import (
	"maps"
	"slices"
	"strings"
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

// A model that is told only a tool's schema knows how to ask.
func TestQueriesAreExplained(t *testing.T) {
	for _, tool := range []*Tool{loadMemory, searchMemory} {
		for of, text := range map[string]string{
			"description": tool.Description, "query": tool.Parameters.Properties["query"].Description,
		} {
			for _, want := range []string{"the question, then", "language"} {
				if !strings.Contains(text, want) {
					t.Errorf("%s of %s does not have %q: %s", of, tool.Name, want, text)
				}
			}
		}
	}
}
