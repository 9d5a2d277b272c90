// Package vertexauth has what clients of Google's services need to trust memoryd and to be trusted:
// a certificate authority with a certificate of the names that they compute, service accounts
// whose keys memoryd knows, and the endpoints where they ask for tokens.
//
// All of it is in one directory:
//
//	ca.pem, ca.key          the authority; the key is needed to renew alone
//	server.pem, server.key  the certificate of the port, and its key
//	credentials.json        a service account for Python and Java
//	credentials-go.json     the same one for Go, of a universe of its own
//	trust.p12               the authorities of this machine and ours, for Java
//	accounts/KEY.pem        the public key of the service account of a key of memoryd
//	accounts/KEY-NAME.pem   that of a further account of the key, whose files have the name too
package vertexauth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Names of files in the directory.
const (
	CAFile       = "ca.pem"
	caKeyFile    = "ca.key"
	CertFile     = "server.pem"
	KeyFile      = "server.key"
	Credentials  = "credentials.json"
	Go           = "credentials-go.json"
	TrustFile    = "trust.p12"
	accountsPath = "accounts"
)

// Universe is the universe of Go's clients: their host is "aiplatform." and it.
const Universe = "memoryd.internal"

// NoKey stands for the key of a service account while memoryd has no keys.
const NoKey = "none"

// Lifetimes of certificates. Some clients take none for longer than 825 days.
const (
	caTime   = 10 * 365 * 24 * time.Hour
	certTime = 825 * 24 * time.Hour
	backdate = time.Hour // for clients whose clocks are late
)

// Init says what to write.
type Init struct {
	Dir string
	// Location is the one that clients are configured with: the switch that has them come to
	// memoryd. Defaults to DefaultLocation.
	Location string
	// Hosts are further names of the certificate.
	Hosts []string
	// Tokens is the address of the endpoints of tokens, HOST:PORT. Defaults to DefaultTokens.
	Tokens string
	// Key is the id of the key of memoryd that the service account stands for; "" is none.
	Key string
	// Renew makes another certificate of the same authority.
	Renew bool
	Now   func() time.Time // Defaults to time.Now.
}

// Defaults of Init.
const (
	DefaultLocation = "memoryd"
	DefaultTokens   = "127.0.0.1:8081"
)

// Names are the names of the certificate for a location.
func Names(location string, hosts []string) []string {
	return append([]string{location + "-aiplatform.googleapis.com", "aiplatform.googleapis.com",
		"aiplatform." + Universe, "localhost", "127.0.0.1"}, hosts...)
}

// Write writes the files that are not there yet, and returns their paths. It overwrites none, but
// the certificate if Renew is set.
func (in Init) Write() (wrote []string, err error) {
	if in.Now == nil {
		in.Now = time.Now
	}
	if in.Location == "" {
		in.Location = DefaultLocation
	}
	if in.Tokens == "" {
		in.Tokens = DefaultTokens
	}
	if slices.Contains([]string{"us", "eu", "global"}, in.Location) {
		return nil, fmt.Errorf("location %q: clients compute other names for it: take a word of your own", in.Location)
	}
	if err := os.MkdirAll(filepath.Join(in.Dir, accountsPath), 0o700); err != nil {
		return nil, err
	}
	for _, step := range []func() ([]string, error){in.authority, in.trust, in.certificate, in.account} {
		files, err := step()
		wrote = append(wrote, files...)
		if err != nil {
			return wrote, err
		}
	}
	return wrote, nil
}

func (in *Init) path(name string) string { return filepath.Join(in.Dir, name) }

func (in *Init) has(name string) bool { return exists(in.path(name)) }

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

func (in *Init) template(serial *big.Int, life time.Duration, name string) *x509.Certificate {
	return &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: in.Now().Add(-backdate), NotAfter: in.Now().Add(life), BasicConstraintsValid: true}
}

func serial() *big.Int {
	n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		panic(err) // it never fails
	}
	return n
}

// authority writes the authority, unless it is there.
func (in *Init) authority() ([]string, error) {
	if in.has(CAFile) {
		return nil, nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	of := in.template(serial(), caTime, "memoryd")
	of.IsCA, of.KeyUsage, of.MaxPathLenZero = true, x509.KeyUsageCertSign|x509.KeyUsageCRLSign, true
	raw, err := x509.CreateCertificate(rand.Reader, of, of, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return in.writePair(CAFile, raw, caKeyFile, key, false)
}

// certificate writes the certificate of the port, unless it is there.
func (in *Init) certificate() ([]string, error) {
	if in.has(CertFile) && !in.Renew {
		return nil, nil
	}
	ca, err := readPEM(in.path(CAFile))
	if err != nil {
		return nil, err
	}
	authority, err := x509.ParseCertificate(ca)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.path(CAFile), err)
	}
	raw, err := readPEM(in.path(caKeyFile))
	if err != nil {
		return nil, fmt.Errorf("%w: the key of the authority makes its certificates", err)
	}
	signer, err := x509.ParsePKCS8PrivateKey(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.path(caKeyFile), err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	names := Names(in.Location, in.Hosts)
	of := in.template(serial(), certTime, names[0])
	of.KeyUsage, of.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			of.IPAddresses = append(of.IPAddresses, ip)
		} else {
			of.DNSNames = append(of.DNSNames, name)
		}
	}
	cert, err := x509.CreateCertificate(rand.Reader, of, authority, key.Public(), signer)
	if err != nil {
		return nil, err
	}
	return in.writePair(CertFile, cert, KeyFile, key, in.Renew)
}

func (in *Init) writePair(certFile string, cert []byte, keyFile string, key any, over bool) ([]string, error) {
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	// The key comes first: a certificate whose key is missing would stay so.
	if err := write(in.path(keyFile), encodePEM("PRIVATE KEY", raw), 0o600, over); err != nil {
		return nil, err
	}
	if err := write(in.path(certFile), encodePEM("CERTIFICATE", cert), 0o644, over); err != nil {
		return nil, err
	}
	return []string{in.path(certFile), in.path(keyFile)}, nil
}

// write writes a file by way of another, so that it is whole or not there.
func write(file string, text []byte, mode os.FileMode, over bool) error {
	if !over && exists(file) {
		return fmt.Errorf("%s: %w", file, os.ErrExist)
	}
	temporary := file + ".new"
	if err := os.WriteFile(temporary, text, mode); err != nil {
		return err
	}
	return os.Rename(temporary, file)
}

func encodePEM(kind string, raw []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw})
}

// readPEM reads the first block of a file.
func readPEM(file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s: it is not PEM", file)
	}
	return block.Bytes, nil
}

// account writes the service account, unless it is there.
func (in *Init) account() ([]string, error) {
	if in.has(Credentials) {
		if in.Key != "" {
			return nil, fmt.Errorf("%s: %w: name another directory for another key", in.path(Credentials), os.ErrExist)
		}
		return nil, nil
	}
	id := in.Key
	if id == "" {
		id = NoKey
	}
	return Account{Dir: in.Dir, Tokens: in.Tokens, Key: id}.Write()
}

// Missing reports whether the directory has no certificate.
func Missing(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, CertFile))
	return errors.Is(err, os.ErrNotExist)
}
