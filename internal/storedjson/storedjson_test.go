package storedjson

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/memory"
)

// Decode gives what encoding/json gives, and its errors.
func TestDecodeIsEncodingJSON(t *testing.T) {
	for _, raw := range []string{
		`{"id":"m","appName":"a","userId":"u","kind":"fact","fact":"likes <tea>","topics":["a",""],"revision":3,
			"timestamp":"2024-05-06T07:08:09.123456Z","validTo":"2024-05-06T09:08:09+02:00","evidence":2,
			"source":{"sessionId":"s","eventIds":["e"],"passage":{"documentId":"d","headings":["h"],"number":1}},
			"metadata":{"n":1.50,"o":{"b":1,"a":[]},"z":null},"forgotten":[],"retracted":[{"fact":"f"}]}`,
		`{"id":"m","schemaId":"s","field":"f","value":"v","topics":null}`,
		`{"ID":"m","Fact":"case","fact":"twice","fact":"the last","unknown":{"x":[1]}}`,
		"{\"fact\":\"not \xff UTF-8 \\ud800 \\u2028\"}",
		`{"metadata":{"n":1,"n":2}}`, `{}`, `null`, ` {"id" : "m"} `,
		`{"revision":1.5}`, `{"timestamp":"24:00"}`, `{"timestamp":""}`, `{"id":1}`, `{"id":"m"`, `{"id":"m"} x`, ``, `[]`,
	} {
		var got, want memory.Memory
		err, wantErr := Decode([]byte(raw), &got), memory.DecodeJSON([]byte(raw), &want)
		if diff := cmp.Diff(want, got); diff != "" && wantErr == nil {
			t.Errorf("%s: encoding/json, Decode:\n%s", raw, diff)
		}
		if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
			t.Errorf("%s: %v, not %v", raw, err, wantErr)
		}
	}
	var terms, want memory.Terms
	raw := []byte(`{"a\"b":2,"c":0}`)
	if err := Decode(raw, &terms); err != nil || json.Unmarshal(raw, &want) != nil || !cmp.Equal(terms, want) {
		t.Errorf("%v, %v", terms, err)
	}
}
