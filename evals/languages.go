package evals

import (
	"embed"
	"fmt"
	"path"
	"strings"

	"github.com/memoryd/memoryd/sessionstore"
)

//go:embed languages/tuned/*.txt languages/unseen/*.txt
var languageFiles embed.FS

// Languages reads paraphrases in several languages: things that a user says, each in a
// session of its own, and for each a question that shares no telling word with it. A file
// has one language, a line for each pair:
//
//	What the user says. | What is asked?
//
// Line n of every file of a folder has the same meaning, so that the English questions are
// also asked about what was said in each other language. The embedder was tuned on some
// lines of the folder "tuned", and on none of "unseen".
func Languages() (*Dataset, error) {
	d := &Dataset{Name: "languages", Pooled: "all"}
	for _, folder := range []string{"tuned", "unseen"} {
		english, err := paraphrases("languages/" + folder + "/english.txt")
		if err != nil {
			return nil, err
		}
		files, err := languageFiles.ReadDir("languages/" + folder)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			pairs, err := paraphrases("languages/" + folder + "/" + f.Name())
			if err != nil {
				return nil, err
			}
			if len(pairs) != len(english) {
				return nil, fmt.Errorf("languages: %d lines in %s/%s, %d of English",
					len(pairs), folder, f.Name(), len(english))
			}
			language := strings.TrimSuffix(f.Name(), path.Ext(f.Name()))
			if err := d.addLanguage(language, folder, pairs, english); err != nil {
				return nil, err
			}
		}
	}
	return d, d.validate()
}

// addLanguage adds a conversation of one language, and its categories.
func (d *Dataset) addLanguage(language, folder string, pairs, english []paraphrase) error {
	category := language + ", " + folder
	inEnglish := category + ", asked in English"
	d.Categories = append(d.Categories, category)
	if language != "english" {
		d.Categories = append(d.Categories, inEnglish)
	}
	c := Conversation{Name: category}
	for i, p := range pairs {
		id := fmt.Sprint(i + 1)
		e, err := spoken(id, language, fmt.Sprintf("2025-03-01T09:%02d:00Z", i), "user", p.said)
		if err != nil {
			return err
		}
		c.Sessions = append(c.Sessions, Session{ID: id, Events: []sessionstore.Event{e}})
		c.Questions = append(c.Questions, Question{Text: p.asked, Category: category, Evidence: []string{id}})
		if language != "english" {
			q := Question{Text: english[i].asked, Category: inEnglish, Evidence: []string{id}}
			c.Questions = append(c.Questions, q)
		}
	}
	d.Conversations = append(d.Conversations, c)
	return nil
}

// paraphrase is a thing that was said, and a question that it answers.
type paraphrase struct{ said, asked string }

func paraphrases(name string) (out []paraphrase, err error) {
	raw, err := languageFiles.ReadFile(name)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(raw)) {
		said, asked, ok := strings.Cut(strings.TrimSpace(line), " | ")
		if !ok {
			return nil, fmt.Errorf("languages: %q is not as: What the user says. | What is asked?", line)
		}
		out = append(out, paraphrase{said, asked})
	}
	return out, nil
}
