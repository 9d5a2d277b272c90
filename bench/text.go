package bench

import (
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"regexp"
	"strings"
)

// A marker is a word that occurs in one turn alone: it has the run, the scope and
// the number of the turn in it. A search for it finds that turn, and one that shows
// up in another scope's answers has crossed over. It consists of consonants and
// ends in q, so that no language's stemmer shortens it:
//
//	zx RUN x SCOPE x TURN q
const digits = "bcdfghjklmnprstvw"

var markers = regexp.MustCompile("zx([" + digits + "]+)x([" + digits + "]+)x([" + digits + "]+)q")

// newRun returns a random name, so that runs against one memoryd do not meet.
func newRun() string {
	raw := make([]byte, 6)
	rand.Read(raw) // never fails
	for i, b := range raw {
		raw[i] = digits[int(b)%len(digits)]
	}
	return string(raw)
}

// letters writes a number in consonants.
func letters(n int) string {
	out := []byte{digits[n%len(digits)]}
	for n /= len(digits); n > 0; n /= len(digits) {
		out = append(out, digits[n%len(digits)])
	}
	return string(out)
}

func markerOf(run string, scope, turn int) string {
	return "zx" + run + "x" + letters(scope) + "x" + letters(turn) + "q"
}

// sentences have the marker in place of %s. The rules extractor makes facts of
// most of them, and passes over the others, as in real conversations.
func sentences() []string {
	return []string{
		"I bought the painting called %s yesterday.",
		"My sister Rita gave me a book named %s for my birthday.",
		"I moved to a street called %s last month.",
		"I love the songs of %s, above all in the morning.",
		"We are planning a trip to %s in the spring.",
		"My dog is called %s and he is afraid of thunder.",
		"Can you remind me of the meeting about %s?",
		"The weather in %s was awful again, we stayed inside all day.",
		"I work for a company named %s since last year.",
		"Thanks, the recipe with %s turned out great!",
		"I am allergic to %s, so please never suggest it.",
		"My favourite restaurant is %s, they know me by now.",
		"Honestly I do not know what to make of %s yet.",
		"I am learning to play the %s, two lessons a week.",
		"My daughter's school play is about %s this year.",
		"I don't like %s anymore, it is too noisy for me.",
	}
}

// sentence writes a turn with a marker.
func sentence(r *mathrand.Rand, marker string) string {
	all := sentences()
	return fmt.Sprintf(all[r.IntN(len(all))], marker)
}

// padding is text of about n bytes without markers.
func padding(r *mathrand.Rand, n int) string {
	words := strings.Fields("the a quiet garden with an old wooden gate leads down to a river where children " +
		"throw stones and neighbours talk about bread trains cousins rain and the price of coffee in winter")
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(words[r.IntN(len(words))])
		b.WriteByte(' ')
	}
	return b.String()
}
