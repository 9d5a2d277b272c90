package vertex

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/memory"
)

// A memory comes back as a client has sent it, whatever the case of the names of its fields.
func TestMemoryBody(t *testing.T) {
	const in = `{"fact": "f", "display_name": "n", "scope": {"user_id": "ann", "a_b": "c"},
		"topics": [{"managed_memory_topic": 2}, {"custom_memory_topic_label": "a_b"},
			{"managedMemoryTopic": "USER_PERSONAL_INFO"}],
		"metadata": {"a_b": {"string_value": "2026-01-02T03:04:05Z"}, "d": {"double_value": "1.50"}, "i": {"doubleValue": 3},
			"no": {"bool_value": false}, "t": {"timestamp_value": "2026-01-02T04:04:05+01:00"}},
		"memory_type": 2, "structured_content": {"schema_id": "s", "data": {"a_b": [1, "x"]}}}`
	const want = `{"fact":"f","metadata":{"a_b":{"stringValue":"2026-01-02T03:04:05Z"},"d":{"doubleValue":1.50},` +
		`"i":{"doubleValue":3},"no":{"boolValue":false},"t":{"timestampValue":"2026-01-02T03:04:05.000000Z"}},` +
		`"name":"E/memories/m","scope":{"a_b":"c","user_id":"ann"},` +
		`"structuredContent":{"data":{"a_b":[1,"x"]},"schemaId":"s"},"topics":[{"managedMemoryTopic":"USER_PREFERENCES"},` +
		`{"customMemoryTopicLabel":"a_b"},{"managedMemoryTopic":"USER_PERSONAL_INFO"}],"displayName":"n",` +
		`"memoryType":"STRUCTURED_PROFILE"}`
	var b memoryBody
	if err := Decode([]byte(in), &b); err != nil {
		t.Fatal(err)
	}
	user, err := UserOf(b.Scope)
	if err != nil {
		t.Fatal(err)
	}
	m := memory.Memory{ID: "m", Scope: memory.Scope{App: "1", User: user}, Fact: *b.Fact, DisplayName: *b.DisplayName}
	if m.Topics, err = readTopics("topics", b.Topics); err != nil {
		t.Fatal(err)
	}
	if m.Metadata, err = readValues("metadata", b.Metadata); err != nil {
		t.Fatal(err)
	}
	if m.Profile, err = b.StructuredContent.profile(); err != nil {
		t.Fatal(err)
	}
	raw, err := Encode(Resource{Collection: "E"}.memoryOf(&m, nil))
	if err != nil {
		t.Fatal(err)
	}
	got := strings.ReplaceAll(string(raw), "E//", "E/")
	sorted := func(text string) (v any) {
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" || !strings.Contains(got, "1.50") {
		t.Errorf("-want +got\n%s\n%s", diff, got)
	}
}

// A memory that says something in two ways, or in none, is refused.
func TestBadMemoryBody(t *testing.T) {
	for in, want := range map[string]string{
		`{"memoryType": "OTHER"}`:                                    "memoryType: there is no",
		`{"memoryType": -1}`:                                         "memoryType: there is no",
		`{"topics": [{}]}`:                                           "topics[0]: want one of",
		`{"topics": [{"managedMemoryTopic": "x"}]}`:                  "managedMemoryTopic: there is no",
		`{"metadata": {"a": {}}}`:                                    "metadata.a: ",
		`{"metadata": {"a": {"doubleValue": "NaN"}}}`:                "doubleValue",
		`{"metadata": {"a": {"boolValue": true, "doubleValue": 1}}}`: "want one of",
		`{"ttl": "1s", "expireTime": "2100-01-01T00:00:00Z"}`:        "ttl and expireTime",
		`{"revisionTtl": "0s"}`:                                      "revisionTtl",
		`{"revisionLabels": {"vertex-unlisted": "x"}}`:               "a label of memoryd's own",
	} {
		var b memoryBody
		err := Decode([]byte(in), &b)
		for _, check := range []func() error{
			func() error { _, err := readTopics("topics", b.Topics); return err },
			func() error { _, err := readValues("metadata", b.Metadata); return err },
			func() error { _, _, err := b.expiry(); return err },
			func() error { _, _, err := b.revision(); return err },
		} {
			if err == nil {
				err = check()
			}
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), memory.ErrInvalid.Error()) {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
}

// A caller for one user acts in all scopes that have the user's id, and in no other.
func TestOwner(t *testing.T) {
	may := func(user, in string) bool {
		ctx := access.With(context.Background(), &access.Principal{App: "1", User: user, Can: access.Read})
		return access.Check(asOwner(ctx, in), memory.Scope{App: "1", User: in}, access.Read) == nil
	}
	for _, tt := range []struct {
		user, in string
		want     bool
	}{
		{"ann", "ann", true}, {"ann", "~app_name=1&user_id=ann", true}, {"ann", "~user_id=ann&x=", true},
		{"ann", "bob", false}, {"ann", "~app_name=1&user_id=bob", false}, {"ann", "~app_name=ann", false},
		{"a%2Fb", "~user_id=a%2Fb&x=1", true},
		{"a%41", "~user_id=aA&x=1", false}, // no client has a user with such an id
		{"~app_name=1&user_id=ann", "ann", false},
		{"~app_name=1&user_id=ann", "~app_name=1&user_id=ann", true},
		{"~x=1", "~user_id=%7Ex%3D1&y=1", false},
		{"", "bob", true},
	} {
		if got := may(tt.user, tt.in); got != tt.want {
			t.Errorf("a key of %q in %q: %v, want %v", tt.user, tt.in, got, tt.want)
		}
	}
}

// Merged scopes differ in app_name alone.
func TestMergedScopes(t *testing.T) {
	s := &Service{opts: Options{Scopes: MergedScopes}}
	if _, err := s.scopeIs(appKey, "x"); err == nil || !strings.Contains(err.Error(), "scope.app_name") {
		t.Errorf("a filter of the key that is left out: %v", err)
	}
	for _, tt := range []struct {
		scope map[string]string
		want  string
	}{
		{map[string]string{"app_name": "x", "user_id": "ann"}, "ann"},
		{map[string]string{"user_id": "ann"}, "ann"},
		{map[string]string{"app_name": "x", "user_id": ""}, "~app_name=x&user_id="},
		{map[string]string{"app_name": "x", "user_id": "ann", "y": "z"}, "~app_name=x&user_id=ann&y=z"},
		{map[string]string{"team": "x", "user_id": "ann"}, "~team=x&user_id=ann"},
		{map[string]string{"app_name": "x"}, "~app_name=x"},
	} {
		if got, err := s.userOf(tt.scope); err != nil || got != tt.want {
			t.Errorf("%v is %q, %v, want %q", tt.scope, got, err, tt.want)
		}
	}
}

// A filter of scopes holds of exactly the scopes that it says, however they are written.
func TestScopeFilters(t *testing.T) {
	texts := []string{"", "a", "ann", "an", "user_id", "app_name", "a&b=c", "~", "~app_name", "%", "%7E", "ü", `"q"`, "a/b", ".", "x.y",
		"user_id=ann", "&", "(a|b)", "a b", "\x01"}
	random := rand.New(rand.NewPCG(1, 2))
	pick := func() string { return texts[random.IntN(len(texts))] }
	s := new(Service)
	var scopes []map[string]string
	for _, text := range texts {
		scopes = append(scopes, map[string]string{userKey: text})
	}
	for len(scopes) < 300 {
		scope := map[string]string{}
		for range 1 + random.IntN(3) {
			scope[pick()] = pick()
		}
		if _, err := UserOf(scope); err == nil {
			scopes = append(scopes, scope)
		}
	}
	check := func(filter string, want func(map[string]string) bool) {
		where, err := s.where(filtersIn{Filter: filter})
		if err != nil {
			t.Fatalf("%s: %v", filter, err)
		}
		for _, scope := range scopes {
			user, err := s.userOf(scope)
			if err != nil {
				t.Fatal(err)
			}
			m := memory.Memory{Scope: memory.Scope{App: "1", User: user}}
			if got := memory.Holds(where, m.Compare); got != want(scope) {
				t.Fatalf("%s of %v (%s): %v, want %v", filter, scope, user, got, want(scope))
			}
		}
	}
	quoted := func(text string) string {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
	}
	for _, key := range texts {
		if key == "" {
			continue
		}
		for _, value := range texts {
			filter := "scope." + quoted(key) + " = " + quoted(value)
			check(filter, func(scope map[string]string) bool { got, ok := scope[key]; return ok && got == value })
			check(strings.Replace(filter, " = ", " != ", 1),
				func(scope map[string]string) bool { got, ok := scope[key]; return !ok || got != value })
		}
	}
	for _, scope := range scopes {
		raw, err := Encode(scope)
		if err != nil {
			t.Fatal(err)
		}
		check("scope = "+quoted(string(raw)), func(o map[string]string) bool { return cmp.Equal(scope, o) })
	}
}

// The groups hold of exactly the metadata that they say.
func TestFilterGroups(t *testing.T) {
	m := memory.Memory{Metadata: memory.Metadata{"s": []byte(`"b"`), "n": []byte(`2`), "b": []byte(`true`),
		"t": []byte(`{"timestampValue":"2026-01-02T03:04:05.5Z"}`)}}
	for filters, want := range map[string]bool{
		`{"key": "s", "value": {"stringValue": "b"}}`:                                                           true,
		`{"key": "s", "value": {"stringValue": "a"}, "op": "GREATER_THAN"}`:                                     true,
		`{"key": "s", "value": {"stringValue": "b"}, "op": "LESS_THAN"}`:                                        false,
		`{"key": "s", "value": {"doubleValue": 1}}`:                                                             false,
		`{"key": "s", "value": {"doubleValue": 1}, "negate": true}`:                                             true,
		`{"key": "none", "value": {"stringValue": "b"}}`:                                                        false,
		`{"key": "none", "value": {"stringValue": "b"}, "negate": true}`:                                        true,
		`{"key": "n", "value": {"doubleValue": 2.0}}`:                                                           true,
		`{"key": "n", "value": {"double_value": "1.5"}, "op": 2}`:                                               true,
		`{"key": "n", "value": {"doubleValue": 2}, "op": "LESS_THAN", "negate": true}`:                          true,
		`{"key": "n", "value": {"stringValue": "2"}}`:                                                           false,
		`{"key": "b", "value": {"boolValue": true}}`:                                                            true,
		`{"key": "b", "value": {"bool_value": false}, "negate": true}`:                                          true,
		`{"key": "t", "value": {"timestampValue": "2026-01-02T03:04:05Z"}}`:                                     true,
		`{"key": "t", "value": {"timestamp_value": "2026-01-02T04:04:05+01:00"}}`:                               true,
		`{"key": "t", "value": {"timestampValue": "2026-01-02T03:04:05Z"}, "op": 2}`:                            false,
		`{"key": "t", "value": {"timestampValue": "2026-01-02T03:04:04Z"}, "op": 2}`:                            true,
		`{"key": "t", "value": {"timestampValue": "2026-01-02T03:04:06Z"}, "op": 3}`:                            true,
		`{"key": "t", "value": {"stringValue": "2026-01-02T03:04:05.5Z"}}`:                                      false,
		`{"key": "n", "value": {"doubleValue": 2}}, {"key": "s", "value": {"stringValue": "c"}}`:                false,
		`{"key": "n", "value": {"doubleValue": 9}}]}, {"filters": [{"key": "s", "value": {"stringValue": "b"}}`: true,
	} {
		var in filtersIn
		if err := Decode([]byte(`{"filter_groups": [{"filters": [`+filters+`]}]}`), &in); err != nil {
			t.Fatalf("%s: %v", filters, err)
		}
		where, err := new(Service).where(in)
		if err != nil {
			t.Fatalf("%s: %v", filters, err)
		}
		if got := memory.Holds(where, m.Compare); got != want {
			t.Errorf("%s: %v, want %v", filters, got, want)
		}
	}
}

// The id of an operation that is done tells its kind, its engine and its target, and no other id does.
func FuzzOperationID(f *testing.F) {
	f.Add("m", "1", "a b", "o-cw")
	f.Add("p", "shop", "17", "MQBhAHg")
	f.Fuzz(func(t *testing.T, kind, engine, target, id string) {
		if !strings.Contains(kind+target, "\x00") && plainID.MatchString(engine) {
			k, e, of, ok := readOperationID(operationID(kind, engine, target))
			if !ok || k != kind || e != engine || of != target {
				t.Errorf("%q of %q of engine %q is read as %q, %q, %q", kind, target, engine, k, of, e)
			}
		}
		if kind, engine, target, ok := readOperationID(id); ok && operationID(kind, engine, target) != id {
			t.Errorf("%q is read as an operation of another id", id)
		}
	})
}

// The pattern of the users with some keys matches those of exactly the scopes that have all of them.
func TestUsersWith(t *testing.T) {
	keys := []string{"user_id", "app_name", "a", "a&", "a=", "b.", "~"}
	random := rand.New(rand.NewPCG(3, 4))
	some := func() (out []string) {
		for range 1 + random.IntN(3) {
			out = append(out, keys[random.IntN(len(keys))])
		}
		return out
	}
	for range 2000 {
		scope := map[string]string{}
		for _, key := range some() {
			scope[key] = []string{"", "x", "a=", "&a=", "~user_id=x"}[random.IntN(5)]
		}
		user, err := UserOf(scope)
		if err != nil {
			t.Fatal(err)
		}
		wanted, want := some(), true
		for _, key := range wanted {
			_, ok := scope[key]
			want = want && ok
		}
		pattern, err := usersWith(wanted, ExactScopes)
		if err != nil {
			t.Fatal(err)
		}
		if got := regexp.MustCompile(pattern).MatchString(user); got != want {
			t.Fatalf("%q of %q: %v, want %v: the scope is %v", pattern, user, got, want, scope)
		}
	}
	exact, err := usersWith([]string{"user_id"}, ExactScopes)
	if err != nil {
		t.Fatal(err)
	}
	if merged, err := usersWith([]string{"app_name", "user_id"}, MergedScopes); err != nil || merged != exact {
		t.Errorf("with merged scopes %q, %v, want %q", merged, err, exact)
	}
	if _, err := usersWith([]string{"a", ""}, ExactScopes); err == nil {
		t.Error("an empty key is taken")
	}
}

// A key of one user owns the scopes of that user, and not those of another native user whose id reads
// as the same one.
func TestOwnsCanonicalUsers(t *testing.T) {
	ann := &access.Principal{User: "ann@x.org"}
	for user, want := range map[string]bool{
		"ann@x.org": true, "~team=t&user_id=ann@x.org": true, "ann%40x.org": false,
		"~user_id=bob&user_id=ann@x.org": false, "~user_id=bob": false,
	} {
		if got := owns(ann, user); got != want {
			t.Errorf("owns %q: %v", user, got)
		}
	}
}

// A text that is no bool where one belongs is bad input.
func TestTextForBool(t *testing.T) {
	for text, ok := range map[string]bool{`true`: true, `"true"`: true, `"maybe"`: false, `1`: false} {
		var in struct {
			Force bool `json:"force"`
		}
		err := Decode([]byte(`{"force": `+text+`}`), &in)
		if (err == nil) != ok || err != nil && !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("force %s: %v", text, err)
		}
	}
}
