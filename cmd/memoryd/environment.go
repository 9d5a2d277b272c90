package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
)

// prefix begins the names of memoryd's environment variables; testPrefix those
// that only its tests read.
const (
	prefix     = "MEMORYD_"
	testPrefix = prefix + "TEST_"
)

// variable is the environment variable of a flag of serve.
func variable(name string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// variable is the environment variable of a flag of the command.
func (c *subcommand) variable(name string) string {
	if c.ownVariables && slices.Contains(ownNames(c.own), name) && !slices.Contains(remoteFlagNames(), name) {
		return variable(strings.ReplaceAll(c.name, " ", "-") + "-" + name)
	}
	return variable(name)
}

// remoteFlagNames are the flags by which commands reach a memoryd that runs. They have
// one variable each, whatever the command.
func remoteFlagNames() []string { return []string{"server", "key-file"} }

// readFlags reads the command line, where flags stand before and behind other arguments,
// which it returns, and the environment for flags that it leaves out. A variable that is
// empty counts as missing.
func (c *subcommand) readFlags(fs *flag.FlagSet, args []string) (rest []string, err error) {
	fs.SetOutput(io.Discard) // main prints the error, once
	fs.Usage = func() {}
	for {
		if err := fs.Parse(args); err != nil {
			return nil, err
		}
		read := args[:len(args)-fs.NArg()]
		if args = fs.Args(); len(args) == 0 || len(read) > 0 && read[len(read)-1] == "--" {
			rest = append(rest, args...)
			break
		}
		rest, args = append(rest, args[0]), args[1:]
	}
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	var errs []error
	fs.VisitAll(func(f *flag.Flag) {
		if given[f.Name] {
			return
		}
		name := c.variable(f.Name)
		value, err := os.Getenv(name), error(nil)
		if slices.Contains(secretFlagNames(), f.Name) {
			value, err = secretValue(name, value)
		}
		if err == nil && value != "" {
			err = fs.Set(f.Name, value)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("environment variable %s, for -%s: %w", name, f.Name, err))
		}
	})
	return rest, errors.Join(errs...)
}

// secretFlagNames are the flags whose values may have passwords. Their variables may name
// a file with the value: MEMORYD_SESSIONS_FILE.
func secretFlagNames() []string { return []string{"sessions", "memories"} }

// secretSuffix ends the variable of the file with a value.
const secretSuffix = "_FILE"

// secretValue returns the value of a variable, or what is in the file that its variable
// for files names.
func secretValue(name, value string) (string, error) {
	file := os.Getenv(name + secretSuffix)
	if file == "" {
		return value, nil
	}
	if value != "" {
		return "", fmt.Errorf("%s is set too: unset one of them", name+secretSuffix)
	}
	value, err := readKeyFile(file)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name+secretSuffix, err)
	}
	return value, nil
}

// variables are those of all flags of all commands, each once: one environment may
// serve several commands.
func variables() (names []string) {
	for _, c := range commands() {
		if c.takesFlags() {
			c.flagSet(&config{}).VisitAll(func(f *flag.Flag) { names = append(names, c.variable(f.Name)) })
		}
	}
	names = append(names, keyVariable, prefix+"URL", prefix+"BINARY") // the last two are for clients alone
	for _, name := range secretFlagNames() {
		names = append(names, variable(name)+secretSuffix)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// warnUnknown warns of variables that begin as memoryd's do and are none of them:
// a misspelled one would else be ignored in silence.
func warnUnknown(log *slog.Logger, environment []string) {
	known := variables()
	for _, entry := range environment {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, prefix) || strings.HasPrefix(name, testPrefix) || slices.Contains(known, name) {
			continue
		}
		log.Warn("unknown environment variable: it is ignored", "name", name, "nearest", nearest(name, known))
	}
}

// nearest is the name that takes the fewest edits to come to, the first in order
// of several.
func nearest(name string, known []string) string {
	return slices.MinFunc(known, func(a, b string) int { return edits(name, a) - edits(name, b) })
}

// edits is the Levenshtein distance of two strings: how many bytes must be
// inserted, deleted or replaced to make one of the other.
func edits(a, b string) int {
	row := make([]int, len(b)+1) // distances of a's beginning to each beginning of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
