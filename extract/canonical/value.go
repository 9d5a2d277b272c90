package canonical

import (
	"strings"
	"unicode"

	"github.com/memoryd/memoryd/extract/english"
)

// Bounds of a value. Longer texts say more than a value.
const (
	maxNounValueWords = 4
	maxNameWords      = 4
	maxAddressWords   = 10
	minPhoneDigits    = 5 // fewer are an extension or a year
)

// plainValue is ws as the value of a noun, without its article and in the
// singular. It is "" if ws has more than limit words, or may be a remark ("is
// broken", "is the same as yours").
func (c *claim) plainValue(ws english.Words, limit int) string {
	if len(ws) == 0 || len(ws) > limit || c.beginsRemark(ws) {
		return ""
	}
	var out []string
	for i, w := range ws {
		if c.breaksValue(ws, i) {
			return ""
		}
		if i == 0 && english.Articles.Has(w.Text) && startsWithWord(ws.At(1)) {
			continue
		}
		out = append(out, singular(w.Text))
	}
	return strings.Join(out, " ")
}

// beginsRemark reports whether ws begins like a remark about the thing, and not
// like its value: "broken", "coming to town".
func (c *claim) beginsRemark(ws english.Words) bool {
	first := ws[0].Text
	if len(ws) > 1 && ws[0].Upper && ws[len(ws)-1].Upper {
		return false // "Big Thief" is a name
	}
	if len(ws) > 1 && english.Articles.Has(first) {
		first = ws[1].Text
	}
	if inAny(first, remarks, english.Moods, english.Prepositions, english.Deictic, english.Auxiliaries,
		english.Participles) {
		return true
	}
	return len(ws) < 3 && english.Evaluative.Has(first) || len(ws) == 1 && english.Past(first) || c.beginsActivity(ws)
}

// beginsActivity reports whether ws begins with an activity that goes on:
// "coming to town", but not "running".
func (c *claim) beginsActivity(ws english.Words) bool {
	return endsInIng(ws[0].Text) && !c.capital(ws[0]) && english.Prepositions.Has(ws.At(1))
}

// breaksValue reports whether the word at i cannot be part of a value, so that ws
// says more than one. Most words can, with a capital: they are part of a name.
func (c *claim) breaksValue(ws english.Words, i int) bool {
	w := ws[i]
	if inAny(w.Text, negations, possessives) || i+1 < len(ws) && w.Stop != 0 && !strings.ContainsRune(`'":`, w.Stop) {
		return true
	}
	remark := inAny(w.Text, remarks, english.Deictic) || bounding.Has(w.Text) && w.Text != "there"
	if remark && !c.capital(w) {
		return true
	}
	return english.Prepositions.Has(w.Text) && w.Text != "of" && i > 0 && !c.capital(ws[i-1])
}

// singular folds the plural of a value. It is rough, but taking two values for one
// only misses a contradiction.
func singular(w string) string {
	if len(w) < 4 || !strings.HasSuffix(w, "s") {
		return w
	}
	for _, end := range []string{"ss", "us", "is"} {
		if strings.HasSuffix(w, end) {
			return w
		}
	}
	return w[:len(w)-1]
}

func endsInIng(w string) bool { return strings.HasSuffix(w, "ing") }

// commonNoun is the value of an attribute such as "shoe size".
func (c *claim) commonNoun(ws english.Words) string {
	if endsInIng(ws[0].Text) {
		return "" // "My religion is getting…"
	}
	return c.plainValue(ws, maxNounValueWords)
}

// capitalNoun is the value of an attribute such as "birthplace", which has a
// capital.
func (c *claim) capitalNoun(ws english.Words) string {
	if !c.capital(ws[0]) {
		return ""
	}
	return c.commonNoun(ws)
}

// firstName is the first name in ws, with a title before it; "" unless ws is the
// name of a person or a pet.
func (c *claim) firstName(ws english.Words) string {
	full := c.properName(ws)
	first, _, more := strings.Cut(full, " ")
	if more && titles.Has(first) {
		return full
	}
	return first
}

// properName is ws as a full name: capitals, and no people, role or day.
// Otherwise "".
func (c *claim) properName(ws english.Words) string {
	if len(ws) == 0 || len(ws) > maxNameWords {
		return ""
	}
	for i, w := range ws {
		first, last := i == 0, i+1 == len(ws)
		if !last && w.Stop != 0 && w.Stop != '.' || notInName(w.Text) || !c.spelledAsName(w) {
			return ""
		}
		if nameParts.Has(w.Text) && (first || last) {
			return "" // "van der" stands within a name
		}
		if len(ws) == 1 && english.DateWords.Has(w.Text) && !nameDays.Has(w.Text) {
			return "" // "My boss is Monday", but "My boss is April"
		}
	}
	return ws.String()
}

// notInName reports whether w is no part of a name, however it is written.
func notInName(w string) bool {
	return strings.HasSuffix(w, "'s") || inAny(w, english.States, peoples, roles) ||
		english.Auxiliaries.Has(w) && w != "will" || english.StartsWithDigit(w)
}

// spelledAsName reports whether w has a capital, and not capitals throughout
// unless it is short, or is a part such as "van" that needs none.
func (c *claim) spelledAsName(w english.Word) bool {
	if !c.capital(w) {
		return nameParts.Has(w.Text)
	}
	return w.Upper || len(w.Text) <= 2 || hasLower(c.text[w.Start:w.End])
}

// hasLower reports whether s has small letters.
func hasLower(s string) bool { return strings.IndexFunc(s, unicode.IsLower) >= 0 }

// written is the text of ws, as it is spelled.
func (c *claim) written(ws english.Words) string {
	return strings.TrimRight(c.text[ws[0].Start:ws[len(ws)-1].End], " .!")
}

// emailAddress is ws as an e-mail address in small letters; "" if it is none.
func (c *claim) emailAddress(ws english.Words) string {
	text := c.written(ws)
	if len(ws) != 1 || strings.Count(text, "@") != 1 {
		return ""
	}
	return strings.ToLower(text)
}

// streetAddress is ws as a street with a number; "" if it is none. The town is left
// out, since people name it at one time and not at another.
func (c *claim) streetAddress(ws english.Words) string {
	if len(ws) < 2 || len(ws) > maxAddressWords || !strings.ContainsAny(c.written(ws), "0123456789") ||
		c.plainValue(ws[:1], 1) == "" {
		return ""
	}
	for i := range ws {
		if ws[i].Stop == ',' {
			return ws[:i+1].String()
		}
	}
	return ws.String()
}

// phoneNumber is the digits of a telephone number; "" if ws has anything else.
func (c *claim) phoneNumber(ws english.Words) string {
	text := c.written(ws)
	digits := strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
	if len(digits) < minPhoneDigits || strings.Trim(text, "0123456789+-–/(). ") != "" {
		return ""
	}
	return digits
}

// measured reads "180 cm" and "180cm": the unit is part of the attribute.
func measured(attribute string, ws english.Words) reading {
	parts := strings.Fields(ws.String())
	if len(parts) == 1 {
		i := strings.IndexFunc(parts[0], unicode.IsLetter)
		if i <= 0 {
			return reading{}
		}
		parts = []string{parts[0][:i], parts[0][i:]}
	}
	if len(parts) != 2 || !english.StartsWithDigit(parts[0]) || !english.EndsWithDigit(parts[0]) {
		return reading{}
	}
	unit := measures.Of(parts[1])
	if unit == "" {
		return reading{}
	}
	return reading{attribute + " " + unit, parts[0]}
}

// monthAndDay reads "3 May", "May 3rd, 1990" and "on the 3rd of May" as "5 3".
func monthAndDay(_ *claim, ws english.Words) string {
	month, day := "", ""
	for _, w := range ws {
		m, d := monthNumbers.Of(w.Text), dayOfMonth(w.Text)
		switch {
		case w.Text == "on" || w.Text == "the" || w.Text == "of" || isYearNumber(w.Text):
		case m != "" && month == "":
			month = m
		case d != "" && day == "":
			day = strings.TrimPrefix(d, "0")
		default:
			return ""
		}
	}
	if month == "" || day == "" {
		return ""
	}
	return month + " " + day
}

// dayOfMonth is the digits of "3", "03" and "3rd"; "" if w is no day.
func dayOfMonth(w string) string {
	n := strings.TrimRight(w, "stndrh")
	if len(n) > 2 || !english.StartsWithDigit(n) || !english.EndsWithDigit(n) {
		return ""
	}
	return n
}

// isYearNumber reports whether w may be the year of a date.
func isYearNumber(w string) bool {
	return len(w) == 4 && english.StartsWithDigit(w) && english.EndsWithDigit(w)
}

// isNumber reports whether w is digits alone.
func isNumber(w string) bool { return w != "" && strings.Trim(w, "0123456789") == "" }

// afterApostrophe reports whether text has n behind an apostrophe, as in 5'10.
func afterApostrophe(text, n string) bool { return strings.Contains(text, "'"+n) }
