package memory

import (
	"strconv"
	"strings"
)

// DecodeTerms reads the words of a memory as EncodeJSON wrote them, {"word":n,…}. The
// words are parts of stored. To fill an index takes thousands of calls, which
// encoding/json would need half of the time for.
func DecodeTerms(stored string) (Terms, error) {
	out := make(Terms, strings.Count(stored, ":"))
	rest, ok := strings.CutPrefix(stored, "{")
	for ok && rest != "}" {
		var word, number string
		if rest, ok = strings.CutPrefix(rest, `"`); !ok {
			break
		}
		if word, rest, ok = strings.Cut(rest, `":`); !ok || strings.ContainsAny(word, `\"`) {
			ok = false // the word is written with an escape
			break
		}
		end := strings.IndexAny(rest, ",}")
		if end < 0 {
			ok = false
			break
		}
		number, rest = rest[:end], strings.TrimPrefix(rest[end:], ",")
		n, err := strconv.Atoi(number)
		if ok = err == nil; ok {
			out[word] = n
		}
	}
	if ok {
		return out, nil
	}
	out = nil
	err := DecodeJSON([]byte(stored), &out)
	return out, err
}
