package clients

import (
	"testing"

	"cloud.google.com/go/aiplatform/apiv1beta1/aiplatformpb"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/memoryd/memoryd/vertex/vertexpb"
)

// Each field of a message of memoryd's has the number, the type and the name in JSON that it
// has in Google's, so that the bytes of one are read as the other.
func TestFieldsAreGoogles(t *testing.T) {
	for _, pair := range []struct{ own, google proto.Message }{
		{&vertexpb.Memory{}, &aiplatformpb.Memory{}},
		{&vertexpb.CreateMemoryRequest{}, &aiplatformpb.CreateMemoryRequest{}},
		{&vertexpb.GetMemoryRequest{}, &aiplatformpb.GetMemoryRequest{}},
		{&vertexpb.UpdateMemoryRequest{}, &aiplatformpb.UpdateMemoryRequest{}},
		{&vertexpb.ListMemoriesRequest{}, &aiplatformpb.ListMemoriesRequest{}},
		{&vertexpb.ListMemoriesResponse{}, &aiplatformpb.ListMemoriesResponse{}},
		{&vertexpb.DeleteMemoryRequest{}, &aiplatformpb.DeleteMemoryRequest{}},
		{&vertexpb.GenerateMemoriesRequest{}, &aiplatformpb.GenerateMemoriesRequest{}},
		{&vertexpb.GenerateMemoriesResponse{}, &aiplatformpb.GenerateMemoriesResponse{}},
		{&vertexpb.RetrieveMemoriesRequest{}, &aiplatformpb.RetrieveMemoriesRequest{}},
		{&vertexpb.RetrieveMemoriesResponse{}, &aiplatformpb.RetrieveMemoriesResponse{}},
		{&vertexpb.CreateSessionRequest{}, &aiplatformpb.CreateSessionRequest{}},
		{&vertexpb.UpdateSessionRequest{}, &aiplatformpb.UpdateSessionRequest{}},
		{&vertexpb.ListSessionsRequest{}, &aiplatformpb.ListSessionsRequest{}},
		{&vertexpb.ListSessionsResponse{}, &aiplatformpb.ListSessionsResponse{}},
		{&vertexpb.ListEventsRequest{}, &aiplatformpb.ListEventsRequest{}},
		{&vertexpb.ListEventsResponse{}, &aiplatformpb.ListEventsResponse{}},
		{&vertexpb.AppendEventRequest{}, &aiplatformpb.AppendEventRequest{}},
	} {
		sameFields(t, map[protoreflect.FullName]bool{}, pair.own.ProtoReflect().Descriptor(),
			pair.google.ProtoReflect().Descriptor())
	}
}

// sameFields compares the fields of two messages, and of those within.
func sameFields(t *testing.T, seen map[protoreflect.FullName]bool, own, google protoreflect.MessageDescriptor) {
	t.Helper()
	if seen[own.FullName()] || own.FullName() == google.FullName() {
		return
	}
	seen[own.FullName()] = true
	for i := range own.Fields().Len() {
		f := own.Fields().Get(i)
		g := google.Fields().ByNumber(f.Number())
		if g == nil || g.Name() != f.Name() || g.Kind() != f.Kind() || g.Cardinality() != f.Cardinality() ||
			g.JSONName() != f.JSONName() {
			t.Errorf("%s is field %d, and Google's is %v", f.FullName(), f.Number(), g)
			continue
		}
		switch {
		case f.Message() != nil:
			sameFields(t, seen, f.Message(), g.Message())
		case f.Enum() != nil:
			for j := range f.Enum().Values().Len() {
				v := f.Enum().Values().Get(j)
				if of := g.Enum().Values().ByNumber(v.Number()); of == nil || of.Name() != v.Name() {
					t.Errorf("%s is %d, and Google's is %v", v.FullName(), v.Number(), of)
				}
			}
		}
	}
}

// A message of Google's becomes memoryd's and comes back as it was.
func TestBytesAreGoogles(t *testing.T) {
	memory := &aiplatformpb.Memory{Name: "n", DisplayName: "d", Description: "t", Fact: "ä fact",
		Scope: map[string]string{"user_id": "ann"}}
	for _, pair := range []struct{ google, own, back proto.Message }{
		{&aiplatformpb.CreateMemoryRequest{Parent: "p", Memory: memory, MemoryId: "m"}, &vertexpb.CreateMemoryRequest{},
			&aiplatformpb.CreateMemoryRequest{}},
		{&aiplatformpb.GenerateMemoriesRequest{Parent: "p", DisableConsolidation: true,
			Scope: map[string]string{"a": "b"}, Source: &aiplatformpb.GenerateMemoriesRequest_DirectMemoriesSource_{
				DirectMemoriesSource: &aiplatformpb.GenerateMemoriesRequest_DirectMemoriesSource{
					DirectMemories: []*aiplatformpb.GenerateMemoriesRequest_DirectMemoriesSource_DirectMemory{{Fact: "f"}}}}},
			&vertexpb.GenerateMemoriesRequest{}, &aiplatformpb.GenerateMemoriesRequest{}},
		{&aiplatformpb.GenerateMemoriesResponse{
			GeneratedMemories: []*aiplatformpb.GenerateMemoriesResponse_GeneratedMemory{{Memory: memory,
				Action: aiplatformpb.GenerateMemoriesResponse_GeneratedMemory_DELETED}}},
			&vertexpb.GenerateMemoriesResponse{}, &aiplatformpb.GenerateMemoriesResponse{}},
		{&aiplatformpb.RetrieveMemoriesResponse{NextPageToken: "t",
			RetrievedMemories: []*aiplatformpb.RetrieveMemoriesResponse_RetrievedMemory{{Memory: memory, Distance: .25}}},
			&vertexpb.RetrieveMemoriesResponse{}, &aiplatformpb.RetrieveMemoriesResponse{}},
	} {
		copyBytes(t, pair.own, pair.google)
		if unknown := pair.own.ProtoReflect().GetUnknown(); len(unknown) > 0 {
			t.Errorf("%T has %d bytes that memoryd does not know", pair.google, len(unknown))
		}
		copyBytes(t, pair.back, pair.own)
		if !proto.Equal(pair.back, pair.google) {
			t.Errorf("came back as\n%v, want\n%v", pair.back, pair.google)
		}
	}
}

// copyBytes reads the bytes of one message as another.
func copyBytes(t *testing.T, to, from proto.Message) {
	t.Helper()
	raw, err := proto.Marshal(from)
	if err == nil {
		err = proto.Unmarshal(raw, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}
