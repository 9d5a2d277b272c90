package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/server"
)

// closedFlagNames are the flags of serve that are about who may call.
func closedFlagNames() []string { return []string{"bootstrap-key-file"} }

func closedFlags(fs *flag.FlagSet, cfg *config) {
	fs.StringVar(&cfg.bootstrap, "bootstrap-key-file", "",
		"`FILE` with a key of memoryd keys generate, which is an admin of all apps if there is no key yet")
}

// checkBootstrap reads the key of -bootstrap-key-file.
func (c *config) checkBootstrap() error {
	if c.bootstrap == "" {
		return nil
	}
	key, err := readKeyFile(c.bootstrap)
	if err != nil {
		return fmt.Errorf("-bootstrap-key-file: %w", err)
	}
	if _, _, ok := access.Split(key); !ok {
		return fmt.Errorf("-bootstrap-key-file %s: that is no key: memoryd keys generate prints one", c.bootstrap)
	}
	return nil
}

// admitBootstrap makes the key of -bootstrap-key-file an admin of all apps, unless keys
// were made before: then a key that was revoked must not come back.
func (a *app) admitBootstrap(ctx context.Context, keys access.Keys) error {
	if a.cfg.bootstrap == "" {
		return nil
	}
	revision, err := keys.KeysRevision(ctx)
	if err != nil || revision > 0 {
		return err
	}
	shown, err := readKeyFile(a.cfg.bootstrap)
	if err != nil {
		return fmt.Errorf("-bootstrap-key-file: %w", err)
	}
	id, secret, _ := access.Split(shown) // check has looked at it
	err = keys.CreateKey(ctx, access.Key{ID: id, Name: "bootstrap", App: access.AllApps,
		Can: access.Read | access.Write | access.Admin, Hash: access.HashSecret(secret), CreateTime: time.Now()})
	if errors.Is(err, memory.ErrExists) { // another process starts at this moment
		return nil
	}
	if err == nil {
		a.log.Info("the key of -bootstrap-key-file is an admin of all apps now", "key", id)
	}
	return err
}

// closeDoors admits the first key, and refuses to serve an address that others can
// reach while callers need no key.
func (a *app) closeDoors(ctx context.Context) error {
	if err := a.admitBootstrap(ctx, a.stores.Sessions); err != nil {
		return err
	}
	if a.issuer != nil { // a memoryd that had an issuer once stays closed without it
		return a.stores.Sessions.RequireKeys(ctx)
	}
	if !a.cfg.exposed() && !a.cfg.vertexExposed() || a.cfg.insecure {
		return nil
	}
	revision, err := a.stores.Sessions.KeysRevision(ctx)
	switch {
	case err != nil || revision > 0:
		return err
	case a.cfg.exposed():
		return a.cfg.errOpen()
	}
	return a.cfg.errVertexOpen()
}

// checkDoors is closeDoors as far as it can be told without opening a store: a file that
// is not there has no keys, and a start that is refused must not make it.
func (c *config) checkDoors() error {
	if !c.exposed() || c.insecure || c.bootstrap != "" || c.issuer.issuer != "" || !inFile(c.sessions) {
		return nil
	}
	if _, err := os.Stat(c.sessions); errors.Is(err, os.ErrNotExist) {
		return c.errOpen()
	}
	return nil
}

// errOpen is the error of a start that would let others in without a key.
func (c *config) errOpen() error {
	return fmt.Errorf("-listen %s: others could reach that address and read and write everything,"+
		" as there are no keys yet: make one (memoryd keys create), give -bootstrap-key-file or -oidc-issuer,"+
		" listen on 127.0.0.1, or add -insecure if you want that", c.listen)
}

// exposed reports whether other machines can reach -listen.
func (c *config) exposed() bool { return !server.Loopback(c.listen) }
