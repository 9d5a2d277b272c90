package canonical

import (
	"slices"
	"strconv"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// Records and names are told again in other words than the first time: "my 10k best is 52:40" and "finished in 49:18,
// my best 10k ever", "my full name is Ann Lee" and "I'm Ann Moss on all papers".

// bestRun reads "ran the 10 km in 49:58 today, a new personal best" and "my personal best over 10 km is 52:40".
func (c *claim) bestRun(all english.Words) []Claim {
	// A race that is told without a word of a best is one when its time beats the record.
	best := bestPhrases.Found(all) || bestOfLength(all)
	if !best && !comparable(all) || !ownFromStart(all) || all.Any(otherEvents) || ofOthers(all) {
		return nil
	}
	length, time := "", ""
	for i := range all {
		for n := min(3, len(all)-i); n > 0; n-- {
			l := raceLengths.Of(all[i : i+n].String())
			if l == "" {
				continue
			}
			if length != "" && length != l && !(length == "half") {
				return nil
			}
			if length == "" {
				length = l
			}
		}
		w, minutes := all[i].Text, singular(all.At(i+1)) == "minute" && english.StartsWithDigit(all[i].Text)
		if minutes || strings.Contains(w, ":") && english.StartsWithDigit(w) && !strings.Contains(w, "-") {
			if time != "" || i > 0 && all[i-1].Text == "at" {
				return nil // "started at 9:30"
			}
			time = numberOf(all[i : i+1])
		}
	}
	if length == "" || time == "" {
		return nil
	}
	changed := best && all.Has("new") || all.Has("ever") || all.Has("pb") || all.Has("pr") || c.changed
	return []Claim{{
		Attribute: recordAttribute + length, Value: time, Several: !changed, Changed: changed, result: !best,
	}}
}

// comparable reports whether all tells of a race that may beat a record, and of nothing else than where and when it
// was: one with skates or downhill does not count.
func comparable(all english.Words) bool {
	return all.Has("ran") && !slices.ContainsFunc(all, func(w english.Word) bool {
		told := w.Upper || english.StartsWithDigit(w.Text)
		return !told && !inAny(w.Text, raceWords, english.DateWords, english.Periods)
	})
}

// bornNow reports whether a fact tells of a birth, which says how many there are at least.
func bornNow(fact string) bool {
	return strings.Contains(fact, " born") || strings.Contains(fact, " arrived")
}

// countsDown reports whether c, which a birth tells, has no larger number than o.
func (c *Claim) countsDown(o *Claim) bool {
	after, err := strconv.Atoi(c.Value)
	before, other := strconv.Atoi(o.Value)
	return c.least && (err != nil || other != nil || after <= before)
}

// recordAttribute is the attribute of a best, before its race or lift.
const recordAttribute = "one record "

// breaks reports whether c is a result that takes the place of the record o.
func (c *Claim) breaks(o *Claim) bool {
	record, ok := strings.CutPrefix(c.Attribute, recordAttribute)
	return ok && c.result && !o.result && c.Attribute == o.Attribute && beats(record, c.Value, o.Value)
}

// beats reports whether a result takes the place of a record: more of a lift, or less time for a race, but no less than
// half of it, as that would be another race.
func beats(record, result, best string) bool {
	if raceLengths.Of(record) == "" {
		after, err := strconv.ParseFloat(result, 64)
		before, other := strconv.ParseFloat(best, 64)
		return err == nil && other == nil && after > before && after < 2*before
	}
	after, before := seconds(result), seconds(best)
	return after > 0 && after < before && 2*after > before
}

// seconds is a time such as "49:58" or "3:35:10"; 0 if it is none.
func seconds(clock string) (total int) {
	parts := strings.Split(clock, ":")
	for _, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || len(parts) == 1 {
			return 0
		}
		total = total*60 + n
	}
	return total
}

// bestOfLength reports whether the best of a race is told of: "half marathon best", "my best 10k".
func bestOfLength(all english.Words) bool {
	for i := range all {
		if all[i].Text != "best" {
			continue
		}
		for n := 1; n <= 2; n++ {
			if i+n < len(all) && raceLengths.Of(all[i+1:i+1+n].String()) != "" ||
				i-n >= 0 && raceLengths.Of(all[i-n:i].String()) != "" {
				return true
			}
		}
	}
	return false
}

// ownFromStart reports whether a fact begins with the speaker, or with a time and a place before it: "yesterday in Oslo
// I ran". "Tom ran the 10 km …, my family says" does not.
func ownFromStart(all english.Words) bool {
	if all.At(0) == "my" {
		return true
	}
	for i := 0; i < min(len(all), maxFrontWords); i++ {
		if all[i].Text == "i" {
			return i == 0 || inAny(all[0].Text, english.DateWords, english.Prepositions)
		}
		if english.Past(all[i].Text) || isBe(all[i].Text) {
			return false
		}
	}
	return false
}

// maxFrontWords bounds a time and a place before the speaker.
const maxFrontWords = 8

// lastNameAttribute is that of the noun "last name".
const lastNameAttribute = "one last name"

// withLastName adds the last name that a full name tells. It is loose, and has the whole name, as any word of it may be
// the last name: "Li Wei".
func withLastName(claims []Claim) []Claim {
	for _, cl := range claims {
		if cl.Attribute != "full name" && cl.Attribute != "name of name" || cl.Ended {
			continue
		}
		if strings.Contains(cl.Value, " ") {
			last := Claim{Attribute: lastNameAttribute, Value: cl.Value, Loose: true, Changed: cl.Changed}
			return append(claims, last, lastNameBehind(cl.Value, cl.Changed))
		}
	}
	return claims
}

// lastNameBehind is the claim that who has this first name has that last name. A name by which somebody is known
// besides, as on a stage, has another first name or is said to be one.
func lastNameBehind(full string, changed bool) Claim {
	first, last, _ := strings.Cut(full, " ")
	return Claim{Attribute: "last name of " + first, Value: last, Changed: changed}
}

// calledInFull reads "I am Ann Moss on all papers now": the first and the last name.
//
// The first name is a part of the attribute, so that a name by which the speaker is known elsewhere ends nothing: only
// another last name behind the same first name does.
func (c *claim) calledInFull(all english.Words) []Claim {
	for i := 0; i+3 < len(all); i++ {
		begins := i == 0 || stopsClause(all[i-1].Stop) || all[i-1].Text == "so"
		if !begins || all[i].Text != "i" || all[i+1].Text != "am" {
			continue
		}
		full := all[i+2 : i+4]
		if full[0].Stop != 0 || c.properName(full) == "" || !c.capital(full[0]) || !c.capital(full[1]) ||
			!officially(all[i+4:], full[1].Stop) && !namedAnew(all[i+2:]) {
			return nil
		}
		return []Claim{lastNameBehind(full.String(), true)}
	}
	return nil
}

// namedAnew reports whether a full name is told as a new one: "after the wedding I took her name, so I'm Ann Moss now".
func namedAnew(full english.Words) bool {
	return full.At(2) == "now" && (len(full) == 3 || full[2].Stop != 0)
}

// officially reports whether words behind a name say that it is the one on papers.
func officially(ws english.Words, mark rune) bool {
	if mark != 0 || ws.At(0) != "on" && ws.At(0) != "in" {
		return false
	}
	return ws[1:min(len(ws), 5)].Any(papers)
}
