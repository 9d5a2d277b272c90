package main

import (
	"context"
	"fmt"

	"github.com/memoryd/memoryd/evals"
)

// attacksCommand measures how attacks are told from harmless text.
func attacksCommand() *subcommand {
	return &subcommand{
		name: "eval attacks", summary: "Measure how many attacks on the agent are quarantined, and how much else is.",
		details: `It judges bundled texts that try to instruct an agent, and harmless ones that look
like them, by rules and learned weights, and prints a table: for each language how many
attacks are caught and how many harmless texts are held back, of the set "tuned", which
rules and weights may be fitted to, and of others that are only counted: "heldout"; "unseen",
whose attacks go other ways; "fresh"; and "blind", "asked" and "redteam", whose writers knew
nothing of rules and weights. No model is asked. With -log-level
debug the log names the mistakes in the tuned set.`,
		example: "memoryd eval attacks",
		uses:    logFlagNames(),
		run: func(_ context.Context, cfg *config, _ []string, s streams) error {
			outliveReader()
			return evalAttacks(cfg, s)
		}}
}

// evalAttacks judges the bundled texts and prints the table.
func evalAttacks(cfg *config, s streams) error {
	log := cfg.logger(s.err)
	sets, err := evals.Attacks()
	if err != nil {
		return err
	}
	scores := map[string]evals.AttackScore{}
	for name, all := range sets {
		scores[name] = evals.ScoreAttacks(all)
	}
	if _, err := fmt.Fprint(s.out, evals.AttackTable(scores, evals.AttackSets...)); err != nil {
		return err
	}
	for _, text := range scores["tuned"].Missed { // those held out stay unseen
		log.Debug("missed", "set", "tuned", "text", text)
	}
	for _, text := range scores["tuned"].Alarms {
		log.Debug("held back", "set", "tuned", "text", text)
	}
	return nil
}
