package sessiontest

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// roundTripCases check that events are kept whole: every later reader gets the
// event that the client sent, with the fields that memoryd does not know.
func roundTripCases() []testCase {
	return []testCase{
		{"documents", roundTripDocuments},
		{"spaces and escapes", roundTripSpelling},
		{"large event", roundTripLarge},
		{"readings", roundTripReadings},
		{"offsets", roundTripOffsets},
	}
}

// documents are events in the spelling of the contract, so that they are stored
// byte for byte as they came.
func documents() map[string]string {
	const head = `"author":"agent","timestamp":"2024-05-08T13:56:00.123456Z"`
	return map[string]string{
		"plain":      `{"id":"%s",` + head + `,"content":{"role":"model","parts":[{"text":"hello"}]}}`,
		"no content": `{"id":"%s",` + head + `}`,
		"nulls": `{"id":"%s",` + head + `,"content":null,"actions":null,"branch":null,"errorCode":null,` +
			`"unknown":null}`,
		"unknown fields": `{"zeta":{"b":1,"a":[{"y":null,"x":{}}]},"id":"%s",` +
			head + `,"content":{"unknown":[1,2],"role":"model",` +
			`"parts":[{"unknown":{"snake_case":1},"text":"a","text2":""},{"brandNew":{"inline_data":1}}]},` +
			`"actions":{"unknown":false,"stateDelta":{}},"alpha":[]}`,
		"snake case where it is data": `{"id":"%s",` +
			head + `,"custom_field":1,"customMetadata":{"usage_metadata":{"id":1},"time_stamp":2},` +
			`"actions":{"stateDelta":{"user_name":"x","artifact_delta":1}},"content":{"role":"model",` +
			`"parts":[{"functionCall":{"id":"f","name":"find_it","args":{"mime_type":1,` +
			`"inline_data":{"state_delta":2}}}}]}}`,
		"numbers": `{"id":"%s",` + head + `,"big":12345678901234567890,` +
			`"bigger":123456789012345678901234567890.000000000000000000001,"huge":1e400,"tiny":1E-400,` +
			`"zero":-0.0,"plus":1e+2,"actions":{"stateDelta":{"n":1e400,` +
			`"m":12345678901234567890,"f":1.0}}}`,
		"unicode": `{"id":"%s",` + head + `,"content":{"role":"model","parts":[{"text":"` +
			`Grüße, 世界 😀 e\u0301 \u00e9 \ud83d\ude00 \u0000 \u2028  "}]},"ключ":"значение","😀":{"é":"é"}}`,
		"HTML": `{"id":"%s",` +
			head + `,"content":{"role":"model",` +
			`"parts":[{"text":"<b>\"a\" & 'b'</b> \u003cbr\u003e \/ \\ \b\f\n\r\t"}]},"<k>&":"</script>"}`,
		"rewind": `{"id":"%s",` + head + `,"invocationId":"i-2","actions":{"rewindBeforeInvocationId":"i-1",` +
			`"stateDelta":{"k":null},"artifactDelta":{"f.txt":0}}}`,
		"compaction": `{"id":"%s",` + head + `,"actions":{"compaction":{"startTimestamp":1715176560.123456,` +
			`"endTimestamp":1715176561.5,"compactedContent":{"role":"model","parts":[{"text":"summary"}]}}}}`,
		"metadata": `{"id":"%s",` + head + `,"usageMetadata":{"promptTokenCount":12,"totalTokenCount":34,` +
			`"promptTokensDetails":[{"modality":"TEXT","tokenCount":12}]},"customMetadata":{"b":1,"a":{"c":[true,` +
			`false,null]}},"groundingMetadata":{"webSearchQueries":["q"]},"longRunningToolIds":["t1"],` +
			`"turnComplete":true,"finishReason":"STOP","avgLogprobs":-0.123456789012345678}`,
		"tools": `{"id":"%s",` + head + `,"content":{"role":"model","parts":[{"functionCall":{"id":"f1",` +
			`"name":"go","args":{"z":1,"a":"2"}},"thoughtSignature":"QUJD"},{"functionResponse":{"id":"f1",` +
			`"name":"go","response":{"result":[1.10]}}},{"executableCode":{"language":"PYTHON","code":"print(1)\n"}},` +
			`{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1\n"}},{"text":"hm","thought":true}]}}`,
		"files": `{"id":"%s",` +
			head + `,"content":{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"` + allBytes() +
			`","displayName":"a.png"}},{"fileData":{"fileUri":"gs://b/f","mimeType":"text/plain"},` +
			`"videoMetadata":{"fps":1.0}}]},"actions":{"artifactDelta":{"a.png":1,"user:b.txt":12}}}`,
		"auth": `{"id":"%s",` + head + `,"actions":{"transferToAgent":"other","escalate":true,` +
			`"skipSummarization":false,"endOfAgent":true,"agentState":{"step":1},` +
			`"requestedAuthConfigs":{"f1":{"auth_scheme":{"type":"oauth2"}}},` +
			`"requestedToolConfirmations":{"f1":{"hint":"sure?","confirmed":false}}}}`,
		"empty names": `{"id":"%s",` + head + `,"":{"":{"":""}}}`,
		"deep": `{"id":"%s",` + head + `,"deep":` + strings.Repeat("[", sessionstore.MaxDepth-1) +
			strings.Repeat("]", sessionstore.MaxDepth-1) + `}`,
	}
}

// allBytes is every byte in base64, so both of its last two characters too.
func allBytes() string {
	raw := make([]byte, 256)
	for i := range raw {
		raw[i] = byte(i)
	}
	return base64.StdEncoding.EncodeToString(raw)
}

// A stored event comes back byte for byte: in the answer, by Get, by the work
// list, and after a restart. Fields that memoryd does not know belong to newer
// versions of ADK and to the client, and numbers must not pass through a
// float64.
func roundTripDocuments(f *fixture) {
	for name, doc := range documents() {
		key := session(ann, name)
		doc = fmt.Sprintf(doc, name)
		f.ask(key)
		out := f.append(key, f.event(doc))
		f.equal("answer to "+name, string(out.Events[0].Doc), doc)
	}
	f.reopen()
	for name, doc := range documents() {
		key := session(ann, name)
		doc = fmt.Sprintf(doc, name)
		got := f.get(key)
		if len(got.Events) != 1 {
			f.t.Errorf("%s: %d events, want 1", name, len(got.Events))
			continue
		}
		f.equal(name, string(got.Events[0].Doc), doc)
		again := f.append(key, f.event(doc))
		f.equal("second answer to "+name, string(again.Events[0].Doc), doc)
		f.ask(key)
		work := f.claimOne(key)
		events, err := f.Events(f.t.Context(), work, 0, 10)
		if err != nil || len(events) != 1 {
			f.t.Fatalf("Events of %s: %v, %v", name, events, err)
		}
		f.equal("work of "+name, string(events[0].Doc), doc)
		f.finish(work, 1)
	}
}

// Inside a value even its spaces and escapes stay. Signatures and hashes over a
// value stay valid.
func roundTripSpelling(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{}`)
	value := "{ \"a\" : [ 1 ,\t2 ] ,\n \"\\u0061\" : \"\\u00e9\\/\" }"
	e := f.event(`{ "id" : "e1", "author": "user", "timestamp": "2024-05-08T13:56:00Z", "x": ` +
		value + `, "actions" : {"stateDelta" : {"k": ` + value + `}} }`)
	f.append(key, e)
	got := f.get(key)
	f.equal("document", string(got.Events[0].Doc), string(e.Doc))
	if !strings.Contains(string(got.Events[0].Doc), value) {
		f.t.Errorf("the value %s is not in %s", value, got.Events[0].Doc)
	}
	f.equal("state", string(got.State["k"]), value)
}

// Events of megabytes, such as inline images, come back whole. A store must not
// truncate or refuse them.
func roundTripLarge(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{}`)
	data := strings.Repeat(allBytes(), 8<<10) // 2.8 MB
	doc := `{"id":"e1","author":"user","timestamp":"2024-05-08T13:56:00.000000Z","content":{"role":"user",` +
		`"parts":[{"inlineData":{"mimeType":"image/png","data":"` + data + `"}}]}}`
	f.append(key, f.event(doc))
	if got := f.get(key).Events; len(got) != 1 || string(got[0].Doc) != doc {
		f.t.Error("a large event does not come back as it was")
	}
}

// The fields beside Doc are those that ParseEvent reads from it. Stores may
// keep the fields in columns; these must not drift from the document.
func roundTripReadings(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{}`)
	var events []sessionstore.Event
	for name, doc := range documents() {
		events = append(events, f.event(fmt.Sprintf(doc, name)))
	}
	events = append(events, f.event(`{"content":"without id and time","actions":{"stateDelta":{"temp:t":1,"k":1}}}`))
	answered := f.append(key, events...).Events
	for _, e := range append(answered, f.get(key).Events...) {
		f.equal(e.ID, e, f.event(string(e.Doc)))
	}
}

// An event keeps the offset that its time came with, beside the time in UTC. One whose
// time the store sets has the offset of its time zone then.
func roundTripOffsets(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{}`)
	zone := time.FixedZone("east", 5*3600+30*60)
	for i, c := range []struct {
		doc, offset string
		zone        *time.Location
	}{
		{`{"id":"e0","timestamp":"2026-03-01T23:30:00-08:00","content":"hi"}`, "-08:00", nil},
		{`{"id":"e1","timestamp":"2026-03-01T23:30:00-08:00","content":"hi"}`, "-08:00", zone},
		{`{"id":"e2","timestamp":"2026-03-01T23:30:00+00:00","content":"hi"}`, "+00:00", zone},
		{`{"id":"e3","timestamp":"2026-03-01T23:30:00Z","content":"hi"}`, "", nil},
		{`{"id":"e4","timestamp":"2026-03-01T23:30:00Z","content":"hi"}`, "+05:30", zone},
		{`{"id":"e5","timestamp":"2026-03-01T23:30:00Z","utcOffset":"-03:00","content":"hi"}`, "-03:00", zone},
		{`{"id":"e6","timestamp":1772407800,"content":"hi"}`, "+05:30", zone},
		{`{"id":"e7","content":"hi"}`, "", nil},
		{`{"id":"e8","content":"hi"}`, "+05:30", zone},
		{`{"content":"hi"}`, "+05:30", zone},
		{`{"id":"e10","utc_offset":"-03:00","content":"hi"}`, "-03:00", zone},
	} {
		e := f.append(key, f.event(c.doc).In(c.zone)).Events[0]
		f.equal("offset of "+c.doc, e.UTCOffset, memory.UTCOffset(c.offset))
		got := f.get(key).Events
		at := slices.IndexFunc(got, func(o sessionstore.Event) bool { return o.ID == e.ID })
		if at < 0 || len(got) != i+1 {
			f.t.Fatalf("%d events, and %s at %d", len(got), e.ID, at)
		}
		f.equal("what is read of "+c.doc, got[at], e)
		if got[at].Timestamp.Location() != time.UTC || strings.Contains(string(e.Doc), "23:30:00-08:00") {
			f.t.Errorf("%s is stored as %s", c.doc, e.Doc)
		}
	}
}
