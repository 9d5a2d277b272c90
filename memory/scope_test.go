package memory

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestValidateID(t *testing.T) {
	for _, id := range []string{
		"a", "ann@x.com", "ann%40x.com", "...", ". ", "a b", " ", "Ann", "日本", "👩‍👩‍👧", "e\u0301", "\u202e", "\ufffd",
		"a\\b", "'; --", "%", "*", ":",
		strings.Repeat("x", MaxID), strings.Repeat("ü", MaxID/2), "\u2028",
	} {
		if err := ValidateID("user", id); err != nil {
			t.Errorf("ValidateID(%q) = %v, want nil", id, err)
		}
	}
	for _, c := range []struct{ id, why string }{
		{"", "empty"},
		{".", `"."`},
		{"..", `".."`},
		{"/", "slash"},
		{"a/b", "slash"},
		{"../a", "slash"},
		{"\x00", "control"},
		{"a\x00b", "control"},
		{"a\nb", "control"},
		{"a\x7f", "control"},
		{"\u0085", "control"},
		{"\xff", "UTF-8"},
		{"a\xc3", "UTF-8"},
		{"\xed\xa0\x80", "UTF-8"},
		{"\xc0\xaf", "UTF-8"},
		{strings.Repeat("x", MaxID+1), "257 bytes"},
		{strings.Repeat("ü", MaxID/2) + "x", "257 bytes"},
		{strings.Repeat("x", 10<<10), "10240 bytes"},
		{strings.Repeat("\xff/\x00", 10<<10), "bytes"},
	} {
		err := ValidateID("user", c.id)
		if !errors.Is(err, ErrInvalid) {
			t.Errorf("ValidateID(%.40q) = %v, want ErrInvalid", c.id, err)
			continue
		}
		if msg := err.Error(); !strings.Contains(msg, c.why) || !strings.Contains(msg, "user id") {
			t.Errorf("ValidateID(%.40q) = %q, want it to name the user id and say %q", c.id, msg, c.why)
		}
		if msg := err.Error(); !utf8.ValidString(msg) || len(msg) > 4*MaxID {
			t.Errorf("ValidateID(%.40q) has a message of %d bytes", c.id, len(msg))
		}
	}
}

func TestScopeValidate(t *testing.T) {
	for _, s := range []Scope{{"a", "b"}, {"a:b", "c"}, {strings.Repeat("a", MaxID), "b"}} {
		if err := s.Validate(); err != nil {
			t.Errorf("%q is refused: %v", s, err)
		}
	}
	for _, c := range []struct {
		scope Scope
		field string
	}{
		{Scope{}, "app"}, {Scope{App: "a"}, "user"}, {Scope{User: "b"}, "app"}, {Scope{"a/b", "c"}, "app"},
		{Scope{"a", ".."}, "user"},
	} {
		if err := c.scope.Validate(); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c.field+" id") {
			t.Errorf("%q gives %v, want ErrInvalid that names the %s id", c.scope, err, c.field)
		}
	}
}

// FuzzValidateID checks the rule from the other side: an accepted id can stand
// in a path, a log line and a JSON string, and a refusal is short.
func FuzzValidateID(f *testing.F) {
	for _, id := range []string{"", ".", "..", "a", "a/b", "\x00", "\xff", "é", strings.Repeat("x", 10<<10),
		"ann@x.com"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		err := ValidateID("memory", id)
		if err != nil {
			if !errors.Is(err, ErrInvalid) || !utf8.ValidString(err.Error()) || len(err.Error()) > 8*MaxID {
				t.Errorf("ValidateID(%q) = %v", id, err)
			}
			return
		}
		switch {
		case id == "", id == ".", id == "..", len(id) > 256, !utf8.ValidString(id):
			t.Errorf("ValidateID(%q) accepts it", id)
		case strings.ContainsFunc(id, func(r rune) bool { return r < ' ' || r == '/' || r >= 0x7f && r < 0xa0 }):
			t.Errorf("ValidateID(%q) accepts a slash or a control character", id)
		}
	})
}
