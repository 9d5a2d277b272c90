package qdranttest

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// recorded is one call that changes a collection, a line of JSON in a
// recording.
type recorded struct {
	Method  string          `json:"method"`
	Request json.RawMessage `json:"request"`
}

// changes gives an empty request and answer of each method that memoryd changes
// collections by.
func changes(method string) (request, answer proto.Message, ok bool) {
	switch method {
	case qdrant.Collections_Create_FullMethodName:
		return &qdrant.CreateCollection{}, &qdrant.CollectionOperationResponse{}, true
	case qdrant.Points_CreateFieldIndex_FullMethodName:
		return &qdrant.CreateFieldIndexCollection{}, &qdrant.PointsOperationResponse{}, true
	case qdrant.Points_UpdateBatch_FullMethodName:
		return &qdrant.UpdateBatchPoints{}, &qdrant.UpdateBatchResponse{}, true
	}
	return nil, nil, false
}

// Record runs a StandIn that writes down the calls that change collections, for
// Replay.
func Record(t testing.TB, out io.Writer) *Server {
	t.Helper()
	var mu sync.Mutex
	record := func(
		ctx context.Context, req any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler,
	) (any, error) {
		if _, _, ok := changes(info.FullMethod); ok {
			raw, err := protojson.Marshal(req.(proto.Message))
			if err == nil {
				raw, err = json.Marshal(recorded{info.FullMethod, raw})
			}
			if err == nil {
				mu.Lock()
				defer mu.Unlock()
				_, err = out.Write(append(raw, '\n'))
			}
			if err != nil {
				t.Error(err)
			}
		}
		return handle(ctx, req)
	}
	return standIn(t, version, grpc.UnaryInterceptor(record))
}

// Replay makes the calls of a recording on the server. Collections whose name
// begins with was get one that begins with name.
func (s *Server) Replay(t testing.TB, recording io.Reader, was, name string) {
	t.Helper()
	conn := s.Client(t).GetConnection()
	lines := bufio.NewScanner(recording)
	lines.Buffer(nil, maxMessage)
	for lines.Scan() {
		var call recorded
		if err := json.Unmarshal(lines.Bytes(), &call); err != nil {
			t.Fatal(err)
		}
		request, answer, ok := changes(call.Method)
		if !ok {
			t.Fatalf("a recording has the call %s", call.Method)
		}
		if err := protojson.Unmarshal(call.Request, request); err != nil {
			t.Fatal(err)
		}
		collection := request.ProtoReflect().Descriptor().Fields().ByName("collection_name")
		rest := strings.TrimPrefix(request.ProtoReflect().Get(collection).String(), was)
		request.ProtoReflect().Set(collection, protoreflect.ValueOfString(name+rest))
		if err := conn.Invoke(t.Context(), call.Method, request, answer); err != nil {
			t.Fatal(err)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}
