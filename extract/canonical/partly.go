package canonical

import (
	"slices"

	"github.com/memoryd/memoryd/extract/english"
)

// "I smoke when I'm out" and "I rent a room in Porto while I finish my degree" say nothing of the rest of the time, so
// they end nothing. But they give way themselves: to "I quit smoking", and to "I live in Rome now".

var (
	timesStart = tables.Words("times-start")
	spansStart = tables.Phrases("spans-start")
)

// partly are the claims of what a fact tells for a time, or at times, of which nothing else has been read. Those of
// what is so at times give way to an end alone: who drives a van whenever it rains may drive a car now as well.
func partly(fact string) []Claim {
	ws := english.Lex(fact)
	if len(ws) > english.MaxSentenceWords || !isSpeaker(ws.At(0)) {
		return nil
	}
	for i := minStatement; i+1 < min(len(ws), maxTailStart); i++ {
		span := spansStart.Match(ws, i+1) > 0
		if !span && !timesStart.Has(ws[i+1].Text) || ws[i].Stop != 0 && ws[i].Stop != ',' {
			continue
		}
		if core := ws[:i+1]; core.Any(tailDoubts) || core.Any(negations) || hasHappened(core) {
			return nil
		}
		claims, _, _ := wholeClaims(fact[:ws[i].End])
		claims = slices.DeleteFunc(claims, func(c Claim) bool { return c.Ended || c.Loose || c.Several && span })
		for k := range claims {
			c := &claims[k]
			c.Loose, c.Changed, c.part, c.span = true, false, !span, span
		}
		return claims
	}
	return nil
}
