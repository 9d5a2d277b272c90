package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/sourcegraph/conc"
	"golang.org/x/net/netutil"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/access/oidc"
	"github.com/memoryd/memoryd/console"
	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/internal/assembly"
	"github.com/memoryd/memoryd/internal/certificate"
	"github.com/memoryd/memoryd/internal/telemetry"
	"github.com/memoryd/memoryd/quota"
	"github.com/memoryd/memoryd/server"
)

// app is a memoryd that can serve: models, stores, and the bank that connects
// them.
type app struct {
	cfg    *config
	log    *slog.Logger
	models *models
	stores *assembly.Stores
	// telemetry sends traces and metrics; nil if nothing is sent.
	telemetry *telemetry.Telemetry
	// processors is how many there are for the process.
	processors int
	limiter    *quota.Limiter // nil without limits of keys, apps and users
	audit      server.AuditOptions
	bank       atomic.Pointer[memoryd.Bank] // of the memories of one embedder
	work       func(context.Context)        // beside requests, until its context is over
	issuer     *oidc.Verifier               // nil if there is none
	cert       *certificate.Pair            // nil without TLS
	vertex     *vertexPort                  // nil without -vertex
}

// newApp makes the models that the flags name. Its stores are not open yet.
func newApp(cfg *config, log *slog.Logger) (*app, error) {
	models, err := newModels(cfg, log)
	if err != nil {
		return nil, err
	}
	issuer, err := cfg.issuer.verifier(log)
	if err != nil {
		return nil, err
	}
	cert, err := cfg.network.certificate(log)
	if err != nil {
		return nil, err
	}
	stores := newStores()
	stores.CacheBytes, stores.MaxState, stores.Log = cfg.cacheBytes, cfg.limits.state, log
	stores.Reserve, stores.MaxSessions, stores.AuditEntries = cfg.reserve, cfg.quotas.sessions, cfg.audit.entries
	stores.SessionTTL = cfg.sessionTTL
	a := &app{cfg: cfg, log: log, models: models, stores: stores, processors: useProcessors(),
		issuer: issuer, cert: cert}
	a.telemetry, err = cfg.telemetry.start(a.metrics, log)
	return a, err
}

// metrics reads the metrics of the bank that serves; none before there is one.
func (a *app) metrics() ([]*dto.MetricFamily, error) {
	if bank := a.bank.Load(); bank != nil {
		return bank.Gatherer().Gather()
	}
	return nil, nil
}

// ServeHTTP implements http.Handler.
func (a *app) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.bank.Load().ServeHTTP(w, r) }

// open opens the stores and connects them with the models. If it fails it leaves
// nothing behind.
func (a *app) open(ctx context.Context) error {
	if err := openStores(ctx, a.cfg, a.stores, memoryd.ModelOf(a.models.embedder), a.log); err != nil {
		return errors.Join(err, a.stores.Discard())
	}
	if err := a.closeDoors(ctx); err != nil {
		return errors.Join(err, a.stores.Discard())
	}
	var err error
	if a.audit, err = a.cfg.audit.options(a.stores.Sessions); err != nil {
		return errors.Join(err, a.stores.Discard())
	}
	a.serveWith(a.models.embedder)
	return nil
}

// serveWith has requests served, and sessions ingested, with the memories of an
// embedder.
func (a *app) serveWith(e embed.Embedder) {
	if a.limiter == nil {
		a.limiter = newLimiter(a.cfg, a.stores.Sessions, a.log)
		a.models.meter.meter.Store(newMeter(a.cfg, a.stores.Sessions, a.log))
	}
	notes := maps.Clone(a.models.notes)
	maps.Copy(notes, a.stores.Notes)
	if a.issuer != nil {
		notes["issuer"] = a.issuer.Note
	}
	if a.vertex != nil {
		notes["vertex"] = a.vertex.note
	}
	var page server.Console // nil without -console
	if a.cfg.console {
		page = console.New()
	}
	bank := memoryd.New(a.stores.Sessions, a.stores.Memories, &memoryd.Options{
		Embedder: e, Extractor: a.models.extractor, Fallback: a.models.fallback,
		Reranker: a.models.reranker, Reranked: a.cfg.reranked, Expander: a.models.expander,
		Workers: a.cfg.workers, MaxWatchers: a.cfg.maxWatchers, Processors: a.processors, Log: a.log,
		SweepAfter: cmp.Or(a.cfg.sweepAfter, -1),
		TimeZone:   a.cfg.zone, Limits: a.cfg.quotas.keeps, SharedLimits: a.cfg.quotas.shared,
		Tracer: a.telemetry.Tracer(), TraceContent: a.cfg.telemetry.content,
		Server: server.Options{
			AnyHost: a.cfg.exposed() && !a.cfg.loopbackNames && len(a.cfg.network.hosts) == 0,
			Hosts:   a.cfg.network.hosts, Origins: a.cfg.network.origins, TrustedProxies: a.cfg.network.trusted,
			Keys: a.stores.Sessions, Verifier: a.verifier(), Audit: a.audit,
			Console: page, Version: version(), Checks: maps.Clone(a.stores.Checks), Notes: notes,
			Figures: a.stores.Figures(), Backup: a.stores.Backup,
			Requests: a.cfg.requests, QueueTime: a.cfg.queueTime,
			PreloadTimeout: a.cfg.preloadTimeout, Quotas: a.limiter, MaxSessions: a.cfg.quotas.sessions,
			ModelQuotas: a.models.meter.meter.Load(),
			MaxBody:     a.cfg.limits.body, MaxBodies: a.cfg.limits.bodies, MaxAnswers: a.cfg.limits.answers,
		}})
	a.bank.Store(bank)
	a.vertex.use(bank)
	a.work = bank.Run
}

// How long the parts of a request may take that are not the handler's, and how
// long a shutdown waits for requests. A client that sends a head or a body slowly
// holds a connection no longer than this. The answer may take longer than the 60
// seconds of a request, for clients on slow lines.
const (
	headTime     = 10 * time.Second
	bodyTime     = 60 * time.Second
	answerTime   = 120 * time.Second
	idleTime     = 120 * time.Second
	shutdownTime = 10 * time.Second
)

// maxHeader bounds the header of a request, in bytes: ids in a path have up to 2,304
// when all of them are escaped, and a page token or a key a few hundred.
const maxHeader = 64 << 10

// httpServer makes a server of all that bounds connections.
func (a *app) httpServer() *http.Server {
	return &http.Server{Handler: a, ErrorLog: slog.NewLogLogger(a.log.Handler(), slog.LevelWarn),
		ReadHeaderTimeout: headTime, ReadTimeout: bodyTime, WriteTimeout: answerTime, IdleTimeout: idleTime,
		MaxHeaderBytes: maxHeader}
}

// run serves on a listener until ctx is over, finishes what has begun, and closes
// the stores.
func (a *app) run(ctx context.Context, on net.Listener) error {
	work, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()
	var workers conc.WaitGroup
	for _, watch := range a.stores.Watches { // before the work, which may open stores and watch those
		workers.Go(func() { watch(work, a.log) })
	}
	workers.Go(func() { a.work(work) })
	workers.Go(func() { a.models.probe(work, a.log) })
	if a.issuer != nil {
		workers.Go(func() { a.issuer.Run(work) })
	}
	if a.cert != nil {
		workers.Go(func() { a.cert.Run(work) })
	}

	serving, stopVertex := context.WithCancel(ctx)
	defer stopVertex()
	var vertexServes conc.WaitGroup
	vertexServes.Go(func() { a.vertex.run(serving, a) })
	hs := a.httpServer()
	// The channel has room for the error, so that the server can end after a
	// shutdown that has stopped waiting.
	served := make(chan error, 1)
	workers.Go(func() { served <- a.serve(hs, netutil.LimitListener(server.Listener(on), a.cfg.limits.connections)) })
	beside := a.httpServer()
	beside.ConnContext = asOwner
	if on := listenSocket(a.cfg.socket(), a.log); on != nil {
		workers.Go(func() { _ = beside.Serve(on) }) // its end is that of the process
	}
	var err error
	select {
	case err = <-served: // the listener broke
	case <-ctx.Done():
		a.log.Info("stopping: finishing what has begun")
		a.bank.Load().Stop()
		within, cancel := context.WithTimeout(context.Background(), shutdownTime)
		defer cancel()
		if err = hs.Shutdown(within); errors.Is(err, context.DeadlineExceeded) {
			a.log.Warn("requests that were not over are cut off")
			err = hs.Close()
		}
	}
	_ = beside.Close() // if the listener broke
	stopVertex()
	vertexServes.Wait()
	// Work ends after requests, since they may wait for it, and before the stores
	// close, since it writes into them.
	stopWork()
	workers.Wait()
	a.closeTelemetry() // before the stores close, which metrics read
	return errors.Join(err, a.stores.Close())
}

// closeTelemetry sends what waits. A collector that does not take it is no failure of
// memoryd.
func (a *app) closeTelemetry() {
	if err := a.telemetry.Close(); err != nil {
		a.log.Warn("the last traces or metrics were not sent", "err", err)
	}
}

// serve serves a listener, by TLS if there is a certificate.
func (a *app) serve(hs *http.Server, on net.Listener) error {
	if a.cert == nil {
		return hs.Serve(on)
	}
	hs.TLSConfig = &tls.Config{GetCertificate: a.cert.Get}
	return hs.ServeTLS(on, "", "")
}

// errAddress is the error of an address that cannot be listened on.
var errAddress = errors.New("name another address")

// listen takes the address of -listen. A start listens before it opens the
// stores, so that a port in use leaves no data behind. Requests wait meanwhile.
func listen(cfg *config) (net.Listener, error) {
	on, err := net.Listen("tcp", cfg.listen)
	if err != nil {
		return nil, fmt.Errorf("-listen: %w (%w)", err, errAddress)
	}
	return on, nil
}

// announce logs the whole configuration, passwords left out, and says where
// memoryd serves. Programs that start memoryd wait for the line with the address.
func (a *app) announce(on net.Listener, stdout io.Writer) {
	cfg, embedder := a.cfg, a.models.embedder.Model()
	a.log.Info("memoryd", append([]any{"version", version(),
		"listen", on.Addr().String(), "insecure", cfg.insecure, "console", cfg.console,
		"bootstrap-key-file", cfg.bootstrap,
		"audit", cfg.audit.of, "audit-entries", cfg.audit.entries, "audit-file", cfg.audit.file,
		"loopback-names", cfg.loopbackNames, "host", cfg.network.hosts.String(),
		"cors-origin", cfg.network.origins.String(),
		"tls-cert", cfg.network.cert, "tls-key", cfg.network.key, "trusted-proxies", cfg.network.proxies.String(),
		"oidc-issuer", cfg.issuer.issuer, "oidc-audience", cfg.issuer.audience, "oidc-app", cfg.issuer.app,
		"oidc-app-claim", cfg.issuer.appClaim, "oidc-user-claim", cfg.issuer.userClaim,
		"oidc-verbs-claim", cfg.issuer.verbsClaim,
		"time-zone", cfg.timeZone,
		"sessions", shown(cfg.sessions), "session-ttl", cfg.sessionTTL, "memories", shown(cfg.memories),
		"embedder", embedder.Name, "embedding-dimension", embedder.Dimension,
		"extractor", a.models.extractor.Name(), "extractor-fallback", cfg.fallback, "extractor-tokens", cfg.batchTokens,
		"reranker", nameOf(a.models.reranker), "reranker-matches", cfg.reranked, "expander", nameOf(a.models.expander),
		"preload-timeout", cfg.preloadTimeout, "workers", cfg.workers,
		"cache-bytes", cfg.cacheBytes, "delete-reserve", cfg.reserve,
		"max-body", cfg.limits.body, "max-bodies", cfg.limits.bodies,
		"max-answers", cfg.limits.answers, "max-state", cfg.limits.state, "max-connections", cfg.limits.connections,
		"sweep-after", cfg.sweepAfter,
		"max-watchers", cfg.maxWatchers, "requests", cfg.requests, "queue-time", cfg.queueTime,
		"log-format", cfg.logFormat, "log-level", cfg.logLevel},
		slices.Concat(cfg.shownQuotas(), cfg.telemetry.shown(), cfg.vertex.shown())...)...)
	fmt.Fprintf(stdout, "memoryd serves %s://%s\nits data is in %s\n", cfg.network.scheme(), on.Addr(), where(cfg))
	a.vertex.announce(stdout)
}

// startApp makes an app, listens, and has open open its stores. If that is refused
// nothing is left behind.
func startApp(cfg *config, log *slog.Logger, open func(*app) error) (*app, net.Listener, error) {
	a, err := newApp(cfg, log)
	if err != nil {
		return nil, nil, err
	}
	// The models come first: a missing key is found before anything is taken.
	on, err := listen(cfg)
	if err != nil {
		return nil, nil, errors.Join(err, a.telemetry.Close())
	}
	if a.vertex, err = listenVertex(cfg, log); err != nil {
		return nil, nil, errors.Join(err, on.Close(), a.telemetry.Close())
	}
	if err := open(a); err != nil {
		return nil, nil, errors.Join(err, on.Close(), a.vertex.close(), a.telemetry.Close())
	}
	return a, on, nil
}

// serveCommand is the command that runs if the command line names none.
func serveCommand() *subcommand {
	c := &subcommand{
		name: "serve", summary: "Serve the HTTP API, and make memories of sessions.",
		details: `It is the command if there is none: memoryd -listen ADDRESS is
memoryd serve -listen ADDRESS.`,
		example: "memoryd serve -listen 127.0.0.1:8080 -data /var/lib/memoryd",
		uses:    append(serveFlagNames(), "until-eof"),
	}
	c.run = func(ctx context.Context, cfg *config, _ []string, s streams) error {
		if err := cfg.checkDoors(); err != nil {
			return c.mistake(err)
		}
		if cfg.untilEOF {
			// The program that holds standard input often reads the log too, and is gone when it ends.
			outliveReader()
			var stop context.CancelFunc
			ctx, stop = untilEOF(ctx, s.in)
			defer stop()
		}
		log := cfg.logger(s.err)
		a, on, err := startApp(cfg, log, func(a *app) error { return a.open(ctx) })
		if err != nil {
			return err
		}
		a.announce(on, s.out)
		cfg.softLimit()
		return a.run(ctx, on)
	}
	return c
}

// untilEOF returns a context that ends with ctx, and when a reader does. The goroutine that
// reads is left behind if ctx ends first: nothing but its writer can end the reading.
func untilEOF(ctx context.Context, in io.Reader) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, in) // an error is an end too
		stop()
	}()
	return ctx, stop
}

// serveFlagNames are the flags of serve, and of commands that may become one.
func serveFlagNames() []string {
	var names []string
	for _, group := range [][]string{
		serverFlagNames(), storeFlagNames(), modelFlagNames(), telemetryFlagNames(), logFlagNames()} {
		names = append(names, group...)
	}
	return names
}
