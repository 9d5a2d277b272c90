package server

import (
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/internal/openapitest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
)

// described returns the routes of a server, and its document.
func described(t *testing.T) (*Server, *openapitest.Document) {
	t.Helper()
	s := &Server{echo: echo.New(), needs: map[string]need{}, metrics: newMetrics("")}
	s.addRoutes()
	raw, err := apiDocument("v1", s.routes)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapitest.Read(raw)
	if err != nil {
		t.Fatal(err)
	}
	return s, doc
}

// The document has the routes of the router and no others, with their parameters and
// what they take of their caller.
func TestAPIDocumentHasRoutes(t *testing.T) {
	s, doc := described(t)
	declared := map[string]declaration{}
	for _, r := range s.routes {
		declared[r.method+" "+r.path] = r
	}
	found := map[*openapitest.Operation]bool{}
	for _, r := range s.echo.Routes() {
		path, params := templateOf(r.Path)
		i := slices.IndexFunc(doc.Operations, func(o *openapitest.Operation) bool {
			return o.Method == r.Method && o.Path == path
		})
		if i < 0 {
			t.Errorf("openapi.json lacks %s %s: say there what it is for, its body with an example, and its answers",
				r.Method, path)
			continue
		}
		o := doc.Operations[i]
		found[o] = true
		route, ok := declared[r.Method+" "+r.Path]
		if !ok {
			t.Errorf("%s %s is in the router without a call of route", r.Method, path)
		}
		if o.Verb != route.takes.name() || o.Verb == "" || o.Open != route.takes.open {
			t.Errorf("%s %s: the document has the verb %q, open: %v, and the route declares %q", r.Method, path, o.Verb,
				o.Open, route.takes.name())
		}
		var names []string
		for _, p := range o.Parameters() {
			if p.Name == "" {
				t.Errorf("%s %s: openapi.json lacks one of the parameters %v", r.Method, path, append(params, route.params...))
			}
			names = append(names, p.Name)
		}
		if want := append(params, route.params...); !slices.Equal(names, want) {
			t.Errorf("%s %s: the document has the parameters %v, the route %v", r.Method, path, names, want)
		}
	}
	ids := map[string]bool{}
	for _, o := range doc.Operations {
		if !found[o] {
			t.Errorf("openapi.json has %s %s, and the router does not", o.Method, o.Path)
		}
		if o.ID == "" || ids[o.ID] {
			t.Errorf("%s %s: operationId %q is missing or taken", o.Method, o.Path, o.ID)
		}
		ids[o.ID] = true
		if o.BodySchema() != nil && o.Example == nil {
			t.Errorf("%s %s: the body has no example", o.Method, o.Path)
		}
	}
}

// The schemas of answers have the fields of the types that are answered: no more, no
// less, and those that may be missing are not required.
func TestAPIDocumentHasTypes(t *testing.T) {
	_, doc := described(t)
	inParts := map[string][]string{"Operation": {"response"}} // of schemas whose type lacks what is written in parts
	for name, v := range map[string]any{
		"Error": errorBody{}, "ErrorDetail": errorDetail{},
		"Memory": memory.Memory{}, "AddedMemory": addedBody{}, "ReviewedMemory": reviewBody{}, "Source": memory.Source{}, "Revision": memory.Revision{},
		"Match": memory.Match{}, "Explain": memory.Explain{}, "ScorePart": memory.Part{}, "Outdated": memory.Outdated{},
		"Context": retrieve.Block{}, "GivenFact": ingest.GivenFact{}, "Forgotten": ingest.Swept{},
		"Usage": extract.Usage{}, "Exchange": extract.Exchange{}, "Preview": previewBody{}, "PreviewFact": previewFact{}, "PreviewValue": previewValue{},
		"Operation": operationBody{}, "OperationMetadata": operationMetadata{},
		"Tools": toolsBody{}, "OpenAITool": openAITool{}, "Function": function{},
		"ShownKey": keyBody{}, "AuditEntry": auditBody{}, "Counts": countsBody{},
	} {
		schema := doc.Schema(name)
		if schema == nil {
			t.Errorf("openapi.json has no schema %s", name)
			continue
		}
		names, closed := doc.Names(schema)
		for _, n := range inParts[name] {
			delete(names, n)
		}
		if !closed {
			t.Errorf("%s allows other fields", name)
		}
		fields := map[string]bool{} // whether they are always there
		jsonFields(reflect.TypeOf(v), fields)
		if got, want := slices.Sorted(maps.Keys(names)), slices.Sorted(maps.Keys(fields)); !slices.Equal(got, want) {
			t.Errorf("%s has the fields\n%v, and its type\n%v", name, got, want)
		}
		required := doc.Required(schema)
		for field, always := range fields {
			if name != "ShownKey" && required[field] != always {
				t.Errorf("%s.%s: required is %v, and it is always there: %v", name, field, required[field], always)
			}
		}
	}
}

// jsonFields collects the fields of a type's JSON.
func jsonFields(t reflect.Type, into map[string]bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case name != "":
			into[name] = !strings.Contains(options, "omit")
		case f.Anonymous && f.Type.Kind() == reflect.Struct && f.Type != reflect.TypeFor[time.Time]():
			jsonFields(f.Type, into)
		case f.Anonymous && f.Type.Kind() == reflect.Pointer: // nil leaves its fields out
			may := map[string]bool{}
			jsonFields(f.Type.Elem(), may)
			for name := range may {
				into[name] = false
			}
		}
	}
}

// Every reference leads somewhere, and everything that can be referred to is.
func TestAPIDocumentReferences(t *testing.T) {
	s, _ := described(t)
	raw, err := apiDocument("v1", s.routes)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	refs := map[string]bool{}
	for _, m := range regexp.MustCompile(`"\$ref":"(#[^"]*)"`).FindAllStringSubmatch(string(raw), -1) {
		refs[m[1]] = true
	}
	for kind, all := range doc["components"].(object) {
		for name := range all.(object) {
			ref := "#/components/" + kind + "/" + name
			if kind != "securitySchemes" && !refs[ref] {
				t.Errorf("openapi.json: nothing uses %s", ref)
			}
			delete(refs, ref)
		}
	}
	for ref := range refs {
		t.Errorf("openapi.json: there is no %s", ref)
	}
	if strings.Contains(string(raw), "filled in by") {
		t.Error("a part that the server is to fill in is as the text has it")
	}
}
