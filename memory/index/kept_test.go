package index

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/memory"
)

// An index gives back each field of a memory, also where an earlier memory that is alike
// in all others has shared its rest.
func TestKeepsEachField(t *testing.T) {
	ix := newIndex()
	put := func(m memory.Memory) {
		t.Helper()
		m.ID = fmt.Sprint("m", len(ix.docs))
		ix.Put(&Entry{Memory: m})
		var got restored
		ix.restore(ix.slots[m.ID], &got, false)
		if diff := cmp.Diff(m, got.Memory); diff != "" {
			t.Errorf("put, got:\n%s", diff)
		}
		recent, slot := ix.lately(), ix.slots[m.ID]
		if has := recent.of(ix, slot); cmp.Diff(m, *has) != "" || has != ix.lately().of(ix, slot) {
			t.Errorf("searches share %+v", has)
		}
		runtime.KeepAlive(recent)
	}
	plain := memory.Memory{Scope: ann, Kind: memory.KindFact, Topics: []string{"t"}, Source: memory.Source{SessionID: "s"}}
	put(plain)
	var fields func(v reflect.Value, path []int)
	fields = func(v reflect.Value, path []int) {
		for i := range v.NumField() {
			at := append(append([]int(nil), path...), i)
			switch f := v.Type().Field(i); {
			case f.Name == "ID" || f.Name == "State": // put sets the one, and an index has no memory that is hidden
			case f.Type == reflect.TypeFor[memory.Scope]() || f.Type == reflect.TypeFor[memory.Source]():
				fields(v.Field(i), at)
			default:
				m := plain
				set(t, reflect.ValueOf(&m).Elem().FieldByIndex(at))
				put(m)
			}
		}
	}
	fields(reflect.ValueOf(plain), nil)
	m := plain
	m.State = memory.Approved
	put(m)
	m.Topics, m.Source.EventIDs = []string{"a", "b"}, []string{"e1", "e2"}
	put(m)
	m.State = ""
	put(m)
	m.Topics = []string{"a\nb"} // as the two before, joined
	put(m)
	put(plain)
	if n := len(ix.rests); n > 10 {
		t.Errorf("%d rests for memories that are alike", n)
	}
}

// The events that facts cite are of their own: a part of the texts of a memory would keep all of
// them, once the memory itself is gone.
func TestCitedEventsKeepNoTexts(t *testing.T) {
	ix := newIndex()
	ix.Put(&Entry{Memory: memory.Memory{ID: "m", Scope: ann, Kind: memory.KindFact, Fact: strings.Repeat("long ", 1000),
		ValidTo: time.Unix(1, 0), Source: memory.Source{SessionID: "s", EventIDs: []string{"e"}}}})
	begin := uintptr(unsafe.Pointer(unsafe.StringData(ix.docs[0].texts)))
	for at := range ix.citing {
		event := uintptr(unsafe.Pointer(unsafe.StringData(at.event)))
		if event-begin < uintptr(len(ix.docs[0].texts)) {
			t.Errorf("event %q is a part of the texts", at.event)
		}
	}
	if len(ix.citing) != 1 {
		t.Errorf("%d events", len(ix.citing))
	}
}

// set gives a field a value that is not zero.
func set(t *testing.T, f reflect.Value) {
	switch v := f.Addr().Interface().(type) {
	case *time.Time:
		*v = time.Date(2024, 5, 6, 7, 8, 9, 123456000, time.UTC)
	case **memory.Profile:
		*v = &memory.Profile{SchemaID: "s", Field: "f", Value: json.RawMessage(`1`)}
	case **memory.Passage:
		*v = &memory.Passage{Document: "d", Number: 2}
	case *[]memory.Retraction:
		*v = []memory.Retraction{{Fact: "f"}}
	case *memory.Metadata:
		*v = memory.Metadata{"n": json.RawMessage(`1`)}
	case *[]string:
		*v = []string{"other"}
	default:
		switch f.Kind() {
		case reflect.String:
			f.SetString("other")
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Int, reflect.Int64:
			f.SetInt(7)
		default:
			t.Fatalf("no value for %s", f.Type())
		}
	}
}

// A turn of 20 words takes as much of an index as docs/performance.md says.
func TestSizeOfATurn(t *testing.T) {
	for n, most := range map[int]int64{1_000: 2300, 10_000: 2000} {
		ix, r := newIndex(), rand.New(rand.NewPCG(1, 2))
		zipf := rand.NewZipf(r, 1.1, 20, 29_999)
		for i := range n {
			e := &Entry{Terms: memory.Terms{}, Vector: make([]float32, 256)}
			var words []string
			for range 20 {
				words = append(words, fmt.Sprintf("w%dao", zipf.Uint64()))
				e.Terms[words[len(words)-1]]++
			}
			e.Memory = memory.Memory{
				ID: fmt.Sprintf("%036d", i), Scope: ann, Kind: memory.KindTurn, Fact: strings.Join(words, " "), Author: "user",
				Timestamp: time.Unix(int64(i), 0), CreateTime: time.Unix(1, 0), UpdateTime: time.Unix(1, 0), Revision: 1,
				Trust:  memory.TrustUser,
				Source: memory.Source{SessionID: fmt.Sprint("s", i/20), EventIDs: []string{fmt.Sprint("e", i%20)}},
			}
			ix.Put(e)
		}
		bytes, _ := ix.size()
		if each := bytes / int64(n); each > most {
			t.Errorf("a turn of %d takes %d bytes, more than %d", n, each, most)
		}
	}
}

// The topics that memories share are counted too.
func TestSizeOfTopics(t *testing.T) {
	size := func(topics ...string) int64 {
		ix := newIndex()
		ix.Put(&Entry{Memory: memory.Memory{ID: "m", Scope: ann, Kind: memory.KindFact, Topics: topics}})
		bytes, _ := ix.size()
		return bytes
	}
	if more := size(strings.Repeat("x", 200)) - size(); more < 200 {
		t.Errorf("a topic of 200 bytes is counted as %d", more)
	}
}
