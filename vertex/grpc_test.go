package vertex_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	pb "github.com/memoryd/memoryd/vertex/vertexpb"
)

// dial connects to the gRPC of a fixture.
func (f *fixture) dial() *grpc.ClientConn {
	f.t.Helper()
	on, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.t.Fatal(err)
	}
	go func() { _ = f.grpc.Serve(on) }() // until the end of the test
	f.t.Cleanup(f.grpc.Stop)
	conn, err := grpc.NewClient(on.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// REST shows events that came by gRPC, and the other way round; an operation has the type of Google's
// message, and a fault its code.
func TestBothProtocols(t *testing.T) {
	f := newFixture(t)
	conn := f.dial()
	const service = "/google.cloud.aiplatform.v1beta1.SessionService/"
	const engine = "projects/p/locations/l/reasoningEngines/1"
	invoke := func(method string, in, out proto.Message) error { return conn.Invoke(t.Context(), method, in, out) }
	state, err := structpb.NewStruct(map[string]any{"k": "v", "app:n": 1.5, "gone": nil})
	if err != nil {
		t.Fatal(err)
	}
	var op pb.Operation
	if err := invoke(service+"CreateSession", &pb.CreateSessionRequest{Parent: engine, SessionId: "s1",
		Session: &pb.Session{UserId: "ann", SessionState: state}}, &op); err != nil {
		t.Fatal(err)
	}
	var made pb.Session
	if url := op.GetResponse().GetTypeUrl(); url != "type.googleapis.com/google.cloud.aiplatform.v1beta1.Session" {
		t.Errorf("the response is a %s", url)
	}
	if err := proto.Unmarshal(op.GetResponse().GetValue(), &made); err != nil || made.GetUserId() != "ann" ||
		!strings.HasPrefix(op.GetName(), engine+"/sessions/s1/operations/") || !op.GetDone() {
		t.Errorf("the operation is %v, of %v, %v", &op, &made, err)
	}
	var again pb.Operation
	if err := invoke("/google.longrunning.Operations/GetOperation", &pb.GetOperationRequest{Name: op.GetName()},
		&again); err != nil || !sameSession(t, again.GetResponse().GetValue(), &made) {
		t.Errorf("GetOperation: %v, %v, want %v", &again, err, &op)
	}
	content := &pb.Content{Role: "user", Parts: []*pb.Part{{Data: &pb.Part_InlineData{InlineData: &pb.Blob{
		MimeType: "image/png", Data: []byte{0, 255, 254}}}}, {Data: &pb.Part_FunctionCall{FunctionCall: &pb.FunctionCall{
		Name: "f", Args: state}}}}}
	event := &pb.SessionEvent{Author: "user", InvocationId: "i1", Content: content,
		Timestamp: &timestamppb.Timestamp{Seconds: 1_700_000_000, Nanos: 123_456_000},
		Actions:   &pb.EventActions{ArtifactDelta: map[string]int32{"a": 1}, TransferAgent: "b"},
		EventMetadata: &pb.EventMetadata{TurnComplete: true, Branch: "x.y", CustomMetadata: state,
			GroundingMetadata: &pb.GroundingMetadata{WebSearchQueries: []string{"q"}}}}
	if err := invoke(service+"AppendEvent", &pb.AppendEventRequest{Name: engine + "/sessions/s1", Event: event},
		&pb.AppendEventResponse{}); err != nil {
		t.Fatal(err)
	}
	f.must("POST", "/v1/"+engine+"/sessions/s1:appendEvent", `{"author": "agent", "invocationId": "i1",
		"timestamp": "2026-01-02T03:04:05Z", "rawEvent": {"id": "e2", "content": {"parts": [{"unknownPart": [1]}]}}}`)
	var list pb.ListEventsResponse
	if err := invoke(service+"ListEvents", &pb.ListEventsRequest{Parent: engine + "/sessions/s1"}, &list); err != nil {
		t.Fatal(err)
	}
	if len(list.GetSessionEvents()) != 2 {
		t.Fatalf("events are %v", &list)
	}
	got := list.GetSessionEvents()[0]
	got.Name = ""
	if !proto.Equal(got, event) {
		t.Errorf("the event came back as\n%v, want\n%v", got, event)
	}
	if got := list.GetSessionEvents()[1]; got.GetName() != engine+"/sessions/s1/events/e2" ||
		got.GetRawEvent().GetFields()["content"] == nil {
		t.Errorf("the event of REST is %v", got)
	}
	if shown := f.must("GET", "/v1/"+engine+"/sessions/s1/events", ""); !strings.Contains(shown, `"AP/+"`) {
		t.Errorf("REST shows %s", shown)
	}
	for method, want := range map[string]codes.Code{
		service + "GetSession": codes.NotFound, service + "Unknown": codes.Unimplemented,
		"/google.cloud.aiplatform.v1beta1.PredictionService/Predict": codes.Unimplemented,
	} {
		err := invoke(method, &pb.GetSessionRequest{Name: engine + "/sessions/none"}, &pb.Session{})
		if status.Code(err) != want {
			t.Errorf("%s: %v, want %v", method, err, want)
		}
	}
}

// sameSession reports whether the bytes of an operation are a session.
func sameSession(t *testing.T, raw []byte, want *pb.Session) bool {
	t.Helper()
	var got pb.Session
	if err := proto.Unmarshal(raw, &got); err != nil {
		t.Error(err)
	}
	return proto.Equal(&got, want)
}

// REST shows the memories that gRPC creates and changes, and the other way round.
func TestMemoriesOverBoth(t *testing.T) {
	f := newFixture(t)
	conn := f.dial()
	const engine = "projects/p/locations/memoryd/reasoningEngines/1"
	invoke := func(method string, in, out proto.Message) {
		t.Helper()
		if err := conn.Invoke(t.Context(), "/google.cloud.aiplatform.v1beta1.MemoryBankService/"+method, in,
			out); err != nil {
			t.Fatal(method, err)
		}
	}
	memory := func(op *pb.Operation) *pb.Memory {
		t.Helper()
		var m pb.Memory
		if url := op.GetResponse().GetTypeUrl(); url != "type.googleapis.com/google.cloud.aiplatform.v1beta1.Memory" {
			t.Errorf("the response is a %s", url)
		}
		if err := proto.Unmarshal(op.GetResponse().GetValue(), &m); err != nil || !op.GetDone() {
			t.Fatal(err, op)
		}
		return &m
	}
	var op pb.Operation
	invoke("CreateMemory", &pb.CreateMemoryRequest{Parent: engine, MemoryId: "m1", Memory: &pb.Memory{Fact: "Ann keeps bees.",
		DisplayName: "bees", Scope: map[string]string{"user_id": "ann"},
		Expiration: &pb.Memory_Ttl{Ttl: durationpb.New(time.Hour)}}}, &op)
	made := memory(&op)
	if made.GetName() != engine+"/memories/m1" || made.GetExpireTime().AsTime().Before(time.Now()) {
		t.Errorf("gRPC has made %v", made)
	}
	shown := f.must("GET", "/v1beta1/"+made.GetName(), "")
	if !strings.Contains(shown, `"fact":"Ann keeps bees."`) || !strings.Contains(shown, `"displayName":"bees"`) {
		t.Errorf("REST shows %s", shown)
	}
	op.Reset()
	invoke("UpdateMemory", &pb.UpdateMemoryRequest{Memory: &pb.Memory{Name: made.GetName(), Fact: "Ann keeps goats.",
		DisplayName: "not this"}, UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"fact"}}}, &op)
	if m := memory(&op); m.GetFact() != "Ann keeps goats." || m.GetDisplayName() != "bees" {
		t.Errorf("an update has made %v", m)
	}
	f.must("POST", "/v1beta1/"+engine+"/memories?memoryId=m2", `{"fact": "Ben swims.", "scope": {"user_id": "ben"},
		"topics": [{"customMemoryTopicLabel": "sport"}], "metadata": {"k": {"boolValue": true}}}`)
	var list pb.ListMemoriesResponse
	invoke("ListMemories", &pb.ListMemoriesRequest{Parent: engine, PageSize: 1}, &list)
	if ms := list.GetMemories(); len(ms) != 1 || ms[0].GetFact() != "Ben swims." || list.GetNextPageToken() == "" {
		t.Errorf("gRPC lists %v", &list)
	}
	var got pb.Memory
	invoke("GetMemory", &pb.GetMemoryRequest{Name: engine + "/memories/m2"}, &got)
	if got.GetScope()["user_id"] != "ben" || got.GetFact() != "Ben swims." {
		t.Errorf("gRPC shows %v", &got)
	}
	op.Reset()
	invoke("DeleteMemory", &pb.DeleteMemoryRequest{Name: made.GetName()}, &op)
	if url := op.GetResponse().GetTypeUrl(); url != "type.googleapis.com/google.protobuf.Empty" {
		t.Errorf("a deletion answers %v", &op)
	}
	if code, answer := f.call("", "GET", "/v1beta1/"+made.GetName(), ""); code != 404 {
		t.Errorf("REST shows a deleted memory: %d %s", code, answer)
	}
}
