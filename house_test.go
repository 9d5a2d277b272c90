package memoryd_test

import (
	"bufio"
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// The bounds of the house: beyond them a line does not fit beside another one, a
// file or a function is not understood at one reading, and reasons are missing.
const (
	maxColumns  = 120 // of a line, a tab counted as tabColumns
	tabColumns  = 4
	maxLines    = 500 // of a file
	maxBranches = 30  // of a function
	minComments = 13  // percent of the lines that are not blank, over the whole module
)

// sourceFile is a Go file that is neither a test nor generated.
type sourceFile struct {
	path   string // with slashes
	text   []byte
	set    *token.FileSet
	syntax *ast.File
}

// sources reads the Go files of this module, and of its modules within, that a
// person has written and that are no tests.
func sources(t *testing.T) (files []*sourceFile) {
	t.Helper()
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && file != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		f := &sourceFile{path: filepath.ToSlash(file), set: token.NewFileSet()}
		if f.text, err = os.ReadFile(file); err != nil {
			return err
		}
		if f.syntax, err = parser.ParseFile(f.set, file, f.text, parser.ParseComments|parser.SkipObjectResolution); err != nil {
			return err
		}
		if !ast.IsGenerated(f.syntax) {
			files = append(files, f)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 100 {
		t.Fatalf("read %d files only", len(files))
	}
	return files
}

// at is where a node is, as FILE:LINE.
func (f *sourceFile) at(pos token.Pos) string {
	return fmt.Sprintf("%s:%d", f.path, f.set.Position(pos).Line)
}

// Lines fit beside each other on a screen, and a file is read in one go.
func TestLines(t *testing.T) {
	for _, f := range sources(t) {
		lines := bufio.NewScanner(bytes.NewReader(f.text))
		n := 0
		for lines.Scan() {
			n++
			if columns := utf8.RuneCount(lines.Bytes()) + (tabColumns-1)*bytes.Count(lines.Bytes(), []byte("\t")); columns > maxColumns {
				t.Errorf("%s:%d: a line of %d columns: at most %d", f.path, n, columns, maxColumns)
			}
		}
		if n > maxLines {
			t.Errorf("%s:%d: a file of %d lines: at most %d", f.path, maxLines+1, n, maxLines)
		}
	}
}

// branches is the cyclomatic complexity of a function, as gocyclo counts it: 1,
// and 1 more for each if, for, case with an expression, && and ||.
func branches(fn ast.Node) int {
	n := 1
	ast.Inspect(fn, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if node.List != nil {
				n++
			}
		case *ast.CommClause:
			if node.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}

// A function is small enough to be understood, and no package does anything
// before main begins.
func TestFunctions(t *testing.T) {
	for _, f := range sources(t) {
		for _, decl := range f.syntax.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := branches(fn); n > maxBranches {
				t.Errorf("%s: %s has %d branches: at most %d", f.at(fn.Pos()), fn.Name.Name, n, maxBranches)
			}
			if fn.Name.Name == "init" && fn.Recv == nil {
				t.Errorf("%s: func init: have the program call what must be done first", f.at(fn.Pos()))
			}
		}
	}
}

// A context is an argument: one in a struct outlives its call.
func TestContexts(t *testing.T) {
	for _, f := range sources(t) {
		ast.Inspect(f.syntax, func(node ast.Node) bool {
			s, ok := node.(*ast.StructType)
			if !ok {
				return true
			}
			for _, field := range s.Fields.List {
				if sel, ok := field.Type.(*ast.SelectorExpr); ok && sel.Sel.Name == "Context" {
					if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "context" {
						t.Errorf("%s: a context.Context in a struct: pass it as an argument", f.at(field.Pos()))
					}
				}
			}
			return true
		})
	}
}

// Every package says what it is, and every exported name what it stands for.
func TestDocumented(t *testing.T) {
	packages := map[string]bool{} // whether it has a comment, by directory
	for _, f := range sources(t) {
		dir := path.Dir(f.path)
		packages[dir] = packages[dir] || f.syntax.Doc.Text() != ""
		for _, decl := range f.syntax.Decls {
			for _, pos := range undocumented(decl) {
				t.Errorf("%s: %s has no comment", f.at(pos.Pos()), pos.Name)
			}
		}
	}
	for dir, documented := range packages {
		if !documented {
			t.Errorf("%s: the package has no comment", dir)
		}
	}
}

// undocumented are the exported names of a declaration without a comment. Names
// of a group share the comment of the group.
func undocumented(decl ast.Decl) (names []*ast.Ident) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if decl.Name.IsExported() && exportedReceiver(decl) && decl.Doc.Text() == "" {
			names = append(names, decl.Name)
		}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if spec.Name.IsExported() && decl.Doc.Text()+spec.Doc.Text()+spec.Comment.Text() == "" {
					names = append(names, spec.Name)
				}
			case *ast.ValueSpec:
				if decl.Doc.Text()+spec.Doc.Text()+spec.Comment.Text() != "" {
					continue
				}
				names = append(names, slices.DeleteFunc(slices.Clone(spec.Names), func(n *ast.Ident) bool { return !n.IsExported() })...)
			}
		}
	}
	return names
}

// exportedReceiver reports whether a function has no receiver, or one of an
// exported type.
func exportedReceiver(fn *ast.FuncDecl) bool {
	if fn.Recv == nil {
		return true
	}
	typ := fn.Recv.List[0].Type
	for {
		switch t := typ.(type) {
		case *ast.StarExpr:
			typ = t.X
		case *ast.IndexExpr:
			typ = t.X
		case *ast.IndexListExpr:
			typ = t.X
		case *ast.Ident:
			return t.IsExported()
		default:
			return false
		}
	}
}

// Comments give the reasons. Their share counts lines that are a comment and nothing
// else, among those that are not blank.
func TestComments(t *testing.T) {
	comments, lines := 0, 0
	shares := map[string][2]int{} // of comments and of all lines, by directory
	for _, f := range sources(t) {
		of := shares[path.Dir(f.path)]
		for line := range bytes.Lines(f.text) {
			line = bytes.TrimSpace(line)
			if len(line) == 0 {
				continue
			}
			of[1]++
			if bytes.HasPrefix(line, []byte("//")) && !bytes.HasPrefix(line, []byte("//go:")) {
				of[0]++
			}
		}
		shares[path.Dir(f.path)] = of
	}
	for _, of := range shares {
		comments, lines = comments+of[0], lines+of[1]
	}
	if 100*comments < minComments*lines {
		for dir, of := range shares {
			if 100*of[0] < minComments*of[1] {
				t.Logf("%s: %.1f %% of %d lines", dir, 100*float64(of[0])/float64(of[1]), of[1])
			}
		}
		t.Errorf("comments are on %.1f %% of the lines: want %d %%", 100*float64(comments)/float64(lines), minComments)
	}
}
