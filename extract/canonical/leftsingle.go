package canonical

import "github.com/memoryd/memoryd/extract/english"

// Whom or what somebody no longer has is told by the name alone: "Ann is no longer my boss" ends no boss of another
// name. Of two who share a first name it cannot tell which.

// noLonger reads "Dr. Lee isn't my dentist any more" and "my bank is no longer Monzo", of things of which people have
// one.
func (c *claim) noLonger(all english.Words, from, to int) (out []Claim) {
	for i := from; i < to; i++ {
		s, n := singleAt(all, i)
		m := mentionOf(all, i)
		if n == 0 || !m.mine || m.isNew {
			continue
		}
		var value english.Words
		before, after := all[from:m.from], all[i+n:]
		k := len(before)
		switch {
		// "Dr. Lee is no longer my dentist"
		case k > 3 && isBe(before[k-3].Text) && before[k-2].Text == "no" && before[k-1].Text == "longer":
			value = before[:k-3]
		// "Dr. Lee isn't my dentist any more"
		case k > 2 && isBe(before[k-2].Text) && before[k-1].Text == "not" && anyMore(after) > 0:
			value = before[:k-2]
		// "My dentist is no longer Dr. Lee"
		case len(after) > 3 && isBe(after[0].Text) && after[1].Text == "no" && after[2].Text == "longer":
			value = after[3:min(len(after), 3+maxNameWords)]
		// "My dentist isn't Dr. Lee any more"
		case len(after) > 3 && isBe(after[0].Text) && after[1].Text == "not":
			for j := 3; j < min(len(after), 3+maxNameWords); j++ {
				if anyMore(after[j:]) > 0 {
					value = after[2:j]
					break
				}
			}
		}
		if len(value) == 0 || len(value) > maxNameWords {
			continue
		}
		if v := c.valueOf(s.kind, value); v != "" {
			out = append(out, Claim{Attribute: s.attribute, Value: v, Ended: true})
		}
	}
	return out
}

// anyMore is the number of words at the front of ws that say that something no longer holds: "any more"; 0 if none do.
func anyMore(ws english.Words) int {
	switch {
	case ws.At(0) == "anymore":
		return 1
	case ws.At(0) == "any" && (ws.At(1) == "more" || ws.At(1) == "longer"):
		return 2
	}
	return 0
}
