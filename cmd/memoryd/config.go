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

	"github.com/peterbourgon/ff/v3"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/server"
	"github.com/memoryd/memoryd/tools"
)

// config is what the flags and the environment say.
type config struct {
	listen    string
	insecure  bool
	names     bool
	data      string
	sessions  string // URL, or the path of a SQLite file
	ttl       time.Duration
	memories  string // the same
	embedder  string
	dimension int
	extractor string
	fallback  string
	// batchTokens is how much of a conversation a model is given at a time.
	batchTokens int
	reranker    string
	preload     time.Duration // for a search of preload_memory
	workers     int
	logFormat   string
	logLevel    string
}

// flags defines the flags of serve on cfg, with their defaults.
func flags(cfg *config) *flag.FlagSet {
	fs := flag.NewFlagSet("memoryd", flag.ContinueOnError)
	fs.StringVar(&cfg.listen, "listen", "127.0.0.1:8080", "`address` to serve; port 0 takes a free one")
	fs.BoolVar(&cfg.insecure, "insecure", false, "serve an address that others can reach, although anyone who can may read and write everything")
	fs.BoolVar(&cfg.names, "loopback-names", false, "serve requests for loopback names only, as on loopback: for a container whose port is published there")
	fs.StringVar(&cfg.data, "data", defaultData(), "`directory` of the data, all in one SQLite file; :memory: keeps nothing")
	fs.StringVar(&cfg.sessions, "sessions", "", "`URL` of the session store: sqlite:FILE, redis://… or redis+cluster://… (default: in -data)")
	fs.DurationVar(&cfg.ttl, "session-ttl", 0, "how long a session in Redis is kept after its last event and the memories of it; 0 is for ever")
	fs.StringVar(&cfg.memories, "memories", "", "`URL` of the memory store: sqlite:FILE or qdrant://… (default: in -data)")
	fs.StringVar(&cfg.embedder, "embedder", "builtin", "what makes vectors: builtin, gemini[:MODEL] or openai[:MODEL]")
	fs.IntVar(&cfg.dimension, "embedding-dimension", 0, "`numbers` in a vector of a model; 0 is its default")
	fs.StringVar(&cfg.extractor, "extractor", "rules", "what finds facts: rules, gemini[:MODEL] or openai[:MODEL]")
	fs.StringVar(&cfg.fallback, "extractor-fallback", "", "what finds facts while a model cannot: rules; their facts give way when it can")
	fs.IntVar(&cfg.batchTokens, "extractor-tokens", extract.DefaultBudget, "`tokens` of a conversation that a model reads at a time")
	fs.StringVar(&cfg.reranker, "reranker", "none", "what puts the best matches of a search into a new order: none, gemini[:MODEL] or openai[:MODEL]")
	fs.DurationVar(&cfg.preload, "preload-timeout", tools.DefaultPreloadTimeout, "how long preload_memory searches before a turn goes on without")
	fs.IntVar(&cfg.workers, "workers", 4, "users whose memories are made at a time")
	fs.StringVar(&cfg.logFormat, "log-format", "text", "text or json")
	fs.StringVar(&cfg.logLevel, "log-level", "info", "debug, info, warn or error")
	return fs
}

func printUsage(w io.Writer) {
	fs := flags(&config{})
	fmt.Fprint(w, usage)
	fs.SetOutput(w)
	fs.PrintDefaults()
}

// defaultData is where programs of this user keep their data.
func defaultData() string {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "memoryd")
	}
	home, err := os.UserHomeDir()
	switch {
	case err != nil:
		return "" // parse asks for -data
	case runtime.GOOS == "windows" || runtime.GOOS == "darwin":
		if dir, err := os.UserConfigDir(); err == nil {
			return filepath.Join(dir, "memoryd")
		}
	}
	return filepath.Join(home, ".local", "share", "memoryd")
}

// parse reads the command line and, for what it leaves out, the environment,
// and checks both. It gives what follows the flags.
func parse(args []string, stderr io.Writer) (config, []string, error) {
	cfg, rest, err := read(args, stderr)
	if err == nil {
		if err = cfg.check(); err != nil {
			err = mistake(err)
		}
	}
	return cfg, rest, err
}

func mistake(err error) error {
	return usageError{fmt.Errorf("%w (memoryd -help lists the flags)", err)}
}

// read is parse without the checks.
func read(args []string, stderr io.Writer) (config, []string, error) {
	var cfg config
	fs := flags(&cfg)
	err := readFlags(fs, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		printUsage(stderr)
	case err != nil:
		err = mistake(err)
	}
	return cfg, fs.Args(), err
}

// readFlags reads the command line and the environment into flags.
func readFlags(fs *flag.FlagSet, args []string) error {
	fs.SetOutput(io.Discard) // errors are told once, by main
	fs.Usage = func() {}
	return ff.Parse(fs, args, ff.WithEnvVarPrefix("MEMORYD"))
}

func (c *config) check() error {
	host, port, err := net.SplitHostPort(c.listen)
	if err != nil {
		return fmt.Errorf("-listen %q: want host:port, such as 127.0.0.1:8080", c.listen)
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return fmt.Errorf("-listen %s: there is no port %q: want 0 to 65535", c.listen, port)
	}
	if !server.Loopback(host) && !c.insecure {
		return fmt.Errorf("-listen %s: others could reach that address and read and write everything, as there are no keys yet:"+
			" listen on 127.0.0.1, or add -insecure if that is what you want", c.listen)
	}
	if strings.HasPrefix(c.data, "~/") {
		return fmt.Errorf("-data %s: a ~ that the shell left is the name of a directory here: write the path out", c.data)
	}
	if !inRedis(c.sessions) {
		if c.sessions, err = c.file("sessions", c.sessions, "sqlite:FILE, redis://HOST:PORT or redis+cluster://HOST:PORT,…"); err != nil {
			return err
		}
	}
	if c.ttl < 0 || c.ttl > 0 && (c.ttl < time.Second || !inRedis(c.sessions)) {
		return fmt.Errorf("-session-ttl %v: want 0, or a second and more with sessions in Redis", c.ttl)
	}
	if !inQdrant(c.memories) {
		if c.memories, err = c.file("memories", c.memories, "sqlite:FILE or qdrant://HOST:PORT"); err != nil {
			return err
		}
	}
	if c.memories == sqlitedb.Memory && c.sessions != sqlitedb.Memory {
		return fmt.Errorf("-memories: those of the sessions in %s would be gone at the next start, and not be made again: name a file, or keep neither with -data=:memory:", shown(c.sessions))
	}
	if err := c.checkModels(); err != nil {
		return err
	}
	if c.preload < time.Millisecond || c.preload > maxPreload {
		return fmt.Errorf("-preload-timeout %v: want 1ms to %v: a turn waits for it", c.preload, maxPreload)
	}
	if c.logFormat != "text" && c.logFormat != "json" {
		return fmt.Errorf("-log-format %q: want text or json", c.logFormat)
	}
	if new(slog.LevelVar).UnmarshalText([]byte(c.logLevel)) != nil {
		return fmt.Errorf("-log-level %q: want debug, info, warn or error", c.logLevel)
	}
	return nil
}

// address is where to ask the memoryd of -listen.
func (c *config) address() (string, error) {
	host, port, err := net.SplitHostPort(c.listen)
	if err != nil {
		return "", err
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

func (c *config) checkModels() error {
	if !ofProvider(c.embedder) && c.embedder != "builtin" {
		return fmt.Errorf("-embedder %q: want builtin, gemini:MODEL or openai:MODEL", c.embedder)
	}
	if c.dimension < 0 || c.dimension > maxDimension {
		return fmt.Errorf("-embedding-dimension %d: want 1 to %d, or 0 for the model's default", c.dimension, maxDimension)
	}
	if c.dimension > 0 && c.embedder == "builtin" {
		return fmt.Errorf("-embedding-dimension %d: the built-in embedder has one of its own: name a model with -embedder, or leave this out", c.dimension)
	}
	if !ofProvider(c.extractor) && c.extractor != "rules" {
		return fmt.Errorf("-extractor %q: want rules, gemini:MODEL or openai:MODEL", c.extractor)
	}
	if c.fallback != "" && (c.fallback != "rules" || !ofProvider(c.extractor)) {
		return fmt.Errorf("-extractor-fallback %q: want rules, with a model as -extractor", c.fallback)
	}
	if c.batchTokens < 100 || c.batchTokens > 1_000_000 {
		return fmt.Errorf("-extractor-tokens %d: want 100 to 1000000", c.batchTokens)
	}
	if !ofProvider(c.reranker) && c.reranker != "none" {
		return fmt.Errorf("-reranker %q: want none, gemini:MODEL or openai:MODEL", c.reranker)
	}
	if c.workers < 1 || c.workers > 1000 {
		return fmt.Errorf("-workers %d: want 1 to 1000", c.workers)
	}
	return nil
}

// maxPreload is longer than anybody waits for a turn to begin, and well within
// the time of a request.
const maxPreload = 30 * time.Second

// maxDimension is what the largest models have, and more than anybody needs.
const maxDimension = 4096

// inRedis reports whether a store's URL names a Redis.
func inRedis(url string) bool {
	return slices.Contains([]string{"redis", "rediss", "redis+cluster", "rediss+cluster"}, scheme(url))
}

// scheme is what a URL begins with.
func scheme(url string) string {
	s, _, _ := strings.Cut(url, ":")
	return strings.ToLower(s)
}

// inQdrant reports whether a store's URL names a Qdrant.
func inQdrant(url string) bool {
	return slices.Contains([]string{"qdrant", "qdrants"}, scheme(url))
}

// shown is a place without its password.
func shown(place string) string {
	if !inRedis(place) && !inQdrant(place) {
		return place
	}
	scheme, rest, ok := strings.Cut(place, "://")
	if !ok {
		return "…"
	}
	if i := strings.LastIndex(rest, "@"); i >= 0 {
		rest = "…@" + rest[i+1:]
	}
	return scheme + "://" + rest
}

// file is the SQLite file a store's URL names, by default the one in -data.
func (c *config) file(name, url, want string) (string, error) {
	if url == "" {
		if c.data == "" && defaultData() == "" {
			return "", errors.New("there is no home directory to keep the data in: name a directory with -data, or :memory: to keep nothing")
		}
		if c.data == "" {
			return "", errors.New("-data is empty: name a directory, or :memory: to keep nothing")
		}
		if c.data == sqlitedb.Memory {
			return sqlitedb.Memory, nil
		}
		return filepath.Join(c.data, memoryd.FileName), nil
	}
	path, ok := strings.CutPrefix(url, "sqlite:")
	if path = strings.TrimPrefix(path, "//"); !ok || path == "" {
		return "", fmt.Errorf("-%s %s…: this version has no store for it: use %s", name, scheme(url), want) // the rest may hold a password
	}
	return path, nil
}

func (c *config) logger(w io.Writer) *slog.Logger {
	var level slog.LevelVar
	if err := level.UnmarshalText([]byte(c.logLevel)); err != nil {
		panic(err) // check has seen it
	}
	opts := &slog.HandlerOptions{Level: &level}
	if c.logFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}
