package vertexgrpc

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"strings"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protopath"
	"google.golang.org/protobuf/reflect/protorange"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/memoryd/memoryd/memory"
)

// codec hands over the bytes of a message where the code of a call asks for them. The library answers a
// message that it cannot decode with INTERNAL, and takes memory for all values of one that it can.
type codec struct{ encoding.CodecV2 }

// Unmarshal implements encoding.CodecV2.
func (c codec) Unmarshal(data mem.BufferSlice, into any) error {
	if raw, ok := into.(*[]byte); ok {
		*raw = data.Materialize()
		return nil
	}
	return c.CodecV2.Unmarshal(data, into)
}

// maxValues bounds the values of a message, at all depths. An empty message takes two bytes in another
// one, and about a hundred in memory.
const maxValues = 1 << 20

// maxNesting bounds how deep messages are counted: those that nest deeper are refused where they are
// decoded. A message takes a few bytes to nest in another one, and a call of countValues takes stack.
const maxNesting = protowire.DefaultRecursionLimit

// maxPath bounds the name of the field in an error.
const maxPath = 200

// decodeRequest decodes a request. What is wrong with it is ErrInvalid.
func decodeRequest(raw []byte, into proto.Message) error {
	left := maxValues
	if field := countValues(raw, into.ProtoReflect().Descriptor(), &left, maxNesting); field != "" {
		return fmt.Errorf("%w: %s: the message has more than %d values", memory.ErrInvalid, field, maxValues)
	}
	if err := proto.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%w: the message: %v", memory.ErrInvalid, err)
	}
	return nil
}

// countValues takes the values of a message, and those within, off left. It returns the field with the
// first one that is too many, "" if there is none, and passes over all that cannot be decoded. It looks
// into messages of so many levels.
func countValues(raw []byte, of protoreflect.MessageDescriptor, left *int, levels int) string {
	for len(raw) > 0 {
		number, kind, n := protowire.ConsumeTag(raw)
		if n < 0 {
			return ""
		}
		// A message within is passed over by its length here, and looked into below: so each byte is read
		// once, however deep messages nest.
		size := protowire.ConsumeFieldValue(number, kind, raw[n:])
		if size < 0 {
			return ""
		}
		value := raw[n : n+size]
		raw = raw[n+size:]
		field := of.Fields().ByNumber(number)
		if field == nil { // it is skipped
			continue
		}
		if *left--; *left < 0 {
			return field.JSONName()
		}
		if field.Message() != nil && kind == protowire.BytesType && levels > 0 {
			inner, _ := protowire.ConsumeBytes(value) // it has the length that it says
			if within := countValues(inner, field.Message(), left, levels-1); within != "" {
				return field.JSONName() + "." + within[:min(len(within), maxPath)]
			}
		}
	}
	return ""
}

// jsonOf returns the body and the query that REST has for a request. The mask of an update goes into
// the query, as it is written: the JSON of a mask has no form for *, nor for a path in camel case. It
// is taken out of in. A value that JSON has no form for is ErrInvalid, with the name of its field.
func jsonOf(in proto.Message) (body json.RawMessage, query url.Values, err error) {
	query = url.Values{}
	if update, ok := in.(interface{ GetUpdateMask() *fieldmaskpb.FieldMask }); ok {
		if paths := update.GetUpdateMask().GetPaths(); len(paths) > 0 {
			query.Set("updateMask", strings.Join(paths, ","))
		}
		m := in.ProtoReflect()
		m.Clear(m.Descriptor().Fields().ByName("update_mask"))
	}
	// The error of the library names neither the field nor its value, so it is looked for in a second walk,
	// which a good request does without.
	if body, err = protojson.Marshal(in); err != nil {
		if named := badValue(in); named != nil {
			err = named
		}
		return nil, nil, fmt.Errorf("%w: %v", memory.ErrInvalid, err)
	}
	return body, query, nil
}

// badValue finds the value that makes a message have no JSON, and returns the name of its field and
// why; nil if it finds none.
func badValue(in proto.Message) error {
	// JSON has no form for these three. All else that a message can hold has one, or is refused where the
	// message is decoded, as text that is not UTF-8.
	return protorange.Range(in.ProtoReflect(), func(at protopath.Values) error {
		m, ok := at.Index(-1).Value.Interface().(protoreflect.Message)
		if !ok {
			return nil
		}
		switch of := m.Interface().(type) {
		case *timestamppb.Timestamp:
			if of.CheckValid() != nil {
				return fmt.Errorf("%s: %d seconds and %d nanos are no time of the years 1 to 9999", path(at.Path),
					of.GetSeconds(), of.GetNanos())
			}
		case *durationpb.Duration:
			if of.CheckValid() != nil {
				return fmt.Errorf("%s: %d seconds and %d nanos are no duration of up to 10,000 years", path(at.Path),
					of.GetSeconds(), of.GetNanos())
			}
		case *structpb.Value:
			number, isNumber := of.GetKind().(*structpb.Value_NumberValue)
			switch {
			case of.GetKind() == nil:
				return fmt.Errorf("%s: a value has no kind: want null_value for null", path(at.Path))
			case isNumber && (math.IsNaN(number.NumberValue) || math.IsInf(number.NumberValue, 0)):
				return fmt.Errorf("%s: %v is no number of JSON", path(at.Path), number.NumberValue)
			}
		}
		return nil
	})
}

// path is where a value is in a message, by the names that the fields have in JSON.
func path(steps protopath.Path) string {
	var b strings.Builder
	for _, step := range steps {
		switch step.Kind() {
		case protopath.FieldAccessStep:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(step.FieldDescriptor().JSONName())
		case protopath.ListIndexStep, protopath.MapIndexStep:
			b.WriteString(step.String()) // in brackets
		}
	}
	return b.String()
}
