package vertex_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "github.com/memoryd/memoryd/vertex/vertexpb"
)

// texts are the values that random messages have for texts: names of what there is and of what there is not,
// filters, orders and tokens, and texts that stores and paths take for something else.
var texts = []string{"", "s", "m", "a", "user", "model", "user_id", "app_name", grpcEngine, grpcEngine + "/sessions/s",
	grpcEngine + "/memories/m", "reasoningEngines/1/sessions/none", "reasoningEngines/1/operations/o-cw", "reasoningEngines/2",
	grpcEngine + "/sessions/s/operations/o-cwAxAHM", `user_id="a"`, `scope.user_id=a OR NOT fact:"x"`, "timestamp>=\"1\"",
	"createTime desc", "timestamp desc", "b2Zmc2V0IDE", "e30", "I like tea.", "\x00", "\u0085", "%2F", "~", "..", "*", "🙂", "1e400"}

// paths are those of random masks.
var paths = []string{"*", "", "fact", "displayName", "display_name", "ttl", "session_state", "labels", "metadata.`a`", "a,b", "x..y"}

// odds are how often random messages set some fields, so that many of them are good: those of requests
// have the right names already, and most events have what they need. All others are set more often than not.
var odds = map[protoreflect.Name]float64{"name": .1, "parent": .1, "session": .9, "memory": .9, "event": .95, "update_mask": .4,
	"user_id": .9, "expire_time": .3, "ttl": .3, "scope": .9, "fact": .9, "author": .95, "invocation_id": .95, "timestamp": .95,
	"null_value": 1, "page_token": .1, "filter": .3, "order_by": .2, "session_id": .3, "memory_id": .3, "start_time": .3,
	"end_time": .3, "raw_event": .5, "seconds": .9, "nanos": .3}

// randomMessage sets random fields of a message, also to values that have no form in JSON.
func randomMessage(random *rand.Rand, m protoreflect.Message, depth int) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		of, ok := odds[f.Name()]
		if !ok {
			of = 0.6
		}
		if random.Float64() > of || depth == 0 && f.Message() != nil {
			continue
		}
		switch {
		case f.IsList():
			for list := m.Mutable(f).List(); random.IntN(3) > 0; {
				if f.Message() != nil {
					randomMessage(random, list.AppendMutable().Message(), depth-1)
				} else if m.Descriptor().FullName() == "google.protobuf.FieldMask" {
					list.Append(protoreflect.ValueOfString(paths[random.IntN(len(paths))]))
				} else {
					list.Append(randomScalar(random, f))
				}
			}
		case f.IsMap():
			for of := m.Mutable(f).Map(); random.IntN(3) > 0; {
				key := randomScalar(random, f.MapKey()).MapKey()
				if f.MapValue().Message() != nil {
					randomMessage(random, of.Mutable(key).Message(), depth-1)
				} else {
					of.Set(key, randomScalar(random, f.MapValue()))
				}
			}
		case f.Message() != nil:
			randomMessage(random, m.Mutable(f).Message(), depth-1)
		default:
			m.Set(f, randomScalar(random, f))
		}
	}
}

// randomScalar is a random value of a field.
func randomScalar(random *rand.Rand, f protoreflect.FieldDescriptor) protoreflect.Value {
	one := func(of ...int64) int64 { return of[random.IntN(len(of))] }
	number := one(1, 2, 100, 1_700_000_000, 4_102_444_800)
	if random.IntN(10) == 0 {
		number = one(0, -1, 253_402_300_800, -62_135_596_801, math.MaxInt64, math.MinInt64)
	}
	if f.Name() == "nanos" {
		number %= 1e9
	}
	switch f.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(random.IntN(2) == 0)
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(number))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(number)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(one(0, 1, 2, 9, -1)))
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(float32(math.Inf(int(number))))
	case protoreflect.DoubleKind:
		of := []float64{0, 1, -0.5, 1e300, math.SmallestNonzeroFloat64, math.MaxFloat64}
		if random.IntN(20) == 0 {
			of = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}
		}
		return protoreflect.ValueOfFloat64(of[random.IntN(len(of))])
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte{0xff, byte(number)})
	}
	return protoreflect.ValueOfString(texts[random.IntN(len(texts))])
}

// setUp makes the session and the memory that random messages are about, if they are not there.
func setUp(f *fixture) {
	const engine = "/v1/reasoningEngines/1"
	if code, _ := f.call("", "GET", engine+"/sessions/s", ""); code == 404 {
		f.call("", "POST", engine+"/sessions?sessionId=s", `{"userId": "a", "sessionState": {"k": 1e400}}`)
	}
	if code, _ := f.call("", "GET", engine+"/memories/m", ""); code == 404 {
		f.call("", "POST", engine+"/memories/m:rollback", `{"targetRevisionId": "1"}`) // its id stays in use
		f.call("", "POST", engine+"/memories?memoryId=m", `{"fact": "f", "scope": {"user_id": "a"}}`)
	}
}

// No message is a fault of memoryd, to whichever method: one with random fields, with any bytes behind it.
func FuzzGRPC(f *testing.F) {
	fix := newFixture(f)
	setUp(fix)
	conn := fix.dial()
	methods := slices.Sorted(maps.Keys(named))
	for i, method := range methods {
		for seed := range uint64(60) {
			f.Add(uint8(i), 1+seed, []byte(nil))
		}
		for _, name := range texts {
			raw, err := proto.Marshal(named[method].request(name))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(uint8(i), uint64(0), raw)
		}
		f.Add(uint8(i), uint64(7), []byte("\x0a\x02\xff\xff"))     // not UTF-8
		f.Add(uint8(i), uint64(0), []byte("\x12\x03\x52\x01\x0b")) // cut off in a message
	}
	right := map[string]string{"engine": grpcEngine, "session": grpcEngine + "/sessions/s", "memory": grpcEngine + "/memories/m",
		"operation": grpcEngine + "/operations/o-cwAxAHM"}
	f.Fuzz(func(t *testing.T, n uint8, seed uint64, raw []byte) {
		method := methods[int(n)%len(methods)]
		of := named[method]
		in := of.request("").ProtoReflect().New().Interface()
		if seed > 0 {
			random := rand.New(rand.NewPCG(seed, 1))
			in = of.request(right[of.kind])
			randomMessage(random, in.ProtoReflect(), 6)
		}
		in.ProtoReflect().SetUnknown(raw)
		service := sessionService
		switch of.kind {
		case "memory":
			service = memoryService
		case "operation":
			service = "/google.longrunning.Operations/"
		case "engine":
			if _, ok := of.answer.(*pb.ListSessionsResponse); !ok && method != "CreateSession" {
				service = memoryService
			}
		}
		if method == "DeleteSession" || method == "DeleteMemory" { // the next calls find it again
			defer setUp(fix)
		}
		err := conn.Invoke(t.Context(), service+method, in, proto.Clone(of.answer))
		switch status.Code(err) {
		case codes.Internal, codes.Unknown, codes.DataLoss:
			t.Errorf("%s of %v: %v", method, in, err)
		}
	})
}
