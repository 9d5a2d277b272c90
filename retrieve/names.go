package retrieve

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memoryd/memoryd/extract/canonical"
	"github.com/memoryd/memoryd/extract/english"
	"github.com/memoryd/memoryd/internal/analyzer"
	"github.com/memoryd/memoryd/memory"
)

// Agents ask for their user in three ways: "I", "the user", and by name. The words of users mostly have "I", so that a
// name of the user shares nothing with it. A search therefore reads a question that names the user as the same
// question with "I". It knows the names from what it has at hand: the id of the user, the names of authors, and what
// the user said of the name, which any search for the name finds.

// aliasWeight is how much a word counts that names the user: what was said of the name itself is still found by it.
const aliasWeight = 0.1

// maxName is in bytes: no longer part of an id is read as a name.
const maxName = 20

// nameInID returns the name in the id of a user, in lower case: "ann" of "ann", "Ann", "ann.smith", "ann_smith" and
// "ann.smith@example.com". It is "" for an id that is no name ("conv-26", "u1", "xKqZ"), or that tells a role
// ("user_ann").
func nameInID(id string) string {
	id, _, _ = strings.Cut(id, "@")
	if len(id) > 3*maxName || !namelike.MatchString(id) {
		return ""
	}
	name := strings.ToLower(strings.FieldsFunc(id, isJoint)[0])
	if len(name) > maxName || roleWords.Has(name) {
		return ""
	}
	return name
}

// namelike matches words of two or more letters, each in one case apart from its first letter, with joints between.
var namelike = regexp.MustCompile(
	`^(?:\p{L}[\p{Ll}\p{Lo}\p{M}]+|\p{Lu}{2,})(?:[._ -](?:\p{L}[\p{Ll}\p{Lo}\p{M}]+|\p{Lu}{2,}))*$`)

// isJoint reports whether a character joins the parts of an id.
func isJoint(r rune) bool { return strings.ContainsRune("._ -", r) }

// isUser reports whether an author is the user whose memory is searched. The one person who speaks is the user of a
// question that says "I"; any other question leaves open who asks.
func (q *question) isUser(author string) bool {
	if author == "user" || strings.EqualFold(author, q.user) {
		return true
	}
	if author == "" {
		return false
	}
	return q.self && author == q.sole || q.idName != "" && isNamed(author, q.user, q.idName)
}

// isNamed reports whether an author has the name in an id: the same first name, and the same last one if both have one.
func isNamed(author, id, name string) bool {
	words := strings.FieldsFunc(author, isJoint)
	if len(words) == 0 || !strings.EqualFold(words[0], name) {
		return false
	}
	id, _, _ = strings.Cut(id, "@")
	parts := strings.FieldsFunc(id, isJoint)
	return len(words) == 1 || len(parts) == 1 || strings.EqualFold(words[len(words)-1], parts[len(parts)-1])
}

// firstName is the first word of the name of an author.
func firstName(author string) string {
	first, _, _ := strings.Cut(author, " ")
	return first
}

// meet notes who speaks in what was found: where one person alone does, that person is the user, under whatever name.
// Two people of a shared conversation stay apart. others is whether several people speak of whom none is the user.
func (q *question) meet(wordings []*wording) (others bool) {
	q.sole = ""
	first := ""
	for _, w := range wordings {
		for _, run := range w.found.Runs {
			for i := range run {
				m := run[i].Memory
				switch {
				case m.Author == first || !isPerson(m):
				case q.isUser(m.Author):
					return false
				case first == "":
					first = m.Author
				default:
					others = true
				}
			}
		}
	}
	if !others {
		q.sole = first
	}
	return others
}

// byID reads a question that names the user by the name in the user's id, if q does; else it returns q.
func (q *question) byID(wordings []*wording) *question {
	name := q.idName
	if name == "" || !slices.Contains(q.namesIn(), name) {
		return q
	}
	return q.asUser(name, wordings)
}

// bySaid looks at what was found, and reads the question again if that tells more of whom it names. again is whether
// the wordings have another meaning for that, so that they are searched once more.
func (q *question) bySaid(wordings []*wording) (out *question, again bool) {
	others := q.meet(wordings)
	if q.plain != nil {
		if others || q.authorNamed(wordings) { // whose turns are found by the name
			for _, w := range wordings {
				w.meant = w.text
			}
			q.plain.sole, q.plain.all = q.sole, q.all && !others
			return q.plain, true
		}
		return q, false
	}
	names := q.namesIn()
	user := q.sole != "" && !q.spoken && slices.Contains(plainWords(q.text), "user")
	if !user && len(names) == 0 {
		return q, false
	}
	if q.authorNamed(wordings) {
		for _, name := range names { // "Tell me about Ann", where Ann alone speaks
			if named := withI(q.text, name); strings.EqualFold(name, firstName(q.sole)) {
				q.all = asksForEverything(plainWords(named), named)
			}
		}
		return q, false
	}
	name := "user"
	if !user {
		name = q.statedName(names, wordings)
	}
	if name == "" {
		return q, false
	}
	named := q.asUser(name, wordings)
	named.sole = q.sole
	return named, true
}

// authorNamed reports whether the question, as it was worded, names an author of what was found. Turns of "user" are
// the user's beside those of an author who has the name of the user's id, so that these count as named by "I".
func (q *question) authorNamed(wordings []*wording) bool {
	if q.plain == nil {
		return slices.Contains(slices.Collect(maps.Values(q.namedAuthors(wordings))), true)
	}
	named := q.plain.namedAuthors(wordings)
	_, both := named["user"]
	return !both && slices.Contains(slices.Collect(maps.Values(named)), true)
}

// asUser reads the question with "I" in the place of a name, and gives wordings that meaning.
func (q *question) asUser(name string, wordings []*wording) *question {
	for _, w := range wordings {
		w.meant = withI(w.text, name)
	}
	out := readQuestion(withI(q.text, name), q.user, q.asOf, q.at)
	out.name, out.plain = name, q
	return out
}

// withI returns a text with "I" or "my" in the place of a name.
func withI(text, name string) string {
	if len(text) > maxRead {
		return text
	}
	var out strings.Builder
	rest := text
	for rest != "" {
		start := strings.IndexFunc(rest, isNameLetter)
		if start < 0 {
			break
		}
		end := start + len(rest[start:])
		if n := strings.IndexFunc(rest[start:], func(r rune) bool { return !isNameLetter(r) }); n >= 0 {
			end = start + n
		}
		word, before := rest[start:end], rest[:start]
		if !strings.EqualFold(word, name) {
			out.WriteString(rest[:end])
			rest = rest[end:]
			continue
		}
		out.WriteString(before)
		if name == "user" { // "the user"
			kept := the.ReplaceAllString(out.String(), "")
			out.Reset()
			out.WriteString(kept)
		}
		rest = rest[end:]
		if s := possessive.FindString(rest); s != "" {
			out.WriteString("my")
			rest = rest[len(s):]
		} else {
			out.WriteString("I")
		}
	}
	out.WriteString(rest)
	return out.String()
}

var (
	possessive = regexp.MustCompile(`^['’]s\b`)
	the        = regexp.MustCompile(`(?i)\bthe\s+$`)
)

// isNameLetter reports whether a character is one of a word, as plainWords has words.
func isNameLetter(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.M, r)
}

// namesIn returns the words of the question that may name somebody, in lower case: those with a capital; where capitals
// begin sentences alone, those behind a verb such as "does" too; and in a question without any, all that follow no
// article. It is empty for a question that says "I": there a name is somebody else's. "Tell me" says nothing of the one
// who asks.
func (q *question) namesIn() (out []string) {
	if q.spoken || q.text == "" {
		return nil
	}
	at := strings.IndexFunc(q.text, unicode.IsUpper)
	inside := at >= 0 && strings.IndexFunc(q.text[at+1:], unicode.IsUpper) >= 0
	before := ""
	for _, w := range strings.FieldsFunc(q.text, func(r rune) bool { return !isNameLetter(r) }) {
		first, size := utf8.DecodeRuneInString(w)
		lower := strings.ToLower(w)
		may := !articles.Has(before) && (!unicode.IsLower(first) || at < 0) || !inside && auxiliaries.Has(before)
		if may && size < len(w) && len(w) <= maxName && !english.QuestionWords.Has(lower) {
			out = append(out, lower)
		}
		before = lower
	}
	return out
}

// speaksOfAsker reports whether words speak of the one who asks other than as the one to be told.
func speaksOfAsker(words []string, text string) bool {
	for i, w := range words {
		if firstPerson.words.Has(w) && !(i > 0 && tellWords.Has(words[i-1])) {
			return true
		}
	}
	return firstPerson.in(nil, text)
}

// statedName returns the name of the question that the user has said to be the user's own; "" if there is none. A name
// that has changed since is none, and so is a word that no search looks for, such as "the".
func (q *question) statedName(names []string, wordings []*wording) string {
	for _, w := range wordings {
		terms := map[int]string{} // names, by the first of their words among the terms
		for _, name := range names {
			if words := analyzer.Words(name); len(words) > 0 && slices.Contains(w.terms, words[0]) {
				terms[slices.Index(w.terms, words[0])] = name
			}
		}
		for _, run := range w.found.Runs {
			for i := range run {
				c := &run[i]
				if c.Memory.Ended(q.at) || c.Memory.HoldsFrom().After(q.at) {
					continue
				}
				for n, count := range c.Freqs {
					name := terms[n]
					if count > 0 && name != "" && q.states(c, name) && !q.renamed(&w.found, c.Memory, name) {
						return name
					}
				}
			}
		}
	}
	return ""
}

// states reports whether the user says in a candidate to have a name.
func (q *question) states(c *memory.Candidate, name string) bool {
	return c.Length <= full && q.asksOwn(c.Memory) && !c.Memory.IsShared() && statesName(c.Memory, name)
}

// renamed reports whether a fact that told a name, and cites a turn, has ended.
func (q *question) renamed(found *memory.Found, turn *memory.Memory, name string) bool {
	return slices.ContainsFunc(found.Succession, func(c memory.Candidate) bool {
		return c.Memory.Ended(q.at) && !c.Memory.Repeats() && cites(c.Memory, turn) && statesName(c.Memory, name)
	})
}

// maxStated is in bytes: a longer text is not read for a name.
const maxStated = 300

// statesName reports whether a memory of the user says that this is the user's name.
func statesName(m *memory.Memory, name string) bool {
	if p := m.Profile; p != nil {
		return nameFields.Has(strings.ToLower(p.Field)) && slices.Contains(plainWords(string(p.Value)), name)
	}
	if len(m.Fact) > maxStated {
		return false
	}
	at := indexFold(m.Fact, name)
	if at < 0 || !mayState(m.Fact, name) || asks(m.Fact) || strings.ContainsAny(m.Fact, "\"“«„") {
		return false
	}
	words := plainWords(m.Fact)
	may := slices.Contains(words, "name") // "I changed my name to Ann"
	for i, w := range words {
		if w != name {
			continue
		}
		may = may || i > 0 && (words[i-1] == "m" || words[i-1] == "am") // "I'm Ann"
		for _, phrase := range namePhrases {
			from := i - len(phrase)
			if from >= 0 && slices.Equal(words[from:i], phrase) && (from == 0 || !denying.Has(words[from-1])) &&
				standsAsName(m.Fact, name, phrase, words[i+1:]) {
				return true
			}
		}
	}
	said := m.Fact[at : at+len(name)]
	if slices.ContainsFunc(nameUnspaced, func(p string) bool { return strings.Contains(m.Fact, p+said) }) {
		return true
	}
	if !may {
		return false
	}
	form := canonical.Of(m.Fact)
	return slices.ContainsFunc(form.Claims, func(c canonical.Claim) bool {
		return !c.Ended && (c.Attribute == "name" || c.Attribute == "form of address") &&
			slices.Contains(strings.Fields(c.Value), name)
	})
}

// mayState reports whether a text may be one that statesName is true of, from the words right before a name: few texts
// have such words, and reading all those of a user for a name takes a third of a search.
func mayState(text, name string) bool {
	text = strings.ToLower(text)
	for from := 0; ; {
		at := strings.Index(text[from:], name)
		if at < 0 {
			break
		}
		before := strings.TrimRightFunc(text[:from+at], func(r rune) bool { return !isNameLetter(r) })
		begin := strings.LastIndexFunc(before, func(r rune) bool { return !isNameLetter(r) }) + 1
		if beforeName[strings.TrimLeftFunc(before[begin:], func(r rune) bool { return !isNameLetter(r) })] {
			return true
		}
		from += at + len(name)
	}
	unspaced := func(phrase string) bool { return strings.Contains(text, phrase) }
	return strings.Contains(text, "name") || slices.ContainsFunc(nameUnspaced, unspaced)
}

// beforeName are the words that stand right before a name where somebody says to have it.
var beforeName = func() map[string]bool {
	out := map[string]bool{"m": true, "am": true} // "I'm Ann"
	for _, phrase := range namePhrases {
		out[phrase[len(phrase)-1]] = true
	}
	return out
}()

// standsAsName reports whether a word behind a phrase may be a name: no time behind "me" ("Call me Monday"), no owner
// ("They call me Bob's sister"), and with a capital in a text with capitals ("I go by bike" has none).
func standsAsName(text, word string, phrase, after []string) bool {
	last := phrase[len(phrase)-1]
	if (last == "me" || last == "moi") && timeWords.words.Has(word) || len(after) > 0 && after[0] == "s" {
		return false
	}
	first, n := utf8.DecodeRuneInString(word)
	return strings.Contains(text, string(unicode.ToUpper(first))+word[n:]) ||
		strings.IndexFunc(text, unicode.IsUpper) < 0
}

// indexFold returns where a text has a word in lower case, in lower case or with a capital; -1 if nowhere.
func indexFold(text, word string) int {
	if at := strings.Index(text, word); at >= 0 {
		return at
	}
	first, n := utf8.DecodeRuneInString(word)
	if upper := string(unicode.ToUpper(first)) + word[n:]; len(upper) == len(word) {
		return strings.Index(text, upper)
	}
	return -1
}
