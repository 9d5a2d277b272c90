package client

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// Purge are the conditions that the memories to purge meet, all of them. At least one is
// needed.
type Purge struct {
	Kind      memory.Kind `json:"kind,omitempty"`
	Topics    []string    `json:"topics,omitempty"` // at least one of these
	SessionID string      `json:"sessionId,omitempty"`
	Until     time.Time   `json:"until,omitzero"`   // said not after
	Filter    string      `json:"filter,omitempty"` // an expression; see ParseFilter
	// DryRun counts the memories and changes nothing.
	DryRun bool `json:"dryRun,omitempty"`
}

// Purge erases the memories that meet conditions, those of the past included, with their
// history and for good, and returns how many. It takes a key with the verb admin. A call
// that fails may have purged a part: it can be repeated.
func (u *User) Purge(ctx context.Context, p Purge) (int, error) {
	var out purged
	err := u.do(ctx, call{method: http.MethodPost, path: "/memories/purge", body: p, answer: &out})
	return out.Count, err
}

// PurgeApp is User.Purge across all users of an app. It wants a Filter.
func (c *Client) PurgeApp(ctx context.Context, app string, p Purge) (int, error) {
	var out purged
	err := c.do(ctx, call{method: http.MethodPost, path: allMemories(app) + "/purge", body: p, answer: &out})
	return out.Count, err
}

type purged struct {
	Count int `json:"count"`
}

func allMemories(app string) string { return "/v1/apps/" + url.PathEscape(app) + "/all/memories" }

// AppMemories reads a page of the memories of all users of an app, as User.Memories does
// those of one. It takes a key with the verb admin for the app.
func (c *Client) AppMemories(ctx context.Context, app string, list memory.List) (out memory.Page, err error) {
	q, err := listQuery(list)
	if err == nil {
		err = c.do(ctx, call{method: http.MethodGet, path: allMemories(app), query: q, answer: &out, idempotent: true})
	}
	return out, err
}

// AppMemory reads the memory of any user of an app that has an id; memory.ErrNotFound if
// there is none, and memory.ErrInvalid if several users have one.
func (c *Client) AppMemory(ctx context.Context, app, id string) (out memory.Memory, err error) {
	err = c.do(ctx, call{method: http.MethodGet, path: allMemories(app) + "/" + url.PathEscape(id), answer: &out,
		idempotent: true})
	return out, err
}
