package vertex_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	pb "github.com/memoryd/memoryd/vertex/vertexpb"
)

// named are the requests of all methods, which name a resource of a kind and would succeed for the
// right one.
var named = map[string]struct {
	kind    string
	request func(name string) proto.Message
	answer  proto.Message
}{
	"CreateSession": {"engine", func(name string) proto.Message {
		return &pb.CreateSessionRequest{Parent: name, Session: &pb.Session{UserId: "ann"}}
	}, &pb.Operation{}},
	"GetSession": {"session", func(name string) proto.Message { return &pb.GetSessionRequest{Name: name} }, &pb.Session{}},
	"ListSessions": {"engine", func(name string) proto.Message { return &pb.ListSessionsRequest{Parent: name} },
		&pb.ListSessionsResponse{}},
	"UpdateSession": {"session", func(name string) proto.Message {
		return &pb.UpdateSessionRequest{Session: &pb.Session{Name: name, DisplayName: "changed"}}
	}, &pb.Session{}},
	"DeleteSession": {"session", func(name string) proto.Message { return &pb.DeleteSessionRequest{Name: name} },
		&pb.Operation{}},
	"ListEvents": {"session", func(name string) proto.Message { return &pb.ListEventsRequest{Parent: name} },
		&pb.ListEventsResponse{}},
	"AppendEvent": {"session", func(name string) proto.Message {
		return &pb.AppendEventRequest{Name: name, Event: &pb.SessionEvent{Author: "user", InvocationId: "i",
			Timestamp: timestamppb.Now()}}
	}, &pb.AppendEventResponse{}},
	"CreateMemory": {"engine", func(name string) proto.Message {
		return &pb.CreateMemoryRequest{Parent: name, Memory: &pb.Memory{Fact: "x", Scope: map[string]string{"user_id": "ann"}}}
	}, &pb.Operation{}},
	"GetMemory": {"memory", func(name string) proto.Message { return &pb.GetMemoryRequest{Name: name} }, &pb.Memory{}},
	"UpdateMemory": {"memory", func(name string) proto.Message {
		return &pb.UpdateMemoryRequest{Memory: &pb.Memory{Name: name, Fact: "changed"}}
	}, &pb.Operation{}},
	"ListMemories": {"engine", func(name string) proto.Message { return &pb.ListMemoriesRequest{Parent: name} },
		&pb.ListMemoriesResponse{}},
	"DeleteMemory": {"memory", func(name string) proto.Message { return &pb.DeleteMemoryRequest{Name: name} },
		&pb.Operation{}},
	"GenerateMemories": {"engine", func(name string) proto.Message {
		return &pb.GenerateMemoriesRequest{Parent: name, Scope: map[string]string{"user_id": "ann"},
			Source: &pb.GenerateMemoriesRequest_DirectMemoriesSource_{DirectMemoriesSource: &pb.
				GenerateMemoriesRequest_DirectMemoriesSource{DirectMemories: []*pb.
				GenerateMemoriesRequest_DirectMemoriesSource_DirectMemory{{Fact: "Ann sings."}}}}}
	}, &pb.Operation{}},
	"RetrieveMemories": {"engine", func(name string) proto.Message {
		return &pb.RetrieveMemoriesRequest{Parent: name, Scope: map[string]string{"user_id": "ann"}}
	}, &pb.RetrieveMemoriesResponse{}},
	"GetOperation": {"operation", func(name string) proto.Message { return &pb.GetOperationRequest{Name: name} },
		&pb.Operation{}},
}

// Every method takes names of the one shape that it is about, with the project and without, and calls
// every other name bad input. So the name of a part never stands for the whole.
func TestNamesOverGRPC(t *testing.T) {
	f := newFixture(t)
	conn := f.dial()
	op := f.must("POST", "/v1/"+grpcEngine+"/sessions?sessionId=s", `{"userId": "ann"}`)
	_, op, _ = strings.Cut(op, `"name":"`)
	op, _, _ = strings.Cut(op, `"`)
	f.must("POST", "/v1/"+grpcEngine+"/memories?memoryId=m", `{"fact": "f", "scope": {"user_id": "ann"}}`)
	stored := func() string {
		return f.must("GET", "/v1/"+grpcEngine+"/sessions", "") + f.must("GET", "/v1/"+grpcEngine+"/memories", "") +
			f.must("GET", "/v1/"+grpcEngine+"/sessions/s/events", "")
	}
	names := map[string][]string{
		"engine":    {grpcEngine, "reasoningEngines/1", "projects/q/locations/m/memoryBanks/1"},
		"session":   {grpcEngine + "/sessions/s", "reasoningEngines/1/sessions/s"},
		"memory":    {grpcEngine + "/memories/m", "reasoningEngines/1/memories/m"},
		"operation": {op, op[strings.Index(op, "operations/"):]},
		"": {"", "x", "/", "projects/p/locations/memoryd", "projects/p/locations/memoryd/reasoningEngines", "reasoningEngines/",
			grpcEngine + "/", grpcEngine + "/sessions", grpcEngine + "/memories", grpcEngine + "/sessions/",
			grpcEngine + "/memories/", grpcEngine + "/sessions/s/events", grpcEngine + "/sessions/s/events/e",
			grpcEngine + "/sessions/s/events/e/x", grpcEngine + "/sessions/s/memories/m", grpcEngine + "/memories/m/revisions",
			grpcEngine + "/memories/m/revisions/1", grpcEngine + "/memories/m/revisions/1/x", grpcEngine + "/sandboxes/s",
			grpcEngine + "/sessions/s/", grpcEngine + "/memories/m/", grpcEngine + "//s", grpcEngine + "/operations",
			"projects/p/" + grpcEngine, "projects/p/locations/memoryd/endpoints/1", "reasoningEngines/a.b",
			"v1/" + grpcEngine, "//aiplatform.googleapis.com/" + grpcEngine + "/sessions/s", "operations", "operations/"},
	}
	before := stored()
	services := 0
	for service, info := range f.grpc.GetServiceInfo() {
		if !strings.Contains(service, "aiplatform") && !strings.Contains(service, "longrunning") {
			continue
		}
		services++
		for _, m := range info.Methods {
			of, ok := named[m.Name]
			if !ok {
				t.Errorf("%s/%s: no request of it is here", service, m.Name)
				continue
			}
			call := func(name string) error {
				return conn.Invoke(t.Context(), "/"+service+"/"+m.Name, of.request(name), proto.Clone(of.answer))
			}
			for kind, wrong := range names {
				for _, name := range wrong {
					if kind == of.kind {
						continue
					}
					if err := call(name); status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), "name") &&
						!strings.Contains(err.Error(), "engine") {
						t.Errorf("%s of %q: %v, want INVALID_ARGUMENT", m.Name, name, err)
					}
				}
			}
		}
	}
	if after := stored(); after != before || services != 5 {
		t.Errorf("names of another shape, to %d services, have changed\n%s\nto\n%s", services, before, after)
	}
	// What deletes comes last.
	for _, method := range slices.SortedFunc(maps.Keys(named), func(a, b string) int {
		return strings.Compare(strings.ReplaceAll(a, "Delete", "~"), strings.ReplaceAll(b, "Delete", "~"))
	}) {
		of, service := named[method], sessionService
		switch {
		case strings.Contains(method, "Memor"):
			service = memoryService
		case method == "GetOperation":
			service = "/google.longrunning.Operations/"
		}
		for i, name := range names[of.kind] {
			err := conn.Invoke(t.Context(), service+method, of.request(name), proto.Clone(of.answer))
			if again := strings.HasPrefix(method, "Delete") && i > 0; err != nil && !again ||
				again && status.Code(err) != codes.NotFound {
				t.Errorf("%s of %q: %v", method, name, err)
			}
		}
	}
}

// An operation that was made over REST is there over gRPC too, unless its result has no message.
func TestOperationsOverGRPC(t *testing.T) {
	f := newFixture(t)
	conn := f.dial()
	for _, tt := range []struct {
		verb, path, body string
		want             codes.Code
	}{
		{"POST", "reasoningEngines?reasoningEngineId=1", `{}`, codes.Unimplemented},
		{"POST", grpcEngine + "/sessions?sessionId=s", `{"userId": "ann"}`, codes.OK},
		{"POST", grpcEngine + "/memories?memoryId=m", `{"fact": "f", "scope": {"user_id": "ann"}}`, codes.OK},
		{"PATCH", grpcEngine + "/memories/m", `{"fact": "g"}`, codes.OK},
		{"POST", grpcEngine + "/memories/m:rollback", `{"targetRevisionId": "1"}`, codes.OK},
		{"POST", grpcEngine + "/memories:ingestEvents", `{"scope": {"user_id": "ann"}, "directContentsSource": {"events":
			[{"content": {"parts": [{"text": "I sing."}]}}]}}`, codes.OK},
		{"POST", grpcEngine + "/memories:generate", `{"scope": {"user_id": "ann"}, "directMemoriesSource": {"directMemories":
			[{"fact": "Ann sings."}]}}`, codes.OK},
		{"POST", grpcEngine + "/memories:purge", `{"filter": "fact=none"}`, codes.Unimplemented},
		{"DELETE", grpcEngine + "/sessions/s", "", codes.OK},
		{"DELETE", grpcEngine + "?force=true", "", codes.OK},
	} {
		made := f.must(tt.verb, "/v1/"+tt.path, tt.body)
		_, name, _ := strings.Cut(made, `"name":"`)
		name, _, _ = strings.Cut(name, `"`)
		var op pb.Operation
		err := conn.Invoke(t.Context(), "/google.longrunning.Operations/GetOperation", &pb.GetOperationRequest{Name: name}, &op)
		if status.Code(err) != tt.want || err == nil && op.GetName() != name {
			t.Errorf("%s %s: %v, %v, want %v", tt.verb, tt.path, &op, err, tt.want)
		}
	}
}
