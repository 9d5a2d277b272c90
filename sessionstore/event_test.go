package sessionstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/memoryd/memoryd/memory"
)

func parseEvent(t *testing.T, doc string) Event {
	t.Helper()
	e, err := ParseEvent([]byte(doc))
	if err != nil {
		t.Fatalf("ParseEvent(%.200s): %v", doc, err)
	}
	return e
}

// Known names come out in the contract's spelling, and the rest stays as it
// came.
func TestParseEventDoc(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"camelCase stays",
			`{"id":"e","author":"a","usageMetadata":{"promptTokenCount":1}}`,
			`{"id":"e","author":"a","usageMetadata":{"promptTokenCount":1}}`},
		{"snake_case of the event",
			`{"author":"a","invocation_id":"i","turn_complete":true,"long_running_tool_ids":["t"],` +
				`"usage_metadata":{"prompt_token_count":1},"custom_metadata":{"my_key":1},"error_code":"E"}`,
			`{"author":"a","invocationId":"i","turnComplete":true,"longRunningToolIds":["t"],` +
				`"usageMetadata":{"promptTokenCount":1},"customMetadata":{"my_key":1},"errorCode":"E"}`},
		{"snake_case of actions",
			`{"author":"a","actions":{"state_delta":{"user_name":"x"},"artifact_delta":{"a_b":1},` +
				`"rewind_before_invocation_id":"i","transfer_to_agent":"b","skip_summarization":true,` +
				`"requested_auth_configs":{"f_1":{"auth_scheme":1}}}}`,
			`{"author":"a","actions":{"stateDelta":{"user_name":"x"},"artifactDelta":{"a_b":1},` +
				`"rewindBeforeInvocationId":"i","transferToAgent":"b","skipSummarization":true,` +
				`"requestedAuthConfigs":{"f_1":{"auth_scheme":1}}}}`},
		{"snake_case of parts",
			`{"author":"a","content":{"role":"model","parts":[{"function_call":{"name":"f",` +
				`"args":{"function_call":{"mime_type":1}}}},{"function_response":{"response":{"file_data":1}}},` +
				`{"executable_code":{"code":"x"}},{"code_execution_result":{"outcome":"OK"}},{"text":"t",` +
				`"thought_signature":"QQ=="}]}}`,
			`{"author":"a","content":{"role":"model","parts":[{"functionCall":{"name":"f",` +
				`"args":{"function_call":{"mime_type":1}}}},{"functionResponse":{"response":{"file_data":1}}},` +
				`{"executableCode":{"code":"x"}},{"codeExecutionResult":{"outcome":"OK"}},{"text":"t",` +
				`"thoughtSignature":"QQ=="}]}}`},
		{"snake_case of what is within",
			`{"author":"a","grounding_metadata":{"grounding_chunks":[{"web":{"page_span":{"first_page":1},` +
				`"my_own":2}}]},"content":{"parts":[{"function_call":{"will_continue":true,` +
				`"partial_args":[{"json_path":"$.a_b"}],"args":{"file_uri":1}}}]},` +
				`"actions":{"compaction":{"start_timestamp":1,` +
				`"compacted_content":{"parts":[{"function_response":{"will_continue":false,` +
				`"response":{"will_continue":1}}}]}}}}`,
			`{"author":"a","groundingMetadata":{"groundingChunks":[{"web":{"pageSpan":{"firstPage":1},"my_own":2}}]},` +
				`"content":{"parts":[{"functionCall":{"willContinue":true,"partialArgs":[{"jsonPath":"$.a_b"}],` +
				`"args":{"file_uri":1}}}]},"actions":{"compaction":{"startTimestamp":1,` +
				`"compactedContent":{"parts":[{"functionResponse":{"willContinue":false,` +
				`"response":{"will_continue":1}}}]}}}}`},
		{"snake_case of files",
			`{"author":"a","content":{"role":"user","parts":[{"inline_data":{"mime_type":"image/png",` +
				`"display_name":"n","data":"QQ=="}},{"file_data":{"file_uri":"u","mime_type":"m"}}]}}`,
			`{"author":"a","content":{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","displayName":"n",` +
				`"data":"QQ=="}},{"fileData":{"fileUri":"u","mimeType":"m"}}]}}`},
		{"unknown snake_case",
			`{"author":"a","my_field":{"state_delta":1},"content":{"my_role":1,` +
				`"parts":[{"my_part":{"inline_data":1}}]},"actions":{"my_action":2}}`,
			`{"author":"a","my_field":{"state_delta":1},"content":{"my_role":1,` +
				`"parts":[{"my_part":{"inline_data":1}}]},"actions":{"my_action":2}}`},
		{"numbers, spaces and escapes of values",
			"{ \"author\" : \"a\" , \"x\" : [ 1e400 , 12345678901234567890,\n-0.0 ] , \"y\":\"\\u00e9\\/<&>\" }",
			"{\"author\":\"a\",\"x\":[ 1e400 , 12345678901234567890,\n-0.0 ],\"y\":\"\\u00e9\\/<&>\"}"},
		{"names in any characters", `{"author":"a","<&>é😀":1,"":2,"a\"b\\":3,"\u0041":4}`,
			`{"author":"a","<&>é😀":1,"":2,"a\"b\\":3,"A":4}`},
		{"nulls", `{"id":null,"author":"a","timestamp":null,"content":null,"actions":null,"partial":null}`,
			`{"id":null,"author":"a","timestamp":null,"content":null,"actions":null,"partial":null}`},
		{"no author, no role", `{"partial":false,"x":1}`, `{"partial":false,"x":1,"author":"user"}`},
		{"no author, a model's role", `{"content":{"role":"model"}}`, `{"content":{"role":"model"},"author":"model"}`},
		{"author null", `{"author":null,"x":1}`, `{"author":"user","x":1}`},
		{"a string for content", `{"author":"user","content":"hi \u00e9"}`,
			`{"author":"user","content":{"parts":[{"text":"hi \u00e9"}],"role":"user"}}`},
		{"a string for an agent's content", `{"author":"helper","content":""}`,
			`{"author":"helper","content":{"parts":[{"text":""}],"role":"model"}}`},
		{"a time in seconds", `{"author":"a","timestamp":1715176560.5}`,
			`{"author":"a","timestamp":"2024-05-08T13:56:00.500000Z"}`},
		{"an id alone", `{"id":"e"}`, `{"id":"e","author":"user"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := parseEvent(t, c.in)
			if diff := cmp.Diff(c.want, string(e.Doc)); diff != "" {
				t.Errorf("Doc (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(e, parseEvent(t, string(e.Doc)), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("parsed again (-first +second):\n%s", diff)
			}
		})
	}
}

func TestParseEventReading(t *testing.T) {
	got := parseEvent(t, `{"id":"e1","invocation_id":"i1","author":"helper",
		"timestamp":"2024-05-08T15:56:00.1234567+02:00","partial":true,
		"content":{"parts":[{"text":"a"},{"text":"b","thought":true},{"function_call":{}},
			{"functionResponse":{}},{"toolCall":{}},{"tool_response":{}},
			{"executableCode":{}},{"code_execution_result":{}},{"inlineData":{}},{"text":null},{"text":"c"}]},
		"actions":{"state_delta":{"k":{"a":1},"user:n":null,"temp:t":2},"compaction":{"x":1},
			"rewindBeforeInvocationId":"i0"}}`)
	want := Event{
		ID: "e1", InvocationID: "i1", Author: "helper", Partial: true, Compaction: true, RewindBefore: "i0",
		Timestamp:  time.Date(2024, 5, 8, 13, 56, 0, 123456000, time.UTC),
		UTCOffset:  "+02:00",
		StateDelta: State{"k": []byte(`{"a":1}`), "user:n": []byte(`null`), "temp:t": []byte(`2`)},
		Content: Content{Role: "model", Parts: []Part{{Text: "a"}, {Text: "b", Thought: true}, {Call: true},
			{Response: true}, {Call: true},
			{Response: true}, {Call: true}, {Call: true}, {}, {}, {Text: "c"}}},
		Doc: got.Doc,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
	if text := got.Text(); text != "a\nc" {
		t.Errorf("Text is %q, want a and c, without thoughts and tools", text)
	}
	if got.Timestamp.Location() != time.UTC {
		t.Errorf("timestamp is in %v, want UTC", got.Timestamp.Location())
	}
}

// An event that cannot be read is ErrInvalid, and the error names the field.
func TestParseEventInvalid(t *testing.T) {
	long := strings.Repeat("x", 10<<10)
	for _, c := range []struct{ name, in, field string }{
		{"nothing", ``, "event"},
		{"no JSON", `hello`, "event"},
		{"no object", `[1]`, "event"},
		{"null", `null`, "event"},
		{"cut off", `{"id":"e"`, "event"},
		{"cut off within a value", `{"id":"e","content":{"parts":[`, "at byte 30"},
		{"something after it", `{"id":"e"} {"id":"f"}`, "event"},
		{"garbage after it", `{"id":"e"}]`, "event"},
		{"an empty object", `{}`, "content"},
		{"an event in another object", `{"event":{"content":"x"}}`, "content"},
		{"a name in other letters", `{"Content":"x"}`, "content"},
		{"no UTF-8", "{\"id\":\"\xff\"}", "UTF-8"},
		{"no UTF-8 in an unknown field", "{\"x\":{\"y\":\"\xc3\x28\"}}", "UTF-8"},
		{"id", `{"id":1}`, "id"},
		{"id with a slash", `{"id":"a/b"}`, "event id"},
		{"id with a control character", `{"id":"a\nb"}`, "event id"},
		{"id of dots", `{"id":".."}`, "event id"},
		{"id of 257 bytes", `{"id":"` + strings.Repeat("x", 257) + `"}`, "event id has 257 bytes"},
		{"id of 10 kB", `{"id":"` + long + `"}`, "event id has 10240 bytes"},
		{"invocationId", `{"invocation_id":{}}`, "invocationId"},
		{"author", `{"author":["a"]}`, "author"},
		{"partial", `{"partial":"yes"}`, "partial"},
		{"timestamp", `{"timestamp":true}`, "timestamp"},
		{"content", `{"content":5}`, "content"},
		{"content as a list", `{"content":[{"text":"a"}]}`, "content"},
		{"role", `{"content":{"role":5}}`, "content.role"},
		{"parts", `{"content":{"parts":{"text":"a"}}}`, "content.parts"},
		{"part", `{"content":{"parts":[{},"a"]}}`, "content.parts[1]"},
		{"null part", `{"content":{"parts":[null]}}`, "content.parts[0]"},
		{"text", `{"content":{"parts":[{"text":["a"]}]}}`, "content.parts[0].text"},
		{"thought", `{"content":{"parts":[{"thought":1}]}}`, "content.parts[0].thought"},
		{"inlineData", `{"content":{"parts":[{"inline_data":"a"}]}}`, "content.parts[0].inlineData"},
		{"actions", `{"actions":[]}`, "actions"},
		{"stateDelta", `{"actions":{"state_delta":[]}}`, "actions.stateDelta"},
		{"rewind", `{"actions":{"rewindBeforeInvocationId":1}}`, "actions.rewindBeforeInvocationId"},
		{"state key that is empty", `{"actions":{"stateDelta":{"":1}}}`, "actions.stateDelta"},
		{"state key that is a prefix", `{"actions":{"stateDelta":{"user:":1}}}`, "actions.stateDelta"},
		{"state key that is long", `{"actions":{"stateDelta":{"` + long + `":1}}}`, "actions.stateDelta"},
		{"state key with NUL", `{"actions":{"stateDelta":{"a\u0000b":1}}}`, "actions.stateDelta"},
		{"a field twice", `{"id":"a","x":1,"id":"b"}`, `"id" twice`},
		{"an unknown field twice", `{"x":1,"x":1}`, `"x" twice`},
		{"a field in both spellings", `{"invocationId":"a","invocation_id":"a"}`, `"invocationId" twice`},
		{"a field twice, escaped", `{"id":"a","\u0069d":"b"}`, `"id" twice`},
		{"a field of actions twice", `{"actions":{"stateDelta":{},"state_delta":{}}}`,
			`actions has the field "stateDelta" twice`},
		{"a state key twice", `{"actions":{"stateDelta":{"k":1,"k":2}}}`, `actions.stateDelta has the field "k" twice`},
		{"a field of a part twice", `{"content":{"parts":[{"text":"a","text":"b"}]}}`,
			`content.parts[0] has the field "text" twice`},
		{"depth", `{"x":` + strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth) + `}`, "deeper"},
		{"depth without end", strings.Repeat(`{"a":`, 1<<20), "deeper"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := ParseEvent([]byte(c.in))
			if !errors.Is(err, memory.ErrInvalid) {
				t.Fatalf("error is %v, want %v", err, memory.ErrInvalid)
			}
			if !strings.Contains(err.Error(), c.field) {
				t.Errorf("error %q does not name %q", err, c.field)
			}
			if len(err.Error()) > 300 {
				t.Errorf("error has %d bytes: %.300s", len(err.Error()), err)
			}
			if e.Doc != nil {
				t.Errorf("an event beside the error: %s", e.Doc)
			}
		})
	}
}

func TestParseEventLimits(t *testing.T) {
	parseEvent(t, `{"id":"`+strings.Repeat("x", memory.MaxID)+`"}`)
	parseEvent(t, `{"id":"e","x":`+strings.Repeat("[", MaxDepth-1)+strings.Repeat("]", MaxDepth-1)+`}`)
	parseEvent(t, `{"id":"e","x":"`+strings.Repeat("[{", MaxDepth)+`\"]}\\","y":[]}`)
	parseEvent(t, `{"id":"e","x":[`+strings.Repeat("[],", 1000)+`{}]}`)
}

func TestParseTime(t *testing.T) {
	at := time.Date(2024, 5, 8, 13, 56, 0, 0, time.UTC)
	for in, want := range map[string]time.Time{
		`"2024-05-08T13:56:00Z"`:                at,
		`"2024-05-08T13:56:00.000000Z"`:         at,
		`"2024-05-08T13:56:00.123456Z"`:         at.Add(123456 * time.Microsecond),
		`"2024-05-08T13:56:00.123456999Z"`:      at.Add(123456 * time.Microsecond),
		`"2024-05-08T15:56:00+02:00"`:           at,
		`"2024-05-08T13:56:00.5\u005a"`:         at.Add(500 * time.Millisecond),
		`1715176560`:                            at,
		`1715176560.0`:                          at,
		`1.71517656e9`:                          at,
		`1715176560.123456`:                     at.Add(123456 * time.Microsecond),
		`1715176560.9999999`:                    at.Add(time.Second),
		`0`:                                     time.Unix(0, 0),
		`-0.5`:                                  time.Unix(-1, 5e8),
		`-1.25`:                                 time.Unix(-2, 75e7),
		`"1900-01-01T00:00:00Z"`:                memory.MinTime,
		`"2199-12-31T23:59:59.999999Z"`:         memory.MaxTime.Add(-time.Microsecond),
		`"2199-12-31T23:59:59.999999999-00:00"`: memory.MaxTime.Add(-time.Microsecond),
	} {
		got, err := ParseTime("timestamp", []byte(in))
		if err != nil || !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("ParseTime(%s) is %v, %v, want %v", in, got, err, want)
			continue
		}
		again, err := ParseTime("timestamp", quote(FormatTime(got)))
		if err != nil || !again.Equal(got) {
			t.Errorf("ParseTime of %s is %v, %v, want %v", FormatTime(got), again, err, got)
		}
	}
	for _, in := range []string{
		``, `null`, `true`, `{}`, `[]`, `""`, `"now"`, `"1715176560"`, `"2024-05-08"`, `"2024-05-08 13:56:00Z"`,
		`"2024-05-08T13:56:00"`,
		`"2024-02-30T00:00:00Z"`, `"2024-05-08T25:00:00Z"`,
		`"0000-01-01T00:00:00Z"`, `"0001-01-01T00:00:00Z"`, `"1899-12-31T23:59:59.999999Z"`, `"2200-01-01T00:00:00Z"`,
		`"9999-12-31T23:59:59Z"`,
		`"1900-01-01T00:00:00+01:00"`, `"10000-01-01T00:00:00Z"`,
		`1715176560123`, `1715176560123456`, `-1715176560123`, `1e15`, `1e16`, `1e400`, `-1e400`, `nan`, `NaN`, `inf`,
		`-Infinity`,
	} {
		got, err := ParseTime("after", []byte(in))
		if !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), "after") {
			t.Errorf("ParseTime(%s) is %v, %v, want %v naming the field", in, got, err, memory.ErrInvalid)
		}
	}
}

func TestStored(t *testing.T) {
	now := time.Date(2024, 5, 8, 13, 56, 0, 123456789, time.FixedZone("east", 3600))
	const nowText = "2024-05-08T12:56:00.123456Z"
	newID := func() string { return "new" }
	for _, c := range []struct{ name, in, want string }{
		{"complete", `{"id":"e","author":"a","timestamp":"2024-01-01T00:00:00.000000Z",` +
			`"actions":{"stateDelta":{"k":1}}}`,
			`{"id":"e","author":"a","timestamp":"2024-01-01T00:00:00.000000Z","actions":{"stateDelta":{"k":1}}}`},
		{"without both", `{"author":"a","x":1e400}`, `{"author":"a","x":1e400,"id":"new","timestamp":"` +
			nowText + `"}`},
		{"without id", `{"author":"a","timestamp":0}`,
			`{"author":"a","timestamp":"1970-01-01T00:00:00.000000Z","id":"new"}`},
		{"without time", `{"id":"e","author":"a"}`, `{"id":"e","author":"a","timestamp":"` + nowText + `"}`},
		{"nulls and blanks in place", `{"timestamp":null,"author":"a","id":""}`, `{"timestamp":"` +
			nowText + `","author":"a","id":"new"}`},
		{"temp", `{"id":"e","author":"a","timestamp":0,"actions":{"z":1,"stateDelta":{"temp:b":1,"k":[ 1 ],` +
			`"temp:temp:":2},"a":{"temp:x":1}}}`,
			`{"id":"e","author":"a","timestamp":"1970-01-01T00:00:00.000000Z","actions":{"z":1,` +
				`"stateDelta":{"k":[ 1 ]},"a":{"temp:x":1}}}`},
		{"temp alone", `{"author":"a","actions":{"state_delta":{"temp:b":1}}}`,
			`{"author":"a","actions":{"stateDelta":{}},"id":"new","timestamp":"` + nowText + `"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := parseEvent(t, c.in)
			before := string(e.Doc)
			got := e.Stored(newID, now)
			if diff := cmp.Diff(c.want, string(got.Doc)); diff != "" {
				t.Errorf("Doc (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(parseEvent(t, string(got.Doc)), got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("fields (-as parsed +got):\n%s", diff)
			}
			if string(e.Doc) != before {
				t.Errorf("the event it was made from is now %s", e.Doc)
			}
			if diff := cmp.Diff(got, got.Stored(newID, now.Add(time.Hour))); diff != "" {
				t.Errorf("stored again (-first +second):\n%s", diff)
			}
		})
	}
}

func TestWithStateDelta(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"no actions", `{"author":"a","x":1e400}`, `{"author":"a","x":1e400,"actions":{"stateDelta":{"k":"v"}}}`},
		{"null actions", `{"actions":null,"author":"a"}`, `{"actions":{"stateDelta":{"k":"v"}},"author":"a"}`},
		{"no delta", `{"author":"a","actions":{"escalate":true}}`,
			`{"author":"a","actions":{"escalate":true,"stateDelta":{"k":"v"}}}`},
		{"null delta", `{"author":"a","actions":{"stateDelta":null}}`,
			`{"author":"a","actions":{"stateDelta":{"k":"v"}}}`},
		{"other keys", `{"author":"a","actions":{"stateDelta":{"a":1.0}}}`,
			`{"author":"a","actions":{"stateDelta":{"a":1.0,"k":"v"}}}`},
		{"the same key", `{"author":"a","actions":{"stateDelta":{"k":1,"z":2}}}`,
			`{"author":"a","actions":{"stateDelta":{"k":"v","z":2}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := parseEvent(t, c.in)
			got, err := e.WithStateDelta("k", json.RawMessage(`"v"`))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got.Doc)); diff != "" {
				t.Errorf("Doc (-want +got):\n%s", diff)
			}
			if string(got.StateDelta["k"]) != `"v"` {
				t.Errorf("StateDelta is %s", got.StateDelta)
			}
		})
	}
	e := parseEvent(t, `{"author":"a"}`)
	for key, value := range map[string]string{"": `1`, "app:": `1`, "a\x00": `1`, "k": `no JSON`, "l": `1,"m":2`,
		strings.Repeat("k", memory.MaxID+1): `1`} {
		if _, err := e.WithStateDelta(key, json.RawMessage(value)); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("WithStateDelta(%.20q, %s): error is %v, want %v", key, value, err, memory.ErrInvalid)
		}
	}
}

func TestNewStateEvent(t *testing.T) {
	delta := State{"z": []byte(`"<b> & é"`), "app:a": []byte(`{ "b" : 1e400 }`), "k": []byte(`null`)}
	got, err := NewStateEvent("i-1", delta)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"invocationId":"i-1","author":"user","actions":{"stateDelta":{"app:a":{ "b" : 1e400 },"k":null,` +
		`"z":"<b> & é"}}}`
	if diff := cmp.Diff(want, string(got.Doc)); diff != "" {
		t.Errorf("Doc (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(delta, got.StateDelta); diff != "" {
		t.Errorf("StateDelta (-want +got):\n%s", diff)
	}
	for _, bad := range []State{{"": []byte(`1`)}, {"k": []byte(`{`)}, {"k": []byte(`1,"id":"x"`)}, {"k": nil}} {
		if e, err := NewStateEvent("i-1", bad); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("NewStateEvent(%s) is %s, %v, want %v", bad, e.Doc, err, memory.ErrInvalid)
		}
	}
}

func TestEventMarshalJSON(t *testing.T) {
	e := parseEvent(t, `{"id":"e","author":"a","x":12345678901234567890}`)
	got, err := json.Marshal(e)
	if err != nil || string(got) != string(e.Doc) {
		t.Errorf("Marshal is %s, %v, want %s", got, err, e.Doc)
	}
}

// The Doc of a parsed event parses again to the same event, and unknown fields
// come back byte for byte.
func FuzzParseEvent(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `{"id":"e1","author":"user","timestamp":"2024-05-08T13:56:00Z","content":"hello"}`,
		`{"id":"e1","invocation_id":"i","author":"agent","timestamp":1715176560.123456,"content":{"role":"model",` +
			`"parts":[{"text":"hi","thought":true},{"function_call":{"name":"f","args":{"mime_type":1}}},` +
			`{"inline_data":{"mime_type":"a","data":"QQ=="}}]},"actions":{"state_delta":{"user:k":null,"temp:t":1},` +
			`"artifact_delta":{"f":1},"compaction":{},"rewind_before_invocation_id":"i0"},"partial":true,` +
			`"unknown":{"a":[1e400,12345678901234567890,"\u00e9<"]}}`,
		`{"actions":null,"content":null,"":{"":0}}`, `{"a":1,"\u0061":2}`, `{"x":"\ud800","\udc00":"\ud83d\ude00"}`,
		`{"content":{"parts":[]},"timestamp":-0.5}`, ` { "x" : [ ] } `, `{"x":1}{"x":2}`, strings.Repeat(`[`,
			100), "{\"\u2028\":\"\u2028\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := ParseEvent(raw)
		if err != nil {
			if !errors.Is(err, memory.ErrInvalid) {
				t.Fatalf("error is %v, want %v", err, memory.ErrInvalid)
			}
			return
		}
		again, err := ParseEvent(e.Doc)
		if err != nil {
			t.Fatalf("Doc %s of %s: %v", e.Doc, raw, err)
		}
		if diff := cmp.Diff(e, again, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("Doc %s parsed again (-first +second):\n%s", e.Doc, diff)
		}
		var in, out map[string]json.RawMessage
		if err := errors.Join(json.Unmarshal(raw, &in), json.Unmarshal(e.Doc, &out)); err != nil {
			t.Fatal(err)
		}
		for name, value := range in {
			if _, known := eventFields[name]; !known && string(out[name]) != string(value) {
				t.Errorf("the field %q was %s and is %s", name, value, out[name])
			}
		}
		stored := e.Stored(func() string { return "new" }, time.Unix(0, 0))
		again, err = ParseEvent(stored.Doc)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(stored, again, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("stored %s parsed again (-first +second):\n%s", stored.Doc, diff)
		}
		for k := range again.StateDelta {
			if strings.HasPrefix(k, TempPrefix) {
				t.Errorf("stored %s has state %q", stored.Doc, k)
			}
		}
	})
}

// It reads an event of a few words, as a store does whenever it stores or
// returns one.
func BenchmarkParseEvent(b *testing.B) {
	e, err := ParseEvent([]byte(`{"id":"e-1","invocationId":"i-1","author":"user",` +
		`"timestamp":"2026-05-08T13:56:00.123456Z",` +
		`"content":{"role":"user","parts":[{"text":"I moved to Porto last week and I love the trams."}]},` +
		`"actions":{"stateDelta":{"mood":"good"}}}`))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseEvent(e.Doc); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleParseEvent() {
	e, err := ParseEvent([]byte(`{"invocation_id": "i-1", "author": "user", "content": "I moved to Lisbon.",` +
		` "my_field": 1.0}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.Text())
	fmt.Println(string(e.Doc))
	// Output:
	// I moved to Lisbon.
	// {"invocationId":"i-1","author":"user","content":{"parts":[{"text":"I moved to Lisbon."}],"role":"user"},"my_field":1.0}
}
