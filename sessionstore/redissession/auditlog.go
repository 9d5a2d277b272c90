package redissession

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	"github.com/redis/go-redis/v9"

	"github.com/memoryd/memoryd/access"
)

var _ access.Audit = (*Store)(nil)

// auditKey is the stream of an app's audit log, in the slot of the app's keys.
func auditKey(app string) string { return appPrefix(app) + "audit" }

// auditToken is the number of an entry of a stream.
var auditToken = regexp.MustCompile(`^\d{1,20}-\d{1,20}$`)

// AppendAudit implements access.Audit. Redis cuts a stream where that is cheap, so that
// it may have some hundred entries more than Options.AuditEntries.
func (s *Store) AppendAudit(ctx context.Context, entries []access.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	pipe := s.redis.Pipeline()
	for i := range entries {
		doc, err := json.Marshal(entries[i])
		if err != nil {
			return err
		}
		pipe.XAdd(ctx, &redis.XAddArgs{Stream: auditKey(entries[i].App), MaxLen: int64(s.opts.AuditEntries),
			Approx: s.opts.AuditEntries > auditExact, Values: []any{"e", doc}})
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("append to the audit log: %w", s.kind(ctx, err))
	}
	return nil
}

// auditExact is up to how many entries a stream is cut exactly. One node of a stream has
// a hundred, which Redis cuts as a whole.
const auditExact = 1000

// ListAudit implements access.Audit.
func (s *Store) ListAudit(ctx context.Context, app string, list access.ListAudit) (page access.AuditPage, err error) {
	size, err := list.Size()
	end := "+"
	if list.PageToken != "" {
		if end = "(" + list.PageToken; err == nil && !auditToken.MatchString(list.PageToken) {
			err = access.ErrAuditToken
		}
	}
	if err != nil {
		return page, fmt.Errorf("list the audit log of app %q: %w", app, err)
	}
	found, err := s.redis.XRevRangeN(ctx, auditKey(app), end, "-", int64(size)+1).Result()
	if err != nil {
		return page, fmt.Errorf("list the audit log of app %q: %w", app, s.kind(ctx, err))
	}
	if len(found) > size {
		found = found[:size]
		page.NextPageToken = found[size-1].ID
	}
	for _, m := range found {
		var e access.Entry
		doc, ok := m.Values["e"].(string)
		if !ok {
			return access.AuditPage{}, errors.New("an entry of the audit log has no text")
		}
		if err := json.Unmarshal([]byte(doc), &e); err != nil {
			return access.AuditPage{}, fmt.Errorf("entry %s of the audit log: %w", m.ID, err)
		}
		if list.Match(&e) {
			page.Entries = append(page.Entries, e)
		}
	}
	return page, nil
}
