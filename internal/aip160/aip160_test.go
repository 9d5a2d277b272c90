package aip160_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/internal/aip160"
	"github.com/memoryd/memoryd/memory"
)

func number(t *testing.T, s string) memory.Value {
	t.Helper()
	v, err := memory.Number(s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func pattern(t *testing.T, s string) memory.Value {
	t.Helper()
	v, err := memory.Pattern(s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestParse(t *testing.T) {
	day := time.Date(2026, 3, 2, 15, 4, 5, 0, time.UTC)
	is := func(field string, op memory.Op, v memory.Value) memory.Cmp {
		return memory.Cmp{Field: field, Op: op, Value: v}
	}
	key := func(key string, op memory.Op, v memory.Value) memory.Cmp {
		return memory.Cmp{Field: memory.FieldMetadata, Key: key, Op: op, Value: v}
	}
	a, b, c := is("author", "=", memory.Text("a")), is("author", "=", memory.Text("b")), is("author", "=", memory.Text("c"))
	for text, want := range map[string]memory.Where{
		"":                                      nil,
		" \t\r\n":                               nil,
		"author=a":                              a,
		`author = "a"`:                          a,
		`author = 'a'`:                          a,
		"((author=a))":                          a,
		"author=a author=b":                     memory.And{a, b},
		"author=a AND author=b AND author=c":    memory.And{a, b, c},
		"author=a AND author=b OR author=c":     memory.And{a, memory.Or{b, c}},
		"author=a OR author=b author=c":         memory.And{memory.Or{a, b}, c},
		"(author=a AND author=b)OR author=c":    memory.Or{memory.And{a, b}, c},
		"NOT author=a":                          memory.Not{Where: a},
		"-author=a":                             memory.Not{Where: a},
		"NOT -(author=a OR author=b)":           memory.Not{Where: memory.Not{Where: memory.Or{a, b}}},
		"-author=a author=b":                    memory.And{memory.Not{Where: a}, b},
		`fact:"Tea and \"milk\" \\"`:            is("fact", ":", memory.Text(`Tea and "milk" \`)),
		`fact != "é 日"`:                         is("fact", "!=", memory.Text("é 日")),
		`fact =~ "^a\\d+"`:                      is("fact", "=~", pattern(t, `^a\d+`)),
		"fact:été":                              is("fact", ":", memory.Text("été")),
		"author=3":                              is("author", "=", memory.Text("3")),
		"author=a:b/c@d":                        is("author", "=", memory.Text("a:b/c@d")),
		"kind=turn":                             is("kind", "=", memory.Text("turn")),
		"topics:USER_PREFERENCES":               is("topics", ":", memory.Text("USER_PREFERENCES")),
		"valid_to:*":                            is("validTo", ":", memory.Anything()),
		"source.session_id=s1":                  is("source.sessionId", "=", memory.Text("s1")),
		"source.sessionId=s1":                   is("source.sessionId", "=", memory.Text("s1")),
		"create_time>=2026-03-02T15:04:05Z":     is("createTime", ">=", memory.Time(day)),
		`timestamp<"2026-03-02T16:04:05+01:00"`: is("timestamp", "<", memory.Time(day)),
		"metadata.n > -3.5e1":                   key("n", ">", number(t, "-3.5e1")),
		`metadata.n = "3"`:                      key("n", "=", memory.Text("3")),
		"metadata.n=03":                         key("n", "=", memory.Text("03")),
		"display_name=Drinks":                   is("displayName", "=", memory.Text("Drinks")),
		"revision>=2":                           is("revision", ">=", number(t, "2")),
		"metadata.b != true":                    key("b", "!=", memory.Bool(true)),
		"metadata.due<=2026-03-02T15:04:05Z":    key("due", "<=", memory.Time(day)),
		`metadata.my-key_1 = yes`:               key("my-key_1", "=", memory.Text("yes")),
		`metadata."a.b c" = yes`:                key("a.b c", "=", memory.Text("yes")),
		`metadata."a" metadata.b:*`:             nil,
	} {
		got, err := aip160.Parse(text, aip160.Memories)
		if want == nil && strings.TrimSpace(text) != "" {
			if err == nil {
				t.Errorf("Parse(%q) = %v, want an error", text, got)
			}
			continue
		}
		if err != nil {
			t.Errorf("Parse(%q): %v", text, err)
		} else if d := cmp.Diff(want, got); d != "" {
			t.Errorf("Parse(%q) (-want +got):\n%s", text, d)
		}
	}
}

// An error names the byte at which the filter is wrong, and what would be right.
func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"author":                         "at byte 6: want =, !=, : or =~ behind the field, not the end",
		"author=":                        "at byte 7: want a value, not the end",
		"author=a AND":                   "at byte 12: want a field, not the end",
		"author=a and author=b":          "at byte 9: no field and",
		"author=a OR":                    "at byte 11: want a field, not the end",
		"author=a)":                      "at byte 8: want AND, OR or a comparison, not )",
		"(author=a":                      "at byte 9: want the ) of the ( at byte 0, not the end",
		"()":                             "at byte 1: want a field, not )",
		"NOT":                            "at byte 3: want a field, not the end",
		`"tea"`:                          "at byte 0: want a field, not a text between quotes",
		"tea":                            "at byte 0: no field tea: want author, confirmedTime, createTime",
		"fact=a nose=b":                  "at byte 7: no field nose",
		`fact="a`:                        "at byte 5: the text that begins here has no closing quote",
		`fact="\d"`:                      `at byte 6: want \\ or \" behind a backslash`,
		`fact="\`:                        `at byte 6: want \\ or \"`,
		"fact<a":                         "at byte 4: want =, !=, : or =~ behind the field, not <",
		"topics=a":                       "at byte 6: want : behind the field, not =",
		"timestamp=~a":                   "at byte 9: want =, !=, <, <=, > or >= behind the field, not =~",
		"timestamp:2026-03-02T15:04:05Z": "at byte 10: : takes * alone here",
		"timestamp:a":                    "at byte 10: want a time such as",
		"timestamp>=yesterday":           "at byte 11: want a time such as 2026-03-02T15:04:05Z, not yesterday",
		"revision=two":                   "at byte 9: want a number, not two",
		"revision:*":                     "at byte 8: want =, !=, <, <=, > or >= behind the field, not :",
		"metadata=1":                     "at byte 0: want a name behind metadata",
		"metadata.=1":                    "at byte 0: want a name behind metadata",
		"metadata.a.b=1":                 "at byte 0: want one name behind metadata",
		`metadata."a=1`:                  "at byte 9: the text that begins here has no closing quote",
		"metadata.a<true":                "at byte 11: < takes a text, a number or a time",
		"metadata.a=1e999":               "at byte 11: the number 1e999 is too large",
		"kind=note":                      `at byte 5: kind "note" is none of`,
		"fact=a*":                        "at byte 5: * stands alone",
		"fact=*":                         "at byte 5: * stands behind : only",
		"fact=~\"(\"":                    "at byte 6: a pattern is not of RE2",
		"fact=~\"" + strings.Repeat("a{1000}", 3) + "\"": "at byte 6: the patterns take",
		"fact=a,fact=b": `at byte 6: "," has no meaning here`,
		"fact=a\x00":    `at byte 6: "\x00" has no meaning here`,
		"fact=\xff":     "at byte 0: a filter is UTF-8",
		"fact=~\"" + strings.Repeat("a", 1025) + "\"":                         "at byte 6: a pattern has 1025 bytes, more than 1024",
		strings.Repeat("(", 1000) + "fact=a":                                  "at byte 32: more than 32 parentheses and negations",
		strings.Repeat("NOT ", 1000) + "fact=a":                               "at byte 128: more than 32 parentheses and negations",
		strings.Repeat("-", 1000) + "fact=a":                                  "at byte 32: more than 32 parentheses and negations",
		strings.Repeat("id=a ", 1000):                                         "at byte 1280: more than 256 comparisons",
		"fact=" + strings.Repeat("a", 1<<20):                                  "at byte 8192: a filter has at most 8192 bytes, and this one has 1048581",
		strings.Repeat(fmt.Sprintf("fact=~%q ", strings.Repeat("b", 900)), 3): "the patterns take",
	} {
		w, err := aip160.Parse(text, aip160.Memories)
		if !errors.Is(err, memory.ErrInvalid) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("Parse(%.60q) = %.60v, error %v\nwant %s", text, w, err, want)
		}
	}
}

// FuzzParse checks that every filter ends in an expression or in ErrInvalid, and that an
// expression is written as a filter which is read as the same expression.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "author=a", `fact:"x \" y" OR NOT kind=turn`, "-(metadata.n>3 AND valid_to:*) topics:a",
		`metadata."a b"=2026-03-02T15:04:05Z`, "((((", "fact=~\"a+\"", "timestamp<=2026-03-02T15:04:05.5Z",
		"metadata.a != -0 OR metadata.a = 1e5", `author='it\'s'`,
	} {
		f.Add(seed)
	}
	m := memory.Memory{ID: "a", Fact: "x y", Kind: memory.KindTurn, Metadata: memory.Metadata{"n": []byte("4")}}
	f.Fuzz(func(t *testing.T, text string) {
		w, err := aip160.Parse(text, aip160.Memories)
		if err != nil {
			if !errors.Is(err, memory.ErrInvalid) {
				t.Fatalf("Parse(%q): %v", text, err)
			}
			return
		}
		if w == nil {
			return
		}
		memory.Holds(w, m.Compare)
		written := w.String()
		again, err := aip160.Parse(written, aip160.Memories)
		if err != nil && len(written) <= aip160.MaxBytes {
			t.Fatalf("Parse(%q), written as %q: %v", text, written, err)
		}
		if err == nil && again.String() != written {
			t.Fatalf("Parse(%q), written as %q, is read as %q", text, written, again)
		}
	})
}

// A filter of revisions has labels with names, whose values are texts however they are
// written, and none of the fields of a memory that a revision lacks.
func TestRevisionFields(t *testing.T) {
	for filter, want := range map[string]string{
		`labels.release = 7`: `labels.release = 7`,
		`labels."a b" = "x" AND create_time > 2026-03-01T00:00:00Z`: `labels."a b" = "x" AND createTime > 2026-03-01T00:00:00Z`,
		`NOT labels.x:* action = DELETED`:                           `NOT labels.x : * AND action = "DELETED"`,
		`operation = o1 OR actor != client`:                         `operation = "o1" OR actor != "client"`,
	} {
		got, err := aip160.Parse(filter, aip160.Revisions)
		if err != nil || got.String() != want {
			t.Errorf("%s is %v, want %s, error %v", filter, got, want, err)
		}
	}
	for _, filter := range []string{"labels = x", "labels. = x", "labels.a.b = x", "kind = fact", "topics:x",
		"actor.x = y"} {
		if got, err := aip160.Parse(filter, aip160.Revisions); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%s is %v, error %v", filter, got, err)
		}
	}
	if _, err := aip160.Parse("labels.x = y", aip160.Memories); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("labels of memories: %v", err)
	}
}

// A field of texts has one of its texts by name, or all of them. A value is a text however it
// is written.
func TestTextsFields(t *testing.T) {
	fields := aip160.Fields{"scope": memory.TextsField, "fact": memory.TextField}
	for filter, want := range map[string]string{
		`scope.user_id=123`:                              `scope.user_id = "123"`,
		`scope."a b" != true`:                            `scope."a b" != "true"`,
		`scope = "{}" OR scope.t="2026-03-02T15:04:05Z"`: `scope = "{}" OR scope.t = "2026-03-02T15:04:05Z"`,
	} {
		got, err := aip160.Parse(filter, fields)
		if err != nil || got.String() != want {
			t.Errorf("%s is %v, want %s, error %v", filter, got, want, err)
		}
	}
	for _, filter := range []string{"scope:x", "scope.a:*", "scope.a<b", "scope.a.b = x", "scope. = x", "scopes.a = x",
		"fact.a = x"} {
		if got, err := aip160.Parse(filter, fields); !errors.Is(err, memory.ErrInvalid) ||
			!strings.Contains(err.Error(), "at byte") {
			t.Errorf("%s is %v, error %v", filter, got, err)
		}
	}
}
