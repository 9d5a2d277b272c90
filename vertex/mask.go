package vertex

import (
	"slices"
	"strings"
)

// A field mask names the fields that an update changes, with commas between its paths and dots
// between the names of a path. A path that no update could follow is an error that repeats it: a
// client that misspells a field would else be told that all is well, and nothing would have changed.

// readMask reads the paths of masks. A name with a dot or a comma in it stands between backquotes.
// The first name of a path is that of a field, and becomes camel case. Those behind it may be the
// client's own.
func readMask(texts ...string) (out [][]string, err error) {
	for _, text := range texts {
		for _, path := range cut(text, ',') {
			if path = strings.TrimSpace(path); path == "" {
				continue
			}
			var names []string
			for _, name := range cut(path, '.') {
				if name = strings.Trim(name, "`"); name == "" {
					return nil, invalid("updateMask: %.80q: a name of the path is empty", path)
				}
				names = append(names, name)
			}
			names[0] = camel(names[0])
			out = append(out, names)
		}
	}
	return out, nil
}

// cut parts a text at a byte, where it is not between backquotes.
func cut(text string, at byte) (out []string) {
	from, quoted := 0, false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '`':
			quoted = !quoted
		case c == at && !quoted:
			out, from = append(out, text[from:i]), i+1
		}
	}
	return append(out, text[from:])
}

// pathOf is a path as a mask has it, for a message.
func pathOf(names []string) string { return strings.Join(names, ".") }

// mask is which fields an update changes. Without one it changes the fields that are there.
type mask []string

// newMask reads the mask of the query or of the message, of a thing that has the known fields. They
// change as a whole: a path into one is an error.
func newMask(thing string, known []string, texts ...string) (out mask, err error) {
	paths, err := readMask(texts...)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if err := out.add(thing, known, path); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// add adds the field of a path.
func (m *mask) add(thing string, known []string, path []string) error {
	if path[0] != "*" && !slices.Contains(known, path[0]) {
		return invalid("updateMask: a %s has no field %.80q", thing, pathOf(path))
	}
	if len(path) > 1 {
		return invalid("updateMask: %.80q: %s changes as a whole: name it alone", pathOf(path), path[0])
	}
	*m = append(*m, path[0])
	return nil
}

// has reports whether an update changes a field that is present in it or not.
func (m mask) has(field string, present bool) bool {
	if len(m) == 0 || slices.Contains(m, "*") {
		return present
	}
	return slices.Contains(m, field)
}

// sessionFields are the fields of a session. The last ones stay as they are.
func sessionFields() []string {
	return []string{"sessionState", "displayName", "labels", "ttl", "expireTime",
		"name", "userId", "createTime", "updateTime"}
}

// memoryFieldNames are the fields of a memory. The last ones stay as they are.
func memoryFieldNames() []string {
	return []string{"fact", "displayName", "description", "topics", "metadata", "ttl", "expireTime",
		"structuredContent", "revisionLabels", "revisionTtl", "revisionExpireTime", "disableMemoryRevisions",
		"name", "scope", "createTime", "updateTime", "memoryType"}
}

// memoryMask is which fields an update of a memory changes.
type memoryMask struct {
	mask
	metadata []string // names in the metadata, if it does not change as a whole
}

// newMemoryMask reads a mask, whose paths may be names in the metadata. Metadata as a whole counts
// more than single names of it.
func newMemoryMask(texts []string) (out memoryMask, err error) {
	paths, err := readMask(texts...)
	if err != nil {
		return out, err
	}
	var names []string
	for _, path := range paths {
		switch {
		case path[0] == "metadata" && len(path) == 2:
			names = append(names, path[1])
		case path[0] == "metadata" && len(path) > 2:
			return out, invalid("updateMask: %.80q: a value of metadata has no parts: a name with a dot in it stands"+
				" between backquotes", pathOf(path))
		default:
			if err := out.add("memory", memoryFieldNames(), path); err != nil {
				return out, err
			}
		}
	}
	if len(names) > 0 && !slices.Contains(out.mask, "metadata") {
		out.mask, out.metadata = append(out.mask, "metadata"), names
	}
	return out, nil
}
