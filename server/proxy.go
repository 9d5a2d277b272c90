package server

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Headers in which a proxy says what the client asked for. The header Forwarded is not
// among them: a proxy that writes one kind of header passes the other on as the client
// made it up.
const (
	forwardedFor   = "X-Forwarded-For"
	forwardedHost  = "X-Forwarded-Host"
	forwardedProto = "X-Forwarded-Proto"
)

// trusts reports whether an address is one of a trusted proxy.
func (s *Server) trusts(addr netip.Addr) bool {
	contains := func(p netip.Prefix) bool { return p.Contains(addr) }
	return slices.ContainsFunc(s.opts.TrustedProxies, contains) // none contains an address that is not valid
}

// viaProxy reports whether a trusted proxy has sent a request.
func (s *Server) viaProxy(r *http.Request) bool {
	return len(s.opts.TrustedProxies) > 0 && s.trusts(address(r.RemoteAddr))
}

// address reads an address with or without a port, and in brackets or not. It is not
// valid if the text is no address. An IPv4 address in the form of an IPv6 one counts as
// what it is.
func address(text string) netip.Addr {
	text = strings.TrimSpace(text)
	if host, _, err := net.SplitHostPort(text); err == nil {
		text = host
	}
	text = strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	addr, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Addr{}
	}
	return addr.Unmap().WithZone("")
}

// clientOf returns the address of the client of a request. Each trusted proxy appends the
// address that called it, so the client's is the last one that is no trusted proxy's:
// all before it are words of the client. Behind an entry that is no address, it is that
// of the last proxy. It is not valid for a call over no network.
func (s *Server) clientOf(r *http.Request) netip.Addr {
	client := address(r.RemoteAddr)
	if !s.viaProxy(r) {
		return client
	}
	chain := strings.Split(strings.Join(r.Header.Values(forwardedFor), ","), ",")
	for _, text := range slices.Backward(chain) {
		addr := address(text)
		if !addr.IsValid() {
			break
		}
		if client = addr; !s.trusts(addr) {
			break
		}
	}
	return client
}

// lastOf returns the last value of a header with values between commas: that of the
// proxy which has called.
func lastOf(h http.Header, name string) string {
	values := h.Values(name)
	if len(values) == 0 {
		return ""
	}
	last := values[len(values)-1]
	return strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])
}

// unproxy gives a request the Host that the client of a trusted proxy has asked for.
func (s *Server) unproxy(r *http.Request) {
	if !s.viaProxy(r) {
		return
	}
	if host := lastOf(r.Header, forwardedHost); host != "" {
		r.Host = host
	}
}

// schemeOf returns the scheme of the URL that a client has asked.
func (s *Server) schemeOf(r *http.Request) string {
	if r.TLS != nil || s.viaProxy(r) && strings.EqualFold(lastOf(r.Header, forwardedProto), "https") {
		return "https"
	}
	return "http"
}
