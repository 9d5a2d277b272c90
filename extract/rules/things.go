package rules

import (
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// Clauses whose subject is a thing or person of the speaker's life, though no word says so: appointments, budgets,
// how many of something a household has, and what others have.

// Each of these readers asks for a sign that the thing is the speaker's or lasts: a number, a day, a word of the home.
// News, recipes and tasks have the same sentences without one: "There are three cafes here", "Book an appointment".

// household reads "There are four of us", "There is a doctor in my family", "There are three cats here now". What is
// counted must be in the speaker's home, or be persons or pets: "There are three cafes here" is a street.
func (c *clause) household() (topics, bool) {
	if c.words.StartWith("that", "makes") { // "That makes it three dogs in the house"
		i := 2
		if c.at(i) == "it" {
			i++
		}
		end := i+2 == len(c.words) || c.at(i+2) == "now" || c.atHome(i+2)
		return personal, isCount(c.at(i)) && english.OwnNouns.Has(c.at(i+1)) && end
	}
	if c.words.StartWith("it", "is") && (c.at(2) == "just" || c.at(2) == "only" || c.at(4) == "now") {
		return personal, c.countsNow()
	}
	if !c.words.StartWith("there", "are") && !c.words.StartWith("there", "is") || c.content(0) == 0 {
		return none, false
	}
	counted := false // "three cats": of persons and pets, "here" is at home
	for i := 2; i < len(c.words); i++ {
		w, before := c.at(i), c.at(i-1)
		counted = counted || isCount(before) && english.OwnNouns.Has(w)
		if w == "us" && before == "of" || w == "family" && (before == "my" || before == "our") {
			return personal, true
		}
	}
	first := c.at(2)
	if english.Adverbs.Has(first) {
		first = c.at(3)
	}
	last := c.at(len(c.words) - 1) // "There are two dogs left in the shelter" is no home
	if last == "now" {
		last = c.at(len(c.words) - 2)
	}
	return personal, isCount(first) && (c.atHome(3) || counted && (last == "here" || last == "left") || c.onOwnLand(3))
}

// countsNow reports whether the clause tells how many of something the speaker has now: "It's eleven goats now", "It's
// just one car at home". Hours and degrees are none.
func (c *clause) countsNow() bool {
	if c.at(4) != "now" {
		return isCount(c.at(3)) && !generic.Has(c.at(4)) && c.atHome(5)
	}
	things := c.at(3)
	return isCount(c.at(2)) && isPlural(things) && !generic.Has(things) && !c.task && !measures.Has(things) &&
		!english.Periods.Has(strings.TrimSuffix(things, "s"))
}

// onOwnLand reports whether words from i on name a place of the speaker's, in a clause without a date: "in my field".
// Nobody keeps anything in "my opinion".
func (c *clause) onOwnLand(i int) bool {
	for j := i; j+2 < len(c.words); j++ {
		own := c.at(j+1) == "my" || c.at(j+1) == "our"
		if own && english.Prepositions.Has(c.at(j)) {
			return !c.timed && !c.task && !emptyPossessions.Has(c.at(j+2)) && !noPlaces.Has(c.at(j+2))
		}
	}
	return false
}

// ofMine reads "The code to my gym locker is 2940", "The name on my doorbell is Okafor": something of a thing of the
// speaker's, which is a number or a name.
func (c *clause) ofMine() (topics, bool) {
	if c.at(0) != "the" || c.words.Any(english.Evaluative) || c.addressed(0) {
		return none, false
	}
	own := 0 // where "to my" begins
	for j := 1; j < min(len(c.words), maxOther) && c.words[j-1].Stop == 0; j++ {
		w, next := c.at(j), c.at(j+1)
		switch {
		case own == 0 && j > 1 && ofLinks.Has(w) && (next == "my" || next == "our"):
			own = j
		case (w == "is" || w == "are") && own > 0 && j > own+2:
			return personal, c.valueOf(own, j+1)
		case finiteVerb(w) && !english.PresentVerbs.Has(w):
			return none, false
		}
	}
	return none, false
}

// valueOf reports whether the words at i are a number or a name, of something whose owner begins at own. The code of a
// door is a number alone: other codes, and numbers of other things, are of the task at hand.
func (c *clause) valueOf(own, i int) bool {
	if i < len(c.words) && english.Adverbs.Has(c.at(i)) {
		i++
	}
	noun := c.at(own - 1)
	if i >= len(c.words) || generic.Has(noun) {
		return false
	}
	// A number before a noun counts things: "200 lines".
	number := english.StartsWithDigit(c.at(i)) && (c.at(i+1) == "" || c.words[i].Stop != 0)
	if noun == "code" {
		return number && !c.words[own:].Any(english.TaskWords)
	}
	return (number || c.words[i].Upper) && !c.task && !emptyPossessions.Has(noun)
}

// heardFrom reads "A card arrived from Ada, who moved to Rome": what became of somebody whom the speaker hears from.
func (c *clause) heardFrom() (topics, bool) {
	for i := 2; i < min(len(c.words), maxOther); i++ {
		if c.at(i) != "from" || c.at(i-1) != "arrived" && c.at(i-1) != "came" || !english.Articles.Has(c.at(0)) {
			continue
		}
		for j := i + 1; j+1 < len(c.words) && j < i+4 && c.words[j].Upper; j++ {
			if c.words[j].Stop == ',' && c.at(j+1) == "who" {
				return details, c.finiteWithin(j+2, 2)
			}
		}
		break
	}
	return none, false
}

// atHome reports whether words from i on name the speaker's home: "in our house", "in this family", "at home".
func (c *clause) atHome(i int) bool {
	for j := i; j < len(c.words); j++ {
		w, before := c.at(j), c.at(j-1)
		owned := before == "our" || before == "my" || before == "this" || before == "the"
		if homes.Has(w) && owned && english.Prepositions.Has(c.at(j-2)) || w == "home" && before == "at" {
			return true
		}
	}
	return false
}

// scheduled reads "The wedding is on Friday", "Dentist appointment on 21 May at 8:30". Nouns alone may stand before the
// appointment: a verb would make it a task ("Book a dentist appointment on Friday") or somebody else's.
func (c *clause) scheduled() (topics, bool) {
	if imperative(c.at(0)) || c.words.Has("please") {
		return none, false
	}
	for i := 0; i < min(len(c.words), 5); i++ {
		w := c.at(i)
		if (appointments.Has(w) || i == 1 && c.planned(i)) && c.scheduledFrom(i) && (i > 0 || c.words[0].Stop == 0) {
			last := c.words[len(c.words)-1] // "march 4th" may be no month, and "the 3rd floor" is no day
			return details, !c.addressed(i) && c.words[i].Stop == 0 && (c.timed || isOrdinal(last.Text))
		}
		article := w == "the" || w == "a" || w == "an"
		if !(i == 0 && article) && (article || c.words[i].Stop != 0 || c.noNoun(i)) {
			return none, false
		}
	}
	return none, false
}

// planned reports whether "is planned" or the like stands behind the noun at i, which may then be any event: "the
// housewarming is planned for Saturday".
func (c *clause) planned(i int) bool {
	be, w := c.at(i+1), c.at(i+2)
	return (be == "is" || be == "are") && (w == "planned" || w == "scheduled" || w == "booked" || w == "set")
}

// scheduledFrom reports whether words about when something is stand behind the appointment at i: "is on Friday", "of
// our app is planned for 3 July".
func (c *clause) scheduledFrom(i int) bool {
	next := c.at(i + 1)
	if next == "of" || next == "for" {
		return (c.at(i+2) == "our" || c.at(i+2) == "my") && c.finiteWithin(i+2, 4)
	}
	if next != "" && c.words[i+1].Stop == ',' {
		return false // "Move on, it's Friday"
	}
	return finiteVerb(next) || next == "on" || next == "at" || next == "from" || next == "with"
}

// noNoun reports whether the word at i is surely no part of the name of a thing.
func (c *clause) noNoun(i int) bool {
	w := c.at(i)
	return finiteVerb(w) || speakerWords.Has(w) || english.Pronouns.Has(w) || english.Deictic.Has(w) ||
		english.Prepositions.Has(w) || notSubjects.Has(w) || subordinates.Has(w)
}

// comes reads "The plumber comes on Wednesday".
func (c *clause) comes() (topics, bool) {
	verb := c.at(2)
	comes := verb == "comes" || verb == "is" || verb == "arrives" || verb == "came"
	return details, comes && c.at(0) == "the" && comers.Has(c.at(1)) && c.timed && !c.addressed(0)
}

// delivered reads "Parcels should go to 14 Mill Lane", "Send parcels to 14 Mill Lane".
func (c *clause) delivered() (topics, bool) {
	i := 0
	for w := c.at(i); w == "send" || w == "please" || w == "all" || w == "my" || w == "our"; w = c.at(i) {
		i++
	}
	if !deliveries.Has(c.at(i)) {
		return none, false
	}
	for j := i + 1; j < min(len(c.words), i+5); j++ {
		if c.at(j) == "to" {
			named := c.wordAt(j+1).Upper || c.wordAt(j+2).Upper || c.words[j+1:].Any(streets)
			return personal, c.numberWithin(j+1, 4) && named
		}
	}
	return none, false
}

// switched reads "It's Fedora on my laptop now".
func (c *clause) switched() (topics, bool) {
	if !c.words.StartWith("it", "is") || !c.wordAt(2).Upper || !c.words.Has("now") || c.timed {
		return none, false
	}
	own := c.at(4) == "my" || c.at(4) == "our"
	return details, own && english.Prepositions.Has(c.at(3)) && c.content(5) > 0
}

// measure reads "The kitchen budget is 300 euros". Millions are no household's, so that films and states stay out.
func (c *clause) measure() (topics, bool) {
	return details, c.at(0) == "the" && c.words[:min(len(c.words), 5)].Any(money) && c.recorded(0) && !c.task &&
		!c.words.Has("million") && !c.words.Has("billion")
}

// budgeted reads "The kitchen has a budget of 300 euros".
func (c *clause) budgeted() (topics, bool) {
	for i := 1; i < min(len(c.words), 5); i++ {
		if c.at(i) == "has" && english.Articles.Has(c.at(i+1)) && records.Has(c.at(i+2)) && c.at(i+3) == "of" {
			return details, (c.at(0) == "the" || c.at(0) == "this") && c.numberWithin(i+4, 3) && !c.task
		}
	}
	return none, false
}

// theirs reads "Lotte's birthday is the 4th of May", "Mom's address is …": a trait of a person with a name or of the
// family.
func (c *clause) theirs() (topics, bool) {
	owner, ok := strings.CutSuffix(c.at(0), "'s")
	if !ok || !c.words[0].Upper && !bareOwned.Has(owner) {
		return none, false
	}
	for i := 1; i < min(len(c.words), 5); i++ {
		if w := c.at(i); (w == "is" || w == "are") && i > 1 {
			return personal, traits.Has(c.at(i-1)) && c.content(i+1) > 0 && !english.Deictic.Has(c.at(i+1)) && !c.task
		}
		if c.words[i].Stop != 0 {
			break
		}
	}
	return none, false
}

// named reads "Marek, my boyfriend, snores".
func (c *clause) named() (topics, bool) {
	if !c.words[0].Upper || c.words[0].Stop != ',' && c.words[0].Stop != '(' || c.at(1) != "my" {
		return none, false
	}
	for i := 2; i < min(len(c.words), 5); i++ {
		if persons.Has(c.at(i)) && (c.words[i].Stop == ',' || c.words[i].Stop == ')') {
			return personal, c.content(i+1) > 0 && !c.addressed(i+1)
		}
	}
	return none, false
}

// befell reads "They moved my class to Friday", "She put me on the night shift": what others did with something of the
// speaker's, where it is given a day, a number or a name.
func (c *clause) befell() (topics, bool) {
	k, first := 0, c.at(0)
	if first == "the" || first == "my" {
		k, first = 1, c.at(1)
	}
	charge := inCharge.Has(first) // "the doctor put the dose up to 100"
	if !charge && first != "they" && first != "she" && first != "he" || c.task || c.addressed(0) {
		return none, false
	}
	if charge && c.wordAt(k+1).Upper {
		k++ // "Doctor Lee"
	}
	for i := k + 1; i < len(c.words); i++ {
		if (i == k+1 || c.at(i-1) == "and") && c.changesMine(i, charge) {
			return details, true
		}
	}
	return none, false
}

// changesMine reads "moved my class to Friday", from the verb or an adverb before it. Behind "the", only those in
// charge change what is the speaker's, and it has a number: "the doctor put the dose up to 100".
func (c *clause) changesMine(i int, charge bool) bool {
	i, negated := c.skipAdverbs(i)
	if c.at(i) == "have" || c.at(i) == "has" {
		i, negated = c.skipAdverbs(i + 1)
	}
	object := c.at(i + 1)
	mine := object == "my" || object == "our" || object == "me" || object == "us" ||
		charge && object == "the" && c.numberWithin(i+2, 6)
	if negated || !mine || !changes.Has(c.at(i)) || emptyPossessions.Has(c.at(i+2)) {
		return false
	}
	for j := i + 2; j < len(c.words); j++ {
		to := c.at(j - 1)
		led := to == "to" || to == "on" || to == "from" || to == "at"
		if led && c.content(j) > 0 && !english.Deictic.Has(c.at(j)) {
			return true
		}
	}
	return false
}

// carriedOut reads "The thesis is submitted", "Holiday has been cancelled", "Driving test passed": how something ended
// that the speaker had in hand. Who did it stays out ("The exam was passed by Tom"), and so does a wish or a case
// ("The trip could be cancelled").
func (c *clause) carriedOut() (topics, bool) {
	if c.task || imperative(c.at(0)) || c.addressed(0) || c.words.Has("by") || c.words.Any(english.Modals) {
		return none, false
	}
	for i := 0; i < min(len(c.words), 5); i++ {
		w, next := strings.TrimSuffix(c.at(i), "'s"), c.at(i+1)
		if projects.Has(w) && c.words[i].Stop == 0 && next != "" && !projects.Has(next) {
			j := c.behindTime(i + 1)
			settled := c.at(j) == "off" || c.at(j) == "called" && c.at(j+1) == "off" ||
				c.at(j) == "came" && c.at(j+1) == "through" // "my visa came through"
			// A year is of something long ago: "The festival was cancelled in 2020".
			ends := c.at(j+1) == "" || c.wordAt(j).Stop != 0 || c.timed && !english.StartsWithDigit(c.at(j+2))
			return details, (over.Has(c.at(j)) && ends || settled) && !c.words.Has("not")
		}
		if c.words[i].Stop != 0 || english.Pronouns.Has(w) || english.Deictic.Has(w) || english.Prepositions.Has(w) ||
			speakerWords.Has(w) || english.Auxiliaries.Has(w) || i > 0 && english.Articles.Has(w) {
			return none, false
		}
	}
	return none, false
}

// behindTime is the place of the verb behind a time at i and auxiliaries: "the concert in June has been".
func (c *clause) behindTime(i int) int {
	if (c.at(i) == "in" || c.at(i) == "on") && english.DateWords.Has(c.at(i+1)) {
		i += 2
	}
	for english.Auxiliaries.Has(c.at(i)) || english.Adverbs.Has(c.at(i)) || c.at(i) == "been" {
		i++
	}
	return i
}

// onScales reads "The scale says 84 kg", "84 kg on the scale". Only a bathroom's scale says a number: that of a map or
// of a drawing is one.
func (c *clause) onScales() (topics, bool) {
	for i := range c.words[:min(len(c.words), 6)] {
		if c.at(i) != "scale" && c.at(i) != "scales" {
			continue
		}
		verb := strings.TrimSuffix(c.at(i+1), "s")
		says := verb == "say" || verb == "show" || verb == "read"
		before := c.at(i-1) == "the" && c.at(i-2) == "on" && english.StartsWithDigit(c.at(0))
		after := c.at(i + 3)
		lately := after == "" || after == "this" || after == "now" || after == "today"
		told := c.words.Any(weightUnits) || says && lately && english.StartsWithDigit(c.at(i+2))
		return personal, (before || says && c.numberWithin(i+2, 2) && i < 2) && told
	}
	return none, false
}

// isNow reads "The shop's called Loose Ends now", "The postcode is DH1 3RL since Monday": a thing that people have one
// of, and its new name or number.
func (c *clause) isNow() (topics, bool) {
	if c.at(0) != "the" || c.task || !c.words.Has("now") && !c.words.Has("since") {
		return none, false
	}
	for i := 2; i < min(len(c.words), 6); i++ {
		if c.at(i) != "is" {
			continue
		}
		own := c.words[:i].Any(ownThings)
		for c.at(i+1) == "called" || c.at(i+1) == "now" {
			i++
		}
		value := c.wordAt(i + 1)
		return details, own && (value.Upper || english.StartsWithDigit(value.Text))
	}
	return none, false
}

// settled reads "Nantes is home now", "Leo's three": what a name is, in one word.
func (c *clause) settled() (topics, bool) {
	if c.words.StartWith("home", "is") && c.content(2) > 0 {
		return personal, english.Articles.Has(c.at(2)) && !c.words.Has("where")
	}
	if !c.words[0].Upper || c.at(1) != "is" || c.words[0].Stop != 0 && c.words[0].Stop != '\'' {
		return none, false
	}
	age, after := c.at(2), c.at(3)
	bare := after == "" && c.words[0].Start == c.words[1].Start // "Leo's three", but not "Number is 3"
	aged := isCount(age) && (bare || after == "and" || after == "now" || after == "years" || after == "months" ||
		after == "already" || after == "old") && !isOrdinal(age)
	return personal, aged || age == "home" && (after == "now" || after == "")
}

// died reads "Bruno died on Friday": of somebody known by name, whose death is not of history.
func (c *clause) died() (topics, bool) {
	gone := c.at(1) == "died" || c.at(1) == "passed" && c.at(2) == "away"
	return personal, gone && c.words[0].Upper && c.words[0].Stop == 0 && c.timed && !c.numberWithin(2, len(c.words)) &&
		!english.StopWords.Has(c.at(0))
}

// born reads "Baby number three was born last night", "Little Arlo was born on Tuesday".
func (c *clause) born() (topics, bool) {
	if c.at(0) != "baby" && c.at(0) != "little" {
		return none, false
	}
	for i := 1; i < min(len(c.words), 6); i++ {
		if c.at(i) == "born" || c.at(i) == "arrived" || c.at(i) == "came" {
			return personal | details, c.timed && !c.addressed(0)
		}
	}
	return none, false
}

// firstDay reads "Today is my first day at Acme", "First day at my new job went fine".
func (c *clause) firstDay() (topics, bool) {
	for i := 0; i < min(len(c.words), 5); i++ {
		if c.at(i) == "first" && c.at(i+1) == "day" {
			at := c.at(i + 2)
			named := c.wordAt(i+3).Upper || c.at(i+3) == "my"
			return personal | details, (at == "at" || at == "with") && named && !c.words[:i].Any(determiners)
		}
	}
	return none, false
}

// cameOfAge reads "Leo had his fourth birthday yesterday", "My mum celebrated her 81st birthday": the age that somebody
// of the speaker's has from then on.
func (c *clause) cameOfAge() (topics, bool) {
	verb := c.at(1)
	if !c.words[0].Upper || verb != "had" && verb != "celebrated" && verb != "has" {
		return none, false
	}
	own := c.at(2) == "his" || c.at(2) == "her" || c.at(2) == "their"
	return personal | details, own && (c.at(4) == "birthday" || c.at(5) == "birthday") && !c.addressed(0)
}

var (
	medicines    = tables.Words("medicines")
	medicineEnds = tables.Words("medicine-ends")
)

// minStem is how many letters a medicine has before the end that its name shares with others of its kind.
const minStem = 3

// medicineAt reports whether a medicine is named at i, and not something that is called by it: "warfarin research".
func (p *position) medicineAt(i int) bool {
	next := p.at(i + 1)
	return isMedicine(p.at(i)) && (next == "" || p.words[i].Stop != 0 || english.StopWords.Has(next) ||
		english.Prepositions.Has(next) || english.Adverbs.Has(next) || english.StartsWithDigit(next) || next == "every")
}

// isMedicine reports whether a word is the name of a medicine. The ends are those by which the WHO names substances
// that act alike, https://www.who.int/teams/health-product-and-policy-standards/inn/stembook.
func isMedicine(word string) bool {
	// The longest end that a table has is found first, and any will do.
	for end := minStem; end < len(word); end++ {
		if medicineEnds.Has(word[end:]) {
			return true
		}
	}
	return medicines.Has(word)
}
