package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
	"github.com/memoryd/memoryd/tools"
)

// A model sees names and arguments, in order, and which are required.
func TestAll(t *testing.T) {
	var got []string
	for _, tool := range tools.All() {
		p := tool.Parameters
		got = append(
			got,
			fmt.Sprintf(
				"%s%v%v%v %v %v",
				tool.Name,
				p.PropertyOrder,
				p.Required,
				tool.ReadOnly,
				tool.Destructive,
				tool.Idempotent,
			),
		)
		if len(p.PropertyOrder) > 5 || p.Type != "object" || tool.Result.Type != "object" {
			t.Errorf("%s takes %v, of type %q, and gives %q", tool.Name, p.PropertyOrder, p.Type, tool.Result.Type)
		}
		for _, s := range []*jsonschema.Schema{p, tool.Result} {
			raw, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(raw), `"null"`) ||
				!strings.HasSuffix(string(raw), `"additionalProperties":false}`) {
				t.Errorf("%s: schema %s", tool.Name, raw)
			}
		}
		for name, s := range p.Properties {
			if s.Description == "" {
				t.Errorf("%s: nothing tells what %s is", tool.Name, name)
			}
		}
	}
	want := []string{
		"load_memory[query][query]true false true",
		"search_memory[query topK kinds since until][query]true false true",
		"remember[fact topics][fact]false false true",
		"forget[id][id]false true true",
		"save_conversation[messages sessionId][messages]false false true",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	tools.All()[0] = nil
	if tools.All()[0] == nil {
		t.Error("a caller can change the list for others")
	}
	if i := tools.All()[0].Instruction; !strings.Contains(i, tools.LoadMemory) {
		t.Errorf("the instruction of load_memory is %q", i)
	}
}

// good are arguments that each tool takes.
var good = map[string][]string{
	"load_memory": {`{"query":"cat"}`, ` { "query" : "" } `},
	"search_memory": {
		`{"query":"cat"}`,
		`{"query":"cat","topK":5,"kinds":["fact","turn"],"since":"2024-05-08","until":"2024-05-08T12:00:00Z"}`,
		`{"query":"cat","topK":5.0}`,
		`{"query":"cat","topK":null,"kinds":null,"since":null}`,
		`{"query":"cat","kinds":[]}`,
		`{"query":"cat","topK":0}`,
	},
	"remember": {
		`{"fact":"I have a cat."}`,
		`{"fact":"I have a cat.","topics":["PETS"]}`,
		`{"fact":"x","topics":[]}`,
	},
	"forget": {`{"id":"m"}`},
	"save_conversation": {
		`{"messages":[{"role":"user","text":"I have a cat."}]}`,
		`{"messages":[{"role":"assistant","text":"A cat!","author":"guide","timestamp":"2024-05-08T12:00:00Z"}],"sessionId":"s"}`,
		`{"messages":[]}`,
	},
	"preload_memory": {`{"query":""}`},
}

// bad are arguments that each tool refuses, and words of the error.
var bad = map[string]map[string]string{
	"load_memory": {
		`{"query":5}`:                             "args.query",
		`{"query":["cat"]}`:                       "args.query",
		`{"query":null}`:                          "args.query",
		`{"query":"a","query":"b"}`:               "args.query",
		`{"Query":"cat"}`:                         "Query",
		`{"query":"cat","userId":"bob"}`:          "userId",
		`{"query":"cat","app":"other"}`:           "app",
		`{"query":"cat","scope":{"app":"other"}}`: "scope",
		`{"query":"cat","topK":5}`:                "topK",
		`{"query":"\ud800"}`:                      "args",
	},
	"search_memory": {
		`{"topK":5}`:                     "args.query",
		`{"query":"cat","topK":"5"}`:     "args.topK",
		`{"query":"cat","topK":1.5}`:     "args.topK",
		`{"query":"cat","topK":1e99}`:    "args.topK",
		`{"query":"cat","topK":[5]}`:     "args.topK",
		`{"query":"cat","kinds":"fact"}`: "args.kinds",
		`{"query":"cat","kinds":[5]}`:    "args.kinds[0]",
		`{"query":"cat","since":5}`:      "args.since",
		`{"query":"cat","until":{}}`:     "args.until",
		`{"query":"cat","user":"bob"}`:   "user",
	},
	"remember": {
		`{"topics":["PETS"]}`:            "args.fact",
		`{"fact":{}}`:                    "args.fact",
		`{"fact":"x","topics":"PETS"}`:   "args.topics",
		`{"fact":"x","topics":[null,5]}`: "args.topics",
		`{"fact":"x","sessionId":"s"}`:   "sessionId",
	},
	"forget": {`{"id":7}`: "args.id", `{"ids":["m"]}`: "ids", `{"id":"m","userId":"bob"}`: "userId"},
	"save_conversation": {
		`{"sessionId":"s"}`:                                "args.messages",
		`{"messages":null}`:                                "args.messages",
		`{"messages":"user: hi"}`:                          "args.messages",
		`{"messages":["hi"]}`:                              "args.messages[0]",
		`{"messages":[{"role":"user","content":"hi"}]}`:    "content",
		`{"messages":[{"role":5,"text":"hi"}]}`:            "args.messages[0].role",
		`{"messages":[{"role":"user","text":["hi"]}]}`:     "args.messages[0].text",
		`{"messages":[{"role":"user","text":"x","id":1}]}`: "id",
		`{"messages":[],"userId":"bob"}`:                   "userId",
	},
	"preload_memory": {`{"query":7}`: "args.query", `{"query":"cat","topK":3}`: "topK"},
}

// malformed are no arguments of any tool.
var malformed = []string{
	``,
	`{}`,
	`null`,
	`[]`,
	`["cat"]`,
	`"cat"`,
	`5`,
	`true`,
	`{`,
	`{"query"}`,
	`{} {}`,
	"{\"\xff\":1}",
	strings.Repeat("[", 100_000),
	strings.Repeat(`{"query":`, 100_000),
}

func TestCheck(t *testing.T) {
	for _, tool := range tools.All() {
		for _, args := range good[tool.Name] {
			if err := tool.Check(json.RawMessage(args)); err != nil {
				t.Errorf("%s %s: %v", tool.Name, args, err)
			}
		}
		for _, args := range append(malformed, slices.Collect(maps.Keys(bad[tool.Name]))...) {
			err := tool.Check(json.RawMessage(args))
			if !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), tool.Name) ||
				!strings.Contains(err.Error(), bad[tool.Name][args]) {
				t.Errorf(
					"%s %.80s: %.200v, want %v that names %q",
					tool.Name,
					args,
					err,
					memory.ErrInvalid,
					bad[tool.Name][args],
				)
			}
		}
	}
}

// A call refuses arguments that Check refuses, and values out of range.
func TestCallRefuses(t *testing.T) {
	b := newBench(t, tools.Options{})
	refused := func(name, args string, kind error, words string) {
		t.Helper()
		got, err := b.Call(t.Context(), ann, name, json.RawMessage(args))
		if !errors.Is(err, kind) || !strings.Contains(err.Error(), words) || got != nil {
			t.Errorf("%s %.80s: %.80s, %.200v, want %v with %q", name, args, got, err, kind, words)
		}
	}
	calls := map[string]int{}
	for name := range bad {
		for _, args := range malformed {
			refused(name, args, memory.ErrInvalid, name)
		}
		for args, words := range bad[name] {
			refused(name, args, memory.ErrInvalid, words)
		}
		calls[name+" malformed"] = len(malformed) + len(bad[name])
	}
	for _, c := range []struct{ name, args, words string }{
		{"load_memory", `{"query":""}`, "query"}, {"load_memory", `{"query":" \n"}`, "query"}, {"load_memory", `{"query":"` + strings.Repeat("x", 1<<20) + `"}`, fmt.Sprint(retrieve.MaxQuery)},
		{"search_memory", `{"query":"` + strings.Repeat("x ", 1<<19) + `"}`, fmt.Sprint(retrieve.MaxQuery)}, {"search_memory", `{"query":"cat","topK":0}`, "topK"}, {"search_memory", `{"query":"cat","topK":-1}`, "topK"},
		{"search_memory", `{"query":"cat","topK":101}`, "topK"}, {"search_memory", `{"query":"cat","kinds":["fax"]}`, "kind"}, {"search_memory", `{"query":"cat","since":"yesterday"}`, "args.since"},
		{"search_memory", `{"query":"cat","until":"2024-13-01"}`, "args.until"}, {"search_memory", `{"query":"cat","until":"9999-01-01"}`, "args.until"},
		{"remember", `{"fact":""}`, "fact"}, {"remember", `{"fact":" "}`, "fact"}, {"remember", `{"fact":"` + strings.Repeat("x", memory.MaxFact+1) + `"}`, fmt.Sprint(memory.MaxFact)},
		{"remember", `{"fact":"x","topics":[""]}`, "topics[0]"}, {"remember", `{"fact":"x","topics":["a/b"]}`, "topics[0]"}, {"forget", `{"id":""}`, "id"}, {"forget", `{"id":"a/b"}`, "id"},
		{"forget", `{"id":"` + strings.Repeat("x", 300) + `"}`, "id"},
		{"save_conversation", `{"messages":[]}`, "args.messages: want 1 to 1000"},
		{"save_conversation", `{"messages":[{"role":"user","text":"x"}` + strings.Repeat(`,{"role":"user","text":"x"}`, 1000) + `]}`, "not 1001"},
		{"save_conversation", `{"messages":[null]}`, "args.messages[0]: "},
		{"save_conversation", `{"messages":[{"role":"user","text":"x"},{"role":"tool","text":"x"}]}`, "args.messages[1]: invalid argument: role: want user or assistant, not \"tool\""},
		{"save_conversation", `{"messages":[{"role":"user","text":" \n"}]}`, "args.messages[0]: invalid argument: text is empty"},
		{"save_conversation", `{"messages":[{"role":"user","text":"x","timestamp":"yesterday"}]}`, "args.messages[0]: invalid argument: timestamp"},
		{"save_conversation", `{"messages":[{"role":"user","text":"x","timestamp":"2199-01-01T00:00:00Z"}]}`, "args.messages[0]: invalid argument: timestamp: \"2199-01-01T00:00:00Z\" is in the future: leave it out"},
		{"save_conversation", `{"messages":[{"role":"user","text":"x","author":"` + strings.Repeat("x", 300) + `"}]}`, "author"},
		{"save_conversation", `{"messages":[{"role":"user","text":"x"}],"sessionId":"a/b"}`, "args.sessionId"},
		{"save_conversation", `{"messages":[{"role":"user","text":"x"}],"sessionId":"` + strings.Repeat("x", 251) + `"}`, "args.sessionId"},
	} {
		refused(c.name, c.args, memory.ErrInvalid, c.words)
		calls[c.name+" malformed"]++
	}
	if diff := cmp.Diff(calls, b.counts.all()); diff != "" {
		t.Errorf("counted (-want +got):\n%s", diff)
	}
	refused(
		"load_memories",
		`{"query":"cat"}`,
		memory.ErrNotFound,
		"load_memory, search_memory, remember, forget, save_conversation, preload_memory",
	)
	refused("", `{}`, memory.ErrNotFound, "load_memory")
	if diff := cmp.Diff(map[string]int{}, b.counts.all()); diff != "" {
		t.Errorf("a tool that is none is counted (-want +got):\n%s", diff)
	}
	for _, scope := range []memory.Scope{{}, {App: "app"}, {App: "a/b", User: "ann"}} {
		if _, err := b.Call(t.Context(), scope, tools.LoadMemory, json.RawMessage(`{"query":"cat"}`)); !errors.Is(
			err,
			memory.ErrInvalid,
		) {
			t.Errorf("scope %v: %v, want %v", scope, err, memory.ErrInvalid)
		}
	}
}

// accepted checks a result against the schema that the tool declares.
func accepted(t *testing.T, tool *tools.Tool, result map[string]any) {
	t.Helper()
	schema, err := tool.Result.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(result); err != nil {
		t.Errorf("%s gives what it does not declare: %v: %v", tool.Name, err, result)
	}
}

func TestLoadAndSearch(t *testing.T) {
	b := newBench(t, tools.Options{})
	b.run()
	load, search := tools.All()[0], tools.All()[1]
	for _, tool := range []*tools.Tool{load, search} {
		raw, err := b.Call(t.Context(), ann, tool.Name, json.RawMessage(`{"query":"cat"}`))
		if err != nil || !strings.HasPrefix(string(raw), `{"memories":[]`) {
			t.Errorf("%s of nothing: %s, %v", tool.Name, raw, err)
		}
	}
	b.say("s", `{"id":"e1","content":"I adopted a cat called Miso.","timestamp":"2023-05-08T12:00:00Z"}`,
		`{"id":"e2","author":"guide","content":"A cat, how nice!","timestamp":"2023-05-08T12:00:05Z"}`)
	if _, err := b.ingest.Add(t.Context(), ann, givenCat); err != nil {
		t.Fatal(err)
	}
	got := b.call("load_memory", `{"query":"cat"}`)
	accepted(t, load, got)
	said := map[string]string{}
	memories, _ := at(got, "memories").([]any)
	for i, m := range memories {
		words := at(m, "content", "parts", 0, "text").(string)
		said[words] = fmt.Sprint(at(m, "content", "role"), " ", at(m, "author"), " ", at(m, "customMetadata"))
		if at(m, "id") == nil || i > 0 && at(m, "id") == at(memories, 0, "id") {
			t.Errorf("ids: %v", got)
		}
		if words != givenCat.Fact && !strings.HasPrefix(at(m, "timestamp").(string), "2023-05-08T12:00:0") {
			t.Errorf("timestamp of %v", m)
		}
	}
	want := map[string]string{
		"I adopted a cat called Miso.": "user user <nil>",
		"A cat, how nice!":             "model guide <nil>",
		"The cat eats fish.":           "user <nil> map[from:import]",
	}
	if diff := cmp.Diff(want, said); diff != "" || len(memories) != len(want) { // what is the very same is there once
		t.Errorf("load_memory gives %d memories (-want +got):\n%s", len(memories), diff)
	}

	texts := func(args string) (out []string) {
		t.Helper()
		got := b.call("search_memory", args)
		accepted(t, search, got)
		memories, _ := at(got, "memories").([]any)
		for _, m := range memories {
			out = append(out, at(m, "fact").(string))
			if s := at(m, "score").(float64); !(s > 0 && s <= 1) {
				t.Errorf("score %v", s)
			}
		}
		slices.Sort(out)
		return out
	}
	for args, want := range map[string][]string{
		`{"query":"cat","kinds":["turn"]}`:                                           {"A cat, how nice!", "I adopted a cat called Miso."},
		`{"query":"cat","kinds":["fact"],"until":"2023-05-08"}`:                      {"I adopted a cat called Miso."},
		`{"query":"cat","kinds":["turn"],"until":"2023-05-08T12:00:01Z"}`:            {"I adopted a cat called Miso."},
		`{"query":"cat","kinds":["turn"],"since":"2023-05-08"}`:                      {"A cat, how nice!", "I adopted a cat called Miso."},
		`{"query":"cat","kinds":["turn"],"since":"2023-05-09"}`:                      nil,
		`{"query":"cat","kinds":["turn"],"until":"2023-05-07"}`:                      nil,
		`{"query":"cat","topK":1,"kinds":["turn"],"until":"2023-05-08T12:00:00.1Z"}`: {"I adopted a cat called Miso."},
		`{"query":"cat","since":"2023-05-09"}`:                                       {"The cat eats fish."},
	} {
		if diff := cmp.Diff(want, texts(args)); diff != "" {
			t.Errorf("search_memory %s (-want +got):\n%s", args, diff)
		}
	}
	other, err := b.Call(
		t.Context(),
		memory.Scope{App: "app", User: "bob"},
		"load_memory",
		json.RawMessage(`{"query":"cat"}`),
	)
	if err != nil || string(other) != `{"memories":[]}` {
		t.Errorf("for another user: %s, %v", other, err)
	}
}

// Of a long turn a model sees the passage it asks about. A turn that cannot be cut
// between words is cut within one.
func TestLongText(t *testing.T) {
	b := newBench(t, tools.Options{})
	b.run()
	pages := strings.Repeat("The weather was fine that day. ", 1000)
	b.say(
		"s",
		string(must(json.Marshal(map[string]string{"id": "e1", "content": pages + "My cat is called Miso. " + pages}))),
		string(must(json.Marshal(map[string]string{"id": "e2", "content": "cat " + strings.Repeat("x", 50_000)}))),
	)
	for tool, text := range map[string][]any{"load_memory": {"content", "parts", 0, "text"}, "search_memory": {"fact"}} {
		found := ""
		memories, _ := at(b.call(tool, `{"query":"What is the cat called?"}`), "memories").([]any)
		for _, m := range memories {
			words := at(m, text...).(string)
			if found += words; len(words) > 6000 || words == "" {
				t.Errorf("%s shows %d bytes of one memory", tool, len(words))
			}
		}
		if !strings.Contains(found, "called Miso") {
			t.Errorf("%s does not show what was asked for: %.300s", tool, found)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Models leave out whose facts they are. Such a fact is the user's, and stays as it was sent.
func TestRememberWithoutSubject(t *testing.T) {
	b := newBench(t, tools.Options{RememberWait: ever})
	b.run()
	for _, facts := range [][2]string{
		{"Works at IBM", "Works at Google"}, {"Is vegetarian", "Is no longer vegetarian"},
		{"The user prefers dark mode", "The user prefers light mode"},
		{"Maya's favorite color is red", "Maya's favorite color is blue"}, {"Lives in Oslo", "Moved to Paris"},
	} {
		b.call("remember", `{"fact":"`+facts[0]+`"}`)
		given := fmt.Sprint(at(b.call("remember", `{"fact":"`+facts[1]+`"}`), "memories"))
		if !strings.Contains(given, "fact:"+facts[0]) || !strings.Contains(given, "supersededBy") {
			t.Errorf("%q does not give way to %q: %s", facts[0], facts[1], given)
		}
	}
}

// A fact that a model remembers is found, is not stored twice, is superseded by a
// fact that contradicts it, and is gone when it is forgotten.
func TestRememberAndForget(t *testing.T) {
	b := newBench(t, tools.Options{RememberWait: ever})
	b.run()
	remember, forget := tools.All()[2], tools.All()[3]
	tell := func(fact string) map[string]any {
		t.Helper()
		args, err := json.Marshal(map[string]any{"fact": fact, "topics": []string{memory.TopicPersonalInfo}})
		if err != nil {
			t.Fatal(err)
		}
		got := b.call("remember", string(args))
		accepted(t, remember, got)
		return got
	}
	first := tell("User is allergic to peanuts.")
	id, _ := at(first, "memories", 0, "id").(string)
	want := map[string]any{
		"status":   "stored",
		"memories": []any{map[string]any{"action": "CREATED", "id": id, "fact": "User is allergic to peanuts."}},
	}
	if diff := cmp.Diff(want, first); diff != "" || id == "" {
		t.Errorf("told first (-want +got):\n%s", diff)
	}
	known := map[string]any{"status": "known", "memories": []any{}}
	for _, again := range []string{"User is allergic to peanuts.", "The user is allergic to peanuts", "I'm allergic to peanuts."} {
		if diff := cmp.Diff(known, tell(again)); diff != "" {
			t.Errorf("told again (-want +got):\n%s", diff)
		}
	}
	found := b.call("search_memory", `{"query":"Who is allergic to peanuts?"}`)
	if n := len(at(found, "memories").([]any)); n != 1 || at(found, "memories", 0, "id") != id {
		t.Errorf("found %v", found)
	}
	tell("I live in Berlin.")
	moved := tell("User lives in Porto.")
	var changes []string
	for _, m := range at(moved, "memories").([]any) {
		changes = append(changes, fmt.Sprint(at(m, "action"), " ", at(m, "fact"), " ", at(m, "supersededBy") != nil))
	}
	slices.Sort(changes)
	if diff := cmp.Diff([]string{"CREATED User lives in Porto. false", "UPDATED I live in Berlin. true"}, changes); diff != "" {
		t.Errorf("told otherwise (-want +got):\n%s", diff)
	}

	gone := b.call("forget", `{"id":"`+id+`"}`)
	accepted(t, forget, gone)
	if diff := cmp.Diff(map[string]any{"forgotten": id}, gone); diff != "" {
		t.Errorf("forgotten (-want +got):\n%s", diff)
	}
	for _, args := range []string{`{"id":"` + id + `"}`, `{"id":"no-such-memory"}`} {
		if words, _ := b.call("forget", args)["error"].(string); !strings.Contains(words, "search_memory") {
			t.Errorf("forget %s: %q", args, words)
		}
	}
	if found := b.call("load_memory", `{"query":"Who is allergic to peanuts?"}`); len(
		at(found, "memories").([]any),
	) != 0 {
		t.Errorf("forgotten and found: %v", found)
	}
	if again := tell("User is allergic to peanuts."); at(again, "status") != "stored" {
		t.Errorf("told again once forgotten: %v", again)
	}
	if diff := cmp.Diff(map[string]int{"remember done": 7, "forget done": 1, "forget not_done": 2, "search_memory done": 1, "load_memory done": 1}, b.counts.all()); diff != "" {
		t.Errorf("counted (-want +got):\n%s", diff)
	}
}

// A fact that is not a memory in time is pending, and is stored all the same.
func TestRememberPending(t *testing.T) {
	b := newBench(t, tools.Options{RememberWait: 1})
	if diff := cmp.Diff(map[string]any{"status": "pending", "memories": []any{}}, b.call("remember", `{"fact":"I have a cat."}`)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	b.run()
	b.say("s", `{"id":"e","content":"Hello there."}`) // behind it
	if got := b.call("search_memory", `{"query":"cat"}`); at(got, "memories", 0, "fact") != "I have a cat." {
		t.Errorf("found %v", got)
	}
}

// The model is told of a failure that it can act on, without the address of the
// store. Internal errors, and calls whose caller left, are errors.
func TestFailures(t *testing.T) {
	b := newBench(t, tools.Options{})
	args := map[string]json.RawMessage{
		"load_memory":   []byte(`{"query":"cat"}`),
		"search_memory": []byte(`{"query":"cat"}`),
		"forget":        []byte(`{"id":"m"}`),
	}
	for _, c := range []struct {
		err   error
		words string // "" for an error
	}{
		{fmt.Errorf("dial 10.0.0.1: %w", memory.ErrUnavailable), "cannot be reached"}, {fmt.Errorf("store 10.0.0.1: %w", memory.ErrExhausted), "cannot be reached"},
		{fmt.Errorf("store 10.0.0.1: %w", memory.Refuse(0, "too many, see -many")), "exhausted: too many, see -many: go on"},
		{fmt.Errorf("10.0.0.1: %w", context.DeadlineExceeded), "cannot be reached"}, {fmt.Errorf("10.0.0.1: %w", memory.ErrAborted), "changed"}, {errors.New("corrupt page"), ""},
	} {
		b.store.before(func(context.Context) error { return c.err })
		for name, args := range args {
			got, err := b.Call(t.Context(), ann, name, args)
			if c.words == "" {
				if !errors.Is(err, c.err) || got != nil {
					t.Errorf("%s with %v: %s, %v", name, c.err, got, err)
				}
			} else if err != nil || !strings.HasPrefix(string(got), `{"error":"`) || !strings.Contains(string(got), c.words) || strings.Contains(string(got), "10.0.0.1") {
				t.Errorf("%s with %v: %s, %v", name, c.err, got, err)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	b.store.before(func(context.Context) error { cancel(); return fmt.Errorf("store: %w", memory.ErrUnavailable) })
	for name, args := range args {
		if got, err := b.Call(ctx, ann, name, args); !errors.Is(err, context.Canceled) {
			t.Errorf("%s whose caller left: %s, %v", name, got, err)
		}
	}
}
