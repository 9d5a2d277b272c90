package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
)

// Erased counts what an erasing has removed, as far as that call removed it, or what it
// would remove.
type Erased struct {
	Users     int `json:"users"` // of an app
	Sessions  int `json:"sessions"`
	Events    int `json:"events"`
	Memories  int `json:"memories"`  // facts and turns, deleted ones too
	Revisions int `json:"revisions"` // of these memories
}

// EraseMemory erases a memory with its history, the turns that it rests on, and the other
// memories that rest on these turns, for good; memory.ErrNotFound if it never was. Like
// all erasing it takes a key with the verb admin, and a call that fails may have erased
// a part: it can be repeated.
func (u *User) EraseMemory(ctx context.Context, id string) (Erased, error) {
	return u.erase(ctx, call{method: http.MethodPost, path: erasePath("memories", id)})
}

// PreviewEraseMemory counts what EraseMemory would erase. Nothing changes.
func (u *User) PreviewEraseMemory(ctx context.Context, id string) (Erased, error) {
	return u.erase(ctx, dryRun(erasePath("memories", id)))
}

// EraseSession erases a session, deleted or not, and the memories that were made of it,
// for good.
func (u *User) EraseSession(ctx context.Context, id string) (Erased, error) {
	return u.erase(ctx, call{method: http.MethodPost, path: erasePath("sessions", id)})
}

// PreviewEraseSession counts what EraseSession would erase. Nothing changes.
func (u *User) PreviewEraseSession(ctx context.Context, id string) (Erased, error) {
	return u.erase(ctx, dryRun(erasePath("sessions", id)))
}

// Erase forgets the user: it erases all that there is, for good.
func (u *User) Erase(ctx context.Context) (Erased, error) {
	return u.erase(ctx, call{method: http.MethodDelete, query: url.Values{"confirm": {u.id}}})
}

// PreviewErase counts what Erase would erase. Nothing changes.
func (u *User) PreviewErase(ctx context.Context) (Erased, error) {
	return u.erase(ctx, call{method: http.MethodDelete, query: onlyCount, idempotent: true})
}

// onlyCount is the query of a dry run.
var onlyCount = url.Values{"dryRun": {"true"}}

// dryRun is the dry run of an erasing by POST.
func dryRun(path string) call {
	return call{method: http.MethodPost, path: path, body: map[string]bool{"dryRun": true}, idempotent: true}
}

func erasePath(list, id string) string { return "/" + list + "/" + url.PathEscape(id) + "/erase" }

func (u *User) erase(ctx context.Context, c call) (out Erased, err error) {
	c.answer = &out
	return out, u.do(ctx, c)
}

// EraseApp erases an app with all of its users, for good.
func (c *Client) EraseApp(ctx context.Context, app string) (out Erased, err error) {
	return out, c.do(ctx, call{method: http.MethodDelete, path: "/v1/apps/" + url.PathEscape(app),
		query: url.Values{"confirm": {app}}, answer: &out})
}

// PreviewEraseApp counts what EraseApp would erase. Nothing changes.
func (c *Client) PreviewEraseApp(ctx context.Context, app string) (out Erased, err error) {
	return out, c.do(ctx, call{method: http.MethodDelete, path: "/v1/apps/" + url.PathEscape(app),
		query: onlyCount, answer: &out, idempotent: true})
}

// Apps returns a page of the apps that have sessions, state or memories, by id. pageSize
// is 1 to 1000, or 0 for 100; pageToken is "" for the first page, and next is "" on the
// last. It takes a key with the verb admin for all apps.
func (c *Client) Apps(ctx context.Context, pageSize int, pageToken string) (ids []string, next string, err error) {
	return c.names(ctx, "/v1/apps", pageSize, pageToken)
}

// Users returns a page of the users of an app that have sessions, state or memories, by
// id, as Apps does. It takes a key with the verb admin for the app.
func (c *Client) Users(ctx context.Context, app string, pageSize int, pageToken string) (
	ids []string, next string, err error) {
	return c.names(ctx, "/v1/apps/"+url.PathEscape(app)+"/users", pageSize, pageToken)
}

func (c *Client) names(ctx context.Context, path string, pageSize int, pageToken string) (
	ids []string, next string, err error) {
	type name struct {
		ID string `json:"id"`
	}
	var out struct {
		Apps          []name `json:"apps"`
		Users         []name `json:"users"`
		NextPageToken string `json:"nextPageToken"`
	}
	query := url.Values{}
	if pageSize > 0 {
		query.Set("pageSize", strconv.Itoa(pageSize))
	}
	if pageToken != "" {
		query.Set("pageToken", pageToken)
	}
	err = c.do(ctx, call{method: http.MethodGet, path: path, query: query, answer: &out, idempotent: true})
	for _, n := range append(out.Apps, out.Users...) {
		ids = append(ids, n.ID)
	}
	return ids, out.NextPageToken, err
}
