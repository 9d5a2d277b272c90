package server

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
)

// preflightAge is how long a browser may keep the answer to a preflight. After a restart
// with fewer origins a page can go on for so long without another one; its calls are
// refused all the same.
const preflightAge = 10 * time.Minute

// Origin is an origin as browsers send it: a scheme and a host in lower case, and a port
// unless it is that of the scheme. The error of any other text says what to write.
func Origin(text string) (string, error) {
	if strings.Contains(text, "*") {
		return "", errors.New("every page of the web could then read and write: name each origin")
	}
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.Opaque != "" {
		return "", errors.New("want an origin such as https://app.example.com")
	}
	if u.User != nil || strings.Trim(u.Path, "/") != "" || strings.ContainsAny(text, "?#") {
		return "", fmt.Errorf("an origin has a scheme, a host and a port alone: write %s://%s", u.Scheme, u.Host)
	}
	for _, r := range u.Host {
		if r <= ' ' || r > '~' {
			return "", errors.New("write the host in ASCII, as browsers send it: a name begins with xn-- there")
		}
	}
	host := strings.ToLower(u.Host)
	if name, ok := hostname(host); !ok || name == "" || strings.HasSuffix(host, ":") {
		return "", errors.New("want a port from 0 to 65535, or none")
	}
	if port := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]; strings.HasSuffix(host, port) {
		host = strings.TrimSuffix(host, port)
	}
	return u.Scheme + "://" + host, nil
}

// cors lets pages of Options.Origins read the answers, and answers their preflights.
// A preflight has no key, so this comes before authenticate; the call itself shows one
// in a header. Browsers never add cookies or other credentials, as no answer allows it.
// An origin that is not named gets the answer of a server without this.
func (s *Server) cors() echo.MiddlewareFunc {
	named := func(origin string) bool { return slices.Contains(s.opts.Origins, origin) }
	return middleware.CORSWithConfig(middleware.CORSConfig{
		Skipper: func(c echo.Context) bool {
			r := c.Request()
			preflight := r.Header.Get(echo.HeaderAccessControlRequestMethod) != "" &&
				named(r.Header.Get(echo.HeaderOrigin))
			return r.Method == http.MethodOptions && !preflight
		},
		AllowOriginFunc: func(origin string) (bool, error) { return named(origin), nil },
		AllowHeaders: []string{
			echo.HeaderAuthorization, echo.HeaderContentType, echo.HeaderXRequestID, "If-None-Match",
			"Mcp-Protocol-Version", "Mcp-Session-Id", "Traceparent", "X-Goog-Api-Key",
		},
		ExposeHeaders: []string{"ETag", echo.HeaderRetryAfter, echo.HeaderWWWAuthenticate, echo.HeaderXRequestID},
		MaxAge:        int(preflightAge.Seconds()),
	})
}
