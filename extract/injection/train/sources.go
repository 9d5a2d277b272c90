package main

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memoryd/memoryd/memory"
)

// text is a text to learn from.
type text struct {
	attack bool
	from   memory.Trust
	words  string
	share  float64 // of the weight of a text that was written for this
	// language is its code, for texts that were written for this.
	language string
	composed bool // from compose.txt
	saying   bool // from a file of sayings
}

// Bounds on the texts of one language of a source, so that none outweighs the others.
const (
	maxManual = 2500
	maxTalk   = 25000
)

// readSources reads ordinary texts: manuals in many languages, and talk.
func readSources(root string) (out []text, err error) {
	if root == "" {
		return nil, errors.New("-sources is needed: see README.md")
	}
	for _, read := range []func(string) ([]text, error){readManuals, readTalk, readChats} {
		some, err := read(root)
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	return out, nil
}

// readManuals reads the lines of the pages of tldr and of the documentation of FastAPI,
// by language, without their code.
func readManuals(root string) (out []text, err error) {
	byLanguage := map[string][]text{}
	for _, folder := range []string{"tldr", "fastapi/docs", "book/src", "otel/content", "grav-learn/pages",
		"prometheus/docs", "based.cooking/content", "site-policy/Policies", "handbook/pages", "adk-docs/docs"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(file string, e fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(file, ".md") || e.Name() == "release-notes.md" {
				return err
			}
			raw, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			name, _ := filepath.Rel(root, file)
			parts := strings.Split(name, string(filepath.Separator))
			group := strings.Join(parts[:min(3, len(parts)-1)], "/")
			if parts[0] == "tldr" {
				group = strings.Join(parts[:2], "/")
			}
			byLanguage[group] = append(byLanguage[group], linesOf(string(raw))...)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return spread(byLanguage, maxManual), nil
}

// passage is how many lines of a manual are one text: the judge looks at pairs of them.
const passage = 3

// linesOf are the lines of a Markdown text that are not code, some at a time.
func linesOf(raw string) (out []text) {
	code := false
	var lines []string
	for line := range strings.Lines(raw) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		line = strings.TrimLeft(line, "#>-/* ")
		if code || len(line) < 12 || strings.HasPrefix(line, "`") || strings.HasPrefix(line, "{*") {
			continue
		}
		if lines = append(lines, line); len(lines) == passage {
			out = append(out, text{from: memory.TrustExternal, words: strings.Join(lines, "\n")})
			lines = lines[:0]
		}
	}
	if len(lines) > 0 {
		out = append(out, text{from: memory.TrustExternal, words: strings.Join(lines, "\n")})
	}
	return out
}

// spread takes texts of each group at even distances, so that they are at most most.
func spread(groups map[string][]text, most int) (out []text) {
	for _, name := range sortedKeys(groups) {
		all := groups[name]
		step := max(1, (len(all)+most-1)/most)
		for i := 0; i < len(all); i += step {
			out = append(out, all[i])
		}
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func readJSON(file string, into any) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// readTalk reads what people and assistants say to each other in Taskmaster.
func readTalk(root string) (out []text, err error) {
	groups := map[string][]text{}
	files, err := filepath.Glob(filepath.Join(root, "Taskmaster/TM-4-2024/data/*.json"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("Taskmaster: no files (%w)", err)
	}
	for _, file := range files {
		var talks []struct {
			Utterances []struct{ Speaker, Text string }
		}
		if err := readJSON(file, &talks); err != nil {
			return nil, err
		}
		for _, talk := range talks {
			for _, u := range talk.Utterances {
				t := text{from: memory.TrustUser, words: u.Text}
				if strings.EqualFold(u.Speaker, "assistant") {
					t.from = memory.TrustAgent
				}
				groups[string(t.from)] = append(groups[string(t.from)], t)
			}
		}
	}
	return spread(groups, maxTalk), nil
}

// readChats reads the lines of Synthetic-Persona-Chat.
func readChats(root string) (out []text, err error) {
	file, err := os.Open(filepath.Join(root, "Synthetic-Persona-Chat/data/Synthetic-Persona-Chat_valid.csv"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, err
	}
	groups := map[string][]text{}
	for _, row := range rows[1:] {
		for line := range strings.Lines(row[2]) {
			_, words, ok := strings.Cut(line, ": ")
			if ok && len(words) > 12 {
				groups["chat"] = append(groups["chat"], text{from: memory.TrustUser, words: strings.TrimSpace(words)})
			}
		}
	}
	return spread(groups, maxTalk), nil
}
