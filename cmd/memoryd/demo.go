package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/client"
	"github.com/memoryd/memoryd/memory"
)

//go:embed demo.json
var conversation []byte

// questions share words with the turns that answer them, or have the same meaning.
var questions = []string{
	"Who is allergic to peanuts?",
	"Where did Maya move?",
	"When did Maya run a half marathon?",
	"When may I call her?",
	"What is her favourite cuisine?",
}

// demoWidth is the width of lines in columns, so that they fit into 80.
const demoWidth = 78

// demoCommand takes no flags that change what the demo finds: it has the same result for
// everybody.
func demoCommand() *subcommand {
	return &subcommand{
		name: "demo", summary: "Show once what memoryd does, on a bundled conversation.",
		details: `Its data is in a directory of its own, which it removes at the end.
With -serve it tells more of the story, and serves the data with the console.`,
		example: "memoryd demo -serve", uses: []string{"listen"}, own: demoFlags, ownVariables: true,
		unchecked: true, run: demo}
}

// demo ingests a conversation into a directory of its own, asks questions, closes
// everything and opens it again, and asks once more.
func demo(ctx context.Context, cfg *config, _ []string, s streams) (err error) {
	var on net.Listener // nil without -serve
	if cfg.demoServe {
		if err := cfg.checkServe(); err != nil {
			return usageError{err}
		}
		if on, err = listen(cfg); err != nil {
			return err
		}
		defer func() { _ = on.Close() }() // serve has closed it, unless the story ends before
	}
	dir, err := os.MkdirTemp("", "memoryd-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	outliveReader()
	d := &story{out: s.out}
	d.say("memoryd demo: three talks with an assistant become memory.\n"+
		"The data is in %s, and is removed at the end.\n", dir)
	if err := errors.Join(d.chapter(ctx, dir, d.first), d.err); err != nil {
		return err
	}
	d.say("Everything is closed, and opened again from the file.\n")
	if err := errors.Join(d.chapter(ctx, dir, d.second), d.err); err != nil || on == nil {
		return err
	}
	return d.serve(ctx, dir, on)
}

// story runs the demo. The first error ends it.
type story struct {
	out  io.Writer
	user *client.User
	err  error // of the first write that failed
}

// say prints a line. After a failed write it prints nothing, and the demo ends
// with that error at the end of its chapter.
func (d *story) say(format string, args ...any) {
	if d.err == nil {
		_, d.err = fmt.Fprintf(d.out, format+"\n", args...)
	}
}

// chapter opens the data, runs a part of the demo, and closes the data. It uses the
// embedded stores, whatever the environment names.
func (d *story) chapter(ctx context.Context, dir string, tell func(context.Context) error) error {
	bank, err := memoryd.Open(ctx, dir, nil)
	if err != nil {
		return err
	}
	d.user = client.InProcess(bank).User("demo", "maya")
	return errors.Join(tell(ctx), bank.Close())
}

// first ingests the conversation, and shows the facts and the answers to all
// questions.
func (d *story) first(ctx context.Context) error {
	var sessions []struct {
		ID     string         `json:"id"`
		Events []client.Event `json:"events"`
	}
	if err := json.Unmarshal(conversation, &sessions); err != nil {
		return err
	}
	total := 0
	for _, s := range sessions {
		total += len(s.Events)
	}
	// Each session waits for its memories (true), so that all facts are there to
	// be listed.
	bar := d.progress(total)
	var facts []memory.Memory
	for _, s := range sessions {
		op, err := d.user.Ingest(ctx, s.ID, s.Events, true)
		if err != nil {
			return err
		}
		switch {
		case op.Error != nil:
			return op.Error
		case !op.Done:
			return fmt.Errorf("session %s is not ingested yet after half a minute", s.ID)
		}
		for _, m := range op.Response.Memories {
			facts = append(facts, m.Memory)
		}
		if err := bar.Add(len(s.Events)); err != nil {
			return err
		}
	}
	d.say("\nEvery turn can be found now, and these are the facts found in them:\n")
	for _, f := range facts {
		d.say("%s", wrap("  - ", f.Fact+" ["+strings.Join(f.Topics, ", ")+"]", "    ", demoWidth))
	}
	d.say("")
	for _, q := range questions {
		if err := d.ask(ctx, q, 2); err != nil {
			return err
		}
	}
	return nil
}

// progress is a bar on a terminal, and a line elsewhere.
func (d *story) progress(total int) *progressbar.ProgressBar {
	const what = "Ingesting the conversation"
	f, ok := d.out.(*os.File)
	watched := ok && term.IsTerminal(int(f.Fd()))
	if !watched {
		d.say("%s: %d events", what, total)
	}
	return progressbar.NewOptions(total,
		progressbar.OptionSetWriter(d.out), progressbar.OptionSetVisibility(watched),
		progressbar.OptionSetWidth(30), progressbar.OptionSetDescription(what), progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false),
		progressbar.OptionOnCompletion(func() { d.say("") }))
}

// second asks one question again, after everything was closed and opened.
func (d *story) second(ctx context.Context) error {
	if err := d.ask(ctx, questions[0], 1); err != nil {
		return err
	}
	d.say("The memories survived the restart. Try your own: go run ./cmd/memoryd,\n" +
		"then the curl commands in README.md.")
	return nil
}

// answerIndent stands before the lines of an answer after its first.
const answerIndent = "        "

// ask searches and prints the matches, best first.
func (d *story) ask(ctx context.Context, question string, topK int) error {
	matches, err := d.user.Search(ctx, client.Search{Query: question, TopK: topK})
	if err != nil {
		return err
	}
	d.say("? %s", question)
	for _, m := range matches {
		d.say("%s", wrap("  ", fmt.Sprintf("%.2f %s", m.Score, m.Memory.Fact), answerIndent, demoWidth))
		source := fmt.Sprintf("%s, %s, session %s",
			m.Memory.Author, m.Memory.Local(m.Memory.Timestamp).Format("2 January 2006"), m.Memory.Source.SessionID)
		if m.Memory.Source.Quote != "" {
			source += fmt.Sprintf(": %q", m.Memory.Source.Quote)
		}
		d.say("%s", wrap(answerIndent, source, answerIndent, demoWidth))
	}
	d.say("")
	return nil
}
