package sqlitesession

import (
	"database/sql"
	"fmt"
	"time"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/sessionstore"
)

// eventRow is a row of events. scanEventRow reads one from eventColumns.
type eventRow struct {
	ref, seq, time int64
	id             string
	doc            []byte
}

const eventColumns = `ref, seq, time, id, doc`

func scanEventRow(rows *sql.Rows) (e eventRow, err error) {
	err = rows.Scan(&e.ref, &e.seq, &e.time, &e.id, &e.doc)
	return e, err
}

// read decodes the event. An event that is damaged is noted by the transaction, and
// another one that says so stands in its place: its session is read, and ingested,
// without it.
func (e eventRow) read(tx any) sessionstore.Event {
	doc, err := sqlitedb.Unseal(e.doc)
	if err == nil {
		var event sessionstore.Event
		if event, err = sessionstore.ReadEvent(doc); err == nil {
			return event
		}
	}
	if noted, ok := tx.(interface{ Unreadable(sqlitedb.Row, error) }); ok {
		key := fmt.Sprintf("ref %d, seq %d, event %q", e.ref, e.seq, e.id)
		noted.Unreadable(sqlitedb.Row{Table: "events", Key: key}, err)
	}
	return sessionstore.DamagedEvent(e.id, e.seq, time.UnixMicro(e.time))
}

// Unreadable notes a row that cannot be read.
func (tx preparedTx) Unreadable(row sqlitedb.Row, err error) { tx.db.Unreadable(row, err) }
