package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// helpWidth is the width of help in columns, so that it reads well at 80.
const helpWidth = 78

// helpCommand shows help on stdout, since it is what was asked for: it can be
// piped into a pager.
func helpCommand() *subcommand {
	return &subcommand{
		name: "help", arguments: "[COMMAND]", summary: "Show what memoryd or a command takes.",
		example: "memoryd help serve",
		run: func(_ context.Context, _ *config, args []string, s streams) error {
			if len(args) == 0 {
				return overview(s.out)
			}
			c, rest, err := find(args)
			if err == nil && (len(rest) > 0 || strings.HasPrefix(args[0], "-")) {
				err = usageError{fmt.Errorf("help: no command %q", strings.Join(args, " "))}
			}
			if err != nil {
				return err
			}
			return c.help(s.out)
		}}
}

// overview lists the commands.
func overview(w io.Writer) error {
	var out strings.Builder
	out.WriteString(`memoryd is a memory bank for agents: it stores their sessions, makes memories of
them, and finds those again by meaning.

Usage: memoryd [COMMAND] [flags]

Commands (serve if there is none):

`)
	for _, c := range commands() {
		if c.name != "eval extraction" { // the longer name of eval
			fmt.Fprintf(&out, "  %-15s %s\n", c.name, c.summary)
		}
	}
	out.WriteString(`
memoryd help COMMAND shows what a command takes: its arguments, its flags with
their defaults and environment variables, and an example.
`)
	_, err := io.WriteString(w, out.String())
	return err
}

// usage is what follows the name of the command on a command line.
func (c *subcommand) usage() string {
	var words []string
	if c.takesFlags() {
		words = append(words, "[flags]")
	}
	if c.arguments != "" {
		words = append(words, c.arguments)
	}
	return strings.Join(words, " ")
}

// help shows what the command does and takes, and an example.
func (c *subcommand) help(w io.Writer) error {
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n\nUsage: %s\n", c.summary, strings.TrimSpace("memoryd "+c.name+" "+c.usage()))
	if c.details != "" {
		for paragraph := range strings.SplitSeq(c.details, "\n\n") {
			fmt.Fprintf(&out, "\n%s\n", wrap("", paragraph, "", helpWidth))
		}
	}
	if c.takesFlags() {
		fmt.Fprintf(&out, "\nFlags, each with its environment variable:\n")
		fs := c.flagSet(&config{})
		names := c.uses
		if c.own != nil {
			names = append(ownNames(c.own), names...)
		}
		for _, name := range names {
			c.writeFlag(&out, fs.Lookup(name))
		}
	}
	fmt.Fprintf(&out, "\nExample:\n\n  %s\n", c.example)
	_, err := io.WriteString(w, out.String())
	return err
}

// ownNames are the names of the flags that own defines.
func ownNames(own func(*flag.FlagSet, *config)) (names []string) {
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	own(fs, &config{})
	fs.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	return names
}

// flagIndent stands before what a flag does.
const flagIndent = "      "

// writeFlag shows one flag: its value, its variable, its default, and what it
// does.
func (c *subcommand) writeFlag(out *strings.Builder, f *flag.Flag) {
	value, text := flag.UnquoteUsage(f)
	head := "  -" + f.Name
	if value != "" {
		head += " " + value
	}
	fmt.Fprintf(out, "\n%-36s %s\n", head, c.variable(f.Name))
	// A switch is off by default, and an empty default is explained in the text.
	if f.DefValue != "" && f.DefValue != "false" {
		text += " (default: " + f.DefValue + ")"
	}
	fmt.Fprintln(out, wrap(flagIndent, text, flagIndent, helpWidth))
}

// wrap puts text behind first and breaks it into lines of some columns. Lines
// after the first begin with indent.
func wrap(first, text, indent string, width int) string {
	out := strings.Builder{}
	out.WriteString(first)
	column := utf8.RuneCountInString(first)
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+n > width:
			out.WriteString("\n" + indent)
			column = len(indent)
		default:
			out.WriteByte(' ')
			column++
		}
		out.WriteString(word)
		column += n
	}
	return out.String()
}
