package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os/user"
	"strings"

	"github.com/memoryd/memoryd/client"
	"github.com/memoryd/memoryd/mcp"
	"github.com/memoryd/memoryd/memory"
)

// mcpConfig is what the flags of memoryd mcp say beside those of serve.
type mcpConfig struct {
	scope memory.Scope
}

// mcpCommand checks its flags itself: with -server those of serve do not count,
// and a host that starts it may run where they would be refused.
func mcpCommand() *subcommand {
	c := &subcommand{
		name: "mcp", summary: "Speak the Model Context Protocol on stdin and stdout.",
		details: `Editors and other hosts of agents start it. The memory is that of the memoryd at
-listen. While there is none, this process becomes it, with the flags of serve.
With -server it is the memory of the memoryd at that URL.`,
		example: "memoryd mcp -app notes -user ann",
		uses:    serveFlagNames(), own: mcpFlags, unchecked: true,
	}
	c.run = func(ctx context.Context, cfg *config, _ []string, s streams) error {
		if err := cfg.checkMCP(); err != nil {
			return c.mistake(err)
		}
		return serveMCP(ctx, cfg, s)
	}
	return c
}

// mcpFlags defines the flags that only mcp has. The model never chooses the
// scope: the flags do.
func mcpFlags(fs *flag.FlagSet, cfg *config) {
	remoteFlags(fs, cfg)
	fs.StringVar(&cfg.mcp.scope.App, "app", "default", "`APP` that the memory is of")
	fs.StringVar(&cfg.mcp.scope.User, "user", account(), "`USER` that the memory is of; by default this account's")
}

// account is the name of the user that runs this process, "" if it has none.
func account() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username[strings.LastIndex(u.Username, `\`)+1:] // on Windows it begins with a domain
}

// checkMCP checks what mcp reads: the flags of serve only if it may become a
// memoryd itself.
func (c *config) checkMCP() error {
	if err := c.mcp.scope.Validate(); err != nil {
		return fmt.Errorf("-app, -user: %w", err)
	}
	if _, err := c.shownKey(); err != nil {
		return err
	}
	if c.server == "" {
		if err := c.check(); err != nil {
			return err
		}
		return c.checkDoors()
	}
	if _, err := client.New(c.server, nil); err != nil {
		return fmt.Errorf("-server: %w", err)
	}
	return nil
}

// serveMCP serves one host, until it closes stdin or ctx is over. It writes
// nothing but the protocol to stdout.
func serveMCP(ctx context.Context, cfg *config, s streams) error {
	log, scope := cfg.logger(s.err), cfg.mcp.scope
	opts := &mcp.Options{Version: version(), Log: log}
	if cfg.server != "" {
		key, err := cfg.shownKey()
		if err != nil {
			return err
		}
		transport, err := cfg.network.remote()
		if err != nil {
			return err
		}
		c, err := client.New(cfg.server, &client.Options{Key: key, Transport: transport})
		if err != nil {
			return err
		}
		return mcp.Run(ctx, c.User(scope.App, scope.User), opts, s.in, unclosed{s.out})
	}
	// On the way out the context ends first, and then the memoryd that this process
	// may have become is waited for.
	ctx, leave := context.WithCancel(ctx)
	sup := newSupervisor(cfg, log, s.err)
	defer sup.wait()
	defer leave()
	if err := sup.ensure(ctx, ctx); err != nil {
		return err
	}
	bank, err := sup.bank(ctx, scope)
	if err != nil {
		return err
	}
	return mcp.Run(ctx, bank, opts, s.in, unclosed{s.out})
}

// unclosed is a writer that its owner closes.
type unclosed struct{ io.Writer }

// Close implements io.Closer.
func (unclosed) Close() error { return nil }
