package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/internal/assembly"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/qdrantstore"
	"github.com/memoryd/memoryd/sessionstore/redissession"
)

// condition is what came of a check of doctor.
type condition string

// The conditions.
const (
	fine    condition = "ok"
	warning condition = "warning" // memoryd starts, and an operator should know
	failing condition = "failed"  // memoryd does not start, or does not work
)

// Bounds of doctor.
const (
	doctorTime = 20 * time.Second // for one check
	// clockApart is how far the clocks of this machine and of Redis may be apart. Leases
	// and limits go by the clock of Redis, and the times of events by this one.
	clockApart = 5 * time.Second
	spareFiles = 64      // open files beside connections: stores, logs, models
	leastSpace = 1 << 30 // bytes of free disk, below which doctor warns
	soonOver   = 14 * 24 * time.Hour
)

// errUnwell is the error of a doctor that has found something failing.
var errUnwell = errors.New("something does not work: see the lines that begin with failed")

// doctor checks a configuration, a part at a time.
type doctor struct {
	cfg     *config
	out     io.Writer
	failed  bool
	stores  *assembly.Stores // that this process has opened
	beside  bool             // a memoryd that runs has the data
	unknown bool             // the sessions cannot be read
}

// doctorCommand checks a configuration before it is served, or beside the memoryd that
// serves it.
func doctorCommand() *subcommand {
	return &subcommand{
		name: "doctor", summary: "Check everything that a memoryd with these flags needs, and say what to do.",
		details: `It takes the flags and variables of memoryd serve. Each line is one check: ok, warning
or failed, what was found, and what to do. It makes no store, and prints no secret. The
exit status is 1 if a check has failed. If a memoryd that runs has the data, that one is
asked how its stores are.`,
		example: "memoryd doctor -sessions redis://127.0.0.1:6379 -memories qdrant://127.0.0.1:6334",
		uses:    serveFlagNames(),
		run: func(ctx context.Context, cfg *config, _ []string, s streams) (err error) {
			d := &doctor{cfg: cfg, out: s.out, stores: newStores()}
			defer func() { err = errors.Join(err, d.stores.Close()) }()
			fmt.Fprintf(s.out, "memoryd %s\n", version())
			for _, check := range []func(context.Context){d.space, d.sessions, d.memories, d.keys, d.model, d.address,
				d.certificate, d.files} {
				within, cancel := context.WithTimeout(ctx, doctorTime)
				check(within)
				cancel()
			}
			if d.failed {
				return errUnwell
			}
			return ctx.Err()
		},
	}
}

// say prints the line of a check.
func (d *doctor) say(v condition, what, format string, args ...any) {
	d.failed = d.failed || v == failing
	fmt.Fprintf(d.out, "%-8s %-11s %s\n", v, what, fmt.Sprintf(format, args...))
}

// space looks at the disks of embedded files.
func (d *doctor) space(context.Context) {
	seen := map[string]bool{}
	for _, place := range []string{d.cfg.sessions, d.cfg.memories} {
		dir := filepath.Dir(place)
		if !inFile(place) || place == sqlitedb.Memory || seen[dir] {
			continue
		}
		seen[dir] = true
		for there := false; !there; { // the directory is made at the first start
			_, err := os.Stat(dir)
			if there = err == nil || dir == filepath.Dir(dir); !there {
				dir = filepath.Dir(dir)
			}
		}
		free, err := sqlitedb.Free(dir)
		switch {
		case err != nil:
			d.say(warning, "space", "%s: %v", dir, err)
		case free < leastSpace:
			d.say(warning, "space", "%d MB are free in %s: writes fail on a full disk; make room", free>>20, dir)
		default:
			d.say(fine, "space", "%d GB are free in %s", free>>30, dir)
		}
	}
}

// sessions looks at the session store.
func (d *doctor) sessions(ctx context.Context) {
	place := d.cfg.sessions
	if inFile(place) {
		if d.missing("sessions", place) {
			return
		}
	}
	err := openSessions(ctx, d.cfg, d.stores)
	if errors.Is(err, sqlitedb.ErrInUse) {
		d.askBeside(ctx, "sessions")
		return
	}
	if err != nil {
		d.unknown = true
		d.say(failing, "sessions", "%v", err)
		return
	}
	r, ok := d.stores.Sessions.(*redissession.Store)
	if !ok {
		d.say(fine, "sessions", "%s", where(d.cfg))
		return
	}
	r.Look(ctx, slog.New(slog.DiscardHandler))
	if err := r.Check(ctx); err != nil {
		d.say(failing, "sessions", "%s: %v", shown(place), err)
	} else if note := r.Note(); note != "" {
		d.say(warning, "sessions", "%s: %s", shown(place), note)
	} else {
		d.say(fine, "sessions", "%s", shown(place))
	}
	switch apart, err := r.ClockApart(ctx); {
	case err != nil:
		d.say(warning, "clock", "the clock of Redis was not read: %v", err)
	case apart.Abs() > clockApart:
		d.say(warning, "clock", "the clock of Redis is %v ahead of this machine's: run NTP on both",
			apart.Round(time.Second))
	default:
		d.say(fine, "clock", "those of Redis and of this machine are less than %v apart", clockApart)
	}
}

// missing says that a file is not there yet.
func (d *doctor) missing(what, place string) bool {
	if place == sqlitedb.Memory {
		d.say(warning, what, "in memory alone: everything is gone when memoryd stops")
		return true
	}
	if _, err := os.Stat(place); !errors.Is(err, os.ErrNotExist) {
		return false
	}
	d.say(fine, what, "%s is not there yet: the first start makes it", place)
	return true
}

// askBeside asks the memoryd that has the data how its stores are.
func (d *doctor) askBeside(ctx context.Context, store string) {
	d.beside = true
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/readyz", nil)
	if err != nil {
		d.say(failing, store, "%v", err)
		return
	}
	transport := socketTransport(d.cfg.socket())
	defer transport.CloseIdleConnections()
	res, err := transport.RoundTrip(req)
	if err != nil {
		d.say(failing, store, "a process has the data and does not answer at the socket beside it: %v", err)
		return
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, 1<<16))
	if err != nil || res.StatusCode != http.StatusOK {
		d.say(failing, store, "the memoryd that has the data says: %s", answer)
		return
	}
	d.say(fine, store, "a memoryd that runs has the data, and says: %s", bytes.TrimSpace(answer))
}

// memories looks at the memory store.
func (d *doctor) memories(ctx context.Context) {
	embedder, err := newEmbedder(d.cfg.embedder, d.cfg.dimension)
	if err != nil {
		d.say(warning, "memories", "not looked at, as it is not known of which embedder they must be")
		return
	}
	want := memoryd.ModelOf(embedder)
	if inQdrant(d.cfg.memories) {
		d.qdrant(ctx, want)
		return
	}
	if d.beside && d.cfg.oneFile() || d.missing("memories", d.cfg.memories) {
		return
	}
	switch is, err := d.stores.StoredModel(d.cfg.memories, d.cfg.oneFile()); {
	case errors.Is(err, sqlitedb.ErrInUse):
		d.askBeside(ctx, "memories")
	case errors.Is(err, memory.ErrNotFound):
		d.say(fine, "memories", "%s has none yet", d.cfg.memories)
	case err != nil:
		d.say(failing, "memories", "%v", err)
	case is != want:
		d.say(failing, "memories", "%s has those of another embedder or version (%s): run memoryd reembed",
			d.cfg.memories, is.Embedder)
	default:
		d.say(fine, "memories", "%s", d.cfg.memories)
	}
}

// qdrant looks at a Qdrant, and makes no collection.
func (d *doctor) qdrant(ctx context.Context, want memory.Model) {
	all, err := qdrantstore.StoredModels(ctx, d.cfg.memories, nil)
	if err != nil {
		d.say(failing, "memories", "%v", err)
		return
	}
	for _, is := range all {
		if is == want {
			d.say(fine, "memories", "%s", shown(d.cfg.memories))
			return
		}
	}
	if len(all) > 0 {
		d.say(failing, "memories", "%s has those of another embedder or version: run memoryd reembed",
			shown(d.cfg.memories))
		return
	}
	d.say(fine, "memories", "%s has no collection yet: the first start makes it", shown(d.cfg.memories))
}

// keys looks at who may call.
func (d *doctor) keys(ctx context.Context) {
	revision := int64(0)
	if d.stores.Sessions != nil && !d.unknown {
		var err error
		if revision, err = d.stores.Sessions.KeysRevision(ctx); err != nil {
			d.say(failing, "keys", "%v", err)
			return
		}
	}
	switch {
	case d.unknown:
		d.say(warning, "keys", "not looked at, as they are with the sessions")
	case d.beside && d.stores.Sessions == nil:
		d.say(fine, "keys", "memoryd keys list shows those of the memoryd that runs")
	case revision > 0 || d.cfg.issuer.issuer != "":
		d.say(fine, "keys", "every caller must show a key, or a token of the issuer")
	case d.cfg.bootstrap != "":
		d.say(fine, "keys", "the first start admits the key of -bootstrap-key-file")
	case !d.cfg.exposed():
		d.say(fine, "keys", "there are none: every process of this machine may read and write everything")
	case d.cfg.insecure:
		d.say(warning, "keys", "-insecure: everybody who reaches %s may read and write everything; make a key",
			d.cfg.listen)
	default:
		d.say(failing, "keys", "%v", d.cfg.errOpen())
	}
}

// model asks the embedder for one vector. Models that find facts are not asked: a call
// costs tokens.
func (d *doctor) model(ctx context.Context) {
	models, err := newModels(d.cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		d.say(failing, "model", "%v", err)
		return
	}
	is := models.embedder.Model()
	if !is.Remote {
		d.say(fine, "model", "the built-in embedder, %d numbers a vector", is.Dimension)
		return
	}
	vectors, err := embed.Vectors(ctx, models.embedder, embed.Document, []string{probeText})
	switch {
	case err != nil:
		d.say(failing, "model", "%s makes no vectors: %v", is.Name, err)
	case len(vectors) != 1 || len(vectors[0]) != is.Dimension:
		d.say(failing, "model", "%s makes vectors of another length than %d: see -embedding-dimension", is.Name,
			is.Dimension)
	default:
		d.say(fine, "model", "%s makes vectors of %d numbers", is.Name, is.Dimension)
	}
}

// address looks whether -listen is free.
func (d *doctor) address(context.Context) {
	on, err := net.Listen("tcp", d.cfg.listen)
	switch {
	case err != nil && d.beside:
		d.say(fine, "listen", "%s is taken, as by the memoryd that runs", d.cfg.listen)
	case err != nil:
		d.say(failing, "listen", "%v: name another address with -listen", err)
	default:
		_ = on.Close() // nothing came of it
		d.say(fine, "listen", "%s is free", d.cfg.listen)
	}
}

// certificate looks at the files of TLS.
func (d *doctor) certificate(context.Context) {
	pair, err := d.cfg.network.certificate(slog.New(slog.DiscardHandler))
	if err != nil {
		d.say(failing, "tls", "%v", err)
		return
	}
	if pair == nil {
		if d.cfg.exposed() {
			d.say(warning, "tls", "none: keys and memories cross the network in clear unless a proxy encrypts them")
		}
		return
	}
	cert, err := pair.Get(nil)
	if err != nil || cert.Leaf == nil {
		d.say(failing, "tls", "-tls-cert %s cannot be read: %v", d.cfg.network.cert, err)
		return
	}
	leaf := cert.Leaf
	switch left := time.Until(leaf.NotAfter); {
	case left < 0:
		d.say(failing, "tls", "the certificate has expired on %s: renew it", leaf.NotAfter.Format(time.DateOnly))
	case time.Now().Before(leaf.NotBefore):
		d.say(failing, "tls", "the certificate counts from %s on: look at the clock",
			leaf.NotBefore.Format(time.DateOnly))
	case left < soonOver:
		d.say(warning, "tls", "the certificate ends on %s: renew it", leaf.NotAfter.Format(time.DateOnly))
	default:
		d.say(fine, "tls", "a certificate for %v until %s", leaf.DNSNames, leaf.NotAfter.Format(time.DateOnly))
	}
	for _, host := range d.cfg.network.hosts {
		if err := leaf.VerifyHostname(host); err != nil {
			d.say(warning, "tls", "-host %s: %v", host, err)
		}
	}
}

// files looks how many files the process may have open.
func (d *doctor) files(context.Context) {
	most, ok := maxOpenFiles()
	switch {
	case !ok:
		return
	case most < uint64(d.cfg.limits.connections+spareFiles):
		d.say(warning, "limits", "a process may have %d files open, and -max-connections is %d: raise the limit"+
			" (ulimit -n, LimitNOFILE) or lower the flag", most, d.cfg.limits.connections)
	default:
		d.say(fine, "limits", "%d open files, %d connections", most, d.cfg.limits.connections)
	}
}
