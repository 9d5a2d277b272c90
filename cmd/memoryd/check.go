package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/check"
	"github.com/memoryd/memoryd/internal/assembly"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore/redissession"
)

// checkConfig is what the flags of check say.
type checkConfig struct{ json bool }

// checkCommand finds what is damaged, and what of two stores does not agree.
func checkCommand() *subcommand {
	return &subcommand{
		name: "check", summary: "Check sessions and memories as a whole, and say what is damaged.",
		details: `It reads everything and mends nothing: whether files are sound, everything stored
can be read, events have their numbers, the work list has what waits, what counts as
done can be found, and what memories rest on is there. It says of each fault what it
means and what to do, and exits with 1 if it finds any.

It opens a file as a start does: the log that a crash has left is brought into the
file. To keep the file as it is, copy all of memoryd.db* and check the copy.

Redis and Qdrant can be checked while memoryd serves. One process at a time can open
a store that is a file: stop the memoryd that serves it, or check a backup of it.`,
		example: "memoryd check -data /var/lib/memoryd",
		uses:    archiveFlagNames(),
		own: func(fs *flag.FlagSet, cfg *config) {
			fs.BoolVar(&cfg.whole.json, "json", false, "print the report as JSON")
		},
		ownVariables: true,
		run:          checkStores,
	}
}

// errFaults is the error of a check that has found faults.
var errFaults = errors.New("faults were found")

func checkStores(ctx context.Context, cfg *config, _ []string, s streams) (err error) {
	for _, place := range []string{cfg.sessions, cfg.memories} {
		if _, err := os.Stat(place); inFile(place) && err != nil {
			return fmt.Errorf("there is nothing to check: %w", err)
		}
	}
	e, err := newEmbedder(cfg.embedder, cfg.dimension)
	if err != nil {
		return err
	}
	st := newStores()
	end := st.Discard // until all is open
	defer func() { err = errors.Join(err, end()) }()
	if err := openToCheck(ctx, cfg, st, memoryd.ModelOf(e)); err != nil {
		return aloneError(err)
	}
	end = st.Close
	report, err := checkOpen(ctx, st)
	if err != nil {
		return err
	}
	if cfg.whole.json {
		enc := json.NewEncoder(s.out)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		err = enc.Encode(report)
	} else {
		err = tellReport(s.out, cfg, report)
	}
	if err == nil && report.Faults > 0 {
		err = fmt.Errorf("%d %w", report.Faults, errFaults)
	}
	return err
}

// openToCheck opens both stores, for the model that the memories have.
func openToCheck(ctx context.Context, cfg *config, st *assembly.Stores, m memory.Model) error {
	if err := openSessions(ctx, cfg, st); err != nil {
		return err
	}
	is, err := storedModel(ctx, cfg, st, m)
	if err != nil {
		return err
	}
	return openMemories(ctx, cfg, st, is)
}

// checkOpen checks stores that are open.
func checkOpen(ctx context.Context, st *assembly.Stores) (*check.Report, error) {
	var before []check.Finding
	add := func(store string, f memory.Finding) { before = append(before, check.Finding{Store: store, Finding: f}) }
	switch err := st.Join(ctx); {
	case errors.Is(err, assembly.ErrElsewhere):
		add(
			"memories",
			memory.Finding{Rule: memory.RuleManifest, Text: "the sessions have their memories in another store"},
		)
	case err != nil && !errors.As(err, new(*memory.Damage)):
		return nil, err
	case err == nil:
		if err := accompany(ctx, st); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(st.Checks)) {
		err := st.Checks[name](ctx)
		if damage := (*memory.Damage)(nil); errors.As(err, &damage) {
			add(name, memory.Finding{Rule: memory.RuleFile, Text: damage.Error()})
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := st.Integrity(ctx, func(f memory.Finding) { add("file", f) }); err != nil {
		return nil, err
	}
	report, err := check.Run(ctx, st.Sessions, st.Memories, nil)
	if err != nil {
		return nil, err
	}
	for _, f := range before {
		report.Add(f.Store, f.Finding)
	}
	return report, nil
}

// tellReport writes a report for people to read.
func tellReport(w io.Writer, cfg *config, r *check.Report) error {
	for _, f := range r.Findings {
		fmt.Fprintf(w, "%s: %s: ", f.Store, f.Rule)
		if f.App != "" {
			fmt.Fprintf(w, "app %q, user %q: ", f.App, f.User)
		}
		if f.Of != "" {
			fmt.Fprintf(w, "%s: ", printable(f.Of))
		}
		fmt.Fprintln(w, printable(f.Text))
	}
	if more := r.Faults - len(r.Findings); more > 0 {
		fmt.Fprintf(w, "and %d more\n", more)
	}
	for _, rule := range slices.Sorted(maps.Keys(r.Rules)) {
		fmt.Fprintf(w, "\n%s: %s.\n  What to do: %s.\n", rule, r.Rules[rule].Means, r.Rules[rule].Remedy)
	}
	if r.Faults > 0 {
		fmt.Fprintln(w)
	}
	_, err := fmt.Fprintf(w, "checked %s: %d sessions with %d events, %d of them with memories to come;"+
		" %d memories (%d turns, %d of them of sessions that are gone) and %d deleted ones; %d events whose turns"+
		" were purged or have expired\n%s\n", where(cfg), r.Sessions, r.Events, r.Pending, r.Memories, r.Turns,
		r.SessionGone, r.Deleted, r.TurnGone, verdict(r))
	return err
}

// printable is text without what a terminal would act on: damaged rows have any bytes.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}

func verdict(r *check.Report) string {
	if r.Faults == 0 {
		return "no fault was found"
	}
	return fmt.Sprintf("%d faults", r.Faults)
}

// acceptCommand goes on after Redis has lost data.
func acceptCommand() *subcommand {
	return &subcommand{
		name: "accept", summary: "Go on with what is left after Redis or Qdrant has lost data.",
		details: `After Redis was emptied, or came back with older data, memoryd is not ready, and
refuses to answer what may be missing. If the newest data cannot be brought back,
accept has every memoryd go on as if what is lost had never been there. Memories that
were made of it stay. It also accepts a Qdrant that came back with older data; memoryd
rebuild -again has the memories made again that are missing.`,
		example: "memoryd accept -sessions redis://127.0.0.1:6379",
		uses:    storeFlagNames(),
		run: func(ctx context.Context, cfg *config, _ []string, s streams) (err error) {
			if !inRedis(cfg.sessions) {
				return usageError{
					errors.New("accept: -sessions names no Redis; for a damaged file see memoryd recover"),
				}
			}
			r, err := redissession.Open(ctx, cfg.sessions, nil)
			if err != nil {
				return fmt.Errorf("-sessions: %w", err)
			}
			defer func() { err = errors.Join(err, r.Close()) }()
			n, err := r.Accept(ctx)
			if err == nil {
				err = r.AcceptMemories(ctx)
			}
			if err == nil {
				_, err = fmt.Fprintf(
					s.out,
					"accepted losses in %d parts of the sessions in %s\n",
					n,
					shown(cfg.sessions),
				)
			}
			return err
		}}
}
