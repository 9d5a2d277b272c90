package vertex

import (
	"fmt"
	"maps"
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

// memoryMask is which fields an update of a memory changes.
type memoryMask struct {
	mask
	metadata []string // names in the metadata, if it does not change as a whole
}

// newMemoryMask reads a mask, whose fields may be names in the metadata. A name may stand between
// backquotes, as field masks have it. Metadata as a whole counts more than single names of it. A
// field that is none of a memory's is an error: a client that misspells one is not told
// otherwise that nothing has changed.
func newMemoryMask(texts []string) (out memoryMask, err error) {
	known := []string{"*", "fact", "displayName", "description", "topics", "metadata", "ttl", "expireTime",
		"structuredContent", "revisionLabels", "revisionTtl", "revisionExpireTime", "disableMemoryRevisions",
		"name", "scope", "createTime", "updateTime", "memoryType"} // the last ones stay as they are
	out.mask = newMask(texts...)
	for _, field := range out.mask {
		if !slices.Contains(known, field) {
			return out, invalid("updateMask: a memory has no field %.80q", field)
		}
	}
	for _, text := range texts {
		for path := range strings.SplitSeq(text, ",") {
			if name, ok := strings.CutPrefix(strings.TrimSpace(path), "metadata."); ok {
				out.metadata = append(out.metadata, strings.Trim(name, "`"))
			} else if strings.TrimSpace(path) == "metadata" {
				out.metadata = nil // as a whole
				return out, nil
			}
		}
	}
	return out, nil
}

// merge returns the metadata after an update: values, or those of before with the names that
// change.
func (m *memoryMask) merge(values, before memory.Metadata) memory.Metadata {
	if len(m.metadata) == 0 {
		return values
	}
	out := memory.Metadata{}
	maps.Copy(out, before)
	for _, name := range m.metadata {
		if value, ok := values[name]; ok {
			out[name] = value
		} else {
			delete(out, name)
		}
	}
	return out
}
