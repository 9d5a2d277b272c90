package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/memoryd/memoryd/evals"
	"github.com/memoryd/memoryd/extract"
)

// eval tells how good something is: extraction, unless another word says
// retrieval, on bundled conversations or on LoCoMo's.
func eval(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	// As in demo: the directories are still to be removed.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	what := "extraction"
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		what, args = args[0], args[1:]
	}
	switch what {
	case "extraction":
		cfg, rest, err := parse(args, stderr)
		if err == nil && len(rest) > 0 {
			err = mistake(fmt.Errorf("unexpected argument %q", rest[0]))
		}
		if err != nil {
			return err
		}
		return evalExtraction(ctx, cfg, stdout, stderr)
	case "retrieval", "locomo":
		q, err := parseQuality(what, args, stderr)
		if err != nil {
			return err
		}
		return q.eval(ctx, stdout, stderr)
	}
	return mistake(fmt.Errorf("eval: no evaluation %q: want extraction, retrieval or locomo", what))
}

// evalExtraction plays the golden cases with the configured extractor and
// embedder, in stores of their own, and prints a row for each as it comes and
// one for all. What is missing and what is wrong is in the log at the level
// debug.
func evalExtraction(ctx context.Context, cfg config, stdout, stderr io.Writer) error {
	log := cfg.logger(stderr)
	cases, err := evals.Cases()
	if err != nil {
		return err
	}
	m, err := newModels(cfg, log)
	if err != nil {
		return err
	}
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

// quality is an evaluation of retrieval: what the command line says of it.
type quality struct {
	cfg     config
	dataset *evals.Dataset
	given   bool // the facts are those that came with the data
	ablate  bool
	compare []evals.Setting
	before  []evals.Result // of earlier runs, named for their files
	json    string
	chart   string
}

const qualityUsage = `  memoryd eval retrieval [flags]     on bundled conversations
  memoryd eval locomo FILE [flags]   on those of LoCoMo, in FILE, such as locomo10.json

makes memories of conversations, in stores of their own, and asks questions of which it is known where their answers were
said. It prints recall, hit rate, MRR and nDCG of those turns, what the memory takes, and how fast it is.

`

func parseQuality(what string, args []string, stderr io.Writer) (*quality, error) {
	q := &quality{}
	own := flag.NewFlagSet(what, flag.ContinueOnError)
	var facts, compare, before string
	if what == "locomo" {
		own.StringVar(&facts, "facts", "extractor", "whose facts are remembered: those of the extractor, or the observations that come with the data")
	}
	own.BoolVar(&q.ablate, "ablate", false, "tell what each part of the ranking is good for")
	own.StringVar(&compare, "compare", "", "`settings` to compare with the ranking as it is, with commas between: all, no-PART or PART, several parts with + between them; of more than one, each with the first")
	own.StringVar(&before, "before", "", "`files` that -json wrote in earlier runs, to compare this one with, with commas between")
	own.StringVar(&q.json, "json", "", "`file` to write all results to, question by question")
	own.StringVar(&q.chart, "chart", "", "`file`, .svg or .html, for a chart of recall against returned tokens")
	all := flags(&q.cfg)
	own.VisitAll(func(f *flag.Flag) { all.Var(f.Value, f.Name, f.Usage) })

	var files []string
	if what == "locomo" && len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		files, args = args[:1], args[1:]
	}
	if err := readFlags(all, args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(stderr, qualityUsage+"Flags, beside those of serve about models (memoryd -help lists them):\n")
			own.SetOutput(stderr)
			own.PrintDefaults()
			return nil, err
		}
		return nil, mistake(err)
	}
	if err := q.cfg.check(); err != nil {
		return nil, mistake(err)
	}
	if err := q.read(what, append(files, all.Args()...), facts, compare, before); err != nil {
		return nil, usageError{fmt.Errorf("eval %s: %w", what, err)}
	}
	return q, nil
}

// read checks what the flags say, and reads what they name.
func (q *quality) read(what string, files []string, facts, compare, before string) (err error) {
	switch {
	case what == "retrieval" && len(files) > 0:
		return fmt.Errorf("unexpected argument %q", files[0])
	case what == "locomo" && len(files) != 1:
		return errors.New("want one file, LoCoMo's, such as locomo10.json")
	case facts != "" && facts != "extractor" && facts != "observations":
		return fmt.Errorf("-facts %q: want extractor or observations", facts)
	case q.chart != "" && filepath.Ext(q.chart) != ".svg" && filepath.Ext(q.chart) != ".html":
		return fmt.Errorf("-chart %s: want a name that ends in .svg or .html", q.chart)
	}
	q.given = facts == "observations"
	if compare != "" {
		for name := range strings.SplitSeq(compare, ",") {
			s, err := evals.ParseSetting(name)
			if err != nil {
				return fmt.Errorf("-compare: %w", err)
			}
			q.compare = append(q.compare, s)
		}
	}
	for name, file := range map[string]string{"json": q.json, "chart": q.chart} {
		if dir, err := os.Stat(filepath.Dir(file)); file != "" && (err != nil || !dir.IsDir()) {
			return fmt.Errorf("-%s %s: there is no such directory", name, file)
		}
	}
	if before != "" {
		for file := range strings.SplitSeq(before, ",") {
			r, err := evals.ReadReport(file)
			if err != nil {
				return fmt.Errorf("-before: %w", err)
			}
			r.Results[0].Setting = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
			q.before = append(q.before, r.Results[0])
		}
	}
	if what == "locomo" {
		q.dataset, err = evals.LoCoMo(files[0])
	} else {
		q.dataset, err = evals.Conversations()
	}
	return err
}

// settings are those to measure, each once, everything first.
func (q *quality) settings() []evals.Setting {
	out := []evals.Setting{evals.Everything}
	if q.ablate {
		out = evals.Ablations()
	}
	for _, s := range q.compare {
		if !slices.ContainsFunc(out, func(o evals.Setting) bool { return o.Name == s.Name }) {
			out = append(out, s)
		}
	}
	return out
}

func (q *quality) eval(ctx context.Context, stdout, stderr io.Writer) (err error) {
	log := q.cfg.logger(stderr)
	m, err := newModels(q.cfg, log)
	if err != nil {
		return err
	}
	if q.given {
		m.extractor = q.dataset.Extractor(extract.NewRules())
	}
	bank, err := evals.Fill(ctx, q.dataset, m.extractor, m.embedder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bank.Close()) }()
	bank.Reranker = m.reranker
	results, err := bank.Ask(ctx, q.settings(), log)
	if err != nil {
		return err
	}
	report := bank.Report(results)
	text, err := q.tell(report)
	if _, wrote := io.WriteString(stdout, text); wrote != nil {
		return wrote
	}
	if err != nil {
		return err
	}
	return q.write(report)
}

// tell is the tables. A setting that is alone to be compared is compared with
// the ranking as it is; of several, each with the first.
func (q *quality) tell(r *evals.Report) (string, error) {
	out := r.Table()
	if q.ablate {
		text, err := evals.Ablation(r.Results[:len(evals.Ablations())])
		if err != nil {
			return out, err
		}
		out += "\n" + text
	}
	named := func(name string) *evals.Result {
		return &r.Results[slices.IndexFunc(r.Results, func(o evals.Result) bool { return o.Setting == name })]
	}
	pairs := [][2]*evals.Result{}
	for i := range q.before {
		pairs = append(pairs, [2]*evals.Result{&r.Results[0], &q.before[i]})
	}
	if len(q.compare) == 1 {
		pairs = append(pairs, [2]*evals.Result{named(q.compare[0].Name), &r.Results[0]})
	}
	for i := 1; i < len(q.compare); i++ {
		pairs = append(pairs, [2]*evals.Result{named(q.compare[i].Name), named(q.compare[0].Name)})
	}
	for _, p := range pairs {
		text, err := evals.Compare(p[0], p[1])
		if err != nil {
			return out, err
		}
		out += "\n" + text
	}
	return out, nil
}

// write writes the files that the flags name.
func (q *quality) write(r *evals.Report) error {
	if q.json != "" {
		raw, err := json.MarshalIndent(r, "", " ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(q.json, append(raw, '\n'), 0o644); err != nil {
			return err
		}
	}
	if q.chart == "" {
		return nil
	}
	draw := evals.SVG
	if filepath.Ext(q.chart) == ".html" {
		draw = evals.HTML
	}
	return os.WriteFile(q.chart, []byte(draw(r.Title(), append(r.Results, q.before...))), 0o644)
}
