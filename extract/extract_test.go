package extract

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

func TestReadTurn(t *testing.T) {
	for _, tc := range []struct {
		name, event, want string
		user              bool
	}{
		{"user",
			`{"author":"ann","content":{"role":"user","parts":[{"text":"I have a dog"}]}}`,
			"I have a dog", true},
		{"user by default", `{"content":"I have a dog"}`, "I have a dog", true},
		{"model", `{"author":"guide","content":{"role":"model","parts":[{"text":"Nice"}]}}`, "Nice", false},
		{"assistant", `{"author":"guide","content":{"role":"assistant","parts":[{"text":"Nice"}]}}`, "Nice", false},
		{"parts",
			`{"content":{"role":"user","parts":[{"text":"one"},` +
				`{"inlineData":{"mimeType":"image/png","data":""}},{"text":"two"}]}}`,
			"one\ntwo", true},
		{"thought",
			`{"content":{"role":"model","parts":[{"text":"Hm","thought":true},{"text":"Nice"}]}}`,
			"Nice", false},
		{"only a thought", `{"content":{"role":"model","parts":[{"text":"Hm","thought":true}]}}`, "", false},
		{"call beside text",
			`{"content":{"role":"model","parts":[{"text":"Let me look"},{"functionCall":{"name":"find"}}]}}`,
			"Let me look", false},
		{"only a call", `{"content":{"role":"model","parts":[{"functionCall":{"name":"find"}}]}}`, "", false},
		{"answer of a function",
			`{"content":{"role":"user","parts":[{"functionResponse":{"name":"find"}},{"text":"found: I have a dog"}]}}`,
			"", false},
		{"code that ran",
			`{"content":{"role":"model","parts":[{"executableCode":{"code":"1"}},` +
				`{"codeExecutionResult":{"output":"1"}}]}}`,
			"", false},
		{"tool role", `{"author":"find","content":{"role":"tool","parts":[{"text":"I have a dog"}]}}`, "", false},
		{"function role",
			`{"author":"find","content":{"role":"function","parts":[{"text":"I have a dog"}]}}`,
			"", false},
		{"system role", `{"author":"user","content":{"role":"system","parts":[{"text":"You are kind"}]}}`, "", false},
		{"system author",
			`{"author":"system","content":{"role":"user","parts":[{"text":"You are kind"}]}}`,
			"", false},
		{"compaction",
			`{"author":"user","content":{"role":"user","parts":[{"text":"So far: a dog"}]},` +
				`"actions":{"compaction":{"x":1}}}`,
			"", false},
		{"rewind",
			`{"author":"user","content":{"role":"user","parts":[{"text":"x"}]},` +
				`"actions":{"rewindBeforeInvocationId":"i1"}}`,
			"", false},
		{"state only", `{"author":"user","actions":{"stateDelta":{"a":1}}}`, "", false},
		{"no words", `{"content":" \n "}`, "", false},
		{"recalled",
			`{"content":"<PAST_CONVERSATIONS>\nann: I have a cat\n</PAST_CONVERSATIONS>\nI have a dog"}`,
			"I have a dog", true},
		{"recalled twice",
			`{"content":"<PAST_CONVERSATIONS>a</PAST_CONVERSATIONS>I have a dog` +
				`<PAST_CONVERSATIONS>b</PAST_CONVERSATIONS>"}`,
			"I have a dog", true},
		{"recalled within",
			`{"content":"I have <PAST_CONVERSATIONS>a</PAST_CONVERSATIONS>a dog"}`,
			"I have \na dog", true},
		{"recalled, not closed",
			`{"content":"I have a dog\n<PAST_CONVERSATIONS>\nann: I have a cat"}`,
			"I have a dog", true},
		{"only recalled", `{"content":"<PAST_CONVERSATIONS>I have a cat</PAST_CONVERSATIONS>"}`, "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e, err := sessionstore.ParseEvent([]byte(tc.event))
			if err != nil {
				t.Fatal(err)
			}
			e.ID, e.Timestamp = "e1", monday8May
			turn, ok := ReadTurn("s", e)
			if ok != (tc.want != "") {
				t.Fatalf("ReadTurn = %+v, %v", turn, ok)
			}
			want := Turn{
				SessionID: "s", EventID: "e1", Author: e.Author, Timestamp: monday8May, User: tc.user, Text: tc.want,
				Trust: memory.TrustAgent,
			}
			if tc.user {
				want.Trust = memory.TrustUser
			}
			if diff := cmp.Diff(want, turn); ok && diff != "" {
				t.Errorf("turn (-want +got):\n%s", diff)
			}
		})
	}
}
