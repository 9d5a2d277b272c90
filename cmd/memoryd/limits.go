package main

import (
	"flag"
	"fmt"
	"math"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/memoryd/memoryd/internal/assembly"
	"github.com/memoryd/memoryd/server"
	"github.com/memoryd/memoryd/sessionstore"
)

// limits bound what requests hold at a time, and what state they leave behind.
type limits struct {
	body        int64
	bodies      int64
	answers     int64
	state       int64
	connections int
}

// limitFlagNames are the flags of serve that are about limits of requests.
func limitFlagNames() []string {
	return []string{"max-body", "max-bodies", "max-answers", "max-state", "max-connections"}
}

// defaultConnections is more than the watchers that there may be by default. A
// connection takes some 20 KB.
const defaultConnections = 4096

func limitFlags(fs *flag.FlagSet, l *limits) {
	fs.Int64Var(&l.body, "max-body", server.DefaultMaxBody, "`BYTES` of the body of one request")
	fs.Int64Var(&l.bodies, "max-bodies", server.DefaultMaxBodies,
		"`BYTES` of memory for the bodies of all requests at a time; each takes three times its size")
	fs.Int64Var(&l.answers, "max-answers", server.DefaultMaxAnswers,
		"`BYTES` that are held of large answers, all requests together")
	fs.Int64Var(&l.state, "max-state", sessionstore.DefaultMaxState,
		"`BYTES` of the state of a session, of a user and of an app, each")
	fs.IntVar(&l.connections, "max-connections", defaultConnections,
		"`NUMBER` of connections that are served at a time; others wait")
}

// Limits below these refuse what ordinary clients send.
const (
	minBody    = 64 << 10
	minState   = 4 << 10
	minAnswers = sessionstore.MaxListBytes // so that a page of a list has room
)

func (l *limits) check() error {
	for _, f := range []struct {
		name       string
		value, min int64
	}{
		{"max-body", l.body, minBody}, {"max-bodies", l.bodies, l.body}, {"max-answers", l.answers, minAnswers},
		{"max-state", l.state, minState}, {"max-connections", int64(l.connections), 1},
	} {
		if f.value < f.min {
			return fmt.Errorf("-%s %d: want %d or more", f.name, f.value, f.min)
		}
	}
	return nil
}

// softLimit tells Go's collector to work harder before the process takes more than
// what the limits add up to. It is a help and no bound: what is held has its bounds
// by the limits themselves. GOMEMLIMIT has precedence.
func (c *config) softLimit() {
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(c.cacheBytes + c.limits.bodies + 2*c.limits.answers + workBytes)
	}
}

// workBytes is for the rest: batches of the workers, connections, caches of SQLite.
const workBytes = 192 << 20

// cacheShare is the part of the memory that indexes of memories in Qdrant get by default.
// Half of the cache is for one user at most, and the index of a million memories without
// their vectors takes .6 to 1.2 GB: there is room for it from some 16 GiB on.
const cacheShare = 8

// defaultCache is how many bytes of memories searches keep by default. Those of Qdrant
// get more on a larger machine: a user without an index is searched by its lists, in more
// calls. Over the embedded file there are always indexes, so the default is small.
func (c *config) defaultCache() int64 {
	if !inQdrant(c.memories) {
		return assembly.DefaultCacheBytes
	}
	least := uint64(0) // on a system that does not tell
	for _, limit := range []memlimit.Provider{memlimit.FromSystem, memlimit.FromCgroup} {
		if n, err := limit(); err == nil && (least == 0 || n < least) {
			least = n
		}
	}
	return max(assembly.DefaultCacheBytes, int64(least/cacheShare))
}
