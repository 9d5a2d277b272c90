package memoryd_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/memoryd/memoryd/"

// arrows has the packages of this module that each package may import. A package
// that is not in the table fails the test: it gets its place here first. Suites and
// tests may import the packages that they check.
var arrows = map[string][]string{
	"memory":                     {},
	"access":                     {"memory"},
	"access/oidc":                {"memory", "access"},
	"quota":                      {"memory", "access"},
	"quota/quotatest":            {"quota"},
	"access/guard":               {"memory", "access", "sessionstore", "ingest"},
	"memory/storetest":           {"memory"},
	"memory/index":               {"memory", "internal/fair"},
	"memory/sqlitestore":         {"memory", "memory/index", "internal/sqlitedb", "internal/salvage", "internal/storedjson"},
	"sessionstore":               {"memory"},
	"redact":                     {},
	"profile":                    {"memory"},
	"appconfig":                  {"memory", "access", "sessionstore", "redact", "profile"},
	"sessionstore/sessiontest":   {"memory", "access", "sessionstore"},
	"sessionstore/sqlitesession": {"memory", "access", "sessionstore", "internal/sqlitedb", "internal/salvage"},
	"sessionstore/redissession":  {"memory", "access", "quota", "sessionstore", "internal/fair"},
	"memory/qdrantstore":         {"memory", "memory/index", "internal/fair", "internal/storedjson"},
	"internal/qdranttest":        {"internal/filetest"},
	"internal/redistest":         {},
	"internal/filetest":          {},
	"internal/openapitest":       {"access"},
	"internal/regextest":         {},
	"internal/fair":              {"memory"},
	"internal/salvage":           {"memory", "internal/sqlitedb"},
	"internal/sqlitedb":          {"memory", "internal/fair"},
	"internal/legible":           {},
	"internal/certificate":       {},
	"internal/passage":           {},
	"internal/certtest":          {},
	"internal/tracing":           {"memory"},
	"internal/telemetry":         {"memory"},
	"internal/otlptest":          {},
	"internal/analyzer":          {"memory"},
	"internal/aip160":            {"memory"},
	"embed":                      {"memory"},
	"extract":                    {"memory", "sessionstore", "profile", "internal/legible"},
	"extract/canonical":          {"extract/english"},
	"extract/dates":              {"memory", "extract/english"},
	"extract/english":            {},
	"extract/gist":               {"embed", "extract/english"},
	"extract/gist/train":         {"extract/english", "extract/gist"},
	"extract/injection":          {"memory", "embed"},
	"extract/injection/train":    {"memory", "embed", "extract/injection"},
	"extract/rules":              {"memory", "extract", "extract/canonical", "extract/dates", "extract/english"},
	"retrieve":                   {"memory", "internal/tracing", "embed", "extract", "extract/canonical", "extract/dates", "extract/english", "extract/gist", "internal/analyzer", "internal/legible"},
	"consolidate":                {"memory", "extract", "extract/canonical"},
	"ingest": {"memory", "access", "sessionstore", "appconfig", "redact", "profile", "internal/fair", "internal/tracing", "embed", "extract", "extract/canonical", "extract/injection", "consolidate", "retrieve",
		"internal/analyzer", "internal/passage"},
	"gemini":              {"memory", "embed", "extract", "internal/remote", "internal/tracing"},
	"openai":              {"memory", "embed", "extract", "internal/remote", "internal/tracing"},
	"internal/remote":     {"memory", "internal/fair", "internal/tracing"},
	"internal/modeltest":  {},
	"internal/strict":     {"memory", "sessionstore"},
	"internal/storedjson": {"memory"},
	"internal/inflight":   {"memory", "internal/fair"},
	"tools":               {"memory", "sessionstore", "extract", "ingest", "retrieve", "internal/legible", "internal/strict"},
	"server":              {"memory", "access", "appconfig", "quota", "sessionstore", "internal/fair", "internal/tracing", "extract", "ingest", "retrieve", "tools", "mcp", "internal/aip160", "internal/strict", "internal/inflight"},
	"mcp":                 {"memory", "tools", "internal/legible", "internal/strict"},
	"mcp/mcphost":         {"memory"},
	"console":             {},
	"evals":               {"redact", "memory", "sessionstore", "internal/assembly", "internal/analyzer", "embed", "extract", "extract/canonical", "extract/injection", "ingest", "retrieve"},
	"client":              {"memory", "access", "appconfig", "sessionstore", "internal/aip160"},
	"internal/assembly": {"memory", "access", "access/guard", "memory/index", "memory/sqlitestore", "sessionstore", "sessionstore/sqlitesession",
		"internal/salvage", "internal/sqlitedb", "internal/analyzer", "embed", "extract", "extract/canonical", "extract/rules", "ingest", "retrieve"},
	"vertex":                  {"memory", "access", "appconfig", "sessionstore", "ingest", "retrieve", "internal/aip160"},
	"vertex/vertexpb":         {},
	"vertex/vertexrest":       {"memory", "vertex"},
	"vertex/vertexgrpc":       {"memory", "vertex", "vertex/vertexpb"},
	"vertex/vertexauth":       {},
	"internal/release":        {},
	"bench":                   {},
	"bench/peers/embedserver": {"embed"},
	"archive":                 {"memory", "sessionstore", "appconfig", "embed", "ingest"},
	"movein":                  {"memory", "sessionstore", "archive", "extract/injection", "internal/legible", "internal/sqlitedb"},
	"reembed":                 {"memory", "embed", "ingest"},
	"check":                   {"memory", "sessionstore", "appconfig", "ingest"},
	".":                       {"memory", "access", "internal/assembly", "internal/sqlitedb", "embed", "extract", "ingest", "retrieve", "server"},
	"cmd/memoryd": {".", "access", "access/oidc", "quota", "archive", "movein", "appconfig", "check", "client", "console", "memory", "memory/qdrantstore", "sessionstore", "sessionstore/redissession",
		"internal/assembly", "internal/certificate", "internal/fair", "internal/sqlitedb", "internal/telemetry", "embed", "extract", "extract/rules", "ingest", "retrieve", "gemini", "openai", "reembed", "tools", "mcp", "mcp/mcphost", "server", "vertex", "vertex/vertexauth", "vertex/vertexgrpc", "vertex/vertexrest", "evals", "bench", "extract/canonical"},
}

// alone are the packages that import only the standard library and each other.
// vendors are the only users of a library.
var (
	alone   = []string{"memory", "access", "sessionstore", "redact"}
	vendors = map[string][]string{
		"github.com/labstack/echo/v4":            {"server"},
		"github.com/prometheus/client_golang":    {"server", "internal/telemetry", ".", "cmd/memoryd"},
		"github.com/prometheus/client_model":     {"cmd/memoryd"},
		"go.opentelemetry.io/otel/trace":         {"internal/tracing", "internal/telemetry", "server", "ingest", "internal/assembly", "."},
		"go.opentelemetry.io/otel/attribute":     {"internal/tracing", "internal/telemetry"},
		"go.opentelemetry.io/otel/codes":         {"internal/tracing"},
		"go.opentelemetry.io/otel/propagation":   {"internal/tracing"},
		"go.opentelemetry.io/otel/sdk":           {"internal/telemetry"},
		"go.opentelemetry.io/otel/exporters":     {"internal/telemetry"},
		"go.opentelemetry.io/contrib":            {"internal/telemetry"},
		"go.opentelemetry.io/proto":              {"internal/otlptest"},
		"software.sslmate.com/src/go-pkcs12":     {"vertex/vertexauth"},
		"github.com/go-jose/go-jose/v4":          {"access/oidc", "vertex/vertexauth"},
		"google.golang.org/grpc":                 {"vertex/vertexgrpc", "memory/qdrantstore", "internal/qdranttest", "cmd/memoryd"},
		"google.golang.org/protobuf":             {"vertex/vertexgrpc", "vertex/vertexpb", "memory/qdrantstore", "internal/qdranttest", "internal/otlptest"},
		"google.golang.org/genproto":             {"vertex/vertexgrpc"},
		"github.com/google/jsonschema-go":        {"tools", "internal/openapitest", "profile"},
		"github.com/go-json-experiment/json":     {"internal/strict", "internal/storedjson"},
		"github.com/modelcontextprotocol/go-sdk": {"mcp"},
		"github.com/tailscale/hujson":            {"mcp/mcphost"},
		"modernc.org/sqlite":                     {"internal/sqlitedb"},
		"github.com/redis/go-redis/v9":           {"sessionstore/redissession", "internal/redistest"},
		"github.com/qdrant/go-client":            {"memory/qdrantstore", "internal/qdranttest"},
		"google.golang.org/genai":                {"gemini"},
		"cloud.google.com/go/auth":               {"gemini"},
		"github.com/cenkalti/backoff/v5":         {"internal/remote", "client"},
		"github.com/kaptinlin/jsonrepair":        {"extract"},
		"github.com/blevesearch/snowballstem":    {"internal/analyzer"},

		"github.com/HdrHistogram/hdrhistogram-go": {"bench"},
	}
)

// Imports point one way. The test reads the sources itself: with the go command, a
// cached test result could hide a new arrow.
func TestArrows(t *testing.T) {
	seen := 0
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && file != "." {
			_, err := os.Stat(filepath.Join(file, "go.mod")) // a module of its own
			if err == nil || strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" {
				return fs.SkipDir
			}
		}
		if filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		seen++
		from := path.Dir(filepath.ToSlash(file))
		allowed, known := arrows[from]
		if !known {
			t.Errorf("package %s is not in the table of arrows: add its row, in this file", from)
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range parsed.Imports {
			to, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if inner, ok := strings.CutPrefix(to+"/", module); ok {
				if inner = path.Clean(inner); !slices.Contains(allowed, inner) {
					t.Errorf("%s imports %s", file, inner)
				}
				continue
			}
			if strings.Contains(to, ".") && slices.Contains(alone, from) {
				t.Errorf("%s imports %s, but %s keeps to the standard library", file, to, from)
			}
			for library, users := range vendors {
				if (to == library || strings.HasPrefix(to, library+"/")) && !slices.Contains(users, from) {
					t.Errorf("%s imports %s, which only %v does", file, to, users)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < len(arrows) {
		t.Errorf("read %d files only", seen)
	}
}

// A program that embeds memoryd links no backend and no model that it does not
// name itself: the root package imports none of them, directly or not.
func TestEmbeddedIsSmall(t *testing.T) {
	reached := map[string]bool{}
	var reach func(string)
	reach = func(from string) {
		if !reached[from] {
			reached[from] = true
			for _, to := range arrows[from] {
				reach(to)
			}
		}
	}
	reach(".")
	for _, vendor := range []string{"sessionstore/redissession", "memory/qdrantstore", "gemini", "openai"} {
		if reached[vendor] {
			t.Errorf("the root package imports %s by way of others", vendor)
		}
	}
}
