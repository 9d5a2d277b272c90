package sqlitesession

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/memoryd/memoryd/internal/salvage"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Tables are the tables that hold sessions, and what belongs to them.
func Tables() []string {
	return []string{"sessions", "events", "app_state", "user_state", "session_state", "waiting", "leases",
		"operations", "bound", "changes", "shared_bytes", "keys", "keys_revision",
		"audit_log", "configs"}
}

// CheckRow reports what is wrong with the values of a row of one of Tables, given by
// column.
func CheckRow(table string, row map[string]any) error {
	text := func(column string) string { s, _ := row[column].(string); return s }
	number := func(column string) int64 { n, _ := row[column].(int64); return n }
	bytes := func(column string) []byte { b, _ := row[column].([]byte); return b }
	switch table {
	case "events":
		_, err := readDoc(bytes("doc"))
		return err
	case "sessions":
		if number("requested") > number("seq") || number("done") > number("requested") || number("done") < 0 {
			return fmt.Errorf("its positions are out of order: seq %d, requested %d, done %d",
				number("seq"), number("requested"), number("done"))
		}
		if _, err := sessionstore.ReadLabels(text("labels")); err != nil {
			return err
		}
		if number("wait_due") > 0 && (number("wait_to") > number("seq") ||
			number("wait_to") <= number("requested")) {
			return fmt.Errorf("event %d waits for its trigger: seq %d, requested %d", number("wait_to"), number("seq"),
				number("requested"))
		}
		return sessionstore.Key{Scope: memory.Scope{App: text("app"), User: text("user")}, ID: text("id")}.Validate()
	case "operations":
		_, _, err := sessionstore.ReadRequest(text("id"), text("session"), bytes("request"))
		return errors.Join(err, memory.Scope{App: text("app"), User: text("user")}.Validate())
	case "app_state", "user_state", "session_state":
		if !json.Valid(bytes("value")) {
			return fmt.Errorf("the value of key %q is not JSON", text("key"))
		}
	case "keys":
		if len(bytes("hash")) != sha256.Size {
			return errors.New("its hash is none")
		}
	case "changes", "audit_log", "configs":
		if !json.Valid(bytes("doc")) {
			return errors.New("its doc is not JSON")
		}
	}
	return nil
}

// readDoc reads the doc of an event.
func readDoc(sealed []byte) (sessionstore.Event, error) {
	doc, err := sqlitedb.Unseal(sealed)
	if err != nil {
		return sessionstore.Event{}, err
	}
	return sessionstore.ReadEvent(doc)
}

// Salvage tells package salvage about the tables of sessions.
func Salvage() salvage.Component {
	return salvage.Component{
		Tables: Tables(),
		// They are worked out from the other rows, and no worker has a lease any longer.
		Skip:    []string{"waiting", "leases", "shared_bytes"},
		Migrate: migrate,
		Mend:    mendRow,
		Indexes: []salvage.Index{{Name: "sessions_id", See: lostSession}, {Name: "events_id", See: lostEvent}},
		Finish:  finishSalvage,
	}
}

// mendRow checks a row. The doc of an event decides where its columns say something
// else, and positions that are out of order are put so that memories are made again.
func mendRow(table string, row map[string]any) error {
	err := CheckRow(table, row)
	switch {
	case table == "events" && err == nil:
		doc, _ := row["doc"].([]byte)
		e, err := readDoc(doc)
		if err != nil {
			return err
		}
		row["id"], row["time"] = e.ID, e.Timestamp.UnixMicro()
	case table == "sessions" && err != nil:
		row["requested"], row["done"], row["plan"], row["plan_to"] = row["seq"], int64(0), nil, int64(0)
		row["wait_to"], row["wait_due"] = int64(0), int64(0)
		return CheckRow(table, row)
	}
	return err
}

// lostSession names the session of an entry (app, user, id, ref) if its row is not
// there, and makes the row again if some of its events are.
func lostSession(tx *sqlitedb.Tx, entry []any) (string, error) {
	if len(entry) != 4 {
		return "", nil
	}
	there, last, updated := false, int64(0), int64(0)
	err := tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM sessions WHERE ref = ?1), coalesce(max(seq), 0),
		coalesce(max(time), 0) FROM events WHERE ref = ?1`, entry[3]).Scan(&there, &last, &updated)
	if err != nil || there {
		return "", err
	}
	name := fmt.Sprintf("session %q of app %q, user %q", entry[2], entry[0], entry[1])
	if last == 0 {
		return name, nil
	}
	_, err = tx.Exec(`INSERT OR IGNORE INTO sessions (ref, app, user, id, update_time, seq, requested)
		VALUES (?, ?, ?, ?, ?, ?, ?)`, entry[3], entry[0], entry[1], entry[2], updated, last, last)
	return name + ": made again from its events", err
}

// lostEvent names the event of an entry (ref, id, rowid) if its row is not there.
func lostEvent(tx *sqlitedb.Tx, entry []any) (string, error) {
	if len(entry) != 3 {
		return "", nil
	}
	var app, user, id string
	err := tx.QueryRow(`SELECT app, user, id FROM sessions WHERE ref = ?1
		AND NOT EXISTS (SELECT 1 FROM events WHERE ref = ?1 AND id = ?2)`, entry[0], entry[1]).Scan(&app, &user, &id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return fmt.Sprintf("event %q of session %q of app %q, user %q", entry[1], id, app, user), err
}

// maxGap is more events than the pages that are lost of one session can have held. A
// session that says it has more has lost the number itself.
const maxGap = 100_000

// fillGaps stores an event that says so in the place of each one that is lost, so that
// the numbers of a session's events have no gaps.
func fillGaps(tx *sqlitedb.Tx) (filled int, err error) {
	type gap struct{ ref, seq, last int64 }
	scan := func(rows *sql.Rows) (g gap, err error) {
		err = rows.Scan(&g.ref, &g.seq, &g.last)
		return g, err
	}
	gaps, err := sqlitedb.Collect(context.Background(), tx, scan, `SELECT s.ref, s.seq, coalesce(max(e.seq), 0)
		FROM sessions s LEFT JOIN events e ON e.ref = s.ref GROUP BY s.ref HAVING count(e.seq) <> s.seq`)
	if err != nil {
		return 0, err
	}
	for _, g := range gaps {
		if g.seq > g.last+maxGap {
			g.seq = g.last
			if _, err := tx.Exec(`UPDATE sessions SET seq = ?1, requested = min(requested, ?1), done = min(done, ?1)
				WHERE ref = ?2`, g.seq, g.ref); err != nil {
				return filled, err
			}
		}
		at := time.UnixMicro(0)
		for seq := int64(1); seq <= g.seq; seq++ {
			var micros int64
			err := tx.QueryRow(`SELECT time FROM events WHERE ref = ? AND seq = ?`, g.ref, seq).Scan(&micros)
			if err == nil {
				at = time.UnixMicro(micros)
				continue
			}
			if !errors.Is(err, sql.ErrNoRows) {
				return filled, err
			}
			// Not under the id that is lost: the same event sent again is stored again.
			e := sessionstore.DamagedEvent("", seq, at)
			if _, err := tx.Exec(`INSERT INTO events (ref, seq, id, time, doc) VALUES (?, ?, ?, ?, ?)`,
				g.ref, seq, e.ID, at.UnixMicro(), sqlitedb.Seal(e.Doc)); err != nil {
				return filled, err
			}
			filled++
		}
	}
	return filled, nil
}

// finishSalvage mends what the rows of sessions say about each other.
func finishSalvage(tx *sqlitedb.Tx) (notes []string, err error) {
	for _, step := range []struct{ statement, note string }{
		// A deleted session with work left has no entry in the index; its operation names it.
		{`INSERT OR IGNORE INTO sessions (ref, app, user, id, update_time, deleted, seq, requested)
			SELECT o.ref, o.app, o.user, o.session, max(e.time), 1, max(e.seq), max(o.last) FROM operations o
			JOIN events e ON e.ref = o.ref WHERE o.done_time = 0 AND o.ref NOT IN (SELECT ref FROM sessions)
			GROUP BY o.ref`, "%d deleted sessions with work left were made again from their operations"},
		{`DELETE FROM events WHERE ref NOT IN (SELECT ref FROM sessions)`,
			"%d events were dropped: the session they belong to is lost, or was deleted"},
		{`DELETE FROM session_state WHERE ref NOT IN (SELECT ref FROM sessions)`,
			"%d values of state were dropped: the session they belong to is lost, or was deleted"},
		{`UPDATE sessions SET seq = max(seq,
			(SELECT coalesce(max(seq), 0) FROM events e WHERE e.ref = sessions.ref))`, ""},
		// An operation may be lost, and with it the request that the trigger waits for.
		{`UPDATE sessions SET requested = max(requested, min(wait_to, seq)), wait_to = 0, wait_since = 0, wait_last = 0,
			wait_due = 0, wait_op = 0 WHERE wait_due > 0`,
			"the memories of %d sessions that waited for a trigger are made at once"},
		{`UPDATE sessions SET plan = NULL, plan_to = 0 WHERE plan_to <= done OR plan_to > requested
			OR NOT json_valid(CAST(coalesce(plan, 'null') AS TEXT))`, ""},
		{`DELETE FROM operations WHERE first < 0 OR first > last
			OR last > (SELECT s.seq FROM sessions s WHERE s.ref = operations.ref)
			OR done_time = 0 AND ref NOT IN (SELECT ref FROM sessions)`,
			"%d operations were dropped: the events they are about are lost"},
		{`UPDATE operations SET done_time = create_time WHERE done_time = 0
			AND last <= (SELECT s.done FROM sessions s WHERE s.ref = operations.ref)`, ""},
		{`DELETE FROM shared_bytes`, ""},
		{`INSERT INTO shared_bytes SELECT app, '', sum(octet_length(key) + octet_length(value) + 64) FROM app_state
			GROUP BY app`, ""},
		{`INSERT INTO shared_bytes SELECT app, user, sum(octet_length(key) + octet_length(value) + 64) FROM user_state
			GROUP BY app, user`, ""},
		{`UPDATE sessions SET state_bytes = (SELECT coalesce(sum(octet_length(key) + octet_length(value) + 64), 0)
			FROM session_state t WHERE t.ref = sessions.ref)`, ""},
	} {
		res, err := tx.Exec(step.statement)
		if err != nil {
			return nil, err
		}
		if n, _ := res.RowsAffected(); n > 0 && step.note != "" {
			notes = append(notes, fmt.Sprintf(step.note, n))
		}
	}
	filled, err := fillGaps(tx)
	if filled > 0 {
		notes = append(notes, fmt.Sprintf("%d events that are lost have another in their place that says so", filled))
	}
	if err != nil {
		return nil, err
	}
	if _, err := tx.Exec(`DELETE FROM waiting`); err != nil {
		return nil, err
	}
	_, err = tx.Exec(`INSERT INTO waiting SELECT app, user, min(request_time), min(due_time) FROM sessions
		WHERE requested > done AND failed = 0 GROUP BY app, user`)
	return notes, err
}
