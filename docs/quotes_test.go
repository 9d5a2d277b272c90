package docs_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the quotations in the pages")

// quote is a block of code under a comment. The comment names a file of the
// repository, and after it a function, or "prints" for the output of the file.
var quote = regexp.MustCompile("(?ms)^<!-- (\\S+)(?: (\\w+))? -->\n```\\w+\n(.*?)^```$")

// prints marks a block that shows the output of a file.
const prints = "prints"

// printed returns the outputs that a page shows, by file.
func printed(t *testing.T, page string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, m := range quote.FindAllStringSubmatch(read(t, page), -1) {
		if m[2] == prints {
			out[m[1]] = m[3]
		}
	}
	return out
}

func read(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestQuotes checks that each quotation equals its file, and that the pages quote
// every file that lies beside them for that purpose.
func TestQuotes(t *testing.T) {
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	quoted := map[string]bool{}
	for _, page := range append(pages, "../README.md") {
		text := read(t, page)
		now := quote.ReplaceAllStringFunc(text, func(block string) string {
			m := quote.FindStringSubmatch(block)
			if m[2] == prints {
				return block
			}
			quoted[m[1]] = true
			code, err := code(filepath.Join("..", filepath.FromSlash(m[1])), m[2])
			if err != nil {
				t.Errorf("%s: %v", page, err)
			}
			return strings.TrimSuffix(block, m[3]+"```") + code + "```"
		})
		if *update && now != text {
			if err := os.WriteFile(page, []byte(now), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if diff := cmp.Diff(now, text); diff != "" {
			t.Errorf("%s quotes code that has changed; go test ./docs -update rewrites it (-file +page):\n%s", page, diff)
		}
	}
	unquoted := regexp.MustCompile(`_test\.(py|go)$|tsconfig\.json$|go\.(mod|sum)$|__pycache__|node_modules|package-lock\.json$`)
	for _, dir := range []string{"python", "frameworks", "../typescript/examples", "functions"} {
		err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && !unquoted.MatchString(file) && !quoted[path.Join("docs", filepath.ToSlash(file))] {
				t.Errorf("no page quotes %s", file)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// code returns a file, or one Go function of it.
func code(file, function string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil || function == "" {
		return string(text), err
	}
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, text, 0)
	if err != nil {
		return "", err
	}
	for _, d := range parsed.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == function {
			from, to := files.Position(f.Pos()).Offset, files.Position(f.End()).Offset
			return string(text[from:to]) + "\n", nil
		}
	}
	return "", fmt.Errorf("%s has no function %s", file, function)
}
