package vertex

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/memoryd/memoryd/memory"
)

// param is a parameter in the query of REST, in camel case or in snake case.
func (call *Call) param(name string) string {
	if v := call.Query.Get(name); v != "" {
		return v
	}
	for key, values := range call.Query {
		if camel(key) == name && len(values) > 0 {
			return values[0]
		}
	}
	return ""
}

// atoi reads a number in the query.
func atoi(name, text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, invalid("%s %.40q: want a number", name, text)
	}
	return n, nil
}

// notHere is the error of a method on something that has none.
func notHere(call *Call) error {
	return fmt.Errorf("%w: there is no %s of %.200q", memory.ErrNotFound, call.Method, call.Resource.engine())
}

// mask is which fields an update changes. Without one it changes the fields that are there.
type mask []string

// newMask reads the mask of the query or of the message.
func newMask(texts ...string) (out mask) {
	for _, text := range texts {
		for path := range strings.SplitSeq(text, ",") {
			if path = strings.TrimSpace(path); path != "" {
				first, _, _ := strings.Cut(path, ".")
				out = append(out, camel(first))
			}
		}
	}
	return out
}

// has reports whether an update changes a field that is present in it or not.
func (m mask) has(field string, present bool) bool {
	if len(m) == 0 || slices.Contains(m, "*") {
		return present
	}
	return slices.Contains(m, field)
}
