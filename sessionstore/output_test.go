package sessionstore

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/memory"
)

// The text that becomes state under an agent's output key, and the events that
// have none.
func TestWithOutput(t *testing.T) {
	for _, c := range []struct{ name, event, want string }{
		{"text", `{"author":"guide","content":"It is four."}`, `"It is four."`},
		{"several texts", `{"author":"guide","content":{"parts":[{"text":"It "},{"text":"is \"four\"."}]}}`,
			`"It is \"four\"."`},
		{"thoughts", `{"author":"guide","content":{"parts":[{"text":"Two and two…","thought":true},` +
			`{"text":"Four."}]}}`,
			`"Four."`},
		{"nothing but thoughts",
			`{"author":"guide","content":{"parts":[{"text":"Two and two…","thought":true}]}}`, ``},
		{"another key beside it", `{"author":"guide","content":"Four.","actions":{"stateDelta":{"k":1}}}`, `"Four."`},
		{"what the agent put there itself",
			`{"author":"guide","content":"Four.","actions":{"stateDelta":{"answer":1}}}`, `"Four."`},
		{"no content", `{"author":"guide"}`, ``},
		{"no text", `{"author":"guide","content":{"parts":[{"text":""}]},"actions":{"stateDelta":{"answer":"before"}}}`,
			`"before"`},
		{"of the user", `{"content":"How much is it?"}`, ``},
		{"partial", `{"author":"guide","partial":true,"content":"It"}`, ``},
		{"a call", `{"author":"guide","content":{"parts":[{"text":"Let me see."},{"functionCall":{"name":"add"}}]}}`,
			``},
		{"a call, as Python spells it",
			`{"author":"guide","content":{"parts":[{"text":"Let me see."},{"function_call":{"name":"add"}}]}}`, ``},
		{"a call that is null", `{"author":"guide","content":{"parts":[{"text":"Four.","functionCall":null}]}}`,
			`"Four."`},
		{"a response", `{"author":"guide","content":{"parts":[{"functionResponse":{"name":"add",` +
			`"response":{"sum":4}}},{"text":"Four."}]}}`, ``},
		{"a response that is the answer",
			`{"author":"guide","actions":{"skip_summarization":true},` +
				`"content":{"parts":[{"functionResponse":{"name":"add"}},{"text":"Four."}]}}`, `"Four."`},
		{"a call that takes long", `{"author":"guide","longRunningToolIds":["c1"],` +
			`"content":{"parts":[{"text":"I have asked."},{"functionCall":{"id":"c1","name":"ask"}}]}}`,
			`"I have asked."`},
		{"no long call", `{"author":"guide","long_running_tool_ids":[],"content":{"parts":[{"text":"I ask."},` +
			`{"functionCall":{"name":"ask"}}]}}`, ``},
		{"code that has run", `{"author":"guide","content":{"parts":[{"text":"I run it."},` +
			`{"executableCode":{"code":"2+2"}},{"codeExecutionResult":{"output":"4"}}]}}`, ``},
		{"code, and what it comes to",
			`{"author":"guide","content":{"parts":[{"codeExecutionResult":{"output":"4"}},{"text":"Four."}]}}`,
			`"Four."`},
		{"ids of another type", `{"author":"guide","longRunningToolIds":"c1","content":"Four."}`, `"Four."`},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := parseEvent(t, c.event)
			got, err := e.WithOutput("answer")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got.StateDelta["answer"])); diff != "" {
				t.Errorf("state (-want +got):\n%s", diff)
			}
			if c.want == "" {
				if diff := cmp.Diff(string(e.Doc), string(got.Doc)); diff != "" {
					t.Errorf("the event (-before +after):\n%s", diff)
				}
			}
		})
	}
	for _, key := range []string{"", "app:", "user:", "temp:", "a\x00", "\xff", strings.Repeat("k", memory.MaxID+1)} {
		for _, event := range []string{`{"author":"guide","content":"x"}`, `{"content":"x"}`} {
			if _, err := parseEvent(t, event).WithOutput(key); !errors.Is(err, memory.ErrInvalid) ||
				!strings.Contains(err.Error(), "outputKey") {
				t.Errorf("under %.20q: error is %v, want %v that names outputKey", key, err, memory.ErrInvalid)
			}
		}
	}
	stored, err := parseEvent(t, `{"id":"e","author":"guide","content":"Four."}`).WithOutput("temp:answer")
	if err != nil {
		t.Fatal(err)
	}
	if stored = stored.Stored(nil, memory.MinTime); len(stored.StateDelta) > 0 {
		t.Errorf("what is of this invocation only is stored: %s", stored.Doc)
	}
}
