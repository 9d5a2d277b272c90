package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memoryd/memoryd/evals"
	"github.com/memoryd/memoryd/extract/rules"
)

// quality is an evaluation of retrieval.
type quality struct {
	cfg      *config
	dataset  *evals.Dataset
	settings []evals.Setting // to measure, each once, everything first
	compare  []evals.Setting // to compare
	before   []evals.Result  // of earlier runs, named for their files
}

// newQuality checks what the flags say, and reads what they name.
func newQuality(cfg *config, read func() (*evals.Dataset, error)) (q *quality, err error) {
	q = &quality{cfg: cfg}
	if err := cfg.quality.check(); err != nil {
		return nil, err
	}
	if q.compare, err = parseSettings(cfg.quality.compare); err != nil {
		return nil, fmt.Errorf("-compare: %w", err)
	}
	if q.before, err = readResults(cfg.quality.before); err != nil {
		return nil, fmt.Errorf("-before: %w", err)
	}
	if q.dataset, err = read(); err != nil {
		return nil, err
	}
	q.settings = settingsOf(cfg.quality.ablate, q.compare)
	return q, nil
}

// check refuses files that cannot be written before minutes are spent on the
// measurement.
func (c *qualityConfig) check() error {
	if c.facts != "" && c.facts != "extractor" && c.facts != "observations" {
		return fmt.Errorf("-facts %q: want extractor or observations", c.facts)
	}
	if c.messages != "" && c.messages != "all" && c.messages != "user" {
		return fmt.Errorf("-messages %q: want all or user", c.messages)
	}
	if ext := filepath.Ext(c.chart); c.chart != "" && ext != ".svg" && ext != ".html" {
		return fmt.Errorf("-chart %s: want a name that ends in .svg or .html", c.chart)
	}
	if err := inDirectory(c.json); err != nil {
		return fmt.Errorf("-json %s: %w", c.json, err)
	}
	if err := inDirectory(c.chart); err != nil {
		return fmt.Errorf("-chart %s: %w", c.chart, err)
	}
	return nil
}

// errNoDirectory is the error of a file in a directory that does not exist.
var errNoDirectory = errors.New("there is no such directory")

// inDirectory checks that a file can be made: that its directory exists.
func inDirectory(file string) error {
	if file == "" {
		return nil
	}
	if dir, err := os.Stat(filepath.Dir(file)); err != nil || !dir.IsDir() {
		return errNoDirectory
	}
	return nil
}

// parseSettings reads settings with commas between them.
func parseSettings(list string) (out []evals.Setting, err error) {
	if list == "" {
		return nil, nil
	}
	for name := range strings.SplitSeq(list, ",") {
		s, err := evals.ParseSetting(name)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// readResults reads the first result of each of some files, and names it for the
// file.
func readResults(list string) (out []evals.Result, err error) {
	if list == "" {
		return nil, nil
	}
	for file := range strings.SplitSeq(list, ",") {
		r, err := evals.ReadReport(file)
		if err != nil {
			return nil, err
		}
		// The first result is the ranking that was served then.
		r.Results[0].Setting = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		out = append(out, r.Results[0])
	}
	return out, nil
}

// settingsOf are everything, the ablations if they are wanted, and those to
// compare, each once.
func settingsOf(ablate bool, compare []evals.Setting) []evals.Setting {
	out := []evals.Setting{evals.Everything}
	if ablate {
		out = evals.Ablations()
	}
	for _, s := range compare {
		if !slices.ContainsFunc(out, func(o evals.Setting) bool { return o.Name == s.Name }) {
			out = append(out, s)
		}
	}
	return out
}

// eval measures, prints the tables, and writes the files that the flags name.
func (q *quality) eval(ctx context.Context, s streams) (err error) {
	log := q.cfg.logger(s.err)
	m, err := newModels(q.cfg, log)
	if err != nil {
		return err
	}
	if q.cfg.quality.facts == "observations" {
		m.extractor = q.dataset.Extractor(rules.New())
	}
	bank, err := evals.Fill(ctx, q.dataset, m.extractor, m.embedder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bank.Close()) }()
	bank.Reranker, bank.Reranked, bank.Expander = m.reranker, q.cfg.reranked, m.expander
	// The tables are printed even if a comparison fails: the measurement is done.
	results, err := bank.Ask(ctx, q.settings, log)
	if err != nil {
		return err
	}
	report := bank.Report(results)
	text, err := q.tables(report)
	if _, wrote := io.WriteString(s.out, text); wrote != nil {
		return wrote
	}
	if err != nil {
		return err
	}
	return q.write(report)
}

// tables are the report's, that of the ablations, and the comparisons.
func (q *quality) tables(r *evals.Report) (string, error) {
	out := r.Table()
	if q.cfg.quality.ablate {
		text, err := evals.Ablation(r.Results[:len(evals.Ablations())])
		if err != nil {
			return out, err
		}
		out += "\n" + text
	}
	for _, p := range q.pairs(r) {
		text, err := evals.Compare(p[0], p[1])
		if err != nil {
			return out, err
		}
		out += "\n" + text
	}
	return out, nil
}

// pairs are the results to compare: this run with earlier ones, a single setting
// with the ranking as it is, and each of several settings with the first.
func (q *quality) pairs(r *evals.Report) (out [][2]*evals.Result) {
	named := func(s evals.Setting) *evals.Result {
		return &r.Results[slices.IndexFunc(r.Results, func(o evals.Result) bool { return o.Setting == s.Name })]
	}
	for i := range q.before {
		out = append(out, [2]*evals.Result{&r.Results[0], &q.before[i]})
	}
	if len(q.compare) == 1 {
		out = append(out, [2]*evals.Result{named(q.compare[0]), &r.Results[0]})
	}
	for i := 1; i < len(q.compare); i++ {
		out = append(out, [2]*evals.Result{named(q.compare[i]), named(q.compare[0])})
	}
	return out
}

// write writes the files that the flags name.
func (q *quality) write(r *evals.Report) error {
	if file := q.cfg.quality.json; file != "" {
		raw, err := json.MarshalIndent(r, "", " ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(file, append(raw, '\n'), 0o644); err != nil {
			return err
		}
	}
	file := q.cfg.quality.chart
	if file == "" {
		return nil
	}
	draw := evals.SVG
	if filepath.Ext(file) == ".html" {
		draw = evals.HTML
	}
	return os.WriteFile(file, []byte(draw(r.Title(), append(r.Results, q.before...))), 0o644)
}
