package server

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/memory"
)

// keyBody is the JSON of a key. Key is the key as its owner keeps it, in the one answer
// that has it.
type keyBody struct {
	ID           string   `json:"id"`
	Key          string   `json:"key,omitzero"`
	Name         string   `json:"name,omitzero"`
	App          string   `json:"appName"`
	User         string   `json:"userId,omitzero"`
	Can          []string `json:"can"`
	CreateTime   jsonTime `json:"createTime"`
	ExpireTime   jsonTime `json:"expireTime,omitzero"`
	RevokeTime   jsonTime `json:"revokeTime,omitzero"`
	LastUsedTime jsonTime `json:"lastUsedTime,omitzero"`
}

// jsonTime is a time as answers have it.
type jsonTime struct{ time.Time }

// MarshalJSON implements json.Marshaler.
func (t jsonTime) MarshalJSON() ([]byte, error) {
	return []byte(t.UTC().Format(`"2006-01-02T15:04:05.000000Z"`)), nil
}

func keyOf(k access.Key) keyBody {
	return keyBody{ID: k.ID, Name: k.Name, App: k.App, User: k.User, Can: k.Can.Names(),
		CreateTime: jsonTime{k.CreateTime}, ExpireTime: jsonTime{k.ExpireTime}, RevokeTime: jsonTime{k.RevokeTime},
		LastUsedTime: jsonTime{k.LastUsedTime}}
}

// errNoKeys is the error of a server that has no store of keys.
var errNoKeys = invalid("this memoryd keeps no keys")

// withKeys passes the app in the path to h. It may be access.AllApps.
func (s *Server) withKeys(h func(c echo.Context, app string) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		if s.opts.Keys == nil {
			return errNoKeys
		}
		app, err := pathParam(c, "app")
		if err != nil {
			return err
		}
		return h(c, app)
	}
}

// createKey answers POST /v1/apps/{app}/keys. The principal's own verbs do not bound
// those of the key: admin is the right to give rights in its app.
func (s *Server) createKey(c echo.Context, app string) error {
	var req struct {
		App        string   `json:"appName"`
		User       string   `json:"userId"`
		Name       string   `json:"name"`
		Can        []string `json:"can"`
		ExpireTime moment   `json:"expireTime"`
		TTL        lifetime `json:"ttl"`
	}
	if err := decodeBody(c, &req); err != nil {
		return err
	}
	if req.App != "" && req.App != app {
		return invalid("appName %.60q is not the app in the path", req.App)
	}
	can, err := access.ParseVerbs(req.Can)
	if err != nil {
		return fmt.Errorf("can: %w", err)
	}
	now := time.Now()
	expires := req.ExpireTime.Time
	if req.TTL.Duration > 0 {
		if !expires.IsZero() {
			return invalid("expireTime and ttl: want one of them")
		}
		expires = now.Add(req.TTL.Duration)
	}
	key, shown := access.NewKey(
		access.Key{Name: req.Name, App: app, User: req.User, Can: can, ExpireTime: expires}, now)
	if err := s.opts.Keys.CreateKey(c.Request().Context(), key); err != nil {
		return err
	}
	s.ring.Renew()
	note(c, func(e *access.Entry) { e.Key = key.ID })
	out := keyOf(key)
	out.Key = shown
	return sendSecret(c, http.StatusCreated, out)
}

// sendSecret sends an answer that nothing on the way may keep.
func sendSecret(c echo.Context, status int, v any) error {
	c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
	return sendJSON(c, status, v)
}

// listKeys answers GET /v1/apps/{app}/keys.
func (s *Server) listKeys(c echo.Context, app string) (err error) {
	list := access.ListKeys{PageToken: c.QueryParam("pageToken")}
	if list.PageSize, err = pageSizeParam(c); err != nil {
		return err
	}
	page, err := s.opts.Keys.ListKeys(c.Request().Context(), app, list)
	if err != nil {
		return err
	}
	out := struct {
		Keys          []keyBody `json:"keys"`
		NextPageToken string    `json:"nextPageToken,omitzero"`
	}{[]keyBody{}, page.NextPageToken}
	for _, k := range page.Keys {
		out.Keys = append(out.Keys, keyOf(k))
	}
	return sendJSON(c, http.StatusOK, out)
}

// keyInPath reads the key that the path names. One of another app is not found.
func (s *Server) keyInPath(c echo.Context, app string) (access.Key, error) {
	id, err := pathParam(c, "key")
	if err != nil {
		return access.Key{}, err
	}
	key, err := s.opts.Keys.Key(c.Request().Context(), id)
	if err == nil && key.App != app && app != access.AllApps {
		err = memory.ErrNotFound
	}
	if errors.Is(err, memory.ErrNotFound) {
		err = fmt.Errorf("key %.80q of app %.80q: %w", id, app, memory.ErrNotFound)
	}
	return key, err
}

// revokeKey answers DELETE /v1/apps/{app}/keys/{id}. The key stays in lists.
func (s *Server) revokeKey(c echo.Context, app string) error {
	key, err := s.keyInPath(c, app)
	if err != nil {
		return err
	}
	if err := s.opts.Keys.RevokeKey(c.Request().Context(), key.ID, time.Now()); err != nil {
		return err
	}
	s.ring.Renew()
	return c.NoContent(http.StatusNoContent)
}

// rotateKey answers POST /v1/apps/{app}/keys/{id}/rotate.
func (s *Server) rotateKey(c echo.Context, app string) error {
	var req struct {
		Grace lifetime `json:"grace"`
	}
	if err := decodeBody(c, &req); err != nil {
		return err
	}
	key, err := s.keyInPath(c, app)
	if err != nil {
		return err
	}
	shown, err := access.Rotate(c.Request().Context(), s.opts.Keys, key.ID, time.Now(), req.Grace.Duration)
	if err != nil {
		return err
	}
	s.ring.Renew()
	out := keyOf(key)
	out.Key = shown
	return sendSecret(c, http.StatusOK, out)
}
