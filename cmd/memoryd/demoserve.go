package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/client"
	"github.com/memoryd/memoryd/console"
	"github.com/memoryd/memoryd/server"
)

// later is told after the demo's conversation where its data is served: facts that take
// the place of others, a tool, state, words that try to instruct the agent, another user.
//
//go:embed demoserve.json
var later []byte

// demoFlags defines the flag of the demo alone.
func demoFlags(fs *flag.FlagSet, cfg *config) {
	fs.BoolVar(&cfg.demoServe, "serve", false,
		"tell more of the story, and serve its data with the console until an interrupt")
}

// checkServe refuses an address of the demo that other machines can reach: it has no keys.
func (c *config) checkServe() error {
	if err := c.checkListen(); err != nil {
		return err
	}
	if c.exposed() {
		return fmt.Errorf("-listen %s: the demo has no keys: want an address of loopback, such as 127.0.0.1:8080",
			c.listen)
	}
	return nil
}

// serve opens the data once more, tells the rest of the story, and serves it until ctx is
// over.
func (d *story) serve(ctx context.Context, dir string, on net.Listener) error {
	log := slog.New(slog.DiscardHandler)
	bank, err := memoryd.Open(ctx, dir, &memoryd.Options{
		Server: server.Options{Console: console.New(), Version: version()}, Log: log})
	if err != nil {
		return err
	}
	if err := tell(ctx, bank); err != nil {
		return errors.Join(err, bank.Close())
	}
	d.say("Look at it all: http://%s/console#/?tour=1\nAn interrupt ends the demo and removes its data.", on.Addr())
	hs := (&app{log: log}).httpServer()
	hs.Handler = bank
	served := make(chan error, 1)
	go func() { served <- hs.Serve(server.Listener(on)) }()
	select {
	case err = <-served:
	case <-ctx.Done():
		bank.Stop()
		within, cancel := context.WithTimeout(context.Background(), shutdownTime)
		defer cancel()
		if hs.Shutdown(within) != nil {
			err = hs.Close()
		}
	}
	return errors.Join(err, bank.Close())
}

// tell appends the rest of the story, as an agent does while it talks, and has memories
// made of it.
func tell(ctx context.Context, bank *memoryd.Bank) error {
	var sessions []struct {
		User   string         `json:"user"`
		ID     string         `json:"id"`
		Events []client.Event `json:"events"`
	}
	if err := json.Unmarshal(later, &sessions); err != nil {
		return err
	}
	app := client.InProcess(bank)
	for _, s := range sessions {
		user := app.User("demo", s.User)
		if _, err := user.CreateSession(ctx, client.NewSession{ID: s.ID}); err != nil {
			return err
		}
		if _, err := user.Append(ctx, s.ID, "", s.Events...); err != nil {
			return err
		}
		op, err := user.AddSession(ctx, s.ID, true)
		if err != nil {
			return err
		}
		if op.Error != nil {
			return op.Error
		}
	}
	return nil
}
