package openai

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Requests to OpenAI itself differ from those to other services with its API.
func TestDialect(t *testing.T) {
	t.Parallel()
	for base, ours := range map[string]bool{
		"":                                     true,
		"https://api.openai.com/v1":            true,
		"https://eu.api.openai.com/v1":         true,
		"https://myapi.openai.com.example/v1":  false,
		"https://ours.openai.azure.com/openai": false,
		"http://localhost:11434/v1":            false,
	} {
		c, err := New(&Options{Getenv: func(name string) string {
			return map[string]string{"OPENAI_BASE_URL": base, "OPENAI_API_KEY": "k"}[name]
		}})
		if err != nil {
			t.Fatal(err)
		}
		for model, want := range map[string]dialect{
			"gpt-4.1-mini": {maxTokens: !ours, noEffort: true},
			"gpt-oss:20b":  {maxTokens: !ours, noEffort: true},
			"olmo2":        {maxTokens: !ours, noEffort: true},
			"gpt-5-mini":   {maxTokens: !ours, noTemperature: true},
			"gpt-10":       {maxTokens: !ours, noTemperature: true},
			"o4-mini":      {maxTokens: !ours, noTemperature: true},
			"openai/o3":    {maxTokens: !ours, noTemperature: true},
			"":             {maxTokens: !ours, noTemperature: true},
		} {
			if diff := cmp.Diff(want, c.Generator(model).dialect, cmp.AllowUnexported(dialect{})); diff != "" {
				t.Errorf("%s at %q (-want +got):\n%s", model, base, diff)
			}
		}
	}
}
