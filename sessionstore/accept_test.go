package sessionstore

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/memoryd/memoryd/memory"
)

// Text in any shape that clients send comes out as the text of the event, with the
// role of the one who said it.
func TestAcceptEvent(t *testing.T) {
	for _, c := range []struct{ name, in, author, role, text string }{
		{"content", `{"content":"hi"}`, "user", "user", "hi"},
		{"text", `{"text":"hi"}`, "user", "user", "hi"},
		{"message", `{"message":"hi"}`, "user", "user", "hi"},
		{"parts", `{"role":"user","parts":[{"text":"hi"}]}`, "user", "user", "hi"},
		{"parts of a model", `{"role":"model","parts":[{"text":"hi"}]}`, "model", "model", "hi"},
		{"text beside null content", `{"content":null,"text":"hi"}`, "user", "user", "hi"},
		{"text beside empty content", `{"content":"","text":"hi"}`, "user", "user", "hi"},
		{"text beside content", `{"content":"hi","text":"ho","message":"hu"}`, "user", "user", "hi"},
		{"text of an agent", `{"author":"guide","text":"hi"}`, "guide", "model", "hi"},
		{"text beside actions", `{"text":"hi","actions":{"stateDelta":{"a":1}}}`, "user", "user", "hi"},
		{"empty text", `{"text":""}`, "user", "user", ""},
		{"a chat's message", `{"role":"assistant","content":"hi"}`, "model", "model", "hi"},
		{"a chat's message with parts", `{"role":"user","content":[{"type":"text","text":"hi"},` +
			`{"type":"image_url","image_url":{"url":"u"}},{"type":"input_text","text":"ho"}]}`, "user", "user", "hi\nho"},
		{"strings as parts", `{"content":["hi",{"text":"ho"}]}`, "user", "user", "hi\nho"},
		{"strings as parts of an object", `{"content":{"parts":["hi"]}}`, "user", "user", "hi"},
		{"a message in a message", `{"message":{"role":"assistant","content":"hi"}}`, "model", "model", "hi"},
		{"a message with parts in one", `{"message":{"role":"user","content":[{"text":"hi"}]}}`, "user", "user", "hi"},
		{"content without parts", `{"content":{"role":"model","text":"hi"}}`, "model", "model", "hi"},
		{"reasoning", `{"role":"assistant","content":[{"type":"reasoning","text":"hm"},{"text":"hi"}]}`,
			"model", "model", "hi"},
		{"a system's message", `{"role":"system","content":"hi"}`, "system", "system", "hi"},
		{"a developer's message", `{"role":"developer","content":"hi"}`, "system", "system", "hi"},
		{"a tool's message", `{"role":"tool","tool_call_id":"c","content":"hi"}`, "tool", "tool", "hi"},
		{"calls without text", `{"role":"assistant","content":null,"tool_calls":[{}]}`, "model", "model", ""},
		{"a human type", `{"type":"human","content":"hi"}`, "user", "user", "hi"},
		{"an ai type", `{"type":"ai","content":"hi"}`, "model", "model", "hi"},
		{"an ai chunk", `{"type":"AIMessageChunk","content":"hi"}`, "model", "model", "hi"},
		{"another type", `{"type":"message","role":"assistant","content":"hi"}`, "model", "model", "hi"},
		{"a type of the application's", `{"type":5,"content":"hi"}`, "user", "user", "hi"},
		{"a type beside an author", `{"type":"ai","author":"user","content":"hi"}`, "user", "user", "hi"},
		{"Human", `{"author":"Human","content":"hi"}`, "Human", "user", "hi"},
		{"Human without role", `{"author":"Human","content":{"parts":[{"text":"hi"}]}}`, "Human", "user", "hi"},
		{"Human as role", `{"author":"Bo","content":{"role":"Human","parts":[{"text":"hi"}]}}`, "Bo", "user", "hi"},
		{"USER", `{"author":"USER","content":"hi"}`, "USER", "user", "hi"},
		{"the user's id", `{"author":"ann","content":"hi"}`, "ann", "user", "hi"},
		{"the user's id with parts", `{"author":"Ann","content":{"parts":[{"text":"hi"}]}}`, "Ann", "user", "hi"},
		{"the user's id of a model", `{"author":"ann","content":{"role":"model","parts":[{"text":"hi"}]}}`,
			"ann", "model", "hi"},
		{"another one's name", `{"author":"bo","content":"hi"}`, "bo", "model", "hi"},
		{"another one's name, of role user", `{"author":"bo","role":"user","content":"hi"}`, "bo", "user", "hi"},
		{"bot", `{"author":"bot","content":"hi"}`, "bot", "model", "hi"},
		{"the role of the content first", `{"role":"model","content":{"role":"user","parts":[{"text":"hi"}]}}`,
			"user", "user", "hi"},
		{"System", `{"author":"System","content":"hi"}`, "System", "system", "hi"},
		{"nothing but heads", `{"id":"e","author":"bo","timestamp":0}`, "bo", "model", ""},
		{"empty content", `{"author":"bo","content":{}}`, "bo", "model", ""},
		{"content without text", `{"author":"bo","content":{"role":"model","parts":null}}`, "bo", "model", ""},
		{"a change of state", `{"actions":{"stateDelta":{"a":1}},"x":1}`, "user", "user", ""},
		{"an error", `{"author":"bo","error_code":"E","x":1}`, "bo", "model", ""},
		{"grounding", `{"author":"bo","groundingMetadata":{},"x":1}`, "bo", "model", ""},
		{"a call", `{"author":"bo","content":{"parts":[{"functionCall":{"name":"f"}}]}}`, "bo", "model", ""},
		{"a part of another kind", `{"author":"bo","content":{"parts":[{"newKind":{}}]}}`, "bo", "model", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := AcceptEvent("ann", []byte(c.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{c.author, c.role, c.text}, []string{e.Author, e.Content.Role, e.Text()}); diff != "" {
				t.Errorf("author, role, text (-want +got):\n%s\nDoc: %s", diff, e.Doc)
			}
			for _, read := range []func([]byte) (Event, error){
				ReadEvent,
				func(doc []byte) (Event, error) { return AcceptEvent("ann", doc) },
			} {
				again, err := read(e.Doc)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(e, again, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("read again (-first +second):\n%s", diff)
				}
			}
		})
	}
}

// All fields stay as they came, and content is there besides.
func TestAcceptEventDoc(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"text", `{"id":"e","text":"hi","x":1}`,
			`{"id":"e","text":"hi","x":1,"content":{"parts":[{"text":"hi"}]},"author":"user"}`},
		{"a chat's message", `{"role":"assistant","content":"hi","name":"n"}`,
			`{"role":"assistant","content":{"parts":[{"text":"hi"}],"role":"model"},"name":"n","author":"model"}`},
		{"the user's id", `{"author":"ann","content":{"parts":[{"text":"hi"}]}}`,
			`{"author":"ann","content":{"parts":[{"text":"hi"}],"role":"user"}}`},
		{"content with both", `{"author":"ann","content":{"role":"Human","text":"hi"}}`,
			`{"author":"ann","content":{"role":"Human","text":"hi","parts":[{"text":"hi"}]}}`},
		{"ADK's", `{"author":"guide","content":{"parts":[{"text":"hi","thoughtSignature":"QQ=="}],"role":"model"}}`,
			`{"author":"guide","content":{"parts":[{"text":"hi","thoughtSignature":"QQ=="}],"role":"model"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := AcceptEvent("ann", []byte(c.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(e.Doc)); diff != "" {
				t.Errorf("Doc (-want +got):\n%s", diff)
			}
		})
	}
}

// An event whose words would be lost is refused, and the error names the field.
func TestAcceptEventInvalid(t *testing.T) {
	for _, c := range []struct{ name, in, field string }{
		{"an unknown field alone", `{"body":"hi"}`, `"body"`},
		{"an unknown field beside heads", `{"id":"e","author":"user","timestamp":0,"body":"hi"}`, `"body"`},
		{"an unknown field beside null content", `{"content":null,"said":"hi"}`, `"said"`},
		{"a role alone", `{"role":"user"}`, `"role"`},
		{"two fields of text", `{"text":"hi","message":"ho"}`, "both text and message"},
		{"text of another type", `{"text":5}`, "text: want"},
		{"message of another type", `{"message":true}`, "message: want"},
		{"message without words", `{"message":{"body":"hi"}}`, `message has "body"`},
		{"content without words", `{"content":{"role":"user","body":"hi"}}`, `content has "body"`},
		{"parts as an object", `{"parts":{"text":"hi"}}`, "parts"},
		{"parts of content as an object", `{"content":{"parts":{"text":"hi"}}}`, "content.parts"},
		{"parts of content as a string", `{"content":{"parts":"hi"}}`, "content.parts"},
		{"a number as part", `{"content":["hi",5]}`, "content[1]"},
		{"a null as part", `{"content":{"parts":[null]}}`, "content.parts[0]"},
		{"a list as part", `{"parts":[["hi"]]}`, "parts[0]"},
		{"parts as deep as may be", `{"parts":[{"x":` + strings.Repeat("[", MaxDepth-3) + strings.Repeat("]", MaxDepth-3) +
			`}]}`, "deeper"},
		{"an unknown role", `{"content":{"role":"narrator","parts":[{"text":"hi"}]}}`, `content.role is "narrator"`},
		{"an unknown role of the event", `{"author":"user","role":"narrator","content":"hi"}`, `role is "narrator"`},
		{"a role of another type", `{"role":["user"],"content":"hi"}`, "role"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := AcceptEvent("ann", []byte(c.in))
			if !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), c.field) {
				t.Errorf("error is %v, want %v that names %s", err, memory.ErrInvalid, c.field)
			}
		})
	}
}

// Whatever is accepted can be read again as the same event.
func FuzzAcceptEvent(f *testing.F) {
	for _, in := range []string{
		`{"text":"hi"}`, `{"message":{"role":"ai","content":["hi",{"type":"text","text":"ho"}]}}`,
		`{"type":"human","content":"hi"}`, `{"role":"user","parts":[{"text":"hi"}]}`,
		`{"author":"ann","content":{"text":"hi"}}`,
	} {
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		e, err := AcceptEvent("ann", []byte(in))
		if err != nil {
			if !errors.Is(err, memory.ErrInvalid) {
				t.Errorf("AcceptEvent(%q): %v", in, err)
			}
			return
		}
		again, err := ReadEvent(e.Doc)
		if err != nil {
			t.Fatalf("%q is stored as %s: %v", in, e.Doc, err)
		}
		if diff := cmp.Diff(e, again, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q read again (-first +second):\n%s", in, diff)
		}
	})
}

// An offset that a client sends is read or refused. One of an earlier build, in which
// any value was an unknown field, can still be read.
func TestOffsetOfClient(t *testing.T) {
	for _, raw := range []string{
		`{"utcOffset":"-8","content":"hi"}`, `{"utcOffset":-480,"content":"hi"}`, `{"utcOffset":"-00:00","content":"hi"}`,
		`{"utcOffset":"+24:00","content":"hi"}`,
		`{"utcOffset":"+02:00","timestamp":"2026-03-01T23:30:00-08:00","content":"hi"}`,
	} {
		if e, err := AcceptEvent("ann", []byte(raw)); !errors.Is(err, memory.ErrInvalid) ||
			!strings.Contains(err.Error(), "utcOffset") {
			t.Errorf("%s gives %+v, %v", raw, e, err)
		}
		if _, err := ReadEvent([]byte(raw)); err != nil {
			t.Errorf("stored: %s: %v", raw, err)
		}
	}
	for _, raw := range []string{
		`{"utcOffset":"-08:00","timestamp":"2026-03-01T23:30:00-08:00","content":"hi"}`,
		`{"timestamp":"2026-03-01T23:30:00-08:00","utcOffset":null,"content":"hi"}`,
		`{"utcOffset":"-08:00","timestamp":"2026-03-02T07:30:00Z","content":"hi"}`,
		`{"utcOffset":"-08:00","timestamp":1772436600,"content":"hi"}`,
	} {
		e, err := AcceptEvent("ann", []byte(raw))
		if err != nil || e.UTCOffset != "-08:00" || FormatTime(e.Timestamp) != "2026-03-02T07:30:00.000000Z" {
			t.Errorf("%s gives %q at %v, %v", raw, e.UTCOffset, e.Timestamp, err)
		}
	}
	for _, time := range []string{"2026-03-01T23:30:00+24:00", "2026-03-01T23:30:00+23:60"} {
		if _, err := AcceptEvent("ann", []byte(`{"timestamp":"`+time+`","content":"hi"}`)); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%s: %v", time, err)
		}
	}
}
