package docs_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/internal/openapitest"
)

// described is the OpenAPI document of a memoryd, and its text.
func described(t *testing.T) (*openapitest.Document, []byte) {
	t.Helper()
	bank, err := memoryd.Open(t.Context(), ":memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { bank.Close() })
	w := httptest.NewRecorder()
	bank.ServeHTTP(w, httptest.NewRequest("GET", "http://127.0.0.1/openapi.json", nil))
	doc, err := openapitest.Read(w.Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return doc, w.Body.Bytes()
}

// call is one route that a page names, and methods those before it that share its path.
var (
	call     = regexp.MustCompile("((?:`[A-Z]+`, )*)`(GET|HEAD|POST|PATCH|PUT|DELETE) ([^`\\s]+)`")
	method   = regexp.MustCompile("[A-Z]+")
	variable = regexp.MustCompile(`\{\w+\}|\b[A-Z]+\b`)
	field    = regexp.MustCompile(`\w+`)
)

// TestPageHasRoutes compares http.md with the OpenAPI document: the page names every
// error and every route, and no other route, with no query parameter that the route does not take. The
// rows of its tables have no field that a body or an answer does not have.
func TestPageHasRoutes(t *testing.T) {
	doc, _ := described(t)
	named := map[*openapitest.Operation]bool{}
	for line := range strings.Lines(read(t, "http.md")) {
		var of []*openapitest.Operation
		for _, m := range call.FindAllStringSubmatch(line, -1) {
			for _, method := range append(method.FindAllString(m[1], -1), m[2]) {
				path, query, _ := strings.Cut(strings.Replace(m[3], "{scope}", "/v1/apps/APP/users/USER", 1), "?")
				i := slices.IndexFunc(doc.Operations, func(o *openapitest.Operation) bool {
					return o.Method == method &&
						variable.ReplaceAllString(o.Path, "*") == variable.ReplaceAllString(path, "*")
				})
				if i < 0 {
					t.Errorf("http.md has %s %s, which is no route", method, m[3])
					continue
				}
				o := doc.Operations[i]
				named[o], of = true, append(of, o)
				for _, name := range field.FindAllString(query, -1) {
					takes := func(p openapitest.Parameter) bool { return p.Name == name }
					if name != "true" && !slices.ContainsFunc(o.Parameters(), takes) {
						t.Errorf("http.md has %s %s, which takes no %s", method, m[3], name)
					}
				}
			}
		}
		if cells := strings.Split(line, "|"); len(cells) == 5 && len(of) > 0 {
			checkFields(t, line, cells[2], of, doc.BodyFields)
			checkFields(t, line, cells[3], of, doc.AnswerFields)
		}
	}
	for _, o := range doc.Operations {
		if !named[o] {
			t.Errorf("http.md does not name %s %s: give it a row in a table", o.Method, o.Path)
		}
	}
	properties, _ := doc.Schema("ErrorDetail")["properties"].(map[string]any)
	status, _ := properties["status"].(map[string]any)
	errors, _ := status["enum"].([]any)
	if len(errors) < 10 {
		t.Errorf("the document has the errors %v", errors)
	}
	for _, name := range errors {
		if !strings.Contains(read(t, "http.md"), fmt.Sprintf("`%s`", name)) {
			t.Errorf("http.md does not have the error %s: give it a row in the table of errors", name)
		}
	}
}

// braces are the objects that a cell shows, such as `{memories: [{memory, score}]}`.
var braces = regexp.MustCompile("`(\\{[^`]*\\})`")

// checkFields reports the fields in a cell of a row that none of its routes has.
func checkFields(t *testing.T, row, cell string, of []*openapitest.Operation,
	fields func(*openapitest.Operation) map[string]bool) {
	t.Helper()
	for _, m := range braces.FindAllStringSubmatch(cell, -1) {
		for _, name := range field.FindAllString(m[1], -1) {
			if !slices.ContainsFunc(of, func(o *openapitest.Operation) bool { return fields(o)[name] }) {
				t.Errorf("no route of this row has a field %s:\n%s", name, row)
			}
		}
	}
}

// testLint has a public linter read the document. Its recommended rules must find
// nothing, not even to warn of.
func testLint(t *testing.T, venv string) {
	dir := t.TempDir()
	_, text := described(t)
	if err := os.WriteFile(filepath.Join(dir, "openapi.json"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + venv + string(filepath.ListSeparator) + os.Getenv("PATH"), "REDOCLY_TELEMETRY=off"}
	if _, err := try(t, dir, env, filepath.Join(venv, "npm"), "install", "--before=2026-11-15", "--ignore-scripts",
		"--no-audit", "--no-fund", "--no-package-lock", "--fetch-retries=2", "@redocly/cli@2.77.0"); err != nil {
		unavailable(t, err)
	}
	run(t, dir, env, filepath.Join(venv, "node"), filepath.Join("node_modules", "@redocly", "cli", "bin", "cli.js"),
		"lint", "--extends=recommended-strict", "openapi.json")
}
