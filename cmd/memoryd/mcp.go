package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os/user"
	"strings"

	"github.com/memoryd/memoryd/client"
	"github.com/memoryd/memoryd/mcp"
	"github.com/memoryd/memoryd/memory"
)

const mcpUsage = `memoryd mcp speaks the Model Context Protocol on stdin and stdout: what a host of agents
starts. The memory is that of the memoryd at -listen, which it becomes itself while there is
none, or of the one that -server names.

Flags, each also an environment variable (-user is MEMORYD_USER), beside those of serve for
when it is the memoryd itself (memoryd -help lists them):
`

// mcpConfig is what the flags of memoryd mcp say.
type mcpConfig struct {
	config
	server string
	scope  memory.Scope
}

// mcpFlags defines the flags that memoryd mcp has beside those of serve.
func mcpFlags(fs *flag.FlagSet, c *mcpConfig) *flag.FlagSet {
	fs.StringVar(&c.server, "server", "", "`URL` of a memoryd that runs elsewhere, such as http://127.0.0.1:8080; none is started then")
	fs.StringVar(&c.scope.App, "app", "default", "the `app` whose memory it is")
	fs.StringVar(&c.scope.User, "user", account(), "the `user` whose memory it is; by default the one of this account")
	return fs
}

// account is the name of whoever runs this, "" if that has none.
func account() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username[strings.LastIndex(u.Username, `\`)+1:] // on Windows it begins with a domain
}

func parseMCP(args []string, stderr io.Writer) (mcpConfig, error) {
	var c mcpConfig
	fs := mcpFlags(flags(&c.config), &c)
	err := readFlags(fs, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stderr, mcpUsage)
		own := mcpFlags(flag.NewFlagSet("", flag.ContinueOnError), &mcpConfig{})
		own.SetOutput(stderr)
		own.PrintDefaults()
		return c, err
	case err != nil:
		return c, mcpMistake(err)
	case fs.NArg() > 0:
		return c, mcpMistake(fmt.Errorf("unexpected argument %q", fs.Arg(0)))
	}
	if err := c.scope.Validate(); err != nil {
		return c, mcpMistake(fmt.Errorf("-app, -user: %w", err))
	}
	if c.server == "" {
		if err := c.check(); err != nil {
			return c, mcpMistake(err)
		}
	}
	return c, nil
}

func mcpMistake(err error) error {
	return usageError{fmt.Errorf("%w (memoryd mcp -h lists the flags)", err)}
}

// overMCP serves one host, until it closes stdin or ctx is over. Nothing but the
// protocol is written to stdout.
func overMCP(ctx context.Context, args []string, stdin io.ReadCloser, stdout, stderr io.Writer) error {
	cfg, err := parseMCP(args, stderr)
	if err != nil {
		return err
	}
	log := cfg.logger(stderr)
	opts := &mcp.Options{Version: version(), Log: log}
	if cfg.server != "" {
		c, err := client.New(cfg.server, nil)
		if err != nil {
			return mcpMistake(fmt.Errorf("-server: %w", err))
		}
		return mcp.Run(ctx, c.User(cfg.scope.App, cfg.scope.User), opts, stdin, unclosed{stdout})
	}
	ctx, leave := context.WithCancel(ctx)
	k := newKeeper(cfg.config, log, stderr)
	defer k.wait()
	defer leave()
	if err := k.keep(ctx, ctx); err != nil {
		return err
	}
	b, err := k.bank(ctx, cfg.scope)
	if err != nil {
		return err
	}
	return mcp.Run(ctx, b, opts, stdin, unclosed{stdout})
}

// unclosed is a writer that is somebody else's to close.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
