package main

import (
	"context"

	"github.com/memoryd/memoryd/evals"
)

// redactionCommand measures what redaction finds.
func redactionCommand() *subcommand {
	return &subcommand{
		name: "eval redaction", summary: "Measure how many secrets redaction finds, and its false alarms.",
		details: `It makes up secrets by the forms of their issuers, puts them into the bundled sentences,
and prints how many are found of each form for each set: "tuned", which rules may be
written for, and "heldout". Then it prints how many ordinary sentences with numbers
are taken for one that has a secret.`,
		example: "memoryd eval redaction",
		run: func(_ context.Context, _ *config, _ []string, s streams) error {
			e, err := evals.RunRedaction()
			if err != nil {
				return err
			}
			return e.Print(s.out)
		}}
}
