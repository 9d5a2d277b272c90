package main

import (
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"unicode"

	"github.com/memoryd/memoryd/internal/certificate"
	"github.com/memoryd/memoryd/server"
)

// network is what the flags say of TLS, names and proxies.
type network struct {
	cert, key string
	hosts     list
	origins   list
	proxies   list
	trusted   []netip.Prefix // after check: proxies
	caFile    string         // of a command that asks a memoryd
}

// list is the value of a flag that may be repeated, with commas between values.
type list []string

// String implements flag.Value.
func (l *list) String() string { return strings.Join(*l, ",") }

// Set implements flag.Value.
func (l *list) Set(text string) error {
	for value := range strings.SplitSeq(text, ",") {
		if value = strings.TrimSpace(value); value == "" {
			return errors.New("want values with commas between")
		}
		*l = append(*l, value)
	}
	return nil
}

// networkFlagNames are the flags of serve that are about TLS, names and proxies.
func networkFlagNames() []string {
	return []string{"tls-cert", "tls-key", "host", "cors-origin", "trusted-proxies"}
}

func networkFlags(fs *flag.FlagSet, n *network) {
	fs.StringVar(&n.cert, "tls-cert", "", "`FILE` with the certificate of -listen and its chain, in PEM: serve TLS")
	fs.StringVar(&n.key, "tls-key", "", "`FILE` with the key of -tls-cert, in PEM")
	fs.Var(&n.hosts, "host", "`NAMES` beside loopback names that requests may be for, with commas between")
	fs.Var(&n.origins, "cors-origin", "`ORIGINS` of web pages that may call memoryd, with commas between")
	fs.Var(&n.proxies, "trusted-proxies",
		"`ADDRESSES` or networks of proxies whose X-Forwarded-For, -Host and -Proto count, with commas between")
}

// caFlag defines the flag of commands that ask a memoryd over TLS.
func caFlag(fs *flag.FlagSet, n *network) {
	fs.StringVar(&n.caFile, "ca-file", "",
		"`FILE` with certificates to trust beside those of the system, in PEM, for a memoryd at an https URL")
}

// check reads the names and the proxies.
func (n *network) check() error {
	if (n.cert == "") != (n.key == "") {
		return errors.New("-tls-cert and -tls-key go together: give both, or neither")
	}
	for i, host := range n.hosts {
		name, err := hostName(host)
		if err != nil {
			return err
		}
		n.hosts[i] = name
	}
	for i, text := range n.origins {
		origin, err := server.Origin(text)
		if err != nil {
			return fmt.Errorf("-cors-origin %.300q: %w", text, err)
		}
		n.origins[i] = origin
	}
	n.trusted = nil
	for _, proxy := range n.proxies {
		prefix, err := parseProxy(proxy)
		if err != nil {
			return err
		}
		n.trusted = append(n.trusted, prefix)
	}
	return nil
}

// maxHost is the length of the longest name in DNS, in bytes.
const maxHost = 253

// hostName is a value of -host without brackets and the dot at its end.
func hostName(host string) (string, error) {
	name := strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"), ".")
	odd := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '.' && r != '_'
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return name, nil
	}
	if name == "" || len(name) > maxHost || strings.ContainsFunc(name, odd) {
		return "", fmt.Errorf("-host %.300q: want a name such as memory.example.com, without a scheme and a port", host)
	}
	return name, nil
}

// parseProxy reads an address or a network. An IPv4 one within IPv6 counts as what it is.
func parseProxy(text string) (netip.Prefix, error) {
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		addr, err := netip.ParseAddr(text)
		if err != nil || addr.Zone() != "" {
			return prefix, fmt.Errorf("-trusted-proxies %.100q: want an address or a network, such as 10.0.0.0/8", text)
		}
		return netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen()), nil
	}
	if prefix.Addr().Is4In6() && prefix.Bits() >= 96 {
		prefix = netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-96)
	}
	if prefix.Bits() == 0 {
		return prefix, fmt.Errorf("-trusted-proxies %s: then every client could say who it is:"+
			" name the networks of your proxies", text)
	}
	return prefix.Masked(), nil
}

// certificate reads the certificate to serve with, nil if TLS is off.
func (n *network) certificate(log *slog.Logger) (*certificate.Pair, error) {
	if n.cert == "" {
		return nil, nil
	}
	pair, err := certificate.Load(n.cert, n.key, log)
	if err != nil {
		return nil, fmt.Errorf("-tls-cert, -tls-key: %w", err)
	}
	return pair, nil
}

// scheme is that of the URL of -listen.
func (n *network) scheme() string {
	if n.cert != "" {
		return "https"
	}
	return "http"
}

// base is the URL of the memoryd that serves -listen, for commands beside it.
func (c *config) base() (string, error) {
	at, err := c.address()
	return c.network.scheme() + "://" + at, err
}

// beside is a transport to the memoryd that serves -listen. With TLS it takes the
// certificate in -tls-cert alone, whatever its names are: the command asks by an
// address.
func (c *config) beside() http.RoundTripper {
	if c.network.cert == "" {
		return http.DefaultTransport
	}
	return transport(certificate.Pinned(c.network.cert))
}

// remoteTLS is the configuration for a memoryd at a URL; nil is the default.
func (n *network) remoteTLS() (*tls.Config, error) {
	if n.caFile == "" {
		return nil, nil
	}
	cfg, err := certificate.Trusting(n.caFile)
	if err != nil {
		return nil, fmt.Errorf("-ca-file: %w", err)
	}
	return cfg, nil
}

// remote is a transport to the memoryd at a URL; nil is the default.
func (n *network) remote() (http.RoundTripper, error) {
	cfg, err := n.remoteTLS()
	if err != nil || cfg == nil {
		return nil, err
	}
	return transport(cfg), nil
}

func transport(cfg *tls.Config) http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = cfg
	return t
}
