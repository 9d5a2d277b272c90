package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/memoryd/memoryd/memory"
)

// Rollback restores a memory, deleted or not, to one of its revisions, and makes
// a new revision.
func (u *User) Rollback(ctx context.Context, id string, revision int64) (memory.Memory, error) {
	return u.RollbackWith(ctx, id, revision, Change{})
}

// RollbackWith restores a memory to one of its revisions and changes it in one step: no
// reader sees the revision as it was.
func (u *User) RollbackWith(ctx context.Context, id string, revision int64, c Change) (out memory.Memory, err error) {
	body := map[string]any{"revision": revision}
	if change := c.body(); len(change) > 0 {
		body["change"] = change
	}
	err = u.do(ctx, call{method: http.MethodPost, path: "/memories/" + url.PathEscape(id) + "/rollback",
		body: body, answer: &out})
	return out, err
}
