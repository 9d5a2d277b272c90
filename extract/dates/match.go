package dates

// match is a place where a rule matches.
type match struct {
	rule *rule
	// lower is the part of the sentence that was searched, in small letters, and text the same part as it is written.
	lower, text string
	// offset is where that part begins, and start and end are where the match stands, in bytes of the sentence.
	offset, start, end int
	// places are the ends of the match and its groups, in bytes of the part, as package regexp gives them.
	places []int
}

// part is a group of the pattern, in small letters; "" if it did not take part in the match.
func (m *match) part(name string) string { return m.group(m.lower, name) }

// written is a group of the pattern as the sentence has it.
func (m *match) written(name string) string { return m.group(m.text, name) }

// group is a group of the pattern in one of the two spellings of the text.
func (m *match) group(text, name string) string {
	i := m.rule.pattern.SubexpIndex(name)
	if i < 0 || m.places[2*i] < 0 {
		return ""
	}
	return text[m.places[2*i]:m.places[2*i+1]]
}

// before is the text before the match, as far back as a guard looks.
func (m *match) before() string { return tail(m.lower[:m.start-m.offset]) }

// tail is the end of a text: 24 bytes, which hold "wednesday through ".
func tail(s string) string { return s[max(0, len(s)-24):] }

// after is the text behind the match.
func (m *match) after() string { return m.lower[m.end-m.offset:] }

// firstMatch is the first date at or after from. Rules see only the text from there on. Of the matches that overlap the
// leftmost one, the one whose rule stands first in the table is the date.
func firstMatch(lower, text string, from int) (match, bool) {
	var matches []match
	for _, r := range rules {
		if m, ok := r.find(lower[from:], text[from:], from); ok {
			matches = append(matches, m)
		}
	}
	leftmost := -1
	for i := range matches {
		if leftmost < 0 || matches[i].start < matches[leftmost].start {
			leftmost = i
		}
	}
	for i := range matches {
		if matches[i].start < matches[leftmost].end {
			return matches[i], true
		}
	}
	return match{}, false
}

// find is the first match that the guard admits and that is made of whole words. After a match that is refused it looks
// on behind that match.
func (r *rule) find(lower, text string, offset int) (match, bool) {
	for from := 0; from < len(lower); {
		places := r.pattern.FindStringSubmatchIndex(lower[from:])
		if places == nil {
			break
		}
		for i := range places {
			if places[i] >= 0 {
				places[i] += from
			}
		}
		left, right := places[0], places[1]
		m := match{rule: r, lower: lower, text: text, places: places, offset: offset}
		m.start, m.end = offset+left, offset+right
		if wholeWords(lower, left, right) && (r.guard == nil || r.guard(&m)) {
			return m, true
		}
		from = right
	}
	return match{}, false
}
