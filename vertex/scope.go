package vertex

import (
	"context"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/memory"
)

// maxUserID bounds the id of a user, in characters.
const maxUserID = 128

// The scope of a memory is a map. That of a user's sessions is {"user_id": USER}, and natively
// the user with that id. Any other map is natively a user whose id begins with ~, so that no
// client's own user has it.
const (
	userKey   = "user_id"
	mapPrefix = "~"
	maxPairs  = 5
)

const hexDigits = "0123456789ABCDEF"

// escape percent-encodes the bytes of text for which odd holds.
func escape(text string, odd func(i int, c byte) bool) string {
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; c == '%' || odd(i, c) {
			b.Write([]byte{'%', hexDigits[c>>4], hexDigits[c&15]})
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// unescape is the reverse of escape.
func unescape(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			hi, lo := strings.IndexByte(hexDigits, text[i+1]), strings.IndexByte(hexDigits, text[i+2])
			if hi >= 0 && lo >= 0 {
				b.WriteByte(byte(hi<<4 | lo))
				i += 2
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// userOf returns the native id of a user.
func userOf(id string) (string, error) {
	switch {
	case id == "":
		return "", invalid("userId: want the id of a user")
	case !utf8.ValidString(id):
		return "", invalid("userId is not valid UTF-8")
	case utf8.RuneCountInString(id) > maxUserID:
		return "", invalid("userId has %d characters, more than %d", utf8.RuneCountInString(id), maxUserID)
	}
	dots := id == "." || id == ".."
	user := escape(id, func(i int, c byte) bool {
		return c == '/' || c < ' ' || c == 0x7f || dots || i == 0 && c == mapPrefix[0]
	})
	// Control characters beyond ASCII are two bytes of which neither is one.
	if strings.ContainsFunc(user, func(r rune) bool { return r >= 0x80 && r < 0xa0 }) {
		user = escapeRunes(user)
	}
	return user, memory.ValidateID("user", user)
}

// escapeRunes percent-encodes the control characters beyond ASCII.
func escapeRunes(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r >= 0x80 && r < 0xa0 {
			b.WriteString(escape(string(r), func(int, byte) bool { return true }))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// userID is the reverse of userOf.
func userID(user string) string { return unescape(user) }

// UserOf returns the native user of the scope of a memory: it is one to one.
func UserOf(scope map[string]string) (string, error) {
	if len(scope) == 0 || len(scope) > maxPairs {
		return "", invalid("scope: want 1 to %d pairs, such as {%q: …}, not %d", maxPairs, userKey, len(scope))
	}
	for k, v := range scope {
		switch {
		case k == "":
			return "", invalid("scope: a key is empty")
		case strings.Contains(k, "*") || strings.Contains(v, "*"):
			return "", invalid("scope: %.80q: want no * in a key or a value", k)
		case !utf8.ValidString(k) || !utf8.ValidString(v):
			return "", invalid("scope: %.80q is not valid UTF-8", k)
		}
	}
	if id, ok := scope[userKey]; ok && len(scope) == 1 && id != "" {
		return userOf(id)
	}
	var pairs []string
	for _, k := range slices.Sorted(maps.Keys(scope)) {
		pairs = append(pairs, pair(k, scope[k]))
	}
	user := mapPrefix + strings.Join(pairs, "&")
	if len(user) > memory.MaxID {
		return "", invalid("scope: it takes %d bytes, more than %d", len(user), memory.MaxID)
	}
	return user, nil
}

// pair is a pair of a scope as the native user has it.
func pair(key, value string) string {
	odd := func(_ int, c byte) bool {
		return c != '-' && c != '_' && c != '.' && c != '@' &&
			!(c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z')
	}
	return escape(key, odd) + "=" + escape(value, odd)
}

// ScopeOf is the reverse of UserOf.
func ScopeOf(user string) map[string]string {
	pairs, ok := strings.CutPrefix(user, mapPrefix)
	if !ok {
		return map[string]string{userKey: userID(user)}
	}
	out := map[string]string{}
	for pair := range strings.SplitSeq(pairs, "&") {
		k, v, _ := strings.Cut(pair, "=")
		out[unescape(k)] = unescape(v)
	}
	return out
}

// Scopes says which scopes of memories are one.
type Scopes string

// The values of Scopes.
const (
	// ExactScopes has scopes be one only if they have the same pairs.
	ExactScopes Scopes = "exact"
	// MergedScopes has {"app_name": any, "user_id": USER} be {"user_id": USER}: some clients
	// send the one, and some the other.
	MergedScopes Scopes = "merge"
)

// appKey is the key of a scope that MergedScopes leaves out.
const appKey = "app_name"

// userOf is UserOf by the Scopes of the service.
func (s *Service) userOf(scope map[string]string) (string, error) {
	user, err := UserOf(scope)
	if err != nil || s.opts.Scopes != MergedScopes || len(scope) != 2 || scope[userKey] == "" {
		return user, err
	}
	if _, ok := scope[appKey]; !ok {
		return user, nil
	}
	return userOf(scope[userKey])
}

// within returns the native scope of a memory's scope, and the context for calls there.
func (s *Service) within(ctx context.Context, engine string, scope map[string]string) (
	context.Context, memory.Scope, error) {
	user, err := s.userOf(scope)
	return asOwner(ctx, user), memory.Scope{App: engine, User: user}, err
}

// A key of a user is natively for one user. Memories of that user in a scope of several pairs are
// natively those of another one, who is the same person to the client.

// asOwner returns ctx for calls in the scope of a native user. A caller for one user acts in
// all scopes whose user_id is that user, which natively are users of their own.
func asOwner(ctx context.Context, user string) context.Context {
	if p := access.From(ctx); p != nil && p.User != user && owns(p, user) {
		own := *p
		own.User = user
		return access.With(ctx, &own)
	}
	return ctx
}

// owns reports whether the scope of a native user is one of the user that a caller is for.
func owns(p *access.Principal, user string) bool {
	id := userID(p.User)
	native, err := userOf(id)
	return p.User == user || err == nil && native == p.User && canonical(user) && ScopeOf(user)[userKey] == id
}

// canonical reports whether a native user is that of its scope: another spelling, which the HTTP API
// takes as it is, would read as the same scope and is somebody else.
func canonical(user string) bool {
	back, err := UserOf(ScopeOf(user))
	return err == nil && back == user
}
