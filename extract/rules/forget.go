package rules

import (
	"strings"
	"time"

	"github.com/memoryd/memoryd/extract/canonical"
)

// forget adds the request to forget that a sentence is; from is where it begins in the text. It reports whether it is
// one. A request inside quotation marks is somebody else's.
func (r *turn) forget(s *sentence, from int) bool {
	if _, ok := canonical.ForgetRequest(s.text); !ok || quoted(r.Text, from) {
		return false
	}
	f := r.addFact(s.text, s.text, nil, time.Time{})
	f.Forget = true
	r.open = false
	return true
}

// quoted reports whether the byte at a place of a text is inside quotation marks, or opens them.
func quoted(text string, at int) bool {
	before := text[:at]
	plain := strings.Count(before, `"`)%2 == 1 || strings.HasPrefix(text[at:], `"`)
	opened := strings.Count(before, "“") + strings.Count(before, "„") + strings.Count(before, "«")
	closed := strings.Count(before, "”") + strings.Count(before, "»")
	return plain || opened > closed || strings.HasPrefix(text[at:], "“") || strings.HasPrefix(text[at:], "„") ||
		strings.HasPrefix(text[at:], "«")
}
