package server

import (
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"
)

// hostChecked serves loopback names only, unless AnyHost. The address a
// request came to is loopback anyway; its Host is what the browser's page
// believed it was talking to. What browsers send for pages of other sites is
// refused wherever it would change something.
func (s *Server) hostChecked(next echo.HandlerFunc) echo.HandlerFunc {
	sites := http.NewCrossOriginProtection()
	return func(c echo.Context) error {
		if err := sites.Check(c.Request()); err != nil {
			return echo.NewHTTPError(http.StatusForbidden, err.Error())
		}
		if !s.opts.AnyHost && !Loopback(c.Request().Host) {
			return echo.NewHTTPError(http.StatusForbidden, "host is not a loopback name: use http://127.0.0.1 or http://localhost")
		}
		return next(c)
	}
}

// Loopback reports whether a host, with or without a port, is this machine
// and nobody else.
func Loopback(hostport string) bool {
	host := hostport
	if h, port, err := net.SplitHostPort(hostport); err == nil {
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
