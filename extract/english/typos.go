package english

// People misspell. Rules look for some words in particular, and a word that is one slip away from one of those is read
// as it: a letter too few, too many or another one, or two neighbours exchanged, behind the first letter.
//
// The look-up is by what is left of a word without one of its letters: two words that are one slip apart have such a
// rest in common, or one is the rest of the other. So a word costs as many look-ups as it has letters, however many
// words the table has.

// Bounds on the words that are looked up, in bytes. In shorter words a slip makes another word too easily.
const (
	shortestSlip = 6 // letters of the right word
	longestSlip  = 16
)

// slips maps the words of a table, and what is left of them without one letter, to the words.
var slips = slipsOf(oftenMisspelled)

// beginnings are the first two letters of the texts in slips. Most words begin otherwise, and cost nothing more.
var beginnings = beginningsOf(slips)

// slipsOf maps words as slips does.
func slipsOf(right Set) map[string][]string {
	out := map[string][]string{}
	for w := range right.words {
		if len(w) < shortestSlip {
			continue
		}
		out[w] = append(out[w], w)
		for i := 1; i < len(w); i++ {
			if i > 1 && w[i] == w[i-1] {
				continue // the same rest as before
			}
			rest := w[:i] + w[i+1:]
			out[rest] = append(out[rest], w)
		}
	}
	return out
}

// beginning is the place of the first two letters of w in beginnings.
func beginning(w string) int { return int(w[0])<<8 | int(w[1]) }

// beginningsOf are the beginnings of the keys of a look-up table.
func beginningsOf(slips map[string][]string) *[1 << 16]bool {
	var out [1 << 16]bool
	for w := range slips {
		out[beginning(w)] = true
	}
	return &out
}

// corrected is the word of the table that w misspells; "" if it misspells none, or more than one.
func corrected(w string) string {
	if len(w) < shortestSlip-1 || len(w) > longestSlip || !beginnings[beginning(w)] || oftenMisspelled.Has(w) {
		return ""
	}
	found := ""
	try := func(rest []byte) bool {
		for _, right := range slips[string(rest)] {
			if oneSlip(w, right) && right != found {
				if found != "" {
					return false
				}
				found = right
			}
		}
		return true
	}
	var room [longestSlip]byte
	if !try(append(room[:0], w...)) {
		return ""
	}
	for i := 1; i < len(w); i++ {
		if !try(append(append(room[:0], w[:i]...), w[i+1:]...)) {
			return ""
		}
	}
	if found == "" || spelledRight.Has(w) || known(w) {
		return ""
	}
	return found
}

// known reports whether w is a word of the tables that is never a misspelled one.
func known(w string) bool {
	return StopWords.Has(w) || PresentVerbs.Has(w) || irregularPast.Has(w) || OwnNouns.Has(w) || TalkVerbs.Has(w) ||
		States.Has(w) || Moods.Has(w) || Adverbs.Has(w) || Likings.Has(w) || TaskWords.Has(w)
}

// oneSlip reports whether a and b, which begin with the same letter, are one slip apart. Other endings of one word are
// no slips: "sisters", "promotes".
func oneSlip(a, b string) bool {
	if len(a) > len(b) {
		return len(a) == len(b)+1 && a[:len(b)] != b && inserted(a, b)
	}
	if len(b) > len(a) {
		return len(b) == len(a)+1 && b[:len(a)] != a && inserted(b, a)
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if i == 0 || i >= len(a)-1 {
		return false // the last letter is an ending
	}
	return a[i+1:] == b[i+1:] || a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}

// inserted reports whether long is short with one more letter behind the first.
func inserted(long, short string) bool {
	i := 0
	for i < len(short) && long[i] == short[i] {
		i++
	}
	return i > 0 && long[i+1:] == short[i:]
}
