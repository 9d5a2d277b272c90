package evals

import (
	"embed"
	"fmt"
	"path"
	"slices"
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
// also asked about what was said in each other language. One more user has said each thing
// of a folder in all its languages, and is asked in each. The embedder was tuned on some
// lines of the folder "tuned", and on none of "unseen".
func Languages() (*Dataset, error) {
	d := &Dataset{Name: "languages", Pooled: "all"}
	for _, folder := range []string{"tuned", "unseen"} {
		if err := d.addLanguages(folder); err != nil {
			return nil, err
		}
	}
	return d, d.validate()
}

func (d *Dataset) addLanguages(folder string) error {
	files, err := languageFiles.ReadDir("languages/" + folder)
	if err != nil {
		return err
	}
	english, err := paraphrases("languages/" + folder + "/english.txt")
	if err != nil {
		return err
	}
	all := Conversation{Name: "all languages, " + folder}
	evidence := make([][]string, len(english))
	for _, f := range files {
		pairs, err := paraphrases("languages/" + folder + "/" + f.Name())
		if err != nil {
			return err
		}
		if len(pairs) != len(english) {
			return fmt.Errorf("languages: %d lines in %s/%s, %d of English", len(pairs), folder, f.Name(), len(english))
		}
		language := strings.TrimSuffix(f.Name(), path.Ext(f.Name()))
		c, err := oneLanguage(language, folder, pairs, english)
		if err != nil {
			return err
		}
		d.addConversation(c)
		all.Sessions = append(all.Sessions, c.Sessions...)
		for i, p := range pairs {
			evidence[i] = append(evidence[i], c.Sessions[i].ID)
			all.Questions = append(all.Questions, Question{Text: p.asked, Category: all.Name})
		}
	}
	for i := range all.Questions {
		all.Questions[i].Evidence = evidence[i%len(evidence)]
	}
	d.addConversation(all)
	return nil
}

// addConversation adds a conversation, and the categories of its questions.
func (d *Dataset) addConversation(c Conversation) {
	d.Conversations = append(d.Conversations, c)
	for _, q := range c.Questions {
		if !slices.Contains(d.Categories, q.Category) {
			d.Categories = append(d.Categories, q.Category)
		}
	}
}

// oneLanguage is a user who speaks one language, and is asked in it and in English.
func oneLanguage(language, folder string, pairs, english []paraphrase) (Conversation, error) {
	c := Conversation{Name: language + ", " + folder}
	for i, p := range pairs {
		id := fmt.Sprintf("%s-%d", language, i+1)
		e, err := spoken(id, language, fmt.Sprintf("2025-03-01T09:%02d:00Z", i), "user", p.said)
		if err != nil {
			return c, err
		}
		c.Sessions = append(c.Sessions, Session{ID: id, Events: []sessionstore.Event{e}})
		q := Question{Text: p.asked, Category: c.Name, Evidence: []string{id}}
		c.Questions = append(c.Questions, q)
		if language != "english" {
			q.Text, q.Category = english[i].asked, c.Name+", asked in English"
			c.Questions = append(c.Questions, q)
		}
	}
	return c, nil
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
