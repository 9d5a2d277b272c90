package vertex_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/vertex"
)

// A scope is natively one user, of a valid id, and no two scopes are the same one.
func TestScopes(t *testing.T) {
	seen := map[string]map[string]string{}
	for _, tt := range []struct {
		scope map[string]string
		want  string // "" is refused
	}{
		{map[string]string{"user_id": "ann"}, "ann"},
		{map[string]string{"user_id": "a/b%2F"}, "a%2Fb%252F"},
		{map[string]string{"user_id": "~ann"}, "%7Eann"},
		{map[string]string{"user_id": ".."}, "%2E%2E"},
		{map[string]string{"user_id": `ü "q" a=b AND c`}, `ü "q" a=b AND c`},
		{map[string]string{"user_id": "a\u0085b"}, "a%C2%85b"},
		{map[string]string{"app_name": "1", "user_id": "ann"}, "~app_name=1&user_id=ann"},
		{map[string]string{"user_id": "ann", "x": ""}, "~user_id=ann&x="},
		{map[string]string{"a=b&": "c d"}, "~a%3Db%26=c%20d"},
		{map[string]string{"user_id": ""}, "~user_id="},
		{map[string]string{}, ""},
		{map[string]string{"": "x"}, ""},
		{map[string]string{"user_id": "*"}, ""},
		{map[string]string{"a": "1", "b": "1", "c": "1", "d": "1", "e": "1", "f": "1"}, ""},
		{map[string]string{"team": strings.Repeat("ü", 100)}, ""},
	} {
		got, err := vertex.UserOf(tt.scope)
		if got != tt.want && err == nil || (err == nil) != (tt.want != "") {
			t.Errorf("UserOf(%v) = %q, %v, want %q", tt.scope, got, err, tt.want)
		}
		if err == nil {
			if before, ok := seen[got]; ok {
				t.Errorf("%v and %v are both %q", before, tt.scope, got)
			}
			seen[got] = tt.scope
		}
	}
}

// Every scope comes back as it was.
func FuzzScope(f *testing.F) {
	f.Add("user_id", "ann", "", "")
	f.Add("user_id", "a%b/c", "app_name", "1")
	f.Add("~", "&=%", "=", "~")
	f.Add("user_id", "\x00\u009f", "k", "")
	f.Fuzz(func(t *testing.T, k1, v1, k2, v2 string) {
		scope := map[string]string{k1: v1}
		if k2 != "" {
			scope[k2] = v2
		}
		user, err := vertex.UserOf(maps.Clone(scope))
		if err != nil {
			return
		}
		if err := memory.ValidateID("user", user); err != nil {
			t.Errorf("UserOf(%q): %v", scope, err)
		}
		if diff := cmp.Diff(scope, vertex.ScopeOf(user)); diff != "" {
			t.Errorf("ScopeOf(%q): -want +got\n%s", user, diff)
		}
	})
}
