package vertex_test

import (
	"bytes"
	"math"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	pb "github.com/memoryd/memoryd/vertex/vertexpb"
)

const (
	sessionService = "/google.cloud.aiplatform.v1beta1.SessionService/"
	memoryService  = "/google.cloud.aiplatform.v1beta1.MemoryBankService/"
	grpcEngine     = "projects/p/locations/memoryd/reasoningEngines/1"
)

// JSON that a message has no place for is read over gRPC all the same, wherever it is and however it
// was stored: as the text of a number, with U+FFFD for half a pair of surrogates, and with the last one
// of equal names.
func TestAnyJSONOverGRPC(t *testing.T) {
	f := newFixture(t)
	conn := f.dial()
	// The HTTP API takes numbers alone of these.
	const numbers = `{"big": 1e400, "small": -1e999, "half": "a\ufffdb", "twice": 2, "in": [{"x": "\ufffd"}],
		"fine": 1e300, "long": 12345678901234567890}`
	const odd = `{"big": 1e400, "small": -1e999, "half": "a\ud800b", "twice": 1, "twice": 2, "in": [{"x": 1e400, "x": "\udc00"}],
		"fine": 1e300, "long": 12345678901234567890}`
	const want = `{"big": "1e400", "small": "-1e999", "half": "a\ufffdb", "twice": 2, "in": [{"x": "\ufffd"}],
		"fine": 1e300, "long": 12345678901234567890}`
	event := func(id, odd string) string {
		return `{"id": "` + id + `", "author": "agent", "invocationId": "i", "timestamp": "2026-01-02T03:04:05Z", "customMetadata":
			` + odd + `, "actions": {"stateDelta": {"delta": ` + odd + `}, "artifactDelta": {"a": 1}}, "content": {"role": "model",
			"parts": [{"functionCall": {"name": "f", "args": ` + odd + `}}, {"text": "hello"}]}}`
	}
	native := func(path, body string) {
		t.Helper()
		r := httptest.NewRequest("POST", "http://localhost/v1/apps/1/users/ann/sessions"+path, strings.NewReader(body))
		w := httptest.NewRecorder()
		if f.bank.ServeHTTP(w, r); w.Code >= 300 {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	native("", `{"id": "native", "state": {"k": `+numbers+`}}`)
	native("/native/events", event("e1", numbers))
	f.must("POST", "/v1/reasoningEngines/1/sessions?sessionId=rest", `{"userId": "ann", "sessionState": {"k": `+odd+`}}`)
	f.must("POST", "/v1/reasoningEngines/1/sessions/rest:appendEvent", `{"author": "agent", "invocationId": "i",
		"timestamp": "2026-01-02T03:04:05Z", "rawEvent": `+event("e2", odd)+`}`)
	var expect structpb.Struct
	if err := protojson.Unmarshal([]byte(want), &expect); err != nil {
		t.Fatal(err)
	}
	same := func(what string, got *structpb.Value) {
		t.Helper()
		if !proto.Equal(got.GetStructValue(), &expect) {
			t.Errorf("%s is %v\nwant %v", what, got, &expect)
		}
	}
	invoke := func(method string, in, out proto.Message) {
		t.Helper()
		if err := conn.Invoke(t.Context(), sessionService+method, in, out); err != nil {
			t.Errorf("%s: %v", method, err)
		}
	}
	for _, id := range []string{"native", "rest"} {
		name := grpcEngine + "/sessions/" + id
		var got, changed pb.Session
		invoke("GetSession", &pb.GetSessionRequest{Name: name}, &got)
		same(id+": the state", got.GetSessionState().GetFields()["k"])
		invoke("UpdateSession", &pb.UpdateSessionRequest{Session: &pb.Session{Name: name, DisplayName: "x"}}, &changed)
		same(id+": the state of an update", changed.GetSessionState().GetFields()["delta"])
		var events pb.ListEventsResponse
		invoke("ListEvents", &pb.ListEventsRequest{Parent: name}, &events)
		if len(events.GetSessionEvents()) != 1 {
			t.Fatalf("%s: events are %v", id, &events)
		}
		e := events.GetSessionEvents()[0]
		same(id+": the raw event", e.GetRawEvent().GetFields()["customMetadata"])
		same(id+": the metadata", structpb.NewStructValue(e.GetEventMetadata().GetCustomMetadata()))
		same(id+": the delta", e.GetActions().GetStateDelta().GetFields()["delta"])
		if parts := e.GetContent().GetParts(); len(parts) != 2 || parts[1].GetText() != "hello" {
			t.Errorf("%s: the parts are %v", id, parts)
		} else {
			same(id+": the arguments", structpb.NewStructValue(parts[0].GetFunctionCall().GetArgs()))
		}
	}
	var list pb.ListSessionsResponse
	if invoke("ListSessions", &pb.ListSessionsRequest{Parent: grpcEngine}, &list); len(list.GetSessions()) != 2 {
		t.Errorf("sessions are %v", &list)
	}
}

// A part of an event that no message has a place for is left out alone: the other parts are there, and
// the raw event has it.
func TestPartsOverGRPC(t *testing.T) {
	f := newFixture(t)
	conn := f.dial()
	f.must("POST", "/v1/reasoningEngines/1/sessions?sessionId=s", `{"userId": "ann"}`)
	f.must("POST", "/v1/reasoningEngines/1/sessions/s:appendEvent", `{"author": "agent", "invocationId": "i",
		"timestamp": "2026-01-02T03:04:05Z", "rawEvent": {"id": "e", "branch": "b", "content": {"parts": [{"text": "x"}]},
		"actions": {"artifactDelta": {"a": 1e400}}}}`)
	var events pb.ListEventsResponse
	err := conn.Invoke(t.Context(), sessionService+"ListEvents", &pb.ListEventsRequest{Parent: grpcEngine + "/sessions/s"},
		&events)
	if err != nil || len(events.GetSessionEvents()) != 1 {
		t.Fatal(err, &events)
	}
	e := events.GetSessionEvents()[0]
	if e.GetActions() != nil || e.GetEventMetadata().GetBranch() != "b" || len(e.GetContent().GetParts()) != 1 ||
		e.GetRawEvent().GetFields()["actions"] == nil {
		t.Errorf("the event is %v", e)
	}
}

// unknown is a message of bytes, which go out as they are.
func unknown(raw []byte) proto.Message {
	out := &pb.AppendEventResponse{}
	out.ProtoReflect().SetUnknown(raw)
	return out
}

// nestedState is a request to make a session whose state is a list of a list, so many levels deep.
func nestedState(levels int) []byte {
	var backwards []byte // each length counts what comes behind it
	within := func(field protowire.Number, before ...byte) {
		header := protowire.AppendTag(before, field, protowire.BytesType)
		header = protowire.AppendVarint(header, uint64(len(backwards)))
		slices.Reverse(header)
		backwards = append(backwards, header...)
	}
	for range levels {
		within(1) // ListValue.values
		within(6) // Value.list_value
	}
	within(2, 0x0a, 1, 'k')                              // of an entry of Struct.fields, its value behind its key
	for _, field := range []protowire.Number{1, 10, 2} { // fields, sessionState, session
		within(field)
	}
	slices.Reverse(backwards)
	return backwards
}

// A value that JSON has no form for is refused by the name of its field, and nothing changes.
func TestBadValuesOverGRPC(t *testing.T) {
	f := newFixture(t)
	conn := f.dial()
	f.must("POST", "/v1/reasoningEngines/1/sessions?sessionId=s", `{"userId": "ann", "displayName": "before"}`)
	f.must("POST", "/v1/reasoningEngines/1/memories?memoryId=m", `{"fact": "before", "scope": {"user_id": "ann"}}`)
	before := f.must("GET", "/v1/reasoningEngines/1/sessions", "") + f.must("GET", "/v1/reasoningEngines/1/memories", "")
	late := &timestamppb.Timestamp{Seconds: 253402300800}
	long := &durationpb.Duration{Seconds: 1 << 60}
	number := func(n float64) *structpb.Struct {
		return &structpb.Struct{Fields: map[string]*structpb.Value{"a b": structpb.NewListValue(&structpb.ListValue{
			Values: []*structpb.Value{structpb.NewNullValue(), structpb.NewNumberValue(n)}})}}
	}
	const session, memory = grpcEngine + "/sessions/s", grpcEngine + "/memories/m"
	for _, tt := range []struct {
		method string
		in     proto.Message
		want   string
	}{
		{sessionService + "CreateSession", &pb.CreateSessionRequest{Parent: grpcEngine, Session: &pb.Session{UserId: "a",
			Expiration: &pb.Session_ExpireTime{ExpireTime: late}}}, "session.expireTime: 253402300800 seconds"},
		{sessionService + "CreateSession", &pb.CreateSessionRequest{Parent: grpcEngine, Session: &pb.Session{UserId: "a",
			SessionState: number(math.NaN())}}, `session.sessionState.fields["a b"].listValue.values[1]: NaN`},
		{sessionService + "UpdateSession", &pb.UpdateSessionRequest{Session: &pb.Session{Name: session, DisplayName: "x",
			Expiration: &pb.Session_Ttl{Ttl: long}}}, "session.ttl: 1152921504606846976 seconds"},
		{sessionService + "AppendEvent", &pb.AppendEventRequest{Name: session, Event: &pb.SessionEvent{Author: "a",
			InvocationId: "i", Timestamp: late}}, "event.timestamp"},
		{sessionService + "AppendEvent", &pb.AppendEventRequest{Name: session, Event: &pb.SessionEvent{Author: "a",
			InvocationId: "i", Timestamp: timestamppb.Now(), RawEvent: number(math.Inf(-1))}},
			`event.rawEvent.fields["a b"].listValue.values[1]: -Inf`},
		{sessionService + "AppendEvent", &pb.AppendEventRequest{Name: session, Event: &pb.SessionEvent{Author: "a",
			InvocationId: "i", Timestamp: timestamppb.Now(), Actions: &pb.EventActions{StateDelta: &structpb.Struct{
				Fields: map[string]*structpb.Value{"k": {}}}}}}, `event.actions.stateDelta.fields["k"]: a value has no kind`},
		{memoryService + "CreateMemory", &pb.CreateMemoryRequest{Parent: grpcEngine, Memory: &pb.Memory{Fact: "x",
			Scope: map[string]string{"user_id": "a"}, Expiration: &pb.Memory_ExpireTime{ExpireTime: late}}}, "memory.expireTime"},
		{memoryService + "UpdateMemory", &pb.UpdateMemoryRequest{Memory: &pb.Memory{Name: memory, Fact: "x",
			CreateTime: &timestamppb.Timestamp{Nanos: -1}}}, "memory.createTime: 0 seconds and -1 nanos"},
		{memoryService + "UpdateMemory", &pb.UpdateMemoryRequest{Memory: &pb.Memory{Name: memory, Fact: "x"},
			UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"fact", "noSuchField"}}}, `"noSuchField"`},
		{memoryService + "GenerateMemories", &pb.GenerateMemoriesRequest{Parent: grpcEngine,
			Source: &pb.GenerateMemoriesRequest_VertexSessionSource_{VertexSessionSource: &pb.
				GenerateMemoriesRequest_VertexSessionSource{Session: session, EndTime: late}}}, "vertexSessionSource.endTime"},
	} {
		err := conn.Invoke(t.Context(), tt.method, tt.in, &pb.Operation{})
		if status.Code(err) != codes.InvalidArgument || !strings.Contains(status.Convert(err).Message(), tt.want) {
			t.Errorf("%s: %v\nwant %s", tt.method, err, tt.want)
		}
	}
	// A message that is large in memory alone is refused before it is.
	raw := protowire.AppendBytes(protowire.AppendTag([]byte("\x0a\x01x"), 3, protowire.BytesType),
		bytes.Repeat([]byte("\x0a\x00"), 1<<20))
	if err := conn.Invoke(t.Context(), memoryService+"GenerateMemories", unknown(raw), &pb.Operation{}); status.Code(
		err) != codes.InvalidArgument || !strings.Contains(err.Error(),
		"directContentsSource.events: the message has more than 1048576 values") {
		t.Errorf("a million events: %v", err)
	}
	// So is one that nests, however deep: it takes neither stack nor a long error.
	raw = nestedState(600_000)
	if err := conn.Invoke(t.Context(), sessionService+"CreateSession", unknown(raw), &pb.Operation{}); status.Code(
		err) != codes.InvalidArgument || !strings.Contains(err.Error(), "recursion depth") || len(err.Error()) > 1000 {
		t.Errorf("a deep message: %.1000v", err)
	}
	// A library of gRPC calls a text that is not UTF-8 a fault of the server.
	raw = []byte("\x0a\x02\xff\xff")
	if err := conn.Invoke(t.Context(), sessionService+"GetSession", unknown(raw), &pb.Session{}); status.Code(err) !=
		codes.InvalidArgument || !strings.Contains(err.Error(), "UTF-8") {
		t.Errorf("a name that is not UTF-8: %v", err)
	}
	if after := f.must("GET", "/v1/reasoningEngines/1/sessions", "") + f.must("GET", "/v1/reasoningEngines/1/memories",
		""); after != before {
		t.Errorf("refused calls have changed\n%s\nto\n%s", before, after)
	}
}

// The mask of an update takes both cases and *, as over REST.
func TestMasksOverGRPC(t *testing.T) {
	f := newFixture(t)
	conn := f.dial()
	f.must("POST", "/v1/reasoningEngines/1/sessions?sessionId=s", `{"userId": "ann"}`)
	f.must("POST", "/v1/reasoningEngines/1/memories?memoryId=m", `{"fact": "f", "scope": {"user_id": "ann"}}`)
	for _, path := range []string{"displayName", "display_name", "*"} {
		mask := &fieldmaskpb.FieldMask{Paths: []string{path}}
		var session pb.Session
		if err := conn.Invoke(t.Context(), sessionService+"UpdateSession", &pb.UpdateSessionRequest{UpdateMask: mask,
			Session: &pb.Session{Name: grpcEngine + "/sessions/s", DisplayName: "by " + path}}, &session); err != nil ||
			session.GetDisplayName() != "by "+path {
			t.Errorf("%s: %v, %v", path, &session, err)
		}
		var op pb.Operation
		if err := conn.Invoke(t.Context(), memoryService+"UpdateMemory", &pb.UpdateMemoryRequest{UpdateMask: mask,
			Memory: &pb.Memory{Name: grpcEngine + "/memories/m", DisplayName: "by " + path}}, &op); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if shown := f.must("GET", "/v1/reasoningEngines/1/memories/m", ""); !strings.Contains(shown, `"by `+path+`"`) ||
			!strings.Contains(shown, `"fact":"f"`) {
			t.Errorf("%s: the memory is %s", path, shown)
		}
	}
}
