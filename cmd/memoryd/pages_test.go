package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pages returns the README and the pages of docs, by path.
func pages(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, file := range append(files, "../../README.md", "../../CONTRIBUTING.md") {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out[file] = string(raw)
	}
	return out
}

// commandLine matches a command of memoryd in an indented block, perhaps behind
// environment variables.
var commandLine = regexp.MustCompile(`(?m)^    ((?:[A-Z_]+=\S+ )*)(?:go run ./cmd/memoryd|memoryd)(?: +([^#\n]*?))?(?: *#.*)?$`)

// TestPagesCommands parses every command that the pages show, so that none has a
// flag, an argument or a value that memoryd refuses.
func TestPagesCommands(t *testing.T) {
	seen := 0
	for file, text := range pages(t) {
		for _, m := range commandLine.FindAllStringSubmatch(text, -1) {
			seen++
			t.Run(filepath.Base(file)+"/"+m[2], func(t *testing.T) {
				for _, set := range strings.Fields(m[1]) {
					name, value, _ := strings.Cut(set, "=")
					t.Setenv(name, value)
				}
				c, args, err := find(strings.Fields(m[2]))
				if err != nil {
					t.Fatal(err)
				}
				if _, _, err := c.parse(args); err != nil {
					t.Error(err)
				}
			})
		}
	}
	if seen < 15 {
		t.Errorf("the pages show %d commands only", seen)
	}
}

// TestPagesFlags checks that docs/flags.md lists the flags of serve with their
// defaults, and no others.
func TestPagesFlags(t *testing.T) {
	listed := map[string]string{}
	page := pages(t)["../../docs/flags.md"]
	for _, m := range regexp.MustCompile("(?m)^\\| `-([a-z-]+)` \\| ([^|]*) \\|").FindAllStringSubmatch(page, -1) {
		listed[m[1]] = m[2]
	}
	serveFlags(&config{}).VisitAll(func(f *flag.Flag) {
		shown, ok := listed[f.Name]
		if !ok {
			t.Errorf("-%s is missing", f.Name)
		}
		delete(listed, f.Name)
		def := regexp.MustCompile(`^0s$`).ReplaceAllString(f.DefValue, "0")
		words := []string{"off", "none", "in `-data`", "the model's", "`~/.local/share/memoryd` on Linux"}
		if !strings.Contains(shown, "`"+def+"`") && !slices.Contains(words, shown) {
			t.Errorf("-%s: the page says %s, want %s", f.Name, shown, f.DefValue)
		}
	})
	for name := range listed {
		t.Errorf("there is no flag -%s", name)
	}
}

// TestPagesDemo checks that the demo prints the lines that the README shows of
// it, in that order.
func TestPagesDemo(t *testing.T) {
	_, block, ok := strings.Cut(pages(t)["../../README.md"], "<!-- cmd/memoryd prints -->\n```text\n")
	block, _, ended := strings.Cut(block, "```\n")
	if !ok || !ended {
		t.Fatal("the README shows nothing of the demo")
	}
	out, _, err := said(t, "demo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(block) {
		if line == "...\n" || line == "\n" {
			continue
		}
		_, rest, ok := strings.Cut(out, line)
		if !ok {
			t.Fatalf("the demo does not print, or not in this place: %s", line)
		}
		out = rest
	}
}

// TestPagesLinks checks that each link to a file of the repository names one, and
// each link to a heading too.
func TestPagesLinks(t *testing.T) {
	heading := regexp.MustCompile(`(?m)^#+ (.*)$`)
	anchors := func(text string) (out []string) {
		for _, m := range heading.FindAllStringSubmatch(text, -1) {
			anchor := regexp.MustCompile(`[^\p{L}\p{N} -]`).ReplaceAllString(strings.ToLower(m[1]), "")
			out = append(out, strings.ReplaceAll(anchor, " ", "-"))
		}
		return out
	}
	for file, text := range pages(t) {
		for _, m := range regexp.MustCompile(`\]\(([^)#:]*)(?:#([^)]*))?\)`).FindAllStringSubmatch(text, -1) {
			target := file
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(file), filepath.FromSlash(m[1]))
			}
			raw, err := os.ReadFile(target)
			if info, statErr := os.Stat(target); statErr != nil || err != nil && !info.IsDir() {
				t.Errorf("%s links to %s, which is not there", file, m[1])
			}
			if m[2] != "" && !slices.Contains(anchors(string(raw)), m[2]) {
				t.Errorf("%s links to #%s of %s, which has no such heading", file, m[2], target)
			}
		}
	}
}
