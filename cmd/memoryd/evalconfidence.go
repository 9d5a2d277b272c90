package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/memoryd/memoryd/evals"
)

// confidenceConfig is what the flags of eval confidence say.
type confidenceConfig struct {
	locomo, realTalk, beam string // files and folders, with commas between
	fit                    bool
}

// confidenceCommand measures how far confidence is the probability that the first match
// answers.
func confidenceCommand() *subcommand {
	return &subcommand{
		name: "eval confidence", summary: "Measure how well memoryd knows that it does not know.",
		details: `It asks the questions of the other evaluations, questions that nothing answers,
and questions about one of two speakers asked of the other. Talks of people are measured
again with what each of them said alone, as a user says it to an assistant. It prints how
well confidence tells the questions apart (the area under the curve, with its 95 %
interval, beside that of score), how far it is the probability that the first match
answers (the Brier score, and the curve in ten bins), and the shares of questions that a
minConfidence drops, for the bundled conversations or for the data that flags name.`,
		example: "memoryd eval confidence -locomo locomo10.json -beam chats/100K/1,chats/100K/2 -fit",
		own: func(fs *flag.FlagSet, cfg *config) {
			c := &cfg.confidence
			fs.StringVar(&c.locomo, "locomo", "", "`FILE` of LoCoMo")
			fs.StringVar(&c.realTalk, "realtalk", "", "`FILES` of REALTALK, with commas between")
			fs.StringVar(&c.beam, "beam", "",
				"`FOLDERS` of BEAM, with commas between: with all messages, and with those of users")
			fs.BoolVar(&c.fit, "fit", false,
				"also fit the weights of the signs, and measure each set with the weights of the others")
		},
		uses: append(modelFlagNames(), logFlagNames()...),
		run: func(ctx context.Context, cfg *config, _ []string, s streams) error {
			sets, err := cfg.confidence.read()
			if err != nil {
				return usageError{fmt.Errorf("eval confidence: %w", err)}
			}
			outliveReader()
			return evalConfidence(ctx, cfg, sets, s)
		}}
}

// read reads the data that the flags name, or that comes with memoryd.
func (c *confidenceConfig) read() (out []*evals.Dataset, err error) {
	add := func(name string, read func() (*evals.Dataset, error)) {
		if err != nil {
			return
		}
		var d *evals.Dataset
		if d, err = read(); err == nil {
			d.Name = name
			out = append(out, d)
		}
	}
	people := func(name string, read func() (*evals.Dataset, error)) { // who talk to each other
		add(name, read)
		add(name+", one speaker", func() (*evals.Dataset, error) { return evals.OneSpeaker(out[len(out)-1]), nil })
	}
	if c.locomo != "" {
		people("locomo", func() (*evals.Dataset, error) { return evals.LoCoMo(c.locomo) })
	}
	if c.realTalk != "" {
		people("realtalk", func() (*evals.Dataset, error) { return evals.RealTalk(strings.Split(c.realTalk, ",")...) })
	}
	if c.beam != "" {
		folders := strings.Split(c.beam, ",")
		add("beam", func() (*evals.Dataset, error) { return evals.BEAM(false, folders...) })
		add("beam, users", func() (*evals.Dataset, error) { return evals.BEAM(true, folders...) })
	}
	if len(out) == 0 {
		add("conversations", evals.Conversations)
		people("pairs", evals.Pairs)
	}
	return out, err
}

// evalConfidence asks the questions of each set, and prints the tables of all.
func evalConfidence(ctx context.Context, cfg *config, sets []*evals.Dataset, s streams) error {
	m, err := newModels(cfg, cfg.logger(s.err))
	if err != nil {
		return err
	}
	var trials []evals.Trial
	for _, d := range sets {
		of, err := askConfidence(ctx, d, m)
		if err != nil {
			return err
		}
		trials = append(trials, of...)
	}
	text := evals.ConfidenceTable(trials)
	if cfg.confidence.fit {
		text += "\nweights\n" + evals.FitConfidence(trials)
	}
	_, err = fmt.Fprint(s.out, text)
	return err
}

// askConfidence fills a bank with one set, and asks.
func askConfidence(ctx context.Context, d *evals.Dataset, m *models) (out []evals.Trial, err error) {
	bank, err := evals.Fill(ctx, d, m.extractor, m.embedder)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, bank.Close()) }()
	return bank.Confidence(ctx)
}
