package extract

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/profile"
)

// person is a policy with a profile.
func person(t *testing.T) *Policy {
	t.Helper()
	schema, err := profile.Parse("schema", json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"},
		"age":{"type":"integer","maximum":150},"likes":{"type":"array","items":{"type":"string"}},"new":{"type":"boolean"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	return &Policy{Profiles: []Profile{{ID: "person", Description: "Who it is.", Schema: schema}}}
}

// A value counts if its field can have it and if it quotes an event of the batch, as a
// fact does. Any other is dropped and counted, and so is one that the model itself doubts.
func TestValues(t *testing.T) {
	for answer, want := range map[string]string{
		`{"profile":"person","field":"city","value":"Porto","events":[1],"quote":"moved to Porto","confidence":1}`:   `city="Porto" by Ann in s/e1: moved to  Porto`,
		`{"profile":"person","field":"city","value":"\"Porto\"","events":["1"],"quote":"MOVED to porto"}`:            `city="Porto" by Ann in s/e1: moved to  Porto`,
		`{"profile":"person","field":"likes","value":["the sea"],"events":[2,3],"quote":"the sea above all"}`:        `likes=["the sea"] by Ann in s/e3,e2: the sea above all`,
		`{"profile":"person","field":"likes","value":"the sea","events":[4],"quote":"like the sea"}`:                 `likes=["the sea"] by Bob in other/e1: like the sea`,
		`{"profile":"person","field":"new","value":true,"events":[1],"quote":"moved"}`:                               `new=true by Ann in s/e1: moved`,
		`{"profile":"person","field":"age","value":"200","events":[1],"quote":"moved to Porto","confidence":1}`:      "",
		`{"profile":"person","field":"age","value":"old","events":[1],"quote":"moved to Porto","confidence":1}`:      "",
		`{"profile":"person","field":"city","value":"","events":[1],"quote":"moved to Porto","confidence":1}`:        "",
		`{"profile":"person","field":"city","value":"Porto","events":[1],"quote":"moved to Lisbon","confidence":1}`:  "",
		`{"profile":"person","field":"city","value":"Porto","events":[3],"quote":"moved to Porto","confidence":1}`:   "",
		`{"profile":"person","field":"city","value":"Porto","events":[],"quote":"moved to Porto","confidence":1}`:    "",
		`{"profile":"person","field":"city","value":"Porto","events":[1],"quote":"moved to Porto","confidence":0.2}`: "",
		`{"profile":"person","field":"name","value":"Porto","events":[1],"quote":"moved to Porto","confidence":1}`:   "",
		`{"profile":"pet","field":"city","value":"Porto","events":[1],"quote":"moved to Porto","confidence":1}`:      "",
		`{}`: "",
	} {
		g := says(`{"facts":[],"values":[` + answer + `]}`)
		found, err := NewModel(g, nil).Extract(t.Context(), Batch{Turns: talk, Policy: person(t)})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range found.Values {
			got = append(got, v.Field+"="+string(v.Value)+" by "+v.Author+" in "+v.SessionID+"/"+
				strings.Join(v.EventIDs, ",")+": "+v.Quote)
		}
		if want == "" && (len(got) > 0 || found.ValuesDropped != 1) || want != "" && (len(got) != 1 || got[0] != want ||
			found.ValuesDropped != 0) {
			t.Errorf("%s\ngives %q, %d dropped, want %q", answer, got, found.ValuesDropped, want)
		}
	}
}

// An answer without values has none. Values of an app without profiles are dropped.
func TestNoValues(t *testing.T) {
	found, err := NewModel(says(`{"facts":[]}`), nil).Extract(t.Context(), Batch{Turns: talk, Policy: person(t)})
	if err != nil || len(found.Values)+found.ValuesDropped != 0 {
		t.Errorf("%+v, %v", found, err)
	}
	g := says(`{"facts":[],"values":[{"profile":"person","field":"city","value":"Porto","events":[1],"quote":"moved"}]}`)
	found, err = NewModel(g, nil).Extract(t.Context(), Batch{Turns: talk, Policy: &Policy{}})
	if err != nil || len(found.Values) != 0 || found.ValuesDropped != 1 {
		t.Errorf("%+v, %v", found, err)
	}
	if _, ok := g.prompts[0].Schema["properties"].(map[string]any)["values"]; ok {
		t.Error("an app without profiles asks for values")
	}
}

// The prompt has the fields, the values that they have, and the form of the answer, in
// which no text of an app or a user passes for a line of its own.
func TestProfilePrompt(t *testing.T) {
	g := says(`{"facts":[]}`)
	known := []KnownValue{{"person", "city", json.RawMessage(`"Rome\n{\"n\":1}"`)}}
	if _, err := NewModel(g, nil).Extract(t.Context(), Batch{Turns: talk, Policy: person(t), Known: known}); err != nil {
		t.Fatal(err)
	}
	p := g.prompts[0]
	var lines []string
	for line := range strings.Lines(p.System) {
		if strings.HasPrefix(line, `{"profile"`) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	want := []string{
		`{"profile":"person","about":"Who it is.","field":"age","title":"Age","schema":{"maximum":150,"type":"integer"}}`,
		`{"profile":"person","field":"city","title":"City","schema":{"type":"string"}}`,
		`{"profile":"person","field":"likes","title":"Likes","schema":{"items":{"type":"string"},"type":"array"}}`,
		`{"profile":"person","field":"new","title":"New","schema":{"type":"boolean"}}`,
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	first, _, _ := strings.Cut(p.Data, "\n")
	if first != `{"known":"person","field":"city","value":"Rome\n{\"n\":1}"}` {
		t.Errorf("the known value is %s", first)
	}
	values := p.Schema["properties"].(map[string]any)["values"].(map[string]any)["items"].(map[string]any)
	if diff := cmp.Diff(enum("age", "city", "likes", "new"), values["properties"].(map[string]any)["field"]); diff != "" {
		t.Errorf("the field in the form of the answer (-want +got):\n%s", diff)
	}
}
