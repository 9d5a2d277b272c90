// Package regextest checks that a cheap test in front of a regular expression lets through all that the expression
// matches.
package regextest

import (
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
	"unicode"
)

// Passes fails t if found is false of a text that the expression matches. It tries 10,000 random texts, always the
// same.
func Passes(t *testing.T, expression *regexp.Regexp, found func(string) bool) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	re, err := syntax.Parse(expression.String(), syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	matched := 0
	for range 10_000 {
		s := matching(random, re)
		if !expression.MatchString(s) {
			continue
		}
		matched++
		if !found(s) {
			t.Fatalf("%q is not found", s)
		}
	}
	if matched < 5_000 {
		t.Errorf("of 10,000 texts only %d are matched", matched)
	}
}

// matching gives a random text that an expression matches, except for its conditions on the text around it.
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
