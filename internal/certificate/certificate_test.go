package certificate_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/memoryd/memoryd/internal/certificate"
	"github.com/memoryd/memoryd/internal/certtest"
)

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

func year() time.Time { return time.Now().AddDate(1, 0, 0) }

// name is that of the certificate which a pair has now.
func name(t *testing.T, p *certificate.Pair) string {
	t.Helper()
	c, err := p.Get(nil)
	if err != nil {
		t.Fatal(err)
	}
	return c.Leaf.Subject.CommonName
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	good, other := certtest.Make(t, "a", year()), certtest.Make(t, "b", year())
	for what, c := range map[string]struct {
		cert, key []byte
		want      string // in the error; "" if there is none
	}{
		"good":               {good.Cert, good.Key, ""},
		"with a chain":       {append(bytes.Clone(good.Cert), other.Cert...), good.Key, ""},
		"another key":        {good.Cert, other.Key, "tls.key"},
		"no PEM":             {[]byte("hello"), good.Key, "tls.crt"},
		"empty":              {nil, nil, "tls.crt"},
		"the two exchanged":  {good.Key, good.Cert, "tls.crt"},
		"half a certificate": {good.Cert[:len(good.Cert)/2], good.Key, "tls.crt"},
		"half a key":         {good.Cert, good.Key[:len(good.Key)/2], "tls.key"},
		"huge":               {bytes.Repeat([]byte("x"), 1<<20+1), good.Key, "bytes"},
	} {
		certtest.Files{Cert: c.cert, Key: c.key}.Write(t, cert, key)
		p, err := certificate.Load(cert, key, discard())
		switch {
		case c.want == "" && (err != nil || name(t, p) != "a"):
			t.Errorf("%s: %v", what, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, missing := range []string{cert, key} {
		good.Write(t, cert, key)
		if err := os.Remove(missing); err != nil {
			t.Fatal(err)
		}
		if _, err := certificate.Load(cert, key, discard()); err == nil || !strings.Contains(err.Error(), missing) {
			t.Errorf("without %s: %v", missing, err)
		}
	}
	var log bytes.Buffer
	certtest.Make(t, "old", time.Now().Add(-time.Hour)).Write(t, cert, key)
	if _, err := certificate.Load(cert, key, slog.New(slog.NewTextHandler(&log, nil))); err != nil ||
		!strings.Contains(log.String(), "expired") {
		t.Errorf("expired: %v, log %s", err, log.String())
	}
}

// A pair follows its files. It keeps the certificate while they do not fit each other.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		cert, key := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
		a, b, c := certtest.Make(t, "a", year()), certtest.Make(t, "b", year()), certtest.Make(t, "c", year())
		a.Write(t, cert, key)
		var log bytes.Buffer
		p, err := certificate.Load(cert, key, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go p.Run(ctx)
		after := func(what, want string) {
			t.Helper()
			time.Sleep(time.Minute)
			synctest.Wait()
			if got := name(t, p); got != want {
				t.Errorf("%s: %q, want %q\n%s", what, got, want, log.String())
			}
		}
		write := func(file string, raw []byte) {
			t.Helper()
			if err := os.WriteFile(file, raw, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		after("unchanged", "a")
		write(cert, b.Cert)
		after("the certificate without its key", "a")
		if n := strings.Count(log.String(), "cannot be used"); n != 1 {
			t.Errorf("the log tells of it %d times:\n%s", n, log.String())
		}
		write(key, b.Key)
		after("both", "b")
		write(cert, c.Cert[:100])
		write(key, c.Key)
		after("half a certificate", "b")
		if err := os.Remove(cert); err != nil {
			t.Fatal(err)
		}
		after("no certificate", "b")
		// As Kubernetes writes secrets: another file under a link of the same name.
		if err := os.Mkdir(filepath.Join(dir, "new"), 0o700); err != nil {
			t.Fatal(err)
		}
		write(filepath.Join(dir, "new", "tls.crt"), c.Cert)
		if err := os.Symlink(filepath.Join(dir, "new", "tls.crt"), cert); err != nil {
			t.Fatal(err)
		}
		after("behind a link", "c")
		a.Write(t, cert, key)
		after("the first one again", "a")
	})
}

// greet has a client and a server shake hands.
func greet(t *testing.T, server certtest.Files, client *tls.Config) error {
	t.Helper()
	pair, err := tls.X509KeyPair(server.Cert, server.Key)
	if err != nil {
		t.Fatal(err)
	}
	on, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if conn, err := on.Accept(); err == nil {
			_ = conn.(*tls.Conn).HandshakeContext(t.Context())
			conn.Close()
		}
	}()
	defer func() {
		on.Close()
		<-ended
	}()
	conn, err := net.Dial("tcp", on.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return tls.Client(conn, client).HandshakeContext(t.Context())
}

func TestClients(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	a, b := certtest.Make(t, "memory.example.com", year()), certtest.Make(t, "memory.example.com", year())
	a.Write(t, cert, key)
	pinned := certificate.Pinned(cert)
	if err := greet(t, a, pinned); err != nil {
		t.Errorf("pinned: %v", err)
	}
	if err := greet(t, b, pinned); err == nil {
		t.Error("pinned: another certificate of the same name is taken")
	}
	trusting, err := certificate.Trusting(cert)
	if err != nil {
		t.Fatal(err)
	}
	trusting.ServerName = "memory.example.com"
	if err := greet(t, a, trusting); err != nil {
		t.Errorf("trusting: %v", err)
	}
	if err := greet(t, b, trusting); err == nil {
		t.Error("trusting: another certificate of the same name is taken")
	}
	trusting.ServerName = "evil.com"
	if err := greet(t, a, trusting); err == nil {
		t.Error("trusting: a certificate of another name is taken")
	}
	for _, file := range []string{key, filepath.Join(dir, "missing")} {
		if err := greet(t, a, certificate.Pinned(file)); err == nil {
			t.Errorf("pinned to %s", file)
		}
		if _, err := certificate.Trusting(file); err == nil {
			t.Errorf("trusting %s", file)
		}
	}
}
