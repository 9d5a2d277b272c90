package server

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"
)

// checkHost refuses requests that a web page of another site has sent.
//
// A page whose DNS name resolves to 127.0.0.1 reaches this server from the
// user's own browser, and only the Host header still has the foreign name. So
// unless Options.AnyHost is set, Host must be a loopback name, one of Options.Hosts, or
// the address that the connection has arrived at: probes use that one, and no page of
// another site has it. Requests that change something are also refused if the browser
// marks them as coming from another site (Sec-Fetch-Site, or Origin in older browsers),
// except from Options.Origins.
func (s *Server) checkHost(next echo.HandlerFunc) echo.HandlerFunc {
	sites := http.NewCrossOriginProtection()
	for _, origin := range s.opts.Origins {
		_ = sites.AddTrustedOrigin(origin) // no page has an origin that it does not take
	}
	return func(c echo.Context) error {
		if err := sites.Check(c.Request()); err != nil {
			return fmt.Errorf("%w: %w", errForbidden, err)
		}
		if host := c.Request().Host; !s.opts.AnyHost && !Loopback(host) && !s.serves(c.Request()) {
			return fmt.Errorf("%w: host %.100q is neither a loopback name nor one that this memoryd serves (-host)",
				errForbidden, host)
		}
		return next(c)
	}
}

// serves reports whether Options.Hosts allows the Host of a request.
func (s *Server) serves(r *http.Request) bool {
	if len(s.opts.Hosts) == 0 {
		return false
	}
	host, ok := hostname(r.Host)
	if !ok {
		return false
	}
	if slices.ContainsFunc(s.opts.Hosts, func(name string) bool { return strings.EqualFold(name, host) }) {
		return true
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	asked := address(host)
	return local != nil && asked.IsValid() && asked == address(local.String())
}

// hostname is a host without its port, the brackets of an IPv6 address, and the dot at
// the end of a whole name. ok is false if the port is none.
func hostname(host string) (name string, ok bool) {
	if h, port, err := net.SplitHostPort(host); err == nil {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return "", false
		}
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.TrimSuffix(host, "."), true
}

// Loopback reports whether host, with or without a port, can only be this
// machine: localhost or a loopback address.
func Loopback(host string) bool {
	name, ok := hostname(host)
	if !ok {
		return false
	}
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip := net.ParseIP(name)
	return ip != nil && ip.IsLoopback()
}
