// Package certificate keeps the TLS certificate of a server as it is in two files, also
// when those change.
package certificate

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"
)

const (
	// lookTime is the time between looks at the files.
	lookTime = time.Second
	// maxFile bounds each file, in bytes. A chain of certificates has some 10,000.
	maxFile = 1 << 20
)

// Pair is a certificate with its key. All methods may be called concurrently.
type Pair struct {
	certFile, keyFile string
	log               *slog.Logger

	mu      sync.Mutex
	current *tls.Certificate
	cert    []byte // the files as they were when they were last looked at
	key     []byte
	failed  string // why they were not taken; "" if they were
}

// Load reads a certificate with the chain behind it, and its key, in PEM. It is an error
// if the key is not that of the certificate. One that has expired is taken with a
// warning: clients say so better than a server that does not start.
func Load(certFile, keyFile string, log *slog.Logger) (*Pair, error) {
	p := &Pair{certFile: certFile, keyFile: keyFile, log: log}
	var err error
	if p.cert, err = read(certFile); err == nil {
		p.key, err = read(keyFile)
	}
	if err != nil {
		return nil, err
	}
	if p.current, err = parse(p.cert, p.key); err != nil {
		return nil, fmt.Errorf("%s and %s: %w", certFile, keyFile, err)
	}
	p.warn()
	return p, nil
}

func read(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(raw) > maxFile {
		err = fmt.Errorf("%s has more than %d bytes", file, maxFile)
	}
	return raw, err
}

func parse(cert, key []byte) (*tls.Certificate, error) {
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, err
	}
	return &pair, nil
}

// warn logs that the current certificate is not valid now.
func (p *Pair) warn() {
	leaf := p.current.Leaf
	switch now := time.Now(); {
	case now.After(leaf.NotAfter):
		p.log.Warn("the TLS certificate has expired: clients refuse it", "file", p.certFile, "expired", leaf.NotAfter)
	case now.Before(leaf.NotBefore):
		p.log.Warn("the TLS certificate is not valid yet: clients refuse it", "file", p.certFile,
			"from", leaf.NotBefore)
	}
}

// Get returns the current certificate. It is for tls.Config.GetCertificate.
func (p *Pair) Get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.current, nil
}

// Run looks at the files every second until ctx is over.
func (p *Pair) Run(ctx context.Context) {
	look := time.NewTicker(lookTime)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
			p.look()
		}
	}
}

// look takes the files if they have changed and fit each other. If not, the certificate
// before them stays: it may be that one file is written and the other is still to come.
// The contents are compared, since a file may change without its time, and a link may
// lead elsewhere.
func (p *Pair) look() {
	cert, err := read(p.certFile)
	var key []byte
	if err == nil {
		key, err = read(p.keyFile)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil && bytes.Equal(cert, p.cert) && bytes.Equal(key, p.key) {
		return
	}
	var pair *tls.Certificate
	if err == nil {
		p.cert, p.key = cert, key
		pair, err = parse(cert, key)
	}
	if err != nil {
		if err.Error() != p.failed {
			p.failed = err.Error()
			p.log.Warn("the TLS certificate has changed, and cannot be used: the one before it stays",
				"cert", p.certFile, "key", p.keyFile, "err", err)
		}
		return
	}
	p.current, p.failed = pair, ""
	p.log.Info("the TLS certificate was read again", "file", p.certFile, "expires", pair.Leaf.NotAfter)
	p.warn()
}

// errStranger is the error of a server with another certificate.
var errStranger = errors.New("the server has another certificate than the one in the file")

// Pinned returns a configuration for a client of the server with the certificate in a
// file, whatever its names and its signer are: the client asks by an address
// of its own machine. Each connection reads the file.
func Pinned(certFile string) *tls.Config {
	return &tls.Config{
		InsecureSkipVerify: true, // the next line verifies more
		VerifyConnection: func(s tls.ConnectionState) error {
			raw, err := read(certFile)
			if err != nil {
				return err
			}
			block, rest := pem.Decode(raw)
			for block != nil && block.Type != "CERTIFICATE" {
				block, rest = pem.Decode(rest)
			}
			switch {
			case block == nil:
				return fmt.Errorf("%s has no certificate in PEM", certFile)
			case len(s.PeerCertificates) == 0 || !bytes.Equal(s.PeerCertificates[0].Raw, block.Bytes):
				return errStranger
			}
			return nil
		},
	}
}

// Trusting returns a configuration for a client that takes what the system trusts, and
// what the certificates in a file have signed.
func Trusting(caFile string) (*tls.Config, error) {
	raw, err := read(caFile)
	if err != nil {
		return nil, err
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // a system without any
	}
	if !pool.AppendCertsFromPEM(raw) {
		return nil, fmt.Errorf("%s has no certificate in PEM", caFile)
	}
	return &tls.Config{RootCAs: pool}, nil
}
