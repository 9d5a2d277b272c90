package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/memoryd/memoryd/evals"
)

// evalCommand is eval; "eval extraction" is a longer name of it.
func evalCommand(name string) *subcommand {
	return &subcommand{
		name: name, summary: "Measure how well -extractor finds facts, on bundled cases.",
		details: `It plays conversations with the extractor and the embedder, in stores of their
own, and prints a row for each case and one for all. With -log-level debug the log
names the facts that are missing and those that are wrong.`,
		example: "memoryd eval -extractor gemini",
		uses:    append(modelFlagNames(), logFlagNames()...),
		run: func(ctx context.Context, cfg *config, _ []string, s streams) error {
			outliveReader()
			return evalExtraction(ctx, cfg, s)
		}}
}

// noSuchEvaluation is the error of eval with another word behind it.
func noSuchEvaluation(c *subcommand, args []string) error {
	if c.name != "eval" || len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return nil
	}
	return c.mistake(fmt.Errorf("eval: no evaluation %q: want extraction, talk, redaction, attacks, stories,"+
		" retrieval, languages, locomo, realtalk, beam or confidence", args[0]))
}

// evalExtraction plays the golden cases and prints their scores.
func evalExtraction(ctx context.Context, cfg *config, s streams) error {
	log := cfg.logger(s.err)
	cases, err := evals.Cases()
	if err != nil {
		return err
	}
	m, err := newModels(cfg, log)
	if err != nil {
		return err
	}
	table := scoreTable{out: s.out}
	for _, c := range cases {
		table.width = max(table.width, len(c.Name))
	}
	if err := table.head(len(cases), m); err != nil {
		return err
	}
	played := 0
	all, err := evals.Run(ctx, m.extractor, m.embedder, cases, func(s evals.Score) error {
		played++
		logScore(log, &s)
		return table.row(&s)
	})
	if err != nil {
		err = fmt.Errorf("eval with %s: %w", m.extractor.Name(), err)
	}
	if played < len(cases) {
		return err
	}
	all.Case = "all"
	if failed := table.row(&all); failed != nil {
		return failed
	}
	return err
}

// logScore logs the facts that a case misses and those that are wrong.
func logScore(log *slog.Logger, s *evals.Score) {
	for _, f := range s.Missing {
		log.Debug("missing", "case", s.Case, "fact", f)
	}
	for _, f := range s.Wrong {
		log.Debug("wrong", "case", s.Case, "fact", f)
	}
}

// scoreTable prints scores, a row each.
type scoreTable struct {
	out   io.Writer
	width int // of the names of cases
}

// head prints the names of the columns, and the models that are scored.
func (t scoreTable) head(cases int, m *models) error {
	_, err := fmt.Fprintf(t.out, "%d cases, extractor %s, embedder %s\n\n"+
		"%-*s  wanted  found  right  precision  recall    F1  standing  calls  tokens\n",
		cases, m.extractor.Name(), m.embedder.Model().Name, t.width, "case")
	return err
}

// row prints the score of one case, as soon as it is known: a model may need
// minutes for all of them.
func (t scoreTable) row(s *evals.Score) error {
	failed := ""
	if s.Err != nil {
		failed = "  failed"
	}
	_, err := fmt.Fprintf(t.out, "%-*s  %6d  %5d  %5d  %9.2f  %6.2f  %4.2f  %8d  %5d  %6d%s\n",
		t.width, s.Case, s.Wanted, s.Found, s.Right,
		s.Precision(), s.Recall(), s.F1(), s.Standing, s.Calls, s.InputTokens+s.OutputTokens, failed)
	return err
}

// qualityConfig is what the flags of evaluations of retrieval say beside those of serve.
type qualityConfig struct {
	facts    string // of locomo alone: extractor or observations
	messages string // of beam alone: all or user
	ablate   bool
	compare  string // settings, with commas between
	before   string // files, with commas between
	json     string
	chart    string
}

// retrievalCommand measures on the conversations that come with memoryd: no
// file, no network, the same figures everywhere.
func retrievalCommand() *subcommand {
	return qualityCommand(&subcommand{
		name: "eval retrieval", summary: "Measure how well questions find their answers, on bundled data.",
		example: "memoryd eval retrieval -ablate",
		own:     qualityFlags,
	}, func(*config, []string) (*evals.Dataset, error) { return evals.Conversations() })
}

// languagesCommand measures on paraphrases in several languages.
func languagesCommand() *subcommand {
	return qualityCommand(&subcommand{
		name: "eval languages", summary: "Measure the same on paraphrases in ten languages.",
		example: "memoryd eval languages -compare all,no-dense+no-near",
		own:     qualityFlags,
	}, func(*config, []string) (*evals.Dataset, error) { return evals.Languages() })
}

// locomoCommand measures on a published dataset, whose licence does not allow
// memoryd to bundle it. FILE may stand before the flags, as in earlier
// versions.
func locomoCommand() *subcommand {
	return qualityCommand(&subcommand{
		name: "eval locomo", arguments: "FILE",
		summary: "Measure the same on the conversations of LoCoMo, in FILE.",
		example: "memoryd eval locomo locomo10.json -facts observations",
		own: func(fs *flag.FlagSet, cfg *config) {
			fs.StringVar(&cfg.quality.facts, "facts", "extractor",
				"`SOURCE` of the facts: extractor, or observations, which come with the data")
			qualityFlags(fs, cfg)
		},
	}, func(_ *config, files []string) (*evals.Dataset, error) { return evals.LoCoMo(files[0]) })
}

// realTalkCommand and beamCommand measure on published datasets that memoryd does not
// bundle either: REALTALK's repository names no licence, and BEAM is large.
func realTalkCommand() *subcommand {
	return qualityCommand(&subcommand{
		name: "eval realtalk", arguments: "FILE…",
		summary: "Measure the same on chats of REALTALK, a FILE each.",
		example: "memoryd eval realtalk data/Chat_1_Emi_Elise.json data/Chat_2_Kevin_Elise.json",
		own:     qualityFlags,
	}, func(_ *config, files []string) (*evals.Dataset, error) { return evals.RealTalk(files...) })
}

func beamCommand() *subcommand {
	return qualityCommand(&subcommand{
		name: "eval beam", arguments: "FOLDER…",
		summary: "Measure the same on chats of BEAM, a FOLDER each.",
		example: "memoryd eval beam -messages user chats/100K/1 chats/100K/2",
		own: func(fs *flag.FlagSet, cfg *config) {
			fs.StringVar(&cfg.quality.messages, "messages", "all",
				"`MESSAGES` to remember and to find: all, or user, those of the user alone")
			qualityFlags(fs, cfg)
		},
	}, func(cfg *config, folders []string) (*evals.Dataset, error) {
		return evals.BEAM(cfg.quality.messages == "user", folders...)
	})
}

// qualityCommand adds to a command what all evaluations of retrieval share.
func qualityCommand(c *subcommand, read func(*config, []string) (*evals.Dataset, error)) *subcommand {
	c.details = `It makes memories of conversations, in stores of their own, and asks questions
whose answers are known turns. It prints recall, hit rate, MRR and nDCG of those
turns, the size of the memory, and its speed.`
	c.uses = append(modelFlagNames(), logFlagNames()...)
	c.run = func(ctx context.Context, cfg *config, files []string, s streams) error {
		q, err := newQuality(cfg, func() (*evals.Dataset, error) { return read(cfg, files) })
		if err != nil {
			return usageError{fmt.Errorf("%s: %w", c.name, err)}
		}
		outliveReader()
		return q.eval(ctx, s)
	}
	return c
}

// qualityFlags defines the flags that all evaluations of retrieval have.
func qualityFlags(fs *flag.FlagSet, cfg *config) {
	q := &cfg.quality
	fs.BoolVar(&q.ablate, "ablate", false, "also measure the ranking without each of its parts")
	fs.StringVar(&q.compare, "compare", "",
		"`SETTINGS` to compare with the ranking that is served, with commas between: all, no-PART, PART or"+
			" PART=WEIGHT, several parts with + between them; of several settings, each with the first")
	fs.StringVar(&q.before, "before", "",
		"`FILES` that -json wrote in earlier runs, to compare this run with, with commas between")
	fs.StringVar(&q.json, "json", "", "`FILE` to write all results to, question by question")
	fs.StringVar(&q.chart, "chart", "", "`FILE`, .svg or .html, for a chart of recall against returned tokens")
}
