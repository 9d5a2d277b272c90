package vertex

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/memoryd/memoryd/appconfig"
	"github.com/memoryd/memoryd/memory"
)

// engineDoc is the description of an engine: its fields in camel case.
type engineDoc map[string]json.RawMessage

// An etag is not checked: a change of an engine is decided on the newest revision of its configuration,
// and one of the HTTP API names the revision that it was made of.

// outputOnly are the fields of an engine that clients may send and that they do not set.
var outputOnly = []string{"name", "createTime", "updateTime", "etag"}

// readEngine reads the description in a body. The names within contextSpec are those of the
// service, and become camel case: Google's SDK for Python sends them in snake case and reads them
// in camel case, and so does a client of another language. Other fields are kept as they came, also
// those that memoryd does not know.
func readEngine(body json.RawMessage) (engineDoc, error) {
	if err := Decode(body, &struct{}{}); err != nil {
		return nil, err
	}
	out := engineDoc{}
	var in object
	if len(bytes.TrimSpace(body)) > 0 {
		// Parts of it are read again and again below, so that it must be small before.
		var small bytes.Buffer
		if err := json.Compact(&small, body); err != nil {
			return nil, invalid("the body: %v", err)
		}
		if small.Len() > appconfig.MaxEngine {
			return nil, invalid("the body: %d bytes without white space, more than %d for an engine", small.Len(),
				appconfig.MaxEngine)
		}
		var err error
		if in, err = readObject("the body", small.Bytes()); err != nil {
			return nil, err
		}
	}
	for name, value := range in {
		name = camel(name)
		if slices.Contains(outputOnly, name) || string(value) == "null" {
			continue
		}
		if name == "contextSpec" {
			value = camelNames(value)
		}
		out[name] = value
	}
	return out, out.validate()
}

// validate refuses a description that memoryd could not read again.
func (d engineDoc) validate() error {
	fields, err := d.fields()
	if err != nil {
		return err
	}
	return memory.Labels(fields.Labels).Validate("labels")
}

// engineFields are the fields of an engine that memoryd reads.
type engineFields struct {
	DisplayName string            `json:"displayName"`
	Description string            `json:"description"`
	Labels      map[string]string `json:"labels"`
	Context     struct {
		MemoryBank *bankConfig `json:"memoryBankConfig"`
	} `json:"contextSpec"`
	CreateTime Time `json:"createTime"`
}

// fields are the fields of the description that memoryd reads. A description that is stored was valid
// when it came, for the memoryd that took it.
func (d engineDoc) fields() (out engineFields, err error) {
	raw, err := Encode(d)
	if err == nil {
		err = Decode(raw, &out)
	}
	return out, err
}

// camelNames writes the names in a value of JSON in camel case, but those in the properties of a
// schema: they are the names of the client's own fields.
func camelNames(raw json.RawMessage) json.RawMessage {
	var list []json.RawMessage
	var object map[string]json.RawMessage
	switch {
	case json.Unmarshal(raw, &list) == nil && list != nil:
		for i := range list {
			list[i] = camelNames(list[i])
		}
		raw, _ = Encode(list) // it was JSON
	case json.Unmarshal(raw, &object) == nil && object != nil:
		out := map[string]json.RawMessage{}
		for name, value := range object {
			properties := map[string]json.RawMessage{}
			if name == "properties" && json.Unmarshal(value, &properties) == nil {
				for field := range properties {
					properties[field] = camelNames(properties[field])
				}
				out[name], _ = Encode(properties)
				continue
			}
			out[camel(name)] = camelNames(value)
		}
		raw, _ = Encode(out)
	}
	return raw
}

// engineFieldNames are the fields of an engine that clients set. Fields that came with later versions
// of Google's service are taken too, where a client sends them.
var engineFieldNames = []string{"displayName", "description", "labels", "contextSpec", "spec", "encryptionSpec"}

// setPath gives out the value that in has at a path of a mask. Without one, out has none there
// either: the mask names a field that is to be cleared. A path that leads to nothing, in an engine or
// in the body, is an error, and so is one into a value that has no parts.
func setPath(out, in map[string]json.RawMessage, path []string) error {
	first := path[0]
	if in[first] == nil && out[first] == nil && !slices.Contains(engineFieldNames, first) {
		return invalid("an engine has no field %.80q, and neither has the body", first)
	}
	if len(path) > 1 && (first == "displayName" || first == "description") || len(path) > 2 && first == "labels" {
		return invalid("%s is a text, which has no parts", pathOf(path[:len(path)-1]))
	}
	return setPart(out, in, path, first == "labels")
}

// setPart is setPath of an object within. A name that neither has is meant in camel case, unless the
// names are the client's own.
func setPart(out, in map[string]json.RawMessage, path []string, own bool) error {
	name := path[0]
	if !own && in[name] == nil && out[name] == nil {
		name = camel(name)
	}
	value, there := in[name]
	if len(path) == 1 {
		if there {
			out[name] = value
		} else {
			delete(out, name)
		}
		return nil
	}
	var to, from map[string]json.RawMessage
	for _, part := range []struct {
		raw json.RawMessage
		to  *map[string]json.RawMessage
	}{{out[name], &to}, {value, &from}} {
		if present(part.raw) && json.Unmarshal(part.raw, part.to) != nil {
			return invalid("%.80s is no object, and has no parts", name)
		}
	}
	if to == nil {
		if from == nil {
			return nil // there is nothing to clear
		}
		to = map[string]json.RawMessage{}
	}
	if err := setPart(to, from, path[1:], own); err != nil {
		return err
	}
	out[name], _ = Encode(to) // it was JSON
	return nil
}
