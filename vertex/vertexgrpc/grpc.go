// Package vertexgrpc serves package vertex over gRPC, under the names of Google's services. A
// message becomes the JSON that REST has for it, and the answer a message again, so that both
// protocols show the same.
package vertexgrpc

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/vertex"
	pb "github.com/memoryd/memoryd/vertex/vertexpb"
)

// Bounds of messages, in bytes.
const (
	MaxReceived = 32 << 20
	MaxSent     = 64 << 20
)

// New makes a server of gRPC. It serves HTTP/2 requests by ServeHTTP.
func New(service *vertex.Service) *grpc.Server {
	s := &server{service}
	g := grpc.NewServer(grpc.MaxRecvMsgSize(MaxReceived), grpc.MaxSendMsgSize(MaxSent),
		grpc.ForceServerCodecV2(codec{encoding.GetCodecV2("proto")}),
		grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
			name, _ := grpc.MethodFromServerStream(stream)
			return s.failed(vertex.Unimplemented(name), "")
		}))
	for _, d := range services() {
		desc := &grpc.ServiceDesc{ServiceName: d.name, HandlerType: (*any)(nil), Metadata: "vertex.proto"}
		for _, m := range d.methods {
			desc.Methods = append(desc.Methods, grpc.MethodDesc{MethodName: m.name, Handler: s.handler(m)})
		}
		g.RegisterService(desc, s)
	}
	healthpb.RegisterHealthServer(g, health.NewServer())
	reflectServices(g)
	return g
}

// served is a service and its methods.
type served struct {
	name    string
	methods []rpc
}

// rpc is a method: its messages, and which field of the request names its resource.
type rpc struct {
	name    string
	request func() proto.Message
	answer  func() proto.Message
	// resource returns the name in a request.
	resource func(proto.Message) string
	// kind is what the name of a parent lacks: the collection that the method is about.
	kind string
}

// message makes an empty message of a type.
func message[T any, P interface {
	*T
	proto.Message
}]() proto.Message {
	return P(new(T))
}

func parent(m proto.Message) string { return m.(interface{ GetParent() string }).GetParent() }
func name(m proto.Message) string   { return m.(interface{ GetName() string }).GetName() }

const google = "google.cloud.aiplatform."

// services are all services and their methods. Clients call v1 or v1beta1; the messages are the same.
func services() []served {
	op := message[pb.Operation]
	sessions := []rpc{
		{"CreateSession", message[pb.CreateSessionRequest], op, parent, "sessions"},
		{"GetSession", message[pb.GetSessionRequest], message[pb.Session], name, ""},
		{"ListSessions", message[pb.ListSessionsRequest], message[pb.ListSessionsResponse], parent, "sessions"},
		{"UpdateSession", message[pb.UpdateSessionRequest], message[pb.Session], func(m proto.Message) string {
			return m.(*pb.UpdateSessionRequest).GetSession().GetName()
		}, ""},
		{"DeleteSession", message[pb.DeleteSessionRequest], op, name, ""},
		{"ListEvents", message[pb.ListEventsRequest], message[pb.ListEventsResponse], parent, "events"},
		{"AppendEvent", message[pb.AppendEventRequest], message[pb.AppendEventResponse], name, ""},
	}
	memories := []rpc{
		{"CreateMemory", message[pb.CreateMemoryRequest], op, parent, "memories"},
		{"GetMemory", message[pb.GetMemoryRequest], message[pb.Memory], name, ""},
		{"UpdateMemory", message[pb.UpdateMemoryRequest], op, func(m proto.Message) string {
			return m.(*pb.UpdateMemoryRequest).GetMemory().GetName()
		}, ""},
		{"ListMemories", message[pb.ListMemoriesRequest], message[pb.ListMemoriesResponse], parent, "memories"},
		{"DeleteMemory", message[pb.DeleteMemoryRequest], op, name, ""},
		{"GenerateMemories", message[pb.GenerateMemoriesRequest], op, parent, "memories"},
		{"RetrieveMemories", message[pb.RetrieveMemoriesRequest], message[pb.RetrieveMemoriesResponse], parent,
			"memories"},
	}
	operations := []rpc{{"GetOperation", message[pb.GetOperationRequest], op, name, ""}}
	return []served{
		{google + "v1beta1.SessionService", sessions}, {google + "v1.SessionService", sessions},
		{google + "v1beta1.MemoryBankService", memories}, {google + "v1.MemoryBankService", memories},
		{"google.longrunning.Operations", operations},
	}
}

// server carries out the calls of all services.
type server struct{ service *vertex.Service }

// handler serves one method.
func (s *server) handler(m rpc) func(any, context.Context, func(any) error,
	grpc.UnaryServerInterceptor) (any, error) {
	return func(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		var raw []byte
		if err := decode(&raw); err != nil {
			return nil, err
		}
		in := m.request()
		if err := decodeRequest(raw, in); err != nil {
			return nil, s.failed(err, "")
		}
		raw = nil // the call may take long
		call, err := m.call(ctx, in)
		if err != nil {
			return nil, s.failed(err, "")
		}
		answer, id, err := s.service.Do(ctx, call)
		if err != nil {
			return nil, s.failed(err, id)
		}
		out := m.answer()
		if err := fill(out, answer); err != nil {
			return nil, s.failed(err, id)
		}
		return out, nil
	}
}

// call is the call of a request.
func (m *rpc) call(ctx context.Context, in proto.Message) (*vertex.Call, error) {
	named := m.resource(in)
	r, err := vertex.ParseName(named, false)
	if errors.Is(err, memory.ErrNotFound) || err == nil && !m.names(r) {
		return nil, fmt.Errorf("%w: %s: %.200q is no name for it: want %s", memory.ErrInvalid, m.name, named,
			m.wanted())
	}
	if err != nil {
		return nil, err
	}
	body, query, err := jsonOf(in)
	if err != nil {
		return nil, err
	}
	// REST has the collection in its path, and the protos in the name of the method. An operation on an engine
	// has a method of its own, as it takes other rights than one on what is in the engine.
	method := m.name
	switch {
	case m.kind == "events":
		r.SubKind = m.kind
	case m.kind != "":
		r.Kind = m.kind
	case m.name == "GetOperation":
		method = vertex.OperationMethod(r.SubID)
		if r.Engine == "" {
			r.Engine = vertex.OperationEngine(r.SubID)
		}
	}
	return &vertex.Call{Protocol: "gRPC", Method: method, Resource: r, Query: query, Body: body,
		Request: requestOf(ctx), Held: ctx.Value(heldKey{}) != nil}, nil
}

// names reports whether a name has the shape that the method is about: REST tells methods by that, and
// here the name of a part would pass for the whole.
func (m *rpc) names(r vertex.Resource) bool {
	switch of := m.about(); of {
	case "operations":
		return r.SubKind == of && r.SubID != ""
	case "":
		return r.Engine != "" && r.Kind == "" && r.SubKind == ""
	default:
		return r.Kind == of && r.ID != "" && r.SubKind == ""
	}
}

// about is the collection of what the name of a request names; "" if it names the engine.
func (m *rpc) about() string {
	switch {
	case m.name == "GetOperation":
		return "operations"
	case m.kind == "events", m.name == "AppendEvent":
		return "sessions"
	case m.kind != "":
		return ""
	case strings.HasSuffix(m.name, "Session"):
		return "sessions"
	}
	return "memories"
}

// wanted is the form of the name of a request.
func (m *rpc) wanted() string {
	engine := "projects/PROJECT/locations/LOCATION/reasoningEngines/ENGINE"
	if of := m.about(); of != "" {
		return engine + "/" + of + "/ID"
	}
	return engine
}

// requestOf is the request of a call as HTTP has it: its headers and the address of its client.
func requestOf(ctx context.Context) *http.Request {
	r := (&http.Request{Header: http.Header{}}).WithContext(ctx)
	if p, ok := peer.FromContext(ctx); ok && p.Addr != nil {
		r.RemoteAddr = p.Addr.String()
	}
	md, _ := metadata.FromIncomingContext(ctx)
	for name, values := range md {
		for _, v := range values {
			r.Header.Add(name, v)
		}
	}
	if host := md.Get(":authority"); len(host) > 0 {
		r.Host = host[0]
	}
	return r
}

// codesOf are the codes of gRPC by the names of errors.
var codesOf = map[string]codes.Code{
	"INVALID_ARGUMENT": codes.InvalidArgument, "UNAUTHENTICATED": codes.Unauthenticated,
	"PERMISSION_DENIED": codes.PermissionDenied, "NOT_FOUND": codes.NotFound, "ALREADY_EXISTS": codes.AlreadyExists,
	"ABORTED": codes.Aborted, "RESOURCE_EXHAUSTED": codes.ResourceExhausted, "UNAVAILABLE": codes.Unavailable,
	"UNIMPLEMENTED": codes.Unimplemented, "FAILED_PRECONDITION": codes.FailedPrecondition,
}

// failed is an error as gRPC has it.
func (s *server) failed(err error, id string) error {
	e := s.service.Describe(err, id)
	code, ok := codesOf[e.Status]
	if !ok {
		code = codes.Internal
	}
	st := status.New(code, strings.ToValidUTF8(memory.Cut(e.Message, 1000), "\uFFFD"))
	if code == codes.Unavailable || code == codes.ResourceExhausted {
		after := time.Duration(max(1, math.Ceil(memory.RetryAfter(err).Seconds()))) * time.Second
		if more, err := st.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(after)}); err == nil {
			st = more
		}
	}
	return st.Err()
}
