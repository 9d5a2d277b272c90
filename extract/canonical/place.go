package canonical

import (
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// maxPlaceWords bounds what is read as a place, with the country that follows.
const maxPlaceWords = 7

// home reads the name of a town or a country. With known, it takes only towns that
// the tables have; without, any name that looks like a town's.
func (c *claim) home(ws english.Words, known bool) reading {
	if len(ws) == 0 || len(ws) > maxPlaceWords {
		return reading{}
	}
	ws, article := c.withoutPlaceArticle(ws)
	town, ok := c.townOf(ws)
	if !ok {
		return reading{}
	}
	place := town.String()
	if other := placeNames.Of(place); other != "" {
		place = other
	}
	switch {
	case inAny(place, countries, longCountries) && len(town) == len(ws):
		return reading{"home country", place}
	case article || regions.Has(place):
		return reading{}
	}
	if !isTown(place) && (known || !c.looksLikeTown(town)) {
		return reading{}
	}
	return reading{"home", place}
}

// withoutPlaceArticle is ws without "the" at its front, and whether the fact has
// it there; reduce may have dropped it.
func (c *claim) withoutPlaceArticle(ws english.Words) (place english.Words, article bool) {
	if ws[0].Text == "the" {
		return ws[1:], true
	}
	before := strings.TrimRight(c.text[:ws[0].Start], " ")
	return ws, strings.HasSuffix(strings.ToLower(before), " the")
}

// townOf is the first part of "Porto, Portugal" and "Portland Maine". It reports
// whether ws is one place.
func (c *claim) townOf(ws english.Words) (town english.Words, ok bool) {
	town = ws
	for i, w := range ws {
		if w.Stop == 0 || i+1 == len(ws) {
			continue
		}
		after := ws[i+1:]
		if w.Stop != ',' || len(after) > 3 || !c.allCapital(after) {
			return nil, false
		}
		town = ws[:i+1]
		break
	}
	n := len(town) - 1
	if n > 0 && inAny(town[n].Text, regions, countries) && !longCountries.Has(town.String()) &&
		!placeQualifiers.Has(town[0].Text) {
		town = town[:n]
	}
	return town, len(town) > 0
}

// looksLikeTown reports whether a name that no table has may be a town's: capitals,
// and no word that makes it a street, a region, a program or a task.
func (c *claim) looksLikeTown(town english.Words) bool {
	if len(town) > 4 || inAny(town[0].Text, placeQualifiers, notPlaces) || placeSuffix.Has(town[len(town)-1].Text) {
		return false
	}
	for i, w := range town {
		if !c.capital(w) && (i == 0 || !nameParts.Has(w.Text)) {
			return false
		}
		if inAny(w.Text, english.TaskWords, english.DateWords) || english.StartsWithDigit(w.Text) {
			return false
		}
	}
	return true
}

// town is ws as the name of a town; "" if it is none.
func (c *claim) town(ws english.Words) string {
	if r := c.home(ws, false); r.attribute == "home" {
		return r.value
	}
	return ""
}

func (c *claim) allCapital(ws english.Words) bool {
	for _, w := range ws {
		if !c.capital(w) {
			return false
		}
	}
	return true
}

// ownDwelling reads what a mention of the speaker's dwelling at all[i] tells of where it is: "my flat is in Linz", "my
// flat at 14 High Street".
func (c *claim) ownDwelling(all english.Words, i int) []Claim {
	switch next := all[i+1].Text; {
	case next == "is" && all[i+2].Text == "in":
		// It mostly tells of a home, and may be of a second one, so that it ends none.
		return c.dwellsIn(all[i+3:])
	case next == "at" && all[i].Stop == 0 && !all.Any(pastBe):
		return c.addressIn(all[i+2:])
	}
	return nil
}

// addressIn reads "14 High Street" behind "my flat at".
func (c *claim) addressIn(ws english.Words) []Claim {
	if !english.StartsWithDigit(ws[0].Text) {
		return nil
	}
	for n := min(len(ws), maxNameWords); n > 1; n-- {
		if street := c.streetAddress(ws[:n]); street != "" && !goesOn(ws[:n], ws[n:]) {
			return []Claim{{Attribute: "one address", Value: street, Several: true, Loose: true}}
		}
	}
	return nil
}

// dwellsIn reads "Linz" behind "my flat is in".
func (c *claim) dwellsIn(ws english.Words) []Claim {
	for n := min(len(ws), maxNameWords); n > 0; n-- {
		if r := c.home(ws[:n], false); r.ok() && !goesOn(ws[:n], ws[n:]) {
			return []Claim{{Attribute: r.attribute, Value: r.value, Several: true, Loose: true}}
		}
	}
	return nil
}
