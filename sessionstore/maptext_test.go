package sessionstore

import (
	"encoding/base64"
	"strings"
	"testing"
)

// loud maps "boo" to "BOO" in all that it is shown.
func loud(name, text string) string {
	if name == "secret" || name == "card" {
		return "BOO"
	}
	return strings.ReplaceAll(text, "boo", "BOO")
}

// MapText changes all texts of an event, and no ids, names, times and state.
func TestMapText(t *testing.T) {
	inline := base64.StdEncoding.EncodeToString([]byte("a boo"))
	doc := `{"id":"boo","invocationId":"boo","author":"boo","timestamp":"2026-01-02T03:04:05Z","branch":"boo",` +
		`"content":{"role":"user","parts":[{"text":"a \u0062oo"},{"functionCall":{"id":"boo","name":"boo","args":{"secret":"x","n":[1,"boo",{"boo":"boo"}],"card":4111}}},` +
		`{"functionResponse":{"id":"boo","name":"boo","response":{"boo boo boo":"boo","boo boo BOO":1}}},` +
		`{"inlineData":{"mimeType":"text/plain","data":"` + inline + `"}},{"inlineData":{"mimeType":"image/png","data":"boo="}},` +
		`{"thoughtSignature":"boo","text":"boo","thought":true}]},` +
		`"actions":{"stateDelta":{"said":"a boo","kept":"so boo","secret":"y"},"artifactDelta":{"boo":1}},"customMetadata":{"k":"boo"},"errorMessage":"boo","count":12}`
	e, err := ParseEvent([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.MapText(loud, false)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer(`"a \u0062oo"`, `"a BOO"`, `"secret":"x"`, `"secret":"BOO"`,
		`[1,"boo",{"boo":"boo"}]`, `[1,"BOO",{"boo":"BOO"}]`,
		`"card":4111`, `"card":"BOO"`, `"boo boo boo":"boo","boo boo BOO":1`,
		`"BOO BOO BOO":"BOO","BOO BOO BOO'":1`, inline,
		base64.StdEncoding.EncodeToString([]byte("a BOO")), `"text":"boo","thought"`, `"text":"BOO","thought"`,
		`"said":"a boo"`,
		`"said":"a BOO"`, `{"k":"boo"},"errorMessage":"boo"`,
		`{"k":"BOO"},"errorMessage":"BOO"`).Replace(string(e.Doc))
	if string(got.Doc) != want {
		t.Errorf("%s\nwant %s", got.Doc, want)
	}
	if got.Text() != "a BOO" || got.ID != "boo" || got.Author != "boo" ||
		string(got.StateDelta["said"]) != `"a BOO"` {
		t.Errorf("the fields are not those of the document: %+v", got)
	}
	if got, err = e.MapText(loud, true); err != nil || string(got.StateDelta["kept"]) != `"so BOO"` ||
		string(got.StateDelta["secret"]) != `"BOO"` {
		t.Errorf("state %s, %v", got.StateDelta, err)
	}
	same, err := e.MapText(func(_, text string) string { return text }, true)
	if err != nil || string(same.Doc) != string(e.Doc) {
		t.Errorf("an event in which nothing changes becomes %s, %v", same.Doc, err)
	}
}
