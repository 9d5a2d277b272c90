package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/memoryd/memoryd/appconfig"
)

// configuration is the JSON of a configuration with its revision.
type configuration struct {
	Revision *int64 `json:"revision,omitempty"`
	appconfig.Config
}

// Config reads the configuration of an app, and its revision; 0 if the app has none. It
// takes a key with the verb admin for the app.
func (c *Client) Config(ctx context.Context, app string) (appconfig.Config, int64, error) {
	return c.config(ctx, call{method: http.MethodGet, path: configPath(app), idempotent: true})
}

// PutConfig replaces the configuration of an app, and returns it as it is then with its
// revision. expect is the revision that was read before the change: if the app has another
// one by now, the error is ErrAborted and nothing changes. sessionstore.AnyRevision replaces
// whatever is there.
func (c *Client) PutConfig(ctx context.Context, app string, config appconfig.Config, expect int64) (
	appconfig.Config, int64, error) {
	body := configuration{Config: config}
	if expect >= 0 {
		body.Revision = &expect
	}
	return c.config(ctx, call{method: http.MethodPut, path: configPath(app), body: body})
}

func configPath(app string) string { return "/v1/apps/" + url.PathEscape(app) + "/config" }

// config makes a call whose answer is a configuration.
func (c *Client) config(ctx context.Context, does call) (appconfig.Config, int64, error) {
	out := configuration{Revision: new(int64)}
	does.answer = &out
	err := c.do(ctx, does)
	return out.Config, *out.Revision, err
}
