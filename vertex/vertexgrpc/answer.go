package vertexgrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/memoryd/memoryd/vertex"
	pb "github.com/memoryd/memoryd/vertex/vertexpb"
)

// fill writes an answer into a message.
func fill(out proto.Message, answer any) error {
	if op, ok := answer.(*vertex.Operation); ok {
		return fillOperation(out.(*pb.Operation), op)
	}
	raw, err := vertex.Encode(answer)
	if err != nil {
		return err
	}
	if list, ok := out.(*pb.ListEventsResponse); ok {
		return fillEvents(list, raw)
	}
	return read(raw, out)
}

// read reads JSON into a message. JSON that clients have stored over HTTP may have values that no
// message has a place for, and must not make a session unreadable: see holdable.
func read(raw []byte, out proto.Message) error {
	// Nearly all JSON fits at once. To look for what does not takes a copy of the whole, so it is done only
	// for an answer that has failed.
	opts := protojson.UnmarshalOptions{DiscardUnknown: true}
	if opts.Unmarshal(raw, out) == nil {
		return nil
	}
	if raw = holdable(raw); raw == nil {
		return errors.New("the answer is not valid JSON")
	}
	proto.Reset(out)
	return opts.Unmarshal(raw, out)
}

// holdable writes valid JSON so that a message can hold it: a number beyond the range of a double
// becomes the text of its digits, half a surrogate pair U+FFFD, and of equal names the last one counts.
// It returns nil for what is not JSON.
func holdable(raw []byte) []byte {
	var v any
	in := json.NewDecoder(bytes.NewReader(raw))
	in.UseNumber()
	if in.Decode(&v) != nil {
		return nil
	}
	out, err := vertex.Encode(numbersAsText(v))
	if err != nil {
		return nil
	}
	return out
}

// numbersAsText makes texts of the numbers in v that are beyond the range of a double.
func numbersAsText(v any) any {
	switch v := v.(type) {
	case json.Number:
		if _, err := v.Float64(); err != nil {
			return v.String()
		}
	case []any:
		for i := range v {
			v[i] = numbersAsText(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = numbersAsText(v[name])
		}
	}
	return v
}

// fillEvents reads events one by one: a part that Google's messages have no place for stays in the raw
// event alone.
func fillEvents(out *pb.ListEventsResponse, raw []byte) error {
	var in struct {
		Events []json.RawMessage `json:"sessionEvents"`
		Next   string            `json:"nextPageToken"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return err
	}
	out.NextPageToken = in.Next
	for _, raw := range in.Events {
		event := new(pb.SessionEvent)
		if read(raw, event) != nil {
			if err := readParts(raw, event); err != nil {
				return err
			}
		}
		out.SessionEvents = append(out.SessionEvents, event)
	}
	return nil
}

// readParts reads an event without those of its parts that do not fit into a message.
func readParts(raw []byte, out *pb.SessionEvent) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return err
	}
	// The fields of an event beside these three are texts and a time, which memoryd has written itself, and
	// the raw event, which takes any object.
	for _, name := range []string{"eventMetadata", "content", "actions"} {
		part, err := vertex.Encode(map[string]json.RawMessage{name: fields[name]})
		if fields[name] == nil || err == nil && read(part, new(pb.SessionEvent)) == nil {
			continue
		}
		delete(fields, name)
	}
	raw, err := vertex.Encode(fields)
	if err != nil {
		return err
	}
	proto.Reset(out)
	return read(raw, out)
}

// responses are the messages of the results of operations.
var responses = map[string]func() proto.Message{
	"Session": message[pb.Session], "Empty": message[emptypb.Empty], "Memory": message[pb.Memory],
	"GenerateMemoriesResponse": message[pb.GenerateMemoriesResponse], "IngestEventsResponse": message[emptypb.Empty],
}

// fillOperation writes an operation into a message. The URLs of its metadata and of its result name
// Google's types. Their bytes are those of our types, which are the same.
func fillOperation(out *pb.Operation, op *vertex.Operation) error {
	out.Name, out.Done = op.Name, op.Done
	times := op.Metadata
	of := &pb.OperationMetadata{GenericMetadata: &pb.OperationMetadata_Generic{
		CreateTime: timestamppb.New(times.CreateTime.Time), UpdateTime: timestamppb.New(times.UpdateTime.Time)}}
	raw, err := proto.Marshal(of)
	if err != nil {
		return err
	}
	out.Metadata = &anypb.Any{TypeUrl: op.Metadata.Type, Value: raw}
	if op.Error != nil {
		out.Result = &pb.Operation_Error{Error: &pb.Status{Code: int32(op.Error.Code), Message: op.Error.Message}}
	}
	if op.Response == nil {
		return nil
	}
	make, ok := responses[op.Response.Type]
	if !ok {
		return fmt.Errorf("%w: the operation is done, and %s is a message of REST alone", vertex.ErrUnimplemented,
			op.Response.Type)
	}
	value := make()
	if err := fill(value, op.Response.Value); err != nil {
		return err
	}
	if raw, err = proto.Marshal(value); err != nil {
		return err
	}
	out.Result = &pb.Operation_Response{Response: &anypb.Any{TypeUrl: op.Response.URL(), Value: raw}}
	return nil
}
