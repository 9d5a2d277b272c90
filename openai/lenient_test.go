package openai

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLenient reads the forms in which services write the values of an answer.
func TestLenient(t *testing.T) {
	type answer struct {
		Content text
		Usage   usage
		Index   number
		Vector  vector
	}
	for raw, want := range map[string]answer{
		`{"content": "{}", "usage": {"prompt_tokens": 7, "completion_tokens": 2}, "index": 1, "vector": [0.5, -1]}`: {
			"{}", usage{7, 2}, 1, vector{0.5, -1}},
		`{"content": [{"type": "text", "text": "{"}, {"text": "}"}, {"type": "image"}], "index": "1"}`: {Content: "{}", Index: 1},
		`{"content": {"facts": []}, "usage": [], "index": 2.0}`:                                        {Content: `{"facts": []}`, Index: 2},
		`{"content": null, "usage": null, "index": null, "vector": null}`:                              {},
		`{"content": 7, "usage": {"prompt_tokens": "7.0", "completion_tokens": null}}`:                 {Content: "7", Usage: usage{7, 0}},
		`{"usage": {"prompt_tokens": "many"}, "vector": ["0.5", 1e39]}`:                                {Vector: vector{0.5, 1e39}},
		`{"vector": "AAAAPwAAgL8="}`:                                                                   {Vector: vector{0.5, -1}},
	} {
		var got answer
		if err := json.Unmarshal([]byte(raw), &got); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", raw, diff)
		}
	}
	for _, raw := range []string{`{"index": "first"}`, `{"index": []}`, `{"vector": "AAA="}`, `{"vector": "?"}`, `{"vector": [[]]}`, `{"vector": {}}`} {
		if err := json.Unmarshal([]byte(raw), new(answer)); err == nil {
			t.Errorf("%s was read", raw)
		}
	}
}
