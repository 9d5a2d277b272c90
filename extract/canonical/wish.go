package canonical

import (
	_ "embed" // for wish.txt
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

//go:embed wish.txt
var wishText string

// wishTables are the word tables of requests to forget a subject or everything.
var wishTables = english.Parse(wishText)

var (
	forgetVerbs      = wishTables.Phrases("forget-verbs")
	eraseVerbs       = wishTables.Phrases("erase-verbs")
	memoryTails      = wishTables.Phrases("memory-tails")
	idleTails        = wishTables.Phrases("idle-tails")
	everything       = wishTables.Phrases("everything")
	something        = wishTables.Phrases("something")
	holdings         = wishTables.Phrases("holdings")
	holdingStarts    = wishTables.Words("holding-starts")
	tellings         = wishTables.Phrases("tellings")
	knowings         = wishTables.Phrases("knowings")
	abouts           = wishTables.Phrases("abouts")
	selves           = wishTables.Words("selves")
	reserves         = wishTables.Words("reserves")
	talkNouns        = wishTables.Words("talk-nouns")
	compoundHeads    = wishTables.Words("compound-heads")
	relationPrefixes = wishTables.Words("relation-prefixes")
	qualifiers       = wishTables.Words("qualifiers")
	currencies       = wishTables.Words("currencies")
	whWords          = wishTables.Words("wh-words")
	clauseJoints     = wishTables.Words("clause-joints")
)

// wish reads a request that begins with its verb at ws[i], and names a subject or
// everything.
func wish(ws english.Words, i int) (Wish, bool) {
	n := forgetVerbs.Match(ws, i)
	erases := n == 0
	if erases {
		n = eraseVerbs.Match(ws, i)
	}
	if n == 0 || ws.StartWith("you", "can") || ws.StartWith("you", "may") {
		return Wish{}, false
	}
	r := request{polite: ws[:i].Has("please"), mind: ws[i+n-1].Text == "about", erases: erases}
	ws = ws[i+n:]
	if m := memoryTails.Match(ws, 0); m > 0 && ws[0].Text == "from" { // "Erase from your memory my …"
		r.ofMemory, ws = true, ws[m:]
	}
	ws = r.withoutTails(ws, i > 0)
	if len(ws) == 0 || stopsInside(ws) && !listsOwn(ws) {
		return Wish{}, false // "Forget my sister, what about my job?"
	}
	return r.object(ws)
}

// request is how a request is put, apart from what it names.
type request struct {
	polite   bool // it says "please"
	erases   bool // its verb is one of eraseVerbs
	mind     bool // its verb is "forget about", which also means "never mind"
	ofMemory bool // it says that the memory is meant
}

// object reads what a request names.
func (r *request) object(ws english.Words) (Wish, bool) {
	o, rest := openingOf(ws)
	evident := !r.erases || r.ofMemory || o.told || o.known || o.holding
	switch {
	case len(rest) == 0 && (o.all || o.holding):
		return Wish{Everything: true}, evident
	case len(rest) == 0:
		return Wish{}, evident // "Forget what I said"
	case reserved(rest):
		return Wish{}, evident && (o.whole > 0 || isOwn(rest))
	case o.whole > 0 && abouts.Match(rest, 0) > 0:
		return o.about(rest, evident)
	case o.all && !o.told && !o.known && isOwn(rest): // "all my trips"
		return about(rest), evident
	case whWords.Has(ws[0].Text):
		w := about(ws)
		return w, evident && (w.Names() || o.told || o.known)
	case o.whole > 0:
		return Wish{}, evident && (o.told || o.known || o.holding) // "everything I said yesterday"
	}
	return r.bare(ws, evident)
}

// bare reads a request that names a subject without more words: "my salary".
func (r *request) bare(ws english.Words, evident bool) (Wish, bool) {
	switch {
	case len(ws) == 1 && selves.Has(ws[0].Text):
		return Wish{Everything: true}, r.ofMemory || !r.erases && r.polite
	case !evident || ofTalk(ws):
		return Wish{}, false // "Delete my draft", "Forget my last question"
	case !isOwn(ws) && !r.ofMemory && (r.mind || !r.polite):
		return Wish{}, false // "Forget about the rain", "Forget Tom"
	}
	w, ok := subjects(ws)
	return w, ok || isOwn(ws)
}

// isOwn reports whether ws begins with something of the speaker's.
func isOwn(ws english.Words) bool { return ws.At(0) == "my" || ws.At(0) == "our" }

// about reads what stands behind the opening: "about me", "about my sister".
func (o *opening) about(ws english.Words, evident bool) (Wish, bool) {
	ws = ws[abouts.Match(ws, 0):]
	switch {
	case len(ws) == 0:
		return Wish{}, evident
	case len(ws) == 1 && selves.Has(ws[0].Text):
		return Wish{Everything: o.all || o.holding || o.known}, true
	}
	return about(ws), evident || isOwn(ws)
}

// ofTalk reports whether ws is something of the talk itself: "my last question".
func ofTalk(ws english.Words) bool { return ws.Any(talkNouns) && kindNamed(ws[1:].String()) == nil }

// about is the wish to forget what is known about some subjects; the zero Wish if
// they are not understood.
func about(ws english.Words) Wish {
	if whWords.Has(ws[0].Text) {
		if s, ok := asked(ws); ok {
			return Wish{Subjects: []Subject{s}}
		}
		return Wish{}
	}
	w, _ := subjects(ws)
	return w
}

// opening is what stands before "about": "everything that I told you".
type opening struct {
	all     bool // "everything"
	holding bool // "my data": what a memory has
	told    bool // "I said"
	known   bool // "you know"
	whole   int  // the number of its words
}

// openingOf reads the opening that ws begins with.
func openingOf(ws english.Words) (o opening, rest english.Words) {
	n := everything.Match(ws, 0)
	if o.all = n > 0; !o.all {
		n = something.Match(ws, 0)
	}
	if h := holdingAt(ws[n:]); h > 0 && (n > 0 || ws[0].Text == "my" || ws[0].Text == "your") {
		o.holding = true
		n += h
	}
	if n == 0 {
		return o, ws
	}
	rest = ws[n:]
	if rest.At(0) == "that" {
		rest = rest[1:]
	}
	k, t := knowings.Match(rest, 0), tellings.Match(rest, 0)
	o.known, o.told = k > 0, t > 0
	n = max(k, t)
	if n > 0 && n < len(rest) && rest[n-1].Text == "about" { // "we talked about tea"
		n--
	}
	rest = rest[n:]
	o.whole = len(ws) - len(rest)
	return o, rest
}

// holdingAt counts the words of "my data" and "of the information".
func holdingAt(ws english.Words) int {
	n := 0
	for inAny(ws.At(n), holdingStarts) {
		n++
	}
	if h := holdings.Match(ws, n); h > 0 {
		return n + h
	}
	return 0
}

// withoutTails takes off what adds nothing at the end of a request.
func (r *request) withoutTails(ws english.Words, asked bool) english.Words {
	for len(ws) > 0 {
		if ws.At(len(ws)-1) == "?" && asked {
			ws = ws[:len(ws)-1]
			continue
		}
		n := tail(ws, memoryTails)
		r.ofMemory = r.ofMemory || n > 0
		if n == 0 {
			n = tail(ws, idleTails)
			r.polite = r.polite || n > 0 && ws[len(ws)-1].Text == "please"
		}
		if n == 0 {
			break
		}
		ws = ws[:len(ws)-n]
	}
	return ws
}

// maxTail bounds a phrase at the end of a request, in words.
const maxTail = 6

// tail counts the words of the longest phrase that ends ws.
func tail(ws english.Words, phrases english.Phrases) int {
	for n := min(maxTail, len(ws)); n > 0; n-- {
		if phrases.Match(ws, len(ws)-n) == n {
			return n
		}
	}
	return 0
}

// stopsInside reports whether a mark parts ws.
func stopsInside(ws english.Words) bool {
	for i := range ws[:len(ws)-1] {
		if ws[i].Stop != 0 && strings.ContainsRune(",;:?!–—.", ws[i].Stop) || ws[i].Text == "?" {
			return true
		}
	}
	return false
}

// listsOwn reports whether each part of a list is the speaker's: "my salary, my age
// and my phone number".
func listsOwn(ws english.Words) bool {
	for i := range ws[:len(ws)-1] {
		if ws[i].Stop != 0 {
			next := ws.At(i + 1)
			if next == "and" {
				next = ws.At(i + 2)
			}
			if ws[i].Stop != ',' || next != "my" && next != "our" {
				return false
			}
		}
	}
	return true
}

// reserved reports whether ws leaves something out: "except my name".
func reserved(ws english.Words) bool {
	return ws.Any(reserves) || slices.ContainsFunc(ws, func(w english.Word) bool {
		return english.DateWords.Has(w.Text) || english.Periods.Has(w.Text) || w.Text == "today" || w.Text == "not"
	})
}

// subjects reads a list of subjects: "my sister and my brother".
func subjects(ws english.Words) (w Wish, ok bool) {
	own := false
	for from, i := 0, 0; i <= len(ws); i++ {
		joint := i < len(ws) && (ws[i].Text == "and" || ws[i].Text == "or")
		stop := i < len(ws) && ws[i].Stop == ','
		if i < len(ws) && !joint && !stop {
			continue
		}
		end := i
		if stop && !joint {
			end = i + 1
		}
		if end > from {
			s, ok := subjectOf(ws[from:end], own)
			if !ok {
				return Wish{}, false
			}
			own = own || s.own
			w.Subjects = append(w.Subjects, s)
		}
		from = i + 1
	}
	return w, len(w.Subjects) > 0
}
