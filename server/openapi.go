package server

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/tools"
)

// openAPIText is the part of the OpenAPI document that people write: for each route
// what it is for, its body and its answers, and the schemas. Of errors it has those
// that some routes alone have. apiDocument adds what the program knows better.
//
//go:embed openapi.json
var openAPIText []byte

// declaration is a route as route declared it.
type declaration struct {
	method, path string
	takes        need
	params       []string // of the query
}

// object is a JSON object of the document.
type object = map[string]any

// apiDocument is the document that GET /openapi.json serves. To the text it adds
//
//   - to each operation: the parameters that its route declares, the verb that a key
//     must have, and the errors that the middleware answers with;
//   - the tools and their schemas, the names of errors, and the version.
//
// A route that the text does not have is left out; a test compares the two.
func apiDocument(version string, routes []declaration) ([]byte, error) {
	doc, err := readAPIText(openAPIText)
	if err != nil {
		return nil, err
	}
	doc["info"].(object)["version"] = cmp.Or(version, "unknown")
	paths := doc["paths"].(object)
	for _, r := range routes {
		path, names := templateOf(r.path)
		item, _ := paths[path].(object)
		if operation, ok := item[strings.ToLower(r.method)].(object); ok {
			r.complete(operation, append(names, r.params...))
		}
	}
	components := doc["components"].(object)
	completeErrors(components)
	if err := completeTools(components); err != nil {
		return nil, err
	}
	return json.Marshal(doc)
}

// readAPIText reads the text, and checks that it has the parts that apiDocument
// completes.
func readAPIText(text []byte) (doc object, err error) {
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("openapi.json: %w", err)
	}
	for _, name := range []string{"info", "paths", "components"} {
		if _, ok := doc[name].(object); !ok {
			return nil, fmt.Errorf("openapi.json: there is no object %s", name)
		}
	}
	return doc, nil
}

// templateOf turns a path of the router into one of the document, and returns the
// names of its parameters.
func templateOf(path string) (template string, names []string) {
	segments := strings.Split(path, "/")
	for i, s := range segments {
		if name, ok := strings.CutPrefix(s, ":"); ok {
			names = append(names, name)
			segments[i] = "{" + name + "}"
		}
	}
	return strings.Join(segments, "/"), names
}

// complete adds to an operation what follows from its route.
func (r *declaration) complete(operation object, params []string) {
	// The text has those itself whose name means something else in other routes.
	own := map[any]any{}
	written, _ := operation["parameters"].([]any)
	for _, p := range written {
		if p, ok := p.(object); ok {
			own[p["name"]] = p
		}
	}
	var refs []any
	for _, name := range params {
		ref := own[name]
		if ref == nil {
			ref = object{"$ref": "#/components/parameters/" + name}
		}
		refs = append(refs, ref)
	}
	if len(refs) > 0 {
		operation["parameters"] = refs
	}
	operation["x-memoryd-verb"] = r.takes.name()
	if r.takes.open {
		operation["security"] = []any{}
	}
	answers, _ := operation["responses"].(object)
	for code, a := range answers {
		answer, _ := a.(object)
		if _, shared := answer["$ref"]; shared {
			continue
		}
		headers, _ := answer["headers"].(object)
		answer["headers"] = with(headers, "X-Request-Id", object{"$ref": "#/components/headers/RequestId"})
		answers[code] = answer
	}
	_, body := operation["requestBody"]
	for _, code := range r.errors(body) {
		if name := strconv.Itoa(code); answers[name] == nil {
			answers[name] = object{"$ref": "#/components/responses/Error" + name}
		}
	}
}

// with returns an object with one more member.
func with(o object, name string, value any) object {
	out := object{name: value}
	maps.Copy(out, o)
	return out
}

// errors are the statuses of the errors that any route like this one may answer with,
// by the middleware and by the reading of its parameters and its body.
func (r *declaration) errors(body bool) []int {
	codes := []int{http.StatusBadRequest, http.StatusForbidden, http.StatusGone, http.StatusRequestEntityTooLarge,
		http.StatusInternalServerError}
	if !r.takes.open {
		codes = append(codes, http.StatusUnauthorized, http.StatusTooManyRequests, http.StatusServiceUnavailable)
	}
	if body {
		codes = append(codes, http.StatusRequestTimeout)
	}
	return codes
}

// name is what the document calls a need.
func (n need) name() string {
	switch {
	case n.open:
		return "none"
	case n.anyKey:
		return "any"
	case n.some:
		return "tool"
	}
	return n.verbs.String()
}

// completeErrors sets the names of errors that there are.
func completeErrors(components object) {
	var names []string
	for _, k := range kinds {
		names = append(names, k.status)
	}
	for _, status := range ownStatus {
		names = append(names, status)
	}
	names = append(names, internalError("").Status)
	slices.Sort(names)
	set(components, slices.Compact(names), "schemas", "ErrorDetail", "properties", "status", "enum")
}

// set sets a value deep within an object that has all but the last of the names.
func set(in object, value any, names ...string) {
	for len(names) > 1 {
		in, _ = in[names[0]].(object)
		names = names[1:]
	}
	in[names[0]] = value
}

// completeTools adds the schemas of the tools: those of NAME as NAME.arguments and
// NAME.result.
func completeTools(components object) error {
	var names, arguments, results []any
	all := tools.All()
	preload, err := tools.Find(tools.PreloadMemory)
	if err != nil {
		return err
	}
	for _, t := range append(all, preload) {
		names = append(names, t.Name)
		arguments = append(arguments, object{"$ref": "#/components/schemas/" + t.Name + ".arguments"})
		results = append(results, object{"$ref": "#/components/schemas/" + t.Name + ".result"})
		for part, schema := range map[string]any{".arguments": t.Parameters, ".result": t.Result} {
			copied, err := copyJSON(schema)
			if err != nil {
				return err
			}
			copied["description"] = t.Description
			set(components, copied, "schemas", t.Name+part)
		}
	}
	set(components, names, "parameters", "tool", "schema", "enum")
	set(components, arguments, "schemas", "ToolArguments", "anyOf")
	results = append(results, object{"$ref": "#/components/schemas/ToolFailure"})
	set(components, results, "schemas", "ToolResult", "anyOf")
	return nil
}

// copyJSON returns a value as its JSON has it, which must be an object.
func copyJSON(v any) (out object, err error) {
	raw, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	return out, err
}

// document is an answer that stays the same while the server lives.
type document struct {
	raw  []byte
	etag string
}

func newDocument(raw []byte) document {
	sum := sha256.Sum256(raw)
	return document{raw, `"` + hex.EncodeToString(sum[:8]) + `"`}
}

// openAPI answers GET /openapi.json. Clients may keep it, and ask whether it is still
// the same.
func (s *Server) openAPI(c echo.Context) error {
	header := c.Response().Header()
	header.Set(echo.HeaderCacheControl, "private, no-cache")
	header.Set("ETag", s.api.etag)
	for known := range strings.SplitSeq(c.Request().Header.Get("If-None-Match"), ",") {
		if known = strings.TrimPrefix(strings.TrimSpace(known), "W/"); known == s.api.etag || known == "*" {
			return c.NoContent(http.StatusNotModified)
		}
	}
	return c.Blob(http.StatusOK, "application/json", s.api.raw)
}
