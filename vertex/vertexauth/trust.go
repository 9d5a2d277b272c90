package vertexauth

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"

	"software.sslmate.com/src/go-pkcs12"
)

// TrustPassword is that of the file for Java, as of the one that Java comes with: the file has no
// secret.
const TrustPassword = "changeit"

// bundles are files with the authorities of a machine, as Linux distributions and macOS have them. The
// first one that is there counts: others are links to it, or copies.
var bundles = []string{
	"/etc/ssl/certs/ca-certificates.crt",                // Debian, Arch
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", // Fedora, RHEL
	"/etc/ssl/ca-bundle.pem",                            // openSUSE
	"/etc/ssl/cert.pem",                                 // Alpine, macOS
}

// trust writes the authorities that Java's clients trust, unless they are there: those of this
// machine, so that calls to other services go on, and ours.
func (in *Init) trust() ([]string, error) {
	if in.has(TrustFile) {
		return nil, nil
	}
	raw, err := readPEM(in.path(CAFile))
	if err != nil {
		return nil, err
	}
	own, err := x509.ParseCertificate(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.path(CAFile), err)
	}
	entries := []pkcs12.TrustStoreEntry{{Cert: own, FriendlyName: "memoryd"}}
	for i, cert := range machineRoots() {
		entries = append(entries, pkcs12.TrustStoreEntry{Cert: cert, FriendlyName: fmt.Sprintf("machine-%d", i)})
	}
	store, err := pkcs12.Modern2023.EncodeTrustStoreEntries(entries, TrustPassword)
	if err != nil {
		return nil, err
	}
	return []string{in.path(TrustFile)}, write(in.path(TrustFile), store, 0o644, false)
}

// machineRoots reads the authorities of this machine; none if it has none of the files.
func machineRoots() (out []*x509.Certificate) {
	for _, file := range bundles {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
			if cert, err := x509.ParseCertificate(block.Bytes); err == nil {
				out = append(out, cert)
			}
		}
		return out
	}
	return nil
}
