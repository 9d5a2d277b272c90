package server

import (
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"
)

// checkHost refuses requests that a web page of another site has sent.
//
// A page whose DNS name resolves to 127.0.0.1 reaches this server from the
// user's own browser, and only the Host header still has the foreign name. So
// unless Options.AnyHost is set, Host must be a loopback name. Requests that
// change something are also refused if the browser marks them as coming from
// another site (Sec-Fetch-Site, or Origin in older browsers).
func (s *Server) checkHost(next echo.HandlerFunc) echo.HandlerFunc {
	sites := http.NewCrossOriginProtection()
	return func(c echo.Context) error {
		if err := sites.Check(c.Request()); err != nil {
			return fmt.Errorf("%w: %w", errForbidden, err)
		}
		if host := c.Request().Host; !s.opts.AnyHost && !Loopback(host) {
			return fmt.Errorf("%w: host %.100q is not a loopback name: use http://127.0.0.1 or http://localhost",
				errForbidden, host)
		}
		return next(c)
	}
}

// Loopback reports whether host, with or without a port, can only be this
// machine: localhost or a loopback address.
func Loopback(host string) bool {
	if h, port, err := net.SplitHostPort(host); err == nil {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return false
		}
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
