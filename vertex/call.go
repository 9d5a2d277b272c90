package vertex

import (
	"fmt"
	"strconv"

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
