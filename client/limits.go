package client

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// Limit is a limit that is set, and how much of it is used.
type Limit struct {
	Name  string  `json:"name"` // of the flag that sets it, without its dash, such as "app-rate"
	Limit float64 `json:"limit"`
	// Used is, of a rate, how many of the requests that may come at once.
	Used int64 `json:"used"`
	// ResetTime is when none of it is used if nothing else comes; zero if none is, or if time
	// alone gives nothing back.
	ResetTime time.Time `json:"resetTime"`
}

// Limits returns those of the user, and those of the key that the client shows.
func (u *User) Limits(ctx context.Context) ([]Limit, error) {
	var out struct{ Limits []Limit }
	err := u.do(ctx, call{method: http.MethodGet, path: "/limits", answer: &out, idempotent: true})
	return out.Limits, err
}

// AppLimits returns those of an app, of the knowledge that it shares, and of the key that
// the client shows, which must have the verb admin.
func (c *Client) AppLimits(ctx context.Context, app string) ([]Limit, error) {
	var out struct{ Limits []Limit }
	path := "/v1/apps/" + url.PathEscape(app) + "/limits"
	err := c.do(ctx, call{method: http.MethodGet, path: path, answer: &out, idempotent: true})
	return out.Limits, err
}
