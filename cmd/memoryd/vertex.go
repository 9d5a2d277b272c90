package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/internal/certificate"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/retrieve"
	"github.com/memoryd/memoryd/server"
	"github.com/memoryd/memoryd/vertex"
	"github.com/memoryd/memoryd/vertex/vertexauth"
	"github.com/memoryd/memoryd/vertex/vertexgrpc"
	"github.com/memoryd/memoryd/vertex/vertexrest"
	"github.com/sourcegraph/conc"
	"golang.org/x/net/netutil"
)

// vertexConfig is what the flags say of the port for clients of Google's services.
type vertexConfig struct {
	listen, tokens, dir string
	cert, key           string
	metadataKey         string
	anyToken            bool
	scopes, engines     string
	topK                int
	turns               bool
}

// vertexFlagNames are the flags of serve for clients of Google's services.
func vertexFlagNames() []string {
	return []string{"vertex", "vertex-tokens", "vertex-dir", "vertex-cert", "vertex-key", "vertex-any-token",
		"vertex-metadata-key", "vertex-scopes", "vertex-engines", "vertex-top-k", "vertex-turns"}
}

func vertexFlags(fs *flag.FlagSet, v *vertexConfig) {
	fs.StringVar(&v.listen, "vertex", "",
		"`ADDRESS` to serve clients of Google's Agent Engine sessions and Memory Bank, by TLS; by default none")
	fs.StringVar(&v.tokens, "vertex-tokens", "",
		"`ADDRESS` to serve the tokens that such clients ask for, by HTTP; by default none")
	fs.StringVar(&v.dir, "vertex-dir", "",
		"`DIRECTORY` of the certificates and accounts of memoryd vertex init; by default vertex in -data")
	fs.StringVar(&v.cert, "vertex-cert", "", "`FILE` with the certificate of -vertex; by default that of -vertex-dir")
	fs.StringVar(&v.key, "vertex-key", "", "`FILE` with the key of -vertex-cert")
	fs.BoolVar(&v.anyToken, "vertex-any-token", false,
		"take any token on -vertex, from loopback and -trusted-proxies: for agents that keep Google's credentials")
	fs.StringVar(&v.metadataKey, "vertex-metadata-key", "",
		"`ID` of the key that tokens of the metadata server stand for; by default they are for a memoryd without keys")
	fs.StringVar(&v.scopes, "vertex-scopes", string(vertex.ExactScopes),
		"exact, or merge to have the memories of {app_name, user_id} be those of {user_id}: for agents of all clients")
	fs.StringVar(&v.engines, "vertex-engines", string(vertex.AnyEngine),
		"any, or declared to serve only the engines that a client has created")
	fs.IntVar(&v.topK, "vertex-top-k", vertex.DefaultTopK,
		"`NUMBER` of memories that a search of a client finds which does not say: ADK's cannot")
	fs.BoolVar(&v.turns, "vertex-turns", false,
		"have such searches find turns of conversations too, as memories that say their words")
}

// place fills in the directory and the files.
func (v *vertexConfig) place(data string) {
	if v.dir == "" && data != sqlitedb.Memory {
		v.dir = filepath.Join(data, "vertex")
	}
	if v.cert == "" {
		v.cert, v.key = filepath.Join(v.dir, vertexauth.CertFile), filepath.Join(v.dir, vertexauth.KeyFile)
	}
}

// checkVertex checks the flags of -vertex.
func (c *config) checkVertex() error {
	v := &c.vertex
	if (v.cert == "") != (v.key == "") {
		return errors.New("-vertex-cert and -vertex-key go together: give both, or neither")
	}
	v.place(c.data)
	if s := vertex.Scopes(v.scopes); s != vertex.ExactScopes && s != vertex.MergedScopes {
		return fmt.Errorf("-vertex-scopes %q: want %s or %s", v.scopes, vertex.ExactScopes, vertex.MergedScopes)
	}
	if e := vertex.Engines(v.engines); e != vertex.AnyEngine && e != vertex.DeclaredEngines {
		return fmt.Errorf("-vertex-engines %q: want %s or %s", v.engines, vertex.AnyEngine, vertex.DeclaredEngines)
	}
	if v.topK < 1 || v.topK > retrieve.MaxTopK {
		return fmt.Errorf("-vertex-top-k %d: want 1 to %d", v.topK, retrieve.MaxTopK)
	}
	for name, address := range map[string]string{"vertex": v.listen, "vertex-tokens": v.tokens} {
		if address == "" {
			continue
		}
		if _, _, err := net.SplitHostPort(address); err != nil {
			return fmt.Errorf("-%s %q: want host:port, such as 127.0.0.1:8443", name, address)
		}
		if v.dir == "" {
			return fmt.Errorf("-%s: name a -vertex-dir, since -data keeps nothing", name)
		}
	}
	if v.tokens != "" && !server.Loopback(v.tokens) && !c.insecure {
		return fmt.Errorf("-vertex-tokens %s: others could ask for tokens there: listen on 127.0.0.1, or add -insecure",
			v.tokens)
	}
	return nil
}

// shown are the values for the log.
func (v *vertexConfig) shown() []any {
	return []any{"vertex", v.listen, "vertex-tokens", v.tokens, "vertex-dir", v.dir, "vertex-any-token", v.anyToken,
		"vertex-metadata-key", v.metadataKey, "vertex-scopes", v.scopes,
		"vertex-engines", v.engines, "vertex-top-k", v.topK, "vertex-turns", v.turns}
}

// vertexPort serves clients of Google's services.
type vertexPort struct {
	on, tokensOn net.Listener // nil if there is none
	cert         *certificate.Pair
	names        []string // of the certificate
	accounts     *vertexauth.Accounts
	tokens       *vertexauth.Tokens
	handlers     atomic.Pointer[vertexHandlers] // of the bank that serves
	cfg          *config
}

// vertexHandlers are those of one bank.
type vertexHandlers struct {
	rest *vertexrest.Handler
	grpc *vertexgrpc.Handler
}

// listenVertex takes the addresses of -vertex and -vertex-tokens, and makes the certificate if
// there is none. It returns nil if the flags name neither.
func listenVertex(cfg *config, log *slog.Logger) (*vertexPort, error) {
	v := &cfg.vertex
	if v.listen == "" && v.tokens == "" {
		return nil, nil
	}
	if vertexauth.Missing(v.dir) {
		tokens := v.tokens
		if _, err := (vertexauth.Init{Dir: v.dir, Hosts: cfg.network.hosts, Tokens: tokens}).Write(); err != nil {
			return nil, fmt.Errorf("-vertex-dir: %w", err)
		}
		log.Info("made the certificates of -vertex", "dir", v.dir)
	}
	p := &vertexPort{cfg: cfg}
	var err error
	if p.cert, err = certificate.Load(v.cert, v.key, log); err != nil {
		return nil, fmt.Errorf("-vertex-cert: %w", err)
	}
	if p.names, err = namesOf(p.cert); err != nil {
		return nil, err
	}
	p.accounts = vertexauth.NewAccounts(v.dir, p.names, nil)
	if p.tokens, err = vertexauth.NewTokens(v.dir, p.accounts, v.metadataKey, nil); err != nil {
		return nil, fmt.Errorf("-vertex-dir: %w", err)
	}
	for _, to := range []struct {
		address string
		on      *net.Listener
	}{{v.listen, &p.on}, {v.tokens, &p.tokensOn}} {
		if to.address == "" {
			continue
		}
		if *to.on, err = net.Listen("tcp", to.address); err != nil {
			return nil, errors.Join(fmt.Errorf("-vertex: %w (%w)", err, errAddress), p.close())
		}
	}
	return p, nil
}

// namesOf are the names that a certificate is for.
func namesOf(pair *certificate.Pair) ([]string, error) {
	cert, err := pair.Get(nil)
	if err != nil {
		return nil, err
	}
	of, err := x509.ParseCertificate(cert.Certificate[0])
	if err != nil {
		return nil, err
	}
	names := slices.Clone(of.DNSNames)
	for _, ip := range of.IPAddresses {
		names = append(names, ip.String())
	}
	return names, nil
}

func (p *vertexPort) close() error {
	if p == nil {
		return nil
	}
	var errs []error
	for _, on := range []net.Listener{p.on, p.tokensOn} {
		if on != nil {
			errs = append(errs, on.Close())
		}
	}
	return errors.Join(errs...)
}

// use has the port serve a bank.
func (p *vertexPort) use(bank *memoryd.Bank) {
	if p == nil {
		return
	}
	parts := bank.Parts()
	service := vertex.New(parts.Ingest, parts.Retriever, &vertexGate{port: p, server: parts.Server},
		&vertex.Options{Scopes: vertex.Scopes(p.cfg.vertex.scopes), Engines: vertex.Engines(p.cfg.vertex.engines),
			TopK: p.cfg.vertex.topK, Turns: p.cfg.vertex.turns})
	p.handlers.Store(&vertexHandlers{
		rest: vertexrest.New(service, &vertexrest.Options{MaxBody: p.cfg.limits.body}),
		grpc: vertexgrpc.NewHandler(service),
	})
}

// ServeHTTP implements http.Handler: calls of gRPC are told by their content type.
func (p *vertexPort) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := p.handlers.Load()
	if r.ProtoMajor == 2 && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
		h.grpc.ServeHTTP(w, r)
		return
	}
	h.rest.ServeHTTP(w, r)
}

// run serves until ctx is over, and then finishes what has begun.
func (p *vertexPort) run(ctx context.Context, a *app) {
	if p == nil {
		return
	}
	var parts conc.WaitGroup
	defer parts.Wait()
	parts.Go(func() { p.cert.Run(ctx) })
	serve := func(on net.Listener, handler http.Handler, config *tls.Config) {
		hs := a.httpServer()
		hs.Handler, hs.TLSConfig = handler, config
		parts.Go(func() {
			on := netutil.LimitListener(on, a.cfg.limits.connections)
			if config != nil {
				_ = hs.ServeTLS(on, "", "") // its end is that of the process
			} else {
				_ = hs.Serve(on)
			}
		})
		parts.Go(func() {
			<-ctx.Done()
			within, cancel := context.WithTimeout(context.Background(), shutdownTime)
			defer cancel()
			if hs.Shutdown(within) != nil {
				_ = hs.Close()
			}
		})
	}
	if p.on != nil {
		serve(p.on, p, &tls.Config{GetCertificate: p.cert.Get, NextProtos: []string{"h2", "http/1.1"}})
	}
	if p.tokensOn != nil {
		serve(p.tokensOn, p.tokens, nil)
	}
}

// vertexGate lets calls in by way of the server of the HTTP API.
type vertexGate struct {
	port   *vertexPort
	server *server.Server
}

var _ vertex.Gate = (*vertexGate)(nil)

// Enter implements vertex.Gate.
func (g *vertexGate) Enter(ctx context.Context, in vertex.Entry) (context.Context, string, func(error), error) {
	return g.server.Enter(ctx, g.call(in))
}

// Authenticate implements vertex.Gate.
func (g *vertexGate) Authenticate(ctx context.Context, in vertex.Entry) (vertex.Room, error) {
	return g.server.Authenticate(ctx, g.call(in))
}

// call is a call as the server of the HTTP API has it, with the key that its token stands for.
func (g *vertexGate) call(in vertex.Entry) server.Call {
	call := server.Call{Method: in.Method, Protocol: in.Protocol, App: in.App, Takes: in.Takes, Request: in.Request,
		Bytes: in.Bytes, Held: in.Held, Read: in.Read, Shown: server.ShownKey(in.Request),
		Refused: g.port.refuses(in.Request)}
	if key, ok := g.port.keyOf(call.Shown); ok {
		call.Key = key
	} else if g.port.trustsAny(in.Request) {
		call.Key = server.AnyKey
	}
	return call
}

// EraseApp implements vertex.Gate.
func (g *vertexGate) EraseApp(ctx context.Context, app string) error {
	_, err := g.server.EraseApp(ctx, app)
	return err
}

// Describe implements vertex.Gate.
func (g *vertexGate) Describe(err error, id string) (code int, status, message string) {
	return server.Describe(err, id)
}

// keyOf returns the key that a token stands for: one that memoryd has made, or one that a
// service account has signed.
func (p *vertexPort) keyOf(token string) (key string, ok bool) {
	if key, ok := p.tokens.Verify(token); ok {
		return key, true
	}
	if strings.Count(token, ".") != 2 || !p.accounts.Known(token) {
		return "", false // a key, a token of an issuer, or nothing that counts
	}
	key, err := p.accounts.Verify(token)
	return key, err == nil
}

// refuses returns why a request is refused that a page of another site may have sent, or that is
// for a host that is not this one.
func (p *vertexPort) refuses(r *http.Request) string {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if r.Header.Get("Origin") != "" {
		return "requests of web pages are not served here"
	}
	fits := func(name string) bool { return strings.EqualFold(name, host) }
	if !slices.ContainsFunc(p.names, fits) && !slices.ContainsFunc(p.cfg.network.hosts, fits) {
		return fmt.Sprintf("host %.100q is not one of this memoryd: memoryd vertex init -renew -host adds it", host)
	}
	return ""
}

// trustsAny reports whether any token counts in a request: by -vertex-any-token, from loopback and
// trusted networks.
func (p *vertexPort) trustsAny(r *http.Request) bool {
	if !p.cfg.vertex.anyToken {
		return false
	}
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	addr := from.Addr().Unmap()
	return addr.IsLoopback() ||
		slices.ContainsFunc(p.cfg.network.trusted, func(n netip.Prefix) bool { return n.Contains(addr) })
}

// errVertexOpen is the error of a start that would let others in without a key.
func (c *config) errVertexOpen() error {
	return fmt.Errorf("-vertex %s: others could reach that address and read and write everything,"+
		" as there are no keys yet: make one (memoryd keys create), listen on 127.0.0.1, or add -insecure"+
		" if you want that", c.vertex.listen)
}

// vertexExposed reports whether other machines can reach -vertex.
func (c *config) vertexExposed() bool {
	return c.vertex.listen != "" && !server.Loopback(c.vertex.listen)
}

// note is the line of /readyz: where the port serves, and how long its certificate is valid.
func (p *vertexPort) note() string {
	if p.on == nil {
		return fmt.Sprintf("tokens at http://%s", p.tokensOn.Addr())
	}
	cert, err := p.cert.Get(nil)
	if err != nil {
		return fmt.Sprintf("https://%s without a certificate: %v", p.on.Addr(), err)
	}
	end := cert.Leaf.NotAfter.UTC()
	if time.Now().After(end) {
		return fmt.Sprintf("https://%s: its certificate has expired on %s: memoryd vertex init -renew makes another",
			p.on.Addr(), end.Format(time.DateOnly))
	}
	return fmt.Sprintf("https://%s, with a certificate until %s", p.on.Addr(), end.Format(time.DateOnly))
}

// announce says where the port serves.
func (p *vertexPort) announce(w io.Writer) {
	if p != nil && p.on != nil {
		fmt.Fprintf(w, "clients of Google's services are served at https://%s\n", p.on.Addr())
	}
	if p != nil && p.tokensOn != nil {
		fmt.Fprintf(w, "their tokens are served at http://%s\n", p.tokensOn.Addr())
	}
}
