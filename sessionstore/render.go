package sessionstore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memoryd/memoryd/memory"
)

// Limits of Render, in bytes.
const (
	MaxTemplate = 1 << 20
	MaxRendered = 16 << 20 // a template may have a long value many times
)

// placeholder is ADK's own pattern: any number of braces around text without braces.
var placeholder = regexp.MustCompile(`\{+[^{}]*\}+`)

// Render fills {key} in a template with state, by the rules of ADK's instructions.
// The number of braces, and space around the key, do not matter. A key is an
// identifier, or one after "app:", "user:" or "temp:". Braces around anything else
// stay as they are. Values are not searched for placeholders again. With a "?"
// behind the key, a missing key becomes "".
//
// {artifact.NAME} becomes the text that artifacts returns for NAME, if ok is true.
//
// A string goes in as it is, null as "", and any other value as compact JSON:
// ADK's libraries print a list or true in the way of their own language, and agree
// on strings and numbers only. Identifiers are those of Python, which has all of
// Go's and also combining marks: a key that either ADK looks up is looked up here.
//
// ErrInvalid for a missing key or artifact, for {artifact.…} if artifacts is nil,
// and for a template or a result that is too long. Errors of artifacts come back
// wrapped.
func Render(template string, state State, artifacts func(name string) (text string, ok bool, err error)) (
	string, error) {
	if len(template) > MaxTemplate {
		return "", fmt.Errorf("%w: template has %d bytes, more than %d", memory.ErrInvalid, len(template), MaxTemplate)
	}
	var out strings.Builder
	at := 0
	for _, place := range placeholder.FindAllStringIndex(template, -1) {
		text, err := fill(template[place[0]:place[1]], state, artifacts)
		if err != nil {
			return "", err
		}
		out.WriteString(template[at:place[0]])
		out.WriteString(text)
		if at = place[1]; out.Len() > MaxRendered {
			return "", fmt.Errorf("%w: template: with all filled in it has more than %d bytes", memory.ErrInvalid,
				MaxRendered)
		}
	}
	out.WriteString(template[at:])
	return out.String(), nil
}

// fill returns the text that one placeholder becomes.
func fill(match string, state State, artifacts func(string) (string, bool, error)) (string, error) {
	name, optional := strings.CutSuffix(strings.TrimSpace(strings.Trim(match, "{}")), "?")
	text, ok := "", false
	what := "key"
	if artifact, is := strings.CutPrefix(name, "artifact."); is {
		if artifacts == nil {
			return "", fmt.Errorf("%w: template: %.80q: there are no artifacts here", memory.ErrInvalid, match)
		}
		what, name = "artifact", artifact
		var err error
		if text, ok, err = artifacts(artifact); err != nil {
			return "", fmt.Errorf("artifact %.80q: %w", artifact, err)
		}
	} else if !isStateName(name) {
		return match, nil
	} else if value, has := state[name]; has {
		text, ok = show(value), true
	}
	if !ok && !optional {
		return "", fmt.Errorf("%w: template: there is no %s %.80q (write {%.80s?} if it may be missing)",
			memory.ErrInvalid, what, name,
			strings.Trim(match, "{} "))
	}
	return text, nil
}

// show returns a value as text.
func show(value json.RawMessage) string {
	var text *string
	if json.Unmarshal(value, &text) == nil {
		if text == nil {
			return ""
		}
		return *text
	}
	var out bytes.Buffer
	if json.Compact(&out, value) != nil {
		return string(value)
	}
	return out.String()
}

// isStateName reports whether state can have a key of this name.
func isStateName(name string) bool {
	if prefix, rest, ok := strings.Cut(name, ":"); ok {
		return slices.Contains([]string{AppPrefix, UserPrefix, TempPrefix}, prefix+":") && isIdentifier(rest)
	}
	return isIdentifier(name)
}

// The characters that may begin an identifier, and those that may follow: ID_Start
// and ID_Continue of Unicode's annex 31, which Python's reference names
// ("Identifiers and keywords").
var (
	begins   = []*unicode.RangeTable{unicode.L, unicode.Nl, unicode.Other_ID_Start}
	follows  = []*unicode.RangeTable{unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue}
	isSyntax = []*unicode.RangeTable{unicode.Pattern_Syntax, unicode.Pattern_White_Space}
)

func isIdentifier(name string) bool {
	for i, r := range name {
		start := r == '_' || unicode.In(r, begins...)
		if r == utf8.RuneError || !start && (i == 0 || !unicode.In(r, follows...)) || r != '_' && unicode.In(r,
			isSyntax...) {
			return false
		}
	}
	return name != ""
}
