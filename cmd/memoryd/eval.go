package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/memoryd/memoryd/evals"
)

// eval plays the golden cases with the configured extractor and embedder, in
// stores of their own, and prints a row for each as it comes and one for all.
// What is missing and what is wrong is in the log at the level debug.
func eval(ctx context.Context, cfg config, stdout, stderr io.Writer) error {
	log := cfg.logger(stderr)
	cases, err := evals.Cases()
	if err != nil {
		return err
	}
	m, err := newModels(cfg, log)
	if err != nil {
		return err
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // as in demo: the directories are still to be removed
	width := 0
	for _, c := range cases {
		width = max(width, len(c.Name))
	}
	_, err = fmt.Fprintf(stdout, "%d cases, extractor %s, embedder %s\n\n%-*s  wanted  found  right  precision  recall    F1  standing  calls  tokens\n",
		len(cases), m.extractor.Name(), m.embedder.Model().Name, width, "case")
	if err != nil {
		return err
	}
	row := func(s evals.Score) error {
		failed := ""
		if s.Err != nil {
			failed = "  failed"
		}
		_, err := fmt.Fprintf(stdout, "%-*s  %6d  %5d  %5d  %9.2f  %6.2f  %4.2f  %8d  %5d  %6d%s\n", width, s.Case, s.Wanted, s.Found, s.Right,
			s.Precision(), s.Recall(), s.F1(), s.Standing, s.Calls, s.InputTokens+s.OutputTokens, failed)
		return err
	}
	played := 0
	all, err := evals.Run(ctx, m.extractor, m.embedder, cases, func(s evals.Score) error {
		played++
		for _, f := range s.Missing {
			log.Debug("missing", "case", s.Case, "fact", f)
		}
		for _, f := range s.Wrong {
			log.Debug("wrong", "case", s.Case, "fact", f)
		}
		return row(s)
	})
	if err != nil {
		err = fmt.Errorf("eval with %s: %w", m.extractor.Name(), err)
	}
	if played < len(cases) {
		return err
	}
	all.Case = "all"
	if failed := row(all); failed != nil {
		return failed
	}
	return err
}
