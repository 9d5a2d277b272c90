package english

// People announce what they say: "I'm happy to report that I quit", "Not sure if I told you, but I quit", "Sad news: I
// quit". An announcement has the form of a statement, but says nothing, so it leads into the statement behind it.
//
// Its words come from short lists, as a sentence of the same form may hand over the text of somebody else ("My summary:
// I quit") or tell of another listener ("I have to tell my boss that I quit").

var (
	announcingMoods  = tables.Words("announcing-moods")
	announcingWishes = tables.Phrases("announcing-wishes")
	announcingFills  = tables.Words("announcing-fills")
	tellings         = tables.Phrases("tellings")
	tellingsThat     = tables.Phrases("tellings-that")
	toldDoubts       = tables.Phrases("told-doubts")
	toldWords        = tables.Words("told-words")
	newsNouns        = tables.Words("news-nouns")
	newsWords        = tables.Words("news-words")
)

// Sentences are read from their front, so that the bounds keep a long one without an announcement cheap.
const (
	maxAnnounced = 12 // words of "not sure if I told you this already, but"
	maxNews      = 8  // words before a colon
)

// announcement is the number of words at ws[i] that announce the statement behind them; 0 if there are none.
func announcement(ws Words, i int) int {
	if i+2 >= len(ws) {
		return 0
	}
	if n := news(ws[i:]); n > 0 {
		return n
	}
	if n := toldBefore(ws, i); n > 0 {
		return n
	}
	return announced(ws, i)
}

// news reads "sad news:", "small change of plan:" and "it's official:".
func news(ws Words) int {
	tells := false
	for k, w := range ws[:min(len(ws)-1, maxNews)] {
		noun := newsNouns.Has(w.Text)
		if !noun && !newsWords.Has(w.Text) {
			return 0
		}
		if tells = tells || noun; w.Stop == ':' && tells {
			return k + 1
		}
	}
	return 0
}

// toldBefore reads "not sure if I told you this already, but".
func toldBefore(ws Words, i int) int {
	n := toldDoubts.Match(ws, i)
	for k := i + n; n > 0 && k < min(len(ws)-1, i+maxAnnounced); k++ {
		if ws[k].Text == "but" {
			return k + 1 - i
		}
		if !toldWords.Has(ws[k].Text) {
			return 0
		}
	}
	return 0
}

// announced reads "I'm happy to report that", "I just wanted to let you know". Without "that" a word must follow with
// which a statement begins: "I have to tell you something" is none.
func announced(ws Words, i int) int {
	k := skipWords(ws, i, announcingFills)
	if w := ws.At(k); w == "i" || w == "we" {
		k = skipWords(ws, k+1, announcingFills)
	}
	if w := ws.At(k); w == "am" || w == "are" {
		if k = skipWords(ws, k+1, announcingFills); !announcingMoods.Has(ws.At(k)) || ws.At(k+1) != "to" {
			return 0
		}
		k += 2
	} else {
		n := announcingWishes.Match(ws, k)
		if n == 0 {
			return 0
		}
		k += n
	}
	k = skipWords(ws, k, announcingFills)
	n, that := tellings.Match(ws, k), false
	if n == 0 {
		n, that = tellingsThat.Match(ws, k), true
	}
	k += n
	switch {
	case n == 0 || k >= len(ws):
		return 0
	case ws[k].Text == "that" && k+1 < len(ws):
		return k + 1 - i
	case !that && (statementStarts.Has(ws[k].Text) || ws[k].Upper):
		return k - i
	}
	return 0
}

// skipWords is the index of the first word from i on that is not in a table.
func skipWords(ws Words, i int, table Set) int {
	for table.Has(ws.At(i)) {
		i++
	}
	return i
}
