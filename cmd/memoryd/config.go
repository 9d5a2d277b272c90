package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/quota"
	"github.com/memoryd/memoryd/retrieve"
	"github.com/memoryd/memoryd/server"
	"github.com/memoryd/memoryd/tools"
)

// config is what the flags and the environment say.
type config struct {
	listen         string
	insecure       bool
	console        bool
	loopbackNames  bool
	untilEOF       bool
	data           string
	sessions       string // URL; after check, of SQLite the path of the file
	sessionTTL     time.Duration
	memories       string // the same
	embedder       string
	dimension      int
	extractor      string
	fallback       string
	batchTokens    int // of a conversation that a model is given at a time
	reranker       string
	reranked       int // matches that the reranker sees
	expander       string
	preloadTimeout time.Duration // for a search of preload_memory
	timeZone       string
	zone           *time.Location // after check: of timeZone; nil for UTC
	workers        int
	requests       int           // in progress
	queueTime      time.Duration // that a request waits for its turn
	cacheBytes     int64         // of the indexes of memories; after check: not 0
	reserve        int64         // bytes of the disk that are kept for deletions
	maxWatchers    int
	sweepAfter     time.Duration // that expired memories stay; 0: for ever
	limits         limits
	issuer         issuerConfig
	network        network
	quotas         quotas // of one key, app and user
	telemetry      telemetryConfig
	vertex         vertexConfig
	vertexCommand  vertexCommandConfig
	logFormat      string
	logLevel       string

	bootstrap string // file of the first key
	audit     auditConfig

	server     string // URL of a memoryd that a command asks
	keyFile    string // of the key that a command shows
	keys       keysConfig
	mcp        mcpConfig
	moveIn     moveInConfig
	host       hostConfig
	demoServe  bool // of demo
	quality    qualityConfig
	confidence confidenceConfig
	story      string // of eval stories: the name of one
	bench      benchConfig
	whole      checkConfig
	again      bool // of rebuild: into the memory store that the sessions have
}

// serverFlagNames are the flags of serve that are about requests and work.
func serverFlagNames() []string {
	return slices.Concat([]string{"listen", "insecure", "console", "loopback-names", "time-zone", "preload-timeout",
		"workers", "cache-bytes", "delete-reserve", "sweep-after", "max-watchers", "requests", "queue-time"},
		closedFlagNames(), auditFlagNames(), issuerFlagNames(), networkFlagNames(), limitFlagNames(), quota.Flags(),
		vertexFlagNames())
}

// storeFlagNames are the flags of serve that are about the places of the data.
func storeFlagNames() []string { return []string{"data", "sessions", "session-ttl", "memories"} }

// embedderFlagNames are the flags that every command with a memory store has: a
// store is opened for the model of one embedder.
func embedderFlagNames() []string { return []string{"embedder", "embedding-dimension"} }

// modelFlagNames are the flags of serve that are about models.
func modelFlagNames() []string {
	return append(embedderFlagNames(),
		"extractor", "extractor-fallback", "extractor-tokens", "reranker", "reranker-matches", "expander")
}

// logFlagNames are the flags of commands that write a log.
func logFlagNames() []string { return []string{"log-format", "log-level"} }

// serveFlags defines the flags of serve on cfg, with their defaults.
func serveFlags(cfg *config) *flag.FlagSet {
	fs := flag.NewFlagSet("memoryd", flag.ContinueOnError)
	fs.StringVar(&cfg.listen, "listen", "127.0.0.1:8080", "`ADDRESS` to serve; port 0 takes a free port")
	fs.BoolVar(&cfg.insecure, "insecure", false,
		"serve an address that others can reach although there are no keys: everybody can read and write everything")
	fs.BoolVar(&cfg.console, "console", true, "serve the page that shows what is remembered, at /console")
	fs.BoolVar(&cfg.loopbackNames, "loopback-names", false,
		"serve only requests for loopback names, as on loopback: for a container whose port is published there")
	fs.BoolVar(&cfg.untilEOF, "until-eof", false,
		"end when the standard input does: for a program that starts memoryd, and whose end is to end it too")
	fs.StringVar(&cfg.timeZone, "time-zone", "UTC",
		"`ZONE` of events and questions without an offset whose request names none, such as Europe/Lisbon")
	fs.StringVar(&cfg.data, "data", defaultData(),
		"`DIRECTORY` of the data, which is one SQLite file; :memory: keeps nothing")
	fs.StringVar(&cfg.sessions, "sessions", "",
		"`URL` of the session store: sqlite:FILE, redis://… or redis+cluster://…; by default the file in -data")
	fs.DurationVar(&cfg.sessionTTL, "session-ttl", 0,
		"`DURATION` after its last event or change at which a session expires that has no time of its own; 0 is never")
	fs.StringVar(&cfg.memories, "memories", "",
		"`URL` of the memory store: sqlite:FILE or qdrant://…; by default the file in -data")
	fs.StringVar(&cfg.embedder, "embedder", "builtin",
		"`MODEL` that makes vectors: builtin, gemini[:MODEL] or openai[:MODEL]")
	fs.IntVar(&cfg.dimension, "embedding-dimension", 0,
		"`NUMBERS` in a vector of the embedder; 0 is the model's default")
	fs.StringVar(&cfg.extractor, "extractor", "rules",
		"`MODEL` that finds facts: rules, gemini[:MODEL] or openai[:MODEL]")
	fs.StringVar(&cfg.fallback, "extractor-fallback", "",
		"`EXTRACTOR` that finds facts while a model fails: rules; the model's facts replace them later")
	fs.IntVar(&cfg.batchTokens, "extractor-tokens", extract.DefaultBudget,
		"`TOKENS` of a conversation that a model reads at a time")
	fs.StringVar(&cfg.reranker, "reranker", "none",
		"`MODEL` that orders the best matches of a search again: none, gemini[:MODEL] or openai[:MODEL]")
	fs.IntVar(&cfg.reranked, "reranker-matches", retrieve.DefaultReranked,
		"`MATCHES` of a search that the reranker sees")
	fs.StringVar(&cfg.expander, "expander", "none",
		"`MODEL` that guesses what might answer the query of a search: none, gemini[:MODEL] or openai[:MODEL]")
	fs.DurationVar(&cfg.preloadTimeout, "preload-timeout", tools.DefaultPreloadTimeout,
		"`DURATION` of a search by preload_memory, after which the turn goes on without it")
	// A worker mostly waits for a model or a store, so the number does not follow
	// the number of cores.
	fs.IntVar(&cfg.workers, "workers", 4, "`USERS` whose memories are made at a time")
	fs.Int64Var(&cfg.cacheBytes, "cache-bytes", 0,
		"`BYTES` of memories that searches keep in memory, all users together; 0 for 512 MiB,"+
			" and over Qdrant for an eighth of the memory there is, if that is more")
	fs.IntVar(&cfg.requests, "requests", server.DefaultRequests,
		"`REQUESTS` in progress at a time; one app may have as many as are free")
	fs.DurationVar(&cfg.queueTime, "queue-time", server.DefaultQueueTime,
		"`DURATION` that a request may wait for a processor or for its turn to write, behind others of its app")
	fs.Int64Var(&cfg.reserve, "delete-reserve", 16<<20,
		"`BYTES` of the disk that each embedded file keeps for deletions on a full disk; 0 keeps none")
	fs.DurationVar(&cfg.sweepAfter, "sweep-after", ingest.DefaultSweepAfter,
		"`DURATION` that an expired memory can be brought back, before it is removed for good; 0 removes none")
	fs.IntVar(&cfg.maxWatchers, "max-watchers", ingest.DefaultMaxWatchers,
		"`NUMBER` of streams and waiting requests that may watch operations at a time")
	closedFlags(fs, cfg)
	issuerFlags(fs, &cfg.issuer)
	networkFlags(fs, &cfg.network)
	auditFlags(fs, &cfg.audit)
	limitFlags(fs, &cfg.limits)
	quotaFlags(fs, &cfg.quotas)
	telemetryFlags(fs, &cfg.telemetry)
	vertexFlags(fs, &cfg.vertex)
	fs.StringVar(&cfg.logFormat, "log-format", "text", "`FORMAT` of the log: text or json")
	fs.StringVar(&cfg.logLevel, "log-level", "info", "`LEVEL` of the log: debug, info, warn or error")
	return fs
}

// defaultData is where programs of this user keep their data, by the habits of the
// system: the XDG base directories, Application Support on macOS, AppData on
// Windows. It is "" if the user has no home directory.
func defaultData() string {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "memoryd")
	}
	home, err := os.UserHomeDir()
	switch {
	case err != nil:
		return ""
	case runtime.GOOS == "windows" || runtime.GOOS == "darwin":
		if dir, err := os.UserConfigDir(); err == nil {
			return filepath.Join(dir, "memoryd")
		}
	}
	return filepath.Join(home, ".local", "share", "memoryd")
}

// check checks everything but what only one command reads, and fills in the
// places of the stores.
func (c *config) check() error {
	checks := []func() error{
		c.checkListen, c.checkBootstrap, c.audit.check, c.checkZone, c.checkPlaces, c.checkEmbedder,
		c.checkExtractor, c.checkServing, c.limits.check, c.checkQuotas, c.issuer.check, c.network.check,
		c.checkVertex, c.telemetry.check, c.checkLog}
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkListen refuses what is no address. Whether others may reach it depends on the
// keys: see app.closeDoors.
func (c *config) checkListen() error {
	_, port, err := net.SplitHostPort(c.listen)
	if err != nil {
		return fmt.Errorf("-listen %q: want host:port, such as 127.0.0.1:8080", c.listen)
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return fmt.Errorf("-listen %s: there is no port %q: want 0 to 65535", c.listen, port)
	}
	return nil
}

// checkZone reads the default time zone. That of UTC is none, so that events keep the
// offsets that they came with alone.
func (c *config) checkZone() (err error) {
	if c.zone = nil; c.timeZone == "UTC" || c.timeZone == "" { // "" in commands without the flag
		return nil
	}
	c.zone, err = memory.ParseTimeZone("-time-zone", c.timeZone)
	return err
}

// checkPlaces replaces the places of embedded stores by the paths of their
// files. Memories that are kept in memory alone are refused for sessions that
// are not: the sessions would say that their memories are made, and nothing
// would make them again.
func (c *config) checkPlaces() (err error) {
	if strings.HasPrefix(c.data, "~/") {
		return fmt.Errorf("-data %s: the shell has not expanded the ~, which would be a directory of that name:"+
			" write the path out", c.data)
	}
	if !inRedis(c.sessions) {
		const want = "sqlite:FILE, redis://HOST:PORT or redis+cluster://HOST:PORT,…"
		if c.sessions, err = c.file("sessions", c.sessions, want); err != nil {
			return err
		}
	}
	if c.sessionTTL < 0 || c.sessionTTL > 0 && c.sessionTTL < time.Second {
		return fmt.Errorf("-session-ttl %v: want 0, or a second and more", c.sessionTTL)
	}
	if !inQdrant(c.memories) {
		if c.memories, err = c.file("memories", c.memories, "sqlite:FILE or qdrant://HOST:PORT"); err != nil {
			return err
		}
	}
	if c.memories == sqlitedb.Memory && c.sessions != sqlitedb.Memory {
		return fmt.Errorf("-memories: those of the sessions in %s would be gone at the next start,"+
			" and not be made again: name a file, or keep neither with -data=:memory:", shown(c.sessions))
	}
	return nil
}

// maxDimension is the size of the largest models' vectors.
const maxDimension = 4096

// checkEmbedder checks the names of flags alone. The embedder itself is asked
// after the start, so that one that is unavailable does not stop it.
func (c *config) checkEmbedder() error {
	switch {
	case !namesProvider(c.embedder) && c.embedder != "builtin":
		return fmt.Errorf("-embedder %q: want builtin, gemini:MODEL or openai:MODEL", c.embedder)
	case c.dimension < 0 || c.dimension > maxDimension:
		return fmt.Errorf("-embedding-dimension %d: want 1 to %d, or 0 for the model's default",
			c.dimension, maxDimension)
	case c.dimension > 0 && c.embedder == "builtin":
		return fmt.Errorf("-embedding-dimension %d: the built-in embedder has a fixed one:"+
			" name a model with -embedder, or leave this out", c.dimension)
	}
	return nil
}

// checkExtractor allows a fallback only beside a model: the rules never fail. A
// batch below 100 tokens would cut turns apart, and one above a million is
// beyond every model.
func (c *config) checkExtractor() error {
	switch {
	case !namesProvider(c.extractor) && c.extractor != "rules":
		return fmt.Errorf("-extractor %q: want rules, gemini:MODEL or openai:MODEL", c.extractor)
	case c.fallback != "" && (c.fallback != "rules" || !namesProvider(c.extractor)):
		return fmt.Errorf("-extractor-fallback %q: want rules, with a model as -extractor", c.fallback)
	case c.batchTokens < 100 || c.batchTokens > 1_000_000:
		return fmt.Errorf("-extractor-tokens %d: want 100 to 1000000", c.batchTokens)
	}
	return nil
}

// maxPreload is longer than a user waits for a turn to begin, and shorter than a
// request may take.
const maxPreload = 30 * time.Second

// minCacheBytes is room for the index of a user with some hundred memories. With
// less, most searches would read theirs from the file.
const minCacheBytes = 1 << 20

// maxReserve is more than the deletion of the largest session writes.
const maxReserve = 1 << 30

// checkServing checks what requests and work in the background use, and fills in how much
// memory searches may keep.
func (c *config) checkServing() error {
	switch {
	case !namesProvider(c.reranker) && c.reranker != "none":
		return fmt.Errorf("-reranker %q: want none, gemini:MODEL or openai:MODEL", c.reranker)
	case c.reranked < 2 || c.reranked > retrieve.MaxReranked:
		return fmt.Errorf("-reranker-matches %d: want 2 to %d", c.reranked, retrieve.MaxReranked)
	case !namesProvider(c.expander) && c.expander != "none":
		return fmt.Errorf("-expander %q: want none, gemini:MODEL or openai:MODEL", c.expander)
	case c.workers < 1 || c.workers > 1000:
		return fmt.Errorf("-workers %d: want 1 to 1000", c.workers)
	case c.requests < 2 || c.requests > 1_000_000:
		return fmt.Errorf("-requests %d: want 2 to 1000000", c.requests)
	case c.queueTime < time.Millisecond || c.queueTime > time.Minute:
		return fmt.Errorf("-queue-time %v: want 1ms to 1m0s, after which a request is over anyway", c.queueTime)
	case c.cacheBytes < minCacheBytes && c.cacheBytes != 0:
		return fmt.Errorf("-cache-bytes %d: want %d or more, or 0 for the default", c.cacheBytes, minCacheBytes)
	case c.reserve < 0 || c.reserve > maxReserve:
		return fmt.Errorf("-delete-reserve %d: want 0 to %d", c.reserve, int64(maxReserve))
	case c.sweepAfter < 0:
		return fmt.Errorf("-sweep-after %v: want 0, which removes nothing, or more", c.sweepAfter)
	case c.maxWatchers < 1 || c.maxWatchers > 1_000_000:
		return fmt.Errorf("-max-watchers %d: want 1 to 1000000", c.maxWatchers)
	case c.preloadTimeout < time.Millisecond || c.preloadTimeout > maxPreload:
		return fmt.Errorf("-preload-timeout %v: want 1ms to %v: a turn waits for it", c.preloadTimeout, maxPreload)
	}
	if c.cacheBytes == 0 {
		c.cacheBytes = c.defaultCache()
	}
	return nil
}

// checkLog checks the form and the level of the log.
func (c *config) checkLog() error {
	if c.logFormat != "text" && c.logFormat != "json" {
		return fmt.Errorf("-log-format %q: want text or json", c.logFormat)
	}
	if new(slog.LevelVar).UnmarshalText([]byte(c.logLevel)) != nil {
		return fmt.Errorf("-log-level %q: want debug, info, warn or error", c.logLevel)
	}
	return nil
}

// file is the SQLite file that a store's URL names, by default the one in -data.
func (c *config) file(name, url, want string) (string, error) {
	if url != "" {
		path, ok := strings.CutPrefix(url, "sqlite:")
		if path = strings.TrimPrefix(path, "//"); !ok || path == "" {
			// Only the scheme is shown: the rest may hold a password.
			return "", fmt.Errorf("-%s %s…: this version has no store for it: use %s", name, scheme(url), want)
		}
		return path, nil
	}
	switch {
	case c.data == "" && defaultData() == "":
		return "", errors.New("there is no home directory to keep the data in:" +
			" name a directory with -data, or :memory: to keep nothing")
	case c.data == "":
		return "", errors.New("-data is empty: name a directory, or :memory: to keep nothing")
	case c.data == sqlitedb.Memory:
		return sqlitedb.Memory, nil
	}
	return filepath.Join(c.data, dataFile), nil
}

// logger writes the log that the flags ask for. It is called after check, except
// by commands that read no log flags, which get the default for a bad one.
func (c *config) logger(w io.Writer) *slog.Logger {
	level := slog.LevelInfo
	_ = level.UnmarshalText([]byte(c.logLevel)) // check has refused a bad one
	opts := &slog.HandlerOptions{Level: level}
	if c.logFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}

// address is where to ask the memoryd that serves -listen.
func (c *config) address() (string, error) {
	host, port, err := net.SplitHostPort(c.listen)
	if err != nil {
		return "", err
	}
	// An address of all interfaces can be listened on, but not called.
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}
