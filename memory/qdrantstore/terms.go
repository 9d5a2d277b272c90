package qdrantstore

import (
	"strconv"
	"strings"

	"github.com/memoryd/memoryd/memory"
)

// readTerms reads the stored words of a memory, {"word":n,…}. To fill an index reads
// thousands of those, which encoding/json takes most of the time for.
func readTerms(stored string) (memory.Terms, error) {
	out := make(memory.Terms, strings.Count(stored, ":"))
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
	err := decode(stored, &out)
	return out, err
}
