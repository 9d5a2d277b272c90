package extract

import (
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
	"unicode"
)

// matching gives a random text that an expression matches, but for its
// conditions on what stands around.
func matching(random *rand.Rand, re *syntax.Regexp) string {
	var b strings.Builder
	times := func(least, most int) {
		if most < 0 {
			most = least + 2
		}
		for range least + random.IntN(most-least+1) {
			b.WriteString(matching(random, re.Sub[0]))
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			for n := random.IntN(4); n > 0 && re.Flags&syntax.FoldCase != 0; n-- {
				r = unicode.SimpleFold(r)
			}
			b.WriteRune(r)
		}
	case syntax.OpCharClass:
		at := 2 * random.IntN(len(re.Rune)/2)
		b.WriteRune(re.Rune[at] + random.Int32N(1+re.Rune[at+1]-re.Rune[at]))
	case syntax.OpAlternate:
		b.WriteString(matching(random, re.Sub[random.IntN(len(re.Sub))]))
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			b.WriteString(matching(random, sub))
		}
	case syntax.OpQuest:
		times(0, 1)
	case syntax.OpStar:
		times(0, -1)
	case syntax.OpPlus:
		times(1, -1)
	case syntax.OpRepeat:
		times(re.Min, re.Max)
	}
	return b.String()
}

// What an expression matches has one of the signs that are looked for first.
func TestSigns(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, c := range map[string]struct {
		expression *regexp.Regexp
		found      func(string) bool
	}{
		"injection": {injection, injects},
		"code":      {codeEnd, func(s string) bool { return strings.ContainsAny(s, codeSigns) }},
	} {
		re, err := syntax.Parse(c.expression.String(), syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		matched := 0
		for range 10_000 {
			s := matching(random, re)
			if !c.expression.MatchString(s) {
				continue
			}
			matched++
			if !c.found(s) {
				t.Fatalf("%s: %q is not found", name, s)
			}
		}
		if matched < 5_000 {
			t.Errorf("%s: of 10,000 texts only %d are matched", name, matched)
		}
	}
}

// Every phrase that wants something forgotten is looked into, however it is
// written.
func TestMayForget(t *testing.T) {
	for _, list := range forgetting {
		for _, ph := range list {
			for _, s := range []string{strings.Join(ph, " "), strings.ToUpper(strings.Join(ph, " ")), strings.Join(ph, "-"), strings.Replace(strings.Join(ph, " "), "t", "\uff54", 1)} {
				if text := "Please " + s + " I live in Porto."; !mayForget(text) {
					t.Errorf("%q is not looked into", text)
				}
			}
		}
	}
	if text := "I live in Porto, and that is all."; mayForget(text) {
		t.Errorf("%q is looked into", text)
	}
}
