package sessionstore

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/memory"
)

func TestParseState(t *testing.T) {
	longest := strings.Repeat("k", memory.MaxID)
	got, err := ParseState("state",
		[]byte(`{"k": { "a" : 1e400 },"user:n":null,"app:`+longest+`":"<é>","app:user:":1,"temp:t":0}`))
	if err != nil {
		t.Fatal(err)
	}
	want := State{"k": []byte(`{ "a" : 1e400 }`), "user:n": []byte(`null`), "app:" + longest: []byte(`"<é>"`),
		"app:user:": []byte(`1`), "temp:t": []byte(`0`)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
	if got, err := ParseState("state", []byte(`{}`)); err != nil || got == nil || len(got) != 0 {
		t.Errorf("ParseState({}) is %v, %v, want an empty state", got, err)
	}
	for _, bad := range []string{``, `null`, `[]`, `"k"`, `{"":1}`, `{"app:":1}`, `{"user:":1}`, `{"temp:":1}`,
		`{"a\u0000":1}`, `{"k":1,"k":2}`,
		`{"k":}`, `{"k":1} x`, `{"user:` + longest + `k":1}`} {
		if got, err := ParseState("the field", []byte(bad)); !errors.Is(err, memory.ErrInvalid) ||
			!strings.Contains(err.Error(), "the field") {
			t.Errorf("ParseState(%.60s) is %v, %v, want %v naming the field", bad, got, err, memory.ErrInvalid)
		}
	}
}

func TestSplitState(t *testing.T) {
	all := State{"k": []byte(`1`), "app:k": []byte(`2`), "user:k": []byte(`null`), "temp:k": []byte(`4`),
		"app:user:k": []byte(`5`), "user:temp:k": []byte(`6`), "App:k": []byte(`7`), "app": []byte(`8`),
		" temp:k": []byte(`9`)}
	got := all.Split()
	want := SplitState{
		App:  State{"k": []byte(`2`), "user:k": []byte(`5`)},
		User: State{"k": []byte(`null`), "temp:k": []byte(`6`)},
		Session: State{"k": []byte(`1`), "App:k": []byte(`7`), "app": []byte(`8`),
			" temp:k": []byte(`9`)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Split (-want +got):\n%s", diff)
	}
	merged := got.Merge()
	delete(all, "temp:k")
	if diff := cmp.Diff(all, merged); diff != "" {
		t.Errorf("Merge of Split (-want +got):\n%s", diff)
	}
	if got := (SplitState{}).Merge(); got == nil || len(got) != 0 {
		t.Errorf("Merge of nothing is %v, want an empty state", got)
	}
	if got := State(nil).Split(); got.App == nil || got.User == nil || got.Session == nil {
		t.Errorf("Split of nothing is %v, want empty states", got)
	}
}

func TestOperationID(t *testing.T) {
	seen := map[string]memory.Scope{}
	for _, scope := range []memory.Scope{
		{App: "a", User: "u"}, {App: "a:b", User: "c"}, {App: "a", User: "b:c"}, {App: "ab", User: "c"}, {App: "a",
			User: "bc"}, {App: "世界", User: "😀 %41"},
		{App: strings.Repeat("a", memory.MaxID), User: strings.Repeat("u", memory.MaxID)},
	} {
		id := OperationID(scope, "4fd3")
		if got, err := OperationScope(id); err != nil || got != scope {
			t.Errorf("OperationScope(%s) is %v, %v, want %v", id, got, err, scope)
		}
		if other, ok := seen[id]; ok {
			t.Errorf("%v and %v have one id", scope, other)
		}
		seen[id] = scope
		if strings.ContainsAny(id, "/+=%. ") {
			t.Errorf("id %s does not fit into a path", id)
		}
	}
}

func TestOperationScopeHostile(t *testing.T) {
	encode := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	for _, id := range []string{
		"", "x", "operation", "../..", "%00", "\x00", "\xff", strings.Repeat("A", 1<<20),
		encode(""), encode("\x00\x00"), encode("a\x00u"), encode("a\x00u\x00"), encode("\x00u\x00x"),
		encode("a\x00\x00x"), encode("a\x00u\x00x\x00y"),
		encode("a/b\x00u\x00x"), encode("a\x00..\x00x"), encode("a\nb\x00u\x00x"), encode("a\xff\x00u\x00x"),
		encode(strings.Repeat("a", memory.MaxID+1) + "\x00u\x00x"),
		encode("a\x00u\x00x") + "=", encode("a\x00u\x00x") + "A", " " + encode("a\x00u\x00x"), "YQB1AHh",
		base64.StdEncoding.EncodeToString([]byte("a\x00u\x00??>")),
	} {
		got, err := OperationScope(id)
		if !errors.Is(err, memory.ErrNotFound) || got != (memory.Scope{}) {
			t.Errorf("OperationScope(%.60q) is %v, %v, want %v", id, got, err, memory.ErrNotFound)
		}
		if err != nil && len(err.Error()) > 500 {
			t.Errorf("error has %d bytes", len(err.Error()))
		}
	}
}

// A scope read from an id is valid, and OperationID makes the same id of it.
func FuzzOperationScope(f *testing.F) {
	for _, id := range []string{"", "x", OperationID(memory.Scope{App: "a", User: "u"}, "1"),
		OperationID(memory.Scope{App: "a:b", User: "é 😀"}, "4fd3-1"),
		OperationID(memory.Scope{App: "", User: "u"}, "1"), OperationID(memory.Scope{App: "a/b", User: "u"},
			"1"), "YQB1ADE", "YQB1ADE=", "YQB1AD"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		scope, err := OperationScope(id)
		if err != nil {
			if !errors.Is(err, memory.ErrNotFound) || scope != (memory.Scope{}) {
				t.Fatalf("scope %v, error %v, want %v alone", scope, err, memory.ErrNotFound)
			}
			return
		}
		if err := scope.Validate(); err != nil {
			t.Fatal(err)
		}
		raw, err := base64.RawURLEncoding.DecodeString(id)
		if err != nil {
			t.Fatal(err)
		}
		unique, ok := strings.CutPrefix(string(raw), scope.App+"\x00"+scope.User+"\x00")
		if !ok || unique == "" {
			t.Fatalf("id %q, which is %q, gives scope %v", id, raw, scope)
		}
		if got, err := OperationScope(OperationID(scope, unique)); err != nil || got != scope {
			t.Fatalf("the id made of it gives %v, %v, want %v", got, err, scope)
		}
	})
}
