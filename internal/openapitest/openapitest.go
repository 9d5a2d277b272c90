// Package openapitest holds a server to its OpenAPI document: it checks requests and
// answers as they pass. Tests of several packages share it.
//
// A request that gets a status below 300 must be one that the document allows, and
// every answer must be one that the document has for its route: its status, headers,
// type, and JSON. Of server-sent events the data is checked. A null in a request
// counts as absent, as the document says.
package openapitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// Document is an OpenAPI document. Its methods may be called concurrently.
type Document struct {
	// Operations are those of all paths, by path and method.
	Operations []*Operation

	root    node
	schemas node // by name, for the references of the others

	mu       sync.Mutex
	resolved map[string]*jsonschema.Resolved // by the JSON of the schema
}

// Operation is one method of a path.
type Operation struct {
	ID, Method, Path string
	// Verb is x-memoryd-verb.
	Verb string
	// Open is set if the operation takes no key.
	Open bool
	// Example is the body of the example request; nil if it has none.
	Example json.RawMessage

	doc  *Document
	node node
	path *regexp.Regexp
}

// Parameter is a parameter of an operation.
type Parameter struct {
	Name, In string
	Example  string
	schema   node
	required bool
}

// Exchange is a request and its answer.
type Exchange struct {
	Method string
	URL    *url.URL
	Body   []byte // of the request; nil if it was not read to its end
	Status int
	Header map[string][]string // of the answer
	Answer []byte              // nil if it did not come to its end, or is too long to be checked
}

// node is a JSON object of the document.
type node = map[string]any

// Read reads a document.
func Read(raw []byte) (*Document, error) {
	d := &Document{resolved: map[string]*jsonschema.Resolved{}}
	if err := json.Unmarshal(raw, &d.root); err != nil {
		return nil, fmt.Errorf("the document: %w", err)
	}
	components, _ := d.root["components"].(node)
	d.schemas, _ = components["schemas"].(node)
	paths, _ := d.root["paths"].(node)
	for path, item := range paths {
		for method, operation := range item.(node) {
			o := &Operation{Method: strings.ToUpper(method), Path: path, doc: d, path: pattern(path)}
			o.node, _ = operation.(node)
			o.ID, _ = o.node["operationId"].(string)
			o.Verb, _ = o.node["x-memoryd-verb"].(string)
			security, own := o.node["security"].([]any)
			o.Open = own && len(security) == 0
			if example, ok := d.at(o.node, "requestBody", "content", "application/json")["example"]; ok {
				var err error
				if o.Example, err = json.Marshal(example); err != nil {
					return nil, err
				}
			}
			d.Operations = append(d.Operations, o)
		}
	}
	// A path without parameters comes before one that it fits as well.
	sort.Slice(d.Operations, func(i, j int) bool {
		a, b := d.Operations[i], d.Operations[j]
		if n, m := strings.Count(a.Path, "{"), strings.Count(b.Path, "{"); n != m {
			return n < m
		}
		return a.Path+" "+a.Method < b.Path+" "+b.Method
	})
	return d, nil
}

// pattern matches the escaped paths that a template stands for.
func pattern(template string) *regexp.Regexp {
	parts := regexp.MustCompile(`\{[^}]*\}`).Split(template, -1)
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(p)
	}
	return regexp.MustCompile("^" + strings.Join(parts, "([^/]+)") + "$")
}

// at follows names and references within the document; the result is empty if there is
// nothing.
func (d *Document) at(n node, names ...string) node {
	for {
		for ref, ok := n["$ref"].(string); ok; ref, ok = n["$ref"].(string) {
			n = d.at(d.root, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
		}
		if len(names) == 0 {
			return n
		}
		n, _ = n[names[0]].(node)
		names = names[1:]
	}
}

// Find returns the operation of a request; nil if there is none.
func (d *Document) Find(method string, path string) *Operation {
	for _, o := range d.Operations {
		if o.Method == method && o.path.MatchString(path) {
			return o
		}
	}
	return nil
}

// Parameters are those of the path and of the query, in their order.
func (o *Operation) Parameters() (out []Parameter) {
	list, _ := o.node["parameters"].([]any)
	for _, p := range list {
		n := o.doc.at(p.(node))
		param := Parameter{}
		param.Name, _ = n["name"].(string)
		param.In, _ = n["in"].(string)
		param.Example, _ = n["example"].(string)
		param.required, _ = n["required"].(bool)
		param.schema, _ = n["schema"].(node)
		out = append(out, param)
	}
	return out
}

// Statuses are those that the operation may answer with, in order.
func (o *Operation) Statuses() (out []int) {
	for code := range o.doc.at(o.node, "responses") {
		if n, err := strconv.Atoi(code); err == nil {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

// Check returns what is wrong with an exchange; nil if nothing is, or if the document
// has no operation for the request.
func (d *Document) Check(x *Exchange) error {
	o := d.Find(x.Method, x.URL.EscapedPath())
	if o == nil {
		return nil
	}
	if err := o.checkAnswer(x); err != nil {
		return fmt.Errorf("%s %s: answer %d: %w", o.Method, o.Path, x.Status, err)
	}
	if x.Status >= 300 {
		return nil
	}
	if err := o.checkRequest(x); err != nil {
		return fmt.Errorf("%s %s: the request, which got %d: %w", o.Method, o.Path, x.Status, err)
	}
	return nil
}

func (o *Operation) checkRequest(x *Exchange) error {
	query := x.URL.Query()
	segments := o.path.FindStringSubmatch(x.URL.EscapedPath())[1:]
	known := map[string]bool{}
	for _, p := range o.Parameters() {
		var values []string
		switch p.In {
		case "path":
			value, err := url.PathUnescape(segments[0])
			if err != nil {
				return err
			}
			values, segments = []string{value}, segments[1:]
		case "query":
			known[p.Name] = true
			values = slices.DeleteFunc(query[p.Name], func(v string) bool { return v == "" })
		}
		if len(values) == 0 {
			continue
		}
		value, err := o.doc.textValue(p.schema, values)
		if err == nil {
			err = o.doc.validate(p.schema, value)
		}
		if err != nil {
			return fmt.Errorf("parameter %s: %w", p.Name, err)
		}
	}
	for name := range query {
		if !known[name] {
			return fmt.Errorf("query parameter %s is not in the document", name)
		}
	}
	return o.checkBody(x.Body)
}

// textValue returns the JSON value that a parameter's texts stand for.
func (d *Document) textValue(schema node, values []string) (any, error) {
	schema = d.at(schema)
	switch schema["type"] {
	case "array":
		list := []any{}
		for _, v := range values {
			list = append(list, v)
		}
		return list, nil
	case "integer", "number":
		return strconv.ParseFloat(values[0], 64)
	case "boolean":
		return strconv.ParseBool(values[0])
	}
	return values[0], nil
}

func (o *Operation) checkBody(raw []byte) error {
	body := o.doc.at(o.node, "requestBody")
	if raw == nil || len(body) == 0 {
		return nil // it was not read
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		if body["required"] == true {
			return fmt.Errorf("the body is empty, and is required")
		}
		return nil
	}
	v, err := decode(raw)
	if err != nil {
		return fmt.Errorf("the body: %w", err)
	}
	schema := o.BodySchema()
	err = o.doc.validate(schema, v)
	if err != nil {
		err = o.doc.validate(schema, withoutNull(v)) // which counts as absent
	}
	return err
}

func (o *Operation) checkAnswer(x *Exchange) error {
	answer := o.doc.at(o.node, "responses", strconv.Itoa(x.Status))
	if len(answer) == 0 {
		return fmt.Errorf("the document has the statuses %v: %.300s", o.Statuses(), x.Answer)
	}
	headers, _ := answer["headers"].(node)
	for name := range headers {
		header := o.doc.at(headers, name)
		var values []string
		for n, v := range x.Header {
			if strings.EqualFold(n, name) {
				values = v
			}
		}
		if len(values) == 0 {
			if header["required"] == true {
				return fmt.Errorf("there is no header %s", name)
			}
			continue
		}
		schema, _ := header["schema"].(node)
		value, err := o.doc.textValue(schema, values)
		if err == nil {
			err = o.doc.validate(schema, value)
		}
		if err != nil {
			return fmt.Errorf("header %s: %w", name, err)
		}
	}
	content, _ := answer["content"].(node)
	if x.Method == "HEAD" || x.Answer == nil {
		return nil
	}
	kind, _, _ := strings.Cut(strings.Join(x.Header["Content-Type"], ","), ";")
	if len(content) == 0 {
		if len(x.Answer) > 0 {
			return fmt.Errorf("the document has no body for it: %.300s", x.Answer)
		}
		return nil
	}
	media, ok := content[kind].(node)
	if !ok {
		return fmt.Errorf("Content-Type %q is not in the document", kind)
	}
	if err := o.checkMedia(media, kind, x.Answer); err != nil {
		return fmt.Errorf("%w: %.2000s", err, x.Answer)
	}
	return nil
}

func (o *Operation) checkMedia(media node, kind string, raw []byte) error {
	schema, _ := media["schema"].(node)
	switch kind {
	case "application/json":
		v, err := decode(raw)
		if err != nil {
			return err
		}
		return o.doc.validate(schema, v)
	case "text/event-stream":
		data, _ := media["x-memoryd-data"].(node)
		for line := range bytes.Lines(raw) {
			if event, ok := bytes.CutPrefix(line, []byte("data: ")); ok && bytes.HasSuffix(line, []byte("\n")) {
				v, err := decode(event)
				if err == nil {
					err = o.doc.validate(data, v)
				}
				if err != nil {
					return err
				}
			}
		}
		return nil
	}
	if schema == nil {
		return nil
	}
	return o.doc.validate(schema, string(raw))
}
