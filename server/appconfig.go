package server

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/appconfig"
	"github.com/memoryd/memoryd/internal/strict"
	"github.com/memoryd/memoryd/sessionstore"
)

// configBody is the JSON of a configuration in an answer, and in a request, where a
// revision is the one that the change was made of.
type configBody struct {
	Revision *int64 `json:"revision"`
	*appconfig.Config
}

// configApp returns the app in the path. All apps together have no configuration.
func configApp(c echo.Context) (string, error) {
	app, err := pathParam(c, "app")
	if err == nil && app == access.AllApps {
		err = invalid("app: want one app: each has a configuration of its own")
	}
	return app, err
}

// sendConfig answers with a configuration.
func sendConfig(c echo.Context, config *appconfig.Config, revision int64) error {
	return sendJSON(c, http.StatusOK, configBody{&revision, config.Shown()})
}

// getConfig answers GET /v1/apps/{app}/config. An app without a configuration has that of
// revision 0.
func (s *Server) getConfig(c echo.Context) error {
	app, err := configApp(c)
	if err != nil {
		return err
	}
	config, revision, err := s.ingest.Configs().Get(c.Request().Context(), app)
	if err != nil {
		return err
	}
	return sendConfig(c, config, revision)
}

// putConfig answers PUT /v1/apps/{app}/config. The body replaces the whole configuration.
func (s *Server) putConfig(c echo.Context) error {
	app, err := configApp(c)
	if err != nil {
		return err
	}
	req := configBody{Config: &appconfig.Config{}}
	if err := decodeBody(c, &req); err != nil {
		return err
	}
	if raw, err := strict.Encode(req.Config); err != nil || len(raw) > sessionstore.MaxConfig {
		return invalid("a configuration has at most %d bytes", sessionstore.MaxConfig)
	}
	if err := req.Config.Validate(); err != nil {
		return err
	}
	expect := int64(sessionstore.AnyRevision)
	if req.Revision != nil {
		if expect = *req.Revision; expect < 0 {
			return invalid("revision: want that of the configuration that was changed, not %d", expect)
		}
	}
	revision, err := s.ingest.Configs().Put(c.Request().Context(), app, req.Config, expect)
	if err != nil {
		return err
	}
	return sendConfig(c, req.Config, revision)
}
