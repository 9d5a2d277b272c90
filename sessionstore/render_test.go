package sessionstore

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/memory"
)

// shelf has artifacts for templates.
func shelf(name string) (string, bool, error) {
	switch name {
	case "notes.txt":
		return "Buy {fruit}.", true, nil
	case "empty":
		return "", true, nil
	case "broken":
		return "", false, fmt.Errorf("the shelf fell: %w", memory.ErrUnavailable)
	}
	return "", false, nil
}

var templateState = State{
	"name": []byte(`"Ann"`), "_x1": []byte(`"under"`), "größe": []byte(`"1,70"`), "名前": []byte(`"アン"`),
	"e\u0301": []byte(`"accent"`), "ⅷ": []byte(`"eight"`), "a٣": []byte(`"digit"`),
	"app:name": []byte(`"Guide"`), "user:name": []byte(`"Ann Lee"`), "temp:name": []byte(`"now"`),
	"n": []byte(`5`), "big": []byte(`12345678901234567890`), "f": []byte(`1.50`), "yes": []byte(`true`),
	"null": []byte(`null`), "none": []byte(`""`),
	"list": []byte(`[ 1, "a b" ]`), "map": []byte(`{ "k" : "<&> é" }`), "nest": []byte(`"{name} {missing}"`),
	"not-a-name": []byte(`"no"`), "other:name": []byte(`"no"`),
	"quoted": []byte(`"\u00e9 \"q\" \n"`), "artifact": []byte(`"a key"`), "1x": []byte(`"no"`),
	"class": []byte(`"a word of Python's"`),
}

func TestRender(t *testing.T) {
	for _, c := range []struct{ name, template, want string }{
		{"nothing", "", ""},
		{"no braces", "Answer in French.", "Answer in French."},
		{"keys", "Hello {name}, you are {n}.", "Hello Ann, you are 5."},
		{"at both ends", "{name}{n}", "Ann5"},
		{"space within", "{ name }{\tname\n}", "AnnAnn"},
		{"more braces", "{{name}} {{{ name }}} {{name}", "Ann Ann Ann"},
		{"prefixes", "{app:name} {user:name} {temp:name}", "Guide Ann Lee now"},
		{"optional", "{name?} {n?}", "Ann 5"},
		{"optional and missing", "[{missing?}][{app:missing?}]", "[][]"},
		{"a mark alone", "{?} {name?}", "{?} Ann"},
		{"two marks", "{name??}", "{name??}"},
		{"a mark apart", "{name ?}", "{name ?}"},
		{"null", "[{null}][{null?}]", "[][]"},
		{"empty", "[{none}]", "[]"},
		{"numbers", "{n} {big} {f}", "5 12345678901234567890 1.50"},
		{"other values", "{yes} {list} {map}", `true [1,"a b"] {"k":"<&> é"}`},
		{"escapes", "{quoted}", "é \"q\" \n"},
		{"not again", "{nest}", "{name} {missing}"},
		{"letters", "{größe} {名前} {e\u0301} {ⅷ} {_x1} {a٣}", "1,70 アン accent eight under digit"},
		{"words of Python", "{class}", "a word of Python's"},
		{"no keys", "{} { } {not-a-name} {1x} {a b} {a.b} {a[0]} {n!r} {n:d} {'n'} {+n} {a\u2e2f}",
			"{} { } {not-a-name} {1x} {a b} {a.b} {a[0]} {n!r} {n:d} {'n'} {+n} {a\u2e2f}"},
		{"no prefixes", "{other:name} {app:} {:name} {app:user:name} {APP:name} {app: name}",
			"{other:name} {app:} {:name} {app:user:name} {APP:name} {app: name}"},
		{"JSON around a key", `{"k": {name}}`, `{"k": Ann`},
		{"JSON", `{"k": 1, "l": {"m": []}}`, `{"k": 1, "l": {"m": []}}`},
		{"one brace", "{name } }{ {", "Ann }{ {"},
		{"not UTF-8", "{na\xffme}{\ufffd}", "{na\xffme}{\ufffd}"},
		{"an artifact", "{artifact.notes.txt} {{ artifact.empty }}", "Buy {fruit}. "},
		{"an artifact that may be missing", "[{artifact.gone?}][{artifact.?}]", "[][]"},
		{"a key like it", "{artifact}", "a key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Render(c.template, templateState, shelf)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRenderRefuses(t *testing.T) {
	for _, c := range []struct {
		name, template string
		artifacts      func(string) (string, bool, error)
		kind           error
		words          string
	}{
		{"a key that is missing", "Hello {missing}!", shelf, memory.ErrInvalid, `"missing"`},
		{"of the user's", "Hello {user:missing}!", shelf, memory.ErrInvalid, `"user:missing"`},
		{"the case counts", "Hello {Name}!", shelf, memory.ErrInvalid, `"Name"`},
		{"an artifact that is missing", "{artifact.gone}", shelf, memory.ErrInvalid, `"gone"`},
		{"an artifact without a name", "{artifact.}", shelf, memory.ErrInvalid, "artifact"},
		{"no artifacts at all", "{artifact.notes.txt}", nil, memory.ErrInvalid, "no artifacts"},
		{"no artifacts at all, though it may be missing", "{artifact.notes.txt?}", nil, memory.ErrInvalid,
			"no artifacts"},
		{"artifacts that fail", "{artifact.broken?}", shelf, memory.ErrUnavailable, `"broken"`},
		{"too long a template", strings.Repeat("x", MaxTemplate+1), nil, memory.ErrInvalid, "template"},
		{"too much to fill in", strings.Repeat("{long}", 2000), nil, memory.ErrInvalid, "filled in"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Render(c.template, State{"name": []byte(`"Ann"`), "long": []byte(`"` + strings.Repeat("x",
				10_000) + `"`)}, c.artifacts)
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.words) || got != "" {
				t.Errorf("got %.40q and the error %.200v, want %v with %q", got, err, c.kind, c.words)
			}
		})
	}
}

// Text between keys stays as it is, and values are not searched for keys.
func FuzzRender(f *testing.F) {
	for _, seed := range []string{"", "{k}", "{{k}}", "{k?} {x?}", "{x}", "{artifact.a}", "{app:k}{k:k}", "{", "}{",
		"{{}}", "{\xff}", "{ k\u3000}", "{k}}{{k}", "{a\u0301}"} {
		f.Add(seed, "v")
		f.Add(seed, "{k}")
	}
	f.Fuzz(func(t *testing.T, template, value string) {
		state := State{"k": quote(value)}
		value = show(state["k"]) // as JSON has it
		got, err := Render(template, state, nil)
		if err != nil {
			if !errors.Is(err, memory.ErrInvalid) || got != "" {
				t.Fatalf("%q: %q, %v", template, got, err)
			}
			return
		}
		if !strings.Contains(template, "{") && got != template {
			t.Fatalf("%q became %q", template, got)
		}
		if strings.ContainsAny(value, "{}") {
			return
		}
		again, err := Render(got, state, nil)
		if err == nil && !strings.Contains(template, "{{") && !strings.Contains(template, "}}") &&
			strings.Contains(again, "{k}") {
			t.Fatalf("%q: a key is left in %q", template, again)
		}
		whole, err := Render("<{k}>"+template, state, nil)
		if err != nil || !strings.HasPrefix(whole, "<"+value+">") || len(got) > len(whole) {
			t.Fatalf("%q behind a key: %q, %v", template, whole, err)
		}
	})
}

func ExampleRender() {
	state := State{"user:name": []byte(`"Ann"`), "topics": []byte(`["cats", "tea"]`)}
	text, err := Render("You talk to {user:name} about {topics}. {mood?}", state, nil)
	fmt.Printf("%q %v\n", text, err)
	_, err = Render("You talk to {name}.", state, nil)
	fmt.Println(err)
	// Output:
	// "You talk to Ann about [\"cats\",\"tea\"]. " <nil>
	// invalid argument: template: there is no key "name" (write {name?} if it may be missing)
}
