package openapitest

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

const document = `{
  "paths": {
    "/things/{id}": {
      "put": {
        "parameters": [{"$ref": "#/components/parameters/id"}, {"name": "n", "in": "query", "schema": {"type": "integer", "maximum": 9}}],
        "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}},
        "responses": {
          "200": {
            "headers": {"X-Id": {"required": true, "schema": {"type": "integer"}}},
            "content": {
              "application/json": {"schema": {"$ref": "#/components/schemas/Thing"}},
              "text/event-stream": {"schema": {"type": "string"}, "x-memoryd-data": {"$ref": "#/components/schemas/Thing"}}
            }
          },
          "204": {"description": "Done."},
          "400": {"content": {"application/json": {"schema": {"type": "string"}}}}
        }
      }
    }
  },
  "components": {
    "parameters": {"id": {"name": "id", "in": "path", "schema": {"type": "string", "maxLength": 3}}},
    "schemas": {
      "Thing": {"allOf": [{"$ref": "#/components/schemas/Named"}], "unevaluatedProperties": false},
      "Named": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "size": {"type": "number"}}}
    }
  }
}`

// Check finds each way in which a request or an answer departs from the document.
func TestCheck(t *testing.T) {
	doc, err := Read([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	fine := Exchange{Method: "PUT", Status: 200, Body: []byte(`{"name": "x"}`), Answer: []byte(`{"name": "x"}`),
		Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}, "X-Id": {"1"}}}
	for _, c := range []struct {
		what, url string
		change    func(x *Exchange)
		words     string // "" if nothing is wrong
	}{
		{"as documented", "/things/a?n=9", func(*Exchange) {}, ""},
		{"an empty query parameter", "/things/a?n=", func(*Exchange) {}, ""},
		{"a null in a request", "/things/a", func(x *Exchange) { x.Body = []byte(`{"name": "x", "size": null}`) }, ""},
		{"a number beyond float64", "/things/a", func(x *Exchange) { x.Answer = []byte(`{"name": "x", "size": 1e999}`) }, ""},
		{"a path that is not documented", "/other", func(x *Exchange) { x.Status = 500 }, ""},
		{"an escaped path", "/things/a%2Fb", func(*Exchange) {}, ""},
		{"a refused request", "/things/long", func(x *Exchange) {
			x.Status, x.Body, x.Answer = 400, []byte(`{`), []byte(`"no"`)
		}, ""},
		{"a body that was not read", "/things/a", func(x *Exchange) { x.Body = nil }, ""},

		{"a path parameter", "/things/long", func(*Exchange) {}, "parameter id"},
		{"a query parameter", "/things/a?n=10", func(*Exchange) {}, "parameter n"},
		{"an unknown query parameter", "/things/a?m=1", func(*Exchange) {}, "m is not in the document"},
		{"an empty body", "/things/a", func(x *Exchange) { x.Body = []byte{} }, "required"},
		{"an unknown field of a request", "/things/a", func(x *Exchange) { x.Body = []byte(`{"name": "x", "b": 1}`) }, "the request"},
		{"a status", "/things/a", func(x *Exchange) { x.Status = 404 }, "statuses [200 204 400]"},
		{"an unknown field of an answer", "/things/a", func(x *Exchange) { x.Answer = []byte(`{"name": "x", "b": 1}`) }, "answer 200"},
		{"a missing field of an answer", "/things/a", func(x *Exchange) { x.Answer = []byte(`{}`) }, "answer 200"},
		{"an answer that is no JSON", "/things/a", func(x *Exchange) { x.Answer = []byte(`{`) }, "answer 200"},
		{"a missing header", "/things/a", func(x *Exchange) { x.Header = http.Header{"Content-Type": {"application/json"}} }, "X-Id"},
		{"a header", "/things/a", func(x *Exchange) {
			x.Header = http.Header{"Content-Type": {"application/json"}, "X-Id": {"one"}}
		}, "X-Id"},
		{"a type", "/things/a", func(x *Exchange) { x.Header = http.Header{"Content-Type": {"text/plain"}, "X-Id": {"1"}} }, "text/plain"},
		{"a body where there is none", "/things/a", func(x *Exchange) { x.Status = 204 }, "no body"},
		{"an error", "/things/a", func(x *Exchange) { x.Status, x.Answer = 400, []byte(`{}`) }, "answer 400"},
		{"an event", "/things/a", func(x *Exchange) {
			x.Header = http.Header{"Content-Type": {"text/event-stream"}, "X-Id": {"1"}}
			x.Answer = []byte("data: {\"name\": \"x\"}\n\n: comment\n\ndata: {\"b\": 1}\n\n")
		}, "answer 200"},
	} {
		x := fine
		if x.URL, err = url.Parse(c.url); err != nil {
			t.Fatal(err)
		}
		c.change(&x)
		err := doc.Check(&x)
		if c.words == "" && err != nil || c.words != "" && (err == nil || !strings.Contains(err.Error(), c.words)) {
			t.Errorf("%s: %v, want %q", c.what, err, c.words)
		}
	}
}
