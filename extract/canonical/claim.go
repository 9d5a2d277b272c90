package canonical

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/memoryd/memoryd/extract/english"
)

// Claim is what a fact says of one attribute: "home" is "porto", or the attribute
// "habit drink coffee" has ended.
type Claim struct {
	// Attribute begins with its owner unless that is the speaker: "sister home".
	Attribute string
	// Value is what the fact says that the attribute has, or had. It is empty only
	// if the fact ends the attribute whatever its value: "I lost my job".
	Value string
	// Ended says that the attribute no longer has Value.
	Ended bool
	// Several says that a person may have several values of the attribute. Another
	// value takes its place only if the fact says so; see Changed.
	Several bool
	// Dated says that the fact names a time that is not within the last weeks: "I
	// moved to Porto in March (2023-03)". Until is the end of that time, or zero
	// if it has no year. What was said since is not affected.
	Dated bool
	Until time.Time
	// Changed says that the fact speaks of a change: "My new gym is…".
	Changed bool
	// Narrow says that the fact bounds the claim: "I like tea in summer". It ends
	// nothing, and only a claim without bounds that tells of a change ends it.
	Narrow bool
	// Loose says that the verb is none that the rules know: "I subscribe to the Economist".
	// The claim serves as what a later fact may end, and says nothing of what the fact is worth.
	Loose bool

	scope string // the part of life that bounds the claim; see scopeOf
	verb  string // of a habit that any verb tells; an end that has one is of that verb alone
	// who tells apart those of one attribute: the name of a relation ("my brother Tom"), or the relation of a name.
	who string
	// result says that the claim is of one race or one lift, which stays what it was: it ends a record that it beats.
	result bool
	// part says that what is told is so at times, and span that it is so for a time; see partly.
	part, span bool
	// event says that the claim is of what has happened, such as a move.
	event bool
	// least says that the claim tells a number which is at least reached, as by a birth: "our third was born".
	least bool
}

// keeps reports whether c leaves o as it is since one of them is of a time or of times alone; see partly. What is so at
// times gives way to an end, and what is so for a time to a change as well.
func (c *Claim) keeps(o *Claim) bool {
	return c.part || c.span || !c.Ended && (o.part || o.span && !c.Changed && !c.event)
}

// supersedes reports whether c, said later, takes the place of o, which was said at
// a time.
func (c *Claim) supersedes(o *Claim, said time.Time) bool {
	switch {
	case c.Dated && !c.Until.After(said), !c.within(o), differs(c.who, o.who),
		c.keeps(o),
		c.Ended && c.verb != "" && c.verb != o.verb:
		return false
	case c.result || o.result:
		return c.breaks(o)
	case c.Attribute == o.Attribute && strings.HasSuffix(c.Attribute, "marital status") && o.Several && !c.Loose &&
		!c.Several && !c.Ended && !o.Ended: // "my wife" tells of a marriage
		return c.Value != o.Value && begins(asSingle(c.Value), o.Value)
	case c.Attribute != o.Attribute || c.Ended && o.Ended || c.Narrow ||
		o.Narrow && !c.Ended && !c.Changed:
		return false
	case c.Ended:
		if strings.HasSuffix(c.Attribute, "employer") && c.Value != "" && strings.HasSuffix(o.Value, " "+c.Value) {
			return true // "quit the mine" and "work in the copper mine"
		}
		return c.Value == "" || c.Value == o.Value || o.Value != "" && strings.HasPrefix(o.Value, c.Value+" ")
	case o.Ended:
		return c.Value == o.Value // begun again
	}
	return c.changesValue(o)
}

// differs reports whether two facts tell of two people: "my brother Tom" and "my brother Simon", or "my friend Ben" and
// "my cousin Ben".
func differs(a, b string) bool { return a != "" && b != "" && a != b }

// changesValue reports whether c gives the attribute of both another value than o, as one thing may have it.
func (c *Claim) changesValue(o *Claim) bool {
	if c.rank() < o.rank() || c.countsDown(o) {
		return false // "I started out as a trainee nurse" and "our second was born in Rome" tell of the past
	}
	if c.Several && strings.HasSuffix(c.Attribute, " "+ageAttribute) {
		grown := ageInMonths(c.Value) - ageInMonths(o.Value)
		return c.Changed && grown > 0 && grown <= maxYears*12
	}
	if strings.Contains(" "+c.Attribute, " meal ") && drinks.Has(lastWord(c.Value)) != drinks.Has(lastWord(o.Value)) {
		return false // coffee and a roll are one breakfast
	}
	if c.Attribute == ageAttribute || strings.HasSuffix(c.Attribute, " "+ageAttribute) {
		before, _ := strconv.Atoi(o.Value)
		after, _ := strconv.Atoi(c.Value)
		if after < before && before > 0 {
			return false // "I turned 18 in the army" tells of the past
		}
		if after-before > maxGain && !c.Changed {
			return false // "after that hike I'm 80"
		}
	}
	if c.Several && (c.Attribute == scaledWeight || strings.HasPrefix(c.Attribute, "weight ")) && !c.scaled(o) {
		return false
	}
	if c.sameThing(o) {
		return false
	}
	// Two phone numbers are of no size.
	sized := strings.Contains(" "+c.Attribute, " one ") && !strings.HasSuffix(c.Attribute, " phone")
	if sized && !near(c.Value, o.Value) {
		return false // a loan and its rate, a month's pay and a year's
	}
	return c.Value != o.Value && (c.Changed || !c.Several && (!o.Several || o.felt()))
}

// sameThing reports whether one of two values is the other one, told more exactly: "García" of "José García López", and
// "an iPhone 12" begins with "an iPhone".
func (c *Claim) sameThing(o *Claim) bool {
	if c.Attribute == lastNameAttribute {
		return (c.Loose || o.Loose) && shareWord(c.Value, o.Value)
	}
	models := strings.HasPrefix(c.Attribute, "kind of ") || strings.HasSuffix(c.Attribute, " thing") ||
		strings.HasSuffix(c.Attribute, " model")
	return models && (strings.HasPrefix(c.Value+" ", o.Value+" ") || strings.HasPrefix(o.Value+" ", c.Value+" "))
}

// ageInMonths is an age, "5" or "11 months", in months; 0 if it is none.
func ageInMonths(age string) int {
	n, unit, _ := strings.Cut(age, " ")
	number, _ := strconv.Atoi(n)
	switch unit {
	case "":
		return number * 12
	case "weeks":
		return number / 4
	case "days":
		return 0
	}
	return number
}

// felt reports whether c tells of a home that may be a feeling, which a move ends: "home for me is Calgary". So does an
// address that is mentioned by the way, "my flat at 14 High Street", and an instruction that may be about one text.
func (c *Claim) felt() bool {
	loose := c.Attribute == "one address" || c.Attribute == "emojis" || c.Attribute == formatManner
	return c.Several && (c.Attribute == "home" && !c.Loose || loose && c.Loose)
}

// rank is how high the rank of an occupation is; 0 for other claims.
func (c *Claim) rank() int {
	if !strings.HasPrefix(c.Attribute, "occupation rank ") {
		return 0
	}
	return 1 + slices.Index([]string{"trainee", "junior", fullRank, "senior", "lead"}, c.Value)
}

// A mention such as "my wife" tells a status as well as "I am married" does. It is loose, and gives way to each status
// that can follow: a parting, a marriage, or a partner where there was none.

// asSingle is a marital status, that of those whose marriage is over as single.
func asSingle(status string) string {
	switch status {
	case "divorced", "widowed", "separated":
		return "single"
	}
	return status
}

// begins reports whether a relation may begin after another one: who speaks of a partner may well be married.
func begins(now, before string) bool {
	return now == "single" || now == "married" || before == "single" || now == "engaged" && before == "dating"
}

// maxGain bounds how many years somebody is older when their age is told again, without a word of a change. With more
// it is a joke or a feeling.
const maxGain = 15

// lastWord is the last word of a value.
func lastWord(value string) string { return value[strings.LastIndexByte(value, ' ')+1:] }

// maxYears bounds how many years one of several relations is older when its age is
// told again. With more it may be another one: "my son".
const maxYears = 2

// Supersedes reports whether f, said later by the same author, takes the place of
// o, which was said at a time: f gives an attribute of o another value or ends it,
// or one of both is the end of the other.
func (f *Form) Supersedes(o *Form, said time.Time) bool {
	if f.Ends != "" && f.Ends == o.Text || o.Ends != "" && o.Ends == f.Text {
		return true
	}
	if o.More {
		return false
	}
	if f.quotes || o.quotes {
		return false
	}
	for i := range f.Claims {
		for k := range o.Claims {
			if c, d := &f.Claims[i], &o.Claims[k]; c.supersedes(d, said) &&
				!(c.Ended && f.endsAnother(o, c)) && !(d.Ended && o.endsAnother(f, d)) {
				return true
			}
		}
	}
	for i := range f.themes {
		for k := range o.themes {
			if f.themes[i].endsTheme(&o.themes[k]) {
				return true
			}
		}
	}
	return false
}

// Excludes reports whether one of two facts of one author supersedes the other,
// whichever was said later.
func (f *Form) Excludes(o *Form) bool {
	return f.Supersedes(o, time.Time{}) || o.Supersedes(f, time.Time{})
}

// Repeats reports whether both facts are one, or claim the same of an attribute. An activity is none of the attributes
// meant: who runs on Sundays and at dawn says two things.
func (f *Form) Repeats(o *Form) bool {
	same := func(a Claim) bool {
		return !a.ofActivity() && slices.ContainsFunc(o.Claims, func(b Claim) bool {
			return a.Attribute == b.Attribute && a.Value == b.Value && a.Ended == b.Ended && !differs(a.who, b.who)
		})
	}
	return f.Text == o.Text || slices.ContainsFunc(f.Claims, same)
}

// Telling reports whether a fact makes a claim that is not loose, or ends another one.
func (f *Form) Telling() bool {
	return f.Ends != "" || f.Changing() || slices.ContainsFunc(f.Claims, func(c Claim) bool { return !c.Loose })
}

// Unrelated reports whether both facts make claims, and none of one attribute: they are
// about different things. Attributes that are named by their value ("I love sushi") may
// be of one thing though their names differ.
func (f *Form) Unrelated(o *Form) bool {
	plain := func(c Claim) bool { return !c.ofActivity() && !c.byTheWay() }
	if !slices.ContainsFunc(f.Claims, plain) || !slices.ContainsFunc(o.Claims, plain) {
		return false
	}
	for i := range f.Claims {
		for k := range o.Claims {
			a, b := &f.Claims[i], &o.Claims[k]
			if a.Attribute == b.Attribute || a.Listed() && b.Listed() {
				return false
			}
		}
	}
	return true
}

// Subject is the first attribute that f gives a value to and that has one value at a
// time; "" if there is none.
func (f *Form) Subject() string {
	for i := range f.Claims {
		if c := &f.Claims[i]; !c.Ended && !c.Several && c.Value != held {
			return c.Attribute
		}
	}
	return ""
}

// Values are the values that f gives to attributes, other than those that somebody just has.
func (f *Form) Values() (out []string) {
	for i := range f.Claims {
		if c := &f.Claims[i]; !c.Ended && c.Value != held {
			out = append(out, c.Value)
		}
	}
	return out
}

// ofActivity reports whether c is about an activity, of which a statement has each of its beginnings.
func (c *Claim) ofActivity() bool { return strings.Contains(" "+c.Attribute, " "+activityAttribute) }

// Listed reports whether people often give the attribute several values in one
// sentence: "I love sushi, ramen and pho".
func (c *Claim) Listed() bool {
	a := " " + c.Attribute
	return strings.Contains(a, " habit ") || strings.Contains(a, " has ") || strings.Contains(a, " taste of ") ||
		strings.Contains(a, " goal of ") || strings.Contains(a, " "+choiceAttribute)
}

// dates gives claims the time that stood behind their statement.
func (v *variant) dates(claims []Claim) []Claim {
	for i := range claims {
		claims[i].Until = endOfTime(v.time)
		claims[i].Dated = len(v.time) > 0 && (!claims[i].Until.IsZero() || !namesMonth(v.time))
	}
	return claims
}

// namesMonth reports whether a time has a month, a season or a day of the week, and no
// year: people leave out only that of the last one.
func namesMonth(ws english.Words) bool {
	return slices.ContainsFunc(ws, func(w english.Word) bool {
		return inAny(w.Text, english.DateWords, seasons) || monthNumbers.Of(w.Text) != ""
	})
}

// endOfTime is the end of the last year, month or day in ws: "2023", "2023-03",
// "2023-03-05". It is zero if there is none.
func endOfTime(ws english.Words) (end time.Time) {
	for _, w := range ws {
		if t, err := time.Parse("2006", w.Text); err == nil {
			end = t.AddDate(1, 0, 0)
		} else if t, err := time.Parse("2006-01", w.Text); err == nil {
			end = t.AddDate(0, 1, 0)
		} else if t, err := time.Parse(time.DateOnly, w.Text); err == nil {
			end = t.AddDate(0, 0, 7) // the day, or the week that it begins
		}
	}
	return end
}

// Facts about quite different things may both tell a state, a way, a lack or a task beside what they are about.

// byTheWay reports whether a claim tells one of these.
func (c *Claim) byTheWay() bool {
	return slices.ContainsFunc([]string{stateAttribute, lackAttribute, taskAttribute, awaitAttribute, debtAttribute},
		func(begin string) bool { return strings.HasPrefix(c.Attribute, begin) })
}
