package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
)

// ChangedBy implements memory.Store. It looks at the revisions of all memories of the
// scope, in the order of their ids: that is rare enough to need no index.
func (s *Store) ChangedBy(ctx context.Context, scope memory.Scope, operation, from string) (
	ids []string, next string, err error) {
	now := s.now().UnixMicro()
	err = s.db.Read(ctx, func(tx *sql.Tx) (err error) {
		ids, err = sqlitedb.Collect(ctx, tx, func(rows *sql.Rows) (id string, err error) { return id, rows.Scan(&id) },
			`SELECT id FROM memories m WHERE `+inScope+` AND id > ?
				AND EXISTS (SELECT 1 FROM revisions r WHERE r.memory = m.n AND r.operation = ? AND `+shown+`)
				AND NOT `+vanished+` ORDER BY id LIMIT ?`,
			scope.App, scope.User, from, operation, now, now, memory.MaxPageSize+1)
		return err
	})
	if err != nil {
		return nil, "", scope.Wrap(fmt.Sprintf("find the changes of operation %.80q", operation), err)
	}
	if len(ids) > memory.MaxPageSize {
		ids = ids[:memory.MaxPageSize]
		next = ids[len(ids)-1]
	}
	return ids, next, nil
}
