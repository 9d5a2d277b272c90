package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// streams are the standard streams of the program: tests have their own.
type streams struct {
	in       io.ReadCloser
	out, err io.Writer
}

// subcommand is one of the commands of memoryd.
type subcommand struct {
	name      string // one word, or up to three as in "eval retrieval" and "vertex keys add"
	arguments string // that follow the flags, as the usage line shows them; "" if it takes none
	summary   string // what it does: one line, with the verb first
	details   string // more about it and its arguments, for its help alone
	example   string
	// uses names the flags of serve that the command uses, which are those that
	// its help lists. The others are accepted and ignored, so that the flags of
	// serve can be given to every command. A command with neither uses nor own
	// takes no flags.
	uses []string
	own  func(*flag.FlagSet, *config) // defines flags that serve does not have
	// ownVariables gives these flags variables that begin with the name of the
	// command, such as MEMORYD_BENCH_RATE: one environment may serve several commands.
	ownVariables bool
	// unchecked has run check what the flags say.
	unchecked bool
	run       func(ctx context.Context, cfg *config, args []string, s streams) error
}

// commands are all commands, in the order in which help lists them.
func commands() []*subcommand {
	return slices.Concat([]*subcommand{
		serveCommand(), mcpCommand(), demoCommand(),
	}, mcpHostCommands(), keysCommands(), vertexCommands(), []*subcommand{
		exportCommand(), importCommand(), reembedCommand(), rebuildCommand(), recoverCommand(), backupCommand(),
		checkCommand(), acceptCommand(),
		evalCommand("eval"), evalCommand("eval extraction"), retrievalCommand(), languagesCommand(), locomoCommand(),
		realTalkCommand(), beamCommand(), confidenceCommand(),
		talkCommand(), redactionCommand(), attacksCommand(), storiesCommand(),
		benchCommand(),
		readyCommand(), doctorCommand(), versionCommand(), noticesCommand(), helpCommand(),
	})
}

// find splits a command line into a command and the rest. Without a command it
// is serve.
func find(args []string) (*subcommand, []string, error) {
	if len(args) == 0 {
		return serveCommand(), args, nil
	}
	switch strings.TrimLeft(args[0], "-") {
	case "version":
		return versionCommand(), args[1:], nil
	case "h", "help":
		return helpCommand(), args[1:], nil
	}
	if strings.HasPrefix(args[0], "-") {
		return serveCommand(), args, nil
	}
	// Names of more words first: "eval retrieval" begins with "eval".
	for _, words := range []int{3, 2, 1} {
		for _, c := range commands() {
			if len(args) >= words && c.name == strings.Join(args[:words], " ") {
				return c, args[words:], noSuchEvaluation(c, args[words:])
			}
		}
	}
	return nil, nil, unknownCommand(args[0])
}

// unknownCommand tells the words that may stand in the place of the first word, or
// after it if it begins the names of some commands.
func unknownCommand(first string) error {
	var firsts, seconds []string
	for _, c := range commands() {
		name, rest, _ := strings.Cut(c.name, " ")
		if name == first {
			seconds = append(seconds, rest)
		}
		if !slices.Contains(firsts, name) {
			firsts = append(firsts, name)
		}
	}
	if seconds != nil {
		return usageError{fmt.Errorf("%s: want one of %s", first, strings.Join(seconds, ", "))}
	}
	return usageError{fmt.Errorf("no command %q: want one of %s", first, strings.Join(firsts, ", "))}
}

// takesFlags reports whether the command has flags.
func (c *subcommand) takesFlags() bool { return c.uses != nil || c.own != nil }

// flagSet defines all flags that the command accepts on cfg.
func (c *subcommand) flagSet(cfg *config) *flag.FlagSet {
	fs := serveFlags(cfg)
	if c.own != nil {
		c.own(fs, cfg)
	}
	return fs
}

// parse reads the command line and, for flags that it leaves out, the environment,
// and checks both. It returns the arguments that are no flags. The error is
// flag.ErrHelp if help is asked for, and else a usageError.
func (c *subcommand) parse(args []string) (*config, []string, error) {
	cfg := &config{}
	if !c.takesFlags() {
		return cfg, args, c.noArguments(args)
	}
	fs := c.flagSet(cfg)
	rest, err := c.readFlags(fs, args)
	if err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil, nil, err
		}
		return nil, nil, c.mistake(err)
	}
	if c.arguments == "" && len(rest) > 0 {
		return nil, nil, c.mistake(fmt.Errorf("%s: unexpected argument %q", c.name, rest[0]))
	}
	// Arguments that end in an ellipsis are one or more.
	more := strings.HasSuffix(c.arguments, "…")
	if want := len(strings.Fields(c.arguments)); len(rest) < want || len(rest) > want && !more {
		what := "two files" // OLD and NEW
		if want == 1 {      // FILE, HOST, ID or the like
			what = "one " + strings.ToLower(strings.TrimSuffix(c.arguments, "…"))
		}
		return nil, nil, usageError{fmt.Errorf("%s: want %s: memoryd %s %s", c.name, what, c.name, c.usage())}
	}
	if c.unchecked {
		return cfg, rest, nil
	}
	if err := cfg.check(); err != nil {
		return nil, nil, c.mistake(err)
	}
	return cfg, rest, nil
}

// noArguments refuses what follows a command that takes nothing, except a request
// for help.
func (c *subcommand) noArguments(args []string) error {
	switch {
	case c.arguments != "" || len(args) == 0:
		return nil
	case slices.Contains([]string{"h", "help"}, strings.TrimLeft(args[0], "-")):
		return flag.ErrHelp
	}
	return usageError{fmt.Errorf("%s takes no arguments, not %q", c.name, args[0])}
}

// mistake is an error on the command line, with where to look.
func (c *subcommand) mistake(err error) error {
	return usageError{fmt.Errorf("%w (memoryd help %s lists the flags)", err, c.name)}
}

// execute runs a command with its arguments, or prints its help.
func (c *subcommand) execute(ctx context.Context, args []string, s streams) error {
	cfg, rest, err := c.parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return c.help(s.out)
	}
	if err != nil {
		return err
	}
	if c.takesFlags() {
		warnUnknown(cfg.logger(s.err), os.Environ())
	}
	return c.run(ctx, cfg, rest, s)
}
