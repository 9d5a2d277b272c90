package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/memoryd/memoryd/evals"
)

// talkCommand measures extraction alone, on ordinary talk.
func talkCommand() *subcommand {
	return &subcommand{
		name: "eval talk", summary: "Measure precision and recall of -extractor on ordinary talk.",
		details: `It has the extractor read short exchanges, each as a batch of its own, and prints
precision and recall of the facts for each set: "tuned", which rules may be written
for, and "heldout". With -log-level debug the log names the facts of the tuned set
that are missed and those that are too many.`,
		example: "memoryd eval talk",
		uses:    append(modelFlagNames(), logFlagNames()...),
		run: func(ctx context.Context, cfg *config, _ []string, s streams) error {
			outliveReader()
			return evalTalk(ctx, cfg, s)
		}}
}

// evalTalk reads the bundled talk and prints a line for each set.
func evalTalk(ctx context.Context, cfg *config, s streams) error {
	log := cfg.logger(s.err)
	sets, err := evals.Talk()
	if err != nil {
		return err
	}
	m, err := newModels(cfg, log)
	if err != nil {
		return err
	}
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(sets))) {
		score, err := evals.RunTalk(ctx, m.extractor, sets[name])
		if err != nil {
			return fmt.Errorf("eval talk with %s: %w", m.extractor.Name(), err)
		}
		if _, err := fmt.Fprintf(s.out, "%s: %s\n", name, &score); err != nil {
			return err
		}
		if name == "heldout" {
			continue // its facts stay unseen, so that rules are not written for them
		}
		for _, f := range score.Missed {
			log.Debug("missed", "set", name, "fact", f)
		}
		for _, f := range score.Extra {
			log.Debug("too many", "set", name, "fact", f)
		}
	}
	return nil
}
