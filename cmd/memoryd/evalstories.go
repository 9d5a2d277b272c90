package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"slices"

	"github.com/memoryd/memoryd/evals"
	"github.com/memoryd/memoryd/memory"
)

// storiesCommand measures whether what an agent is told is what holds.
func storiesCommand() *subcommand {
	return &subcommand{
		name: "eval stories", summary: "Measure whether an agent is told what holds now, on bundled stories.",
		details: `It plays short stories in which something changes, and controls in which nothing
does, each in both orders of arrival: as it happened, and with the change first. For
each class it prints how many changes were noticed, how many facts were wrongly
ended, in how many stories the first match answers the question, and in how many the
context tells what holds, and what does not only with its end. A story counts where
both orders are right; where they differ, both follow in brackets. A line below tells
at which step changes were lost. Rules may be
written for the set "tuned". Of "heldout" there are figures alone. With -log-level
debug the log tells what went wrong in stories of the tuned set.`,
		example: "memoryd eval stories",
		own: func(fs *flag.FlagSet, cfg *config) {
			fs.StringVar(&cfg.story, "story", "", "play and log only the story `NAME` of the tuned set")
		},
		uses: append(modelFlagNames(), logFlagNames()...),
		run: func(ctx context.Context, cfg *config, _ []string, s streams) error {
			outliveReader()
			return evalStories(ctx, cfg, s)
		}}
}

// evalStories plays the bundled stories and prints a table for each set.
func evalStories(ctx context.Context, cfg *config, s streams) error {
	log := cfg.logger(s.err)
	m, err := newModels(cfg, log)
	if err != nil {
		return err
	}
	for i, set := range evals.StorySets {
		stories, err := evals.Stories(set)
		if err != nil {
			return err
		}
		if cfg.story != "" {
			if i > 0 {
				break
			}
			stories = slices.DeleteFunc(stories, func(s evals.Story) bool { return s.Name != cfg.story })
			if len(stories) == 0 {
				return usageError{fmt.Errorf("-story: no story %q in the set %s", cfg.story, set)}
			}
		}
		scores, err := evals.RunStories(ctx, m.extractor, m.embedder, stories)
		if err != nil {
			return fmt.Errorf("eval stories with %s: %s: %w", m.extractor.Name(), set, err)
		}
		if _, err := fmt.Fprintf(s.out, "%s\n%s%s\n", set, evals.StoryTable(scores),
			evals.MissedLine(scores)); err != nil {
			return err
		}
		if set == "heldout" {
			continue // its stories stay unseen, so that rules are not written for them
		}
		for i := range scores {
			if wrong := scores[i].Wrong(); wrong != "" || cfg.story != "" {
				logStory(log, &scores[i], wrong)
			}
		}
	}
	return nil
}

// logStory logs a story: its facts, the first matches and the context, in each order.
func logStory(log *slog.Logger, score *evals.StoryScore, wrong string) {
	name := score.Story.Name
	log.Debug("story", "name", name, "wrong", wrong, "question", score.Story.Question,
		"holds", score.Story.Holds, "ended", score.Story.Ended)
	for i := range score.Orders {
		t, order := &score.Orders[i], i+1
		for j := range t.Facts {
			f := &t.Facts[j]
			log.Debug("fact", "name", name, "order", order, "fact", f.Fact, "id", f.ID, "events", f.Source.EventIDs,
				"validFrom", f.ValidFrom, "validTo", f.ValidTo, "supersededBy", f.SupersededBy)
		}
		for _, match := range t.Matches[:min(3, len(t.Matches))] {
			log.Debug("match", "name", name, "order", order, "text", match.Memory.Fact, "kind", match.Memory.Kind,
				"score", match.Score, "outdated", outdatedBy(&match))
		}
		log.Debug("context", "name", name, "order", order, "text", t.Block)
	}
}

// outdatedBy returns what is outdated about a match, as text.
func outdatedBy(m *memory.Match) string {
	if m.Outdated == nil {
		return ""
	}
	return fmt.Sprintf("since %s by %v", m.Outdated.Since.Format("2006-01-02"), m.Outdated.By)
}
