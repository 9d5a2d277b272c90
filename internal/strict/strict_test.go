package strict_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/memoryd/memoryd/internal/strict"
	"github.com/memoryd/memoryd/memory"
)

type request struct {
	Name   string         `json:"name"`
	Count  int            `json:"count"`
	Parts  []request      `json:"parts"`
	Labels map[string]any `json:"labels"`
}

// An error names the field as the writer of the request knows it.
func TestDecode(t *testing.T) {
	for raw, want := range map[string]string{
		`{"name":"a","parts":[{"name":"b"}],"labels":{"x":{"y":null}}}`: "",
		`{"Name":"a"}`:                        `unknown field "Name"`,
		`{"parts":[{},{"id":1}]}`:             `unknown field "parts[1].id"`,
		`{"name":"a","name":"b"}`:             `field "name" is given twice`,
		`{"parts":[{"name":"a","name":"b"}]}`: `field "parts[0].name" is given twice`,
		`{"labels":{"x":1,"x":2}}`:            `field "labels.x" is given twice`,
		`{"name":1}`:                          `name: want a string, not that number`,
		`{"count":1.5}`:                       `count: want a whole number within its range, not that number`,
		`{"parts":{}}`:                        `parts: want a list, not an object`,
		`[]`:                                  `body: want an object, not a list`,
		`{"name":"` + "\xff" + `"}`:           `body is not valid JSON at byte 9: invalid UTF-8`,
		`{"name":"\ud800"}`:                   `body is not valid JSON at byte 9: `,
		`{"name":"a"`:                         `body is not valid JSON at byte 11: unexpected EOF`,
		`{} {}`:                               `body is not valid JSON at byte 3: `,
		`{"` + strings.Repeat("é", 200) + `":1}`: `unknown field "` + strings.Repeat("é", 100) + `…"`,
	} {
		err := strict.Decode("", []byte(raw), new(request))
		switch {
		case want == "" && err != nil, want != "" && !errors.Is(err, memory.ErrInvalid):
			t.Errorf("%s: error %v", raw, err)
		case want != "" && !strings.HasPrefix(err.Error(), "invalid argument: "+want):
			t.Errorf("%s: error %q, want %q", raw, err, want)
		}
	}
	if err := strict.Decode("args", []byte(`{"count":"x"}`), new(request)); err == nil ||
		!strings.Contains(err.Error(), "args.count: want a whole number") {
		t.Errorf("error %v", err)
	}
}

// The elements of a list stay as they are, and reading stops after one too many.
func TestElements(t *testing.T) {
	got, err := strict.Elements([]byte(`[ {"b":1.0,  "a":"\u00e9"} , null,3 ]`), 3)
	if err != nil || len(got) != 3 || string(got[0]) != `{"b":1.0,  "a":"\u00e9"}` || string(got[1]) != "null" ||
		string(got[2]) != "3" {
		t.Errorf("%s, error %v", got, err)
	}
	if got, err := strict.Elements([]byte(`[1,2,3,4]`), 2); err != nil || len(got) != 3 {
		t.Errorf("%s, error %v", got, err)
	}
	if got, err := strict.Elements([]byte(`[]`), 2); err != nil || len(got) != 0 {
		t.Errorf("%s, error %v", got, err)
	}
}

// The same value is always written as the same bytes, without null for what is
// empty.
func TestEncode(t *testing.T) {
	v := struct {
		At    time.Time      `json:"at"`
		Parts []request      `json:"parts"`
		By    map[string]int `json:"by"`
		Text  string         `json:"text"`
	}{At: time.Date(2026, 3, 1, 12, 0, 0, 1500, time.FixedZone("", 3600)), By: map[string]int{"b": 1, "a": 2, "c": 3}, Text: "<é & \u2028>"}
	const want = `{"at":"2026-03-01T11:00:00.000001Z","parts":[],"by":{"a":2,"b":1,"c":3},"text":"<é & ` + "\u2028" + `>"}`
	for range 8 {
		if raw, err := strict.Encode(v); err != nil || string(raw) != want {
			t.Fatalf("%s, error %v, want %s", raw, err, want)
		}
	}
	if _, err := strict.Encode("\xff"); err == nil {
		t.Error("invalid UTF-8 was written")
	}
}
