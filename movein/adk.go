package movein

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// ADK's tables, as its session services make them:
//
//	sessions     app_name, user_id, id, state, create_time, update_time
//	app_states   app_name, state
//	user_states  app_name, user_id, state
//	events       app_name, user_id, session_id, id, invocation_id, timestamp, and
//	             event_data, the event as JSON, in the second schema and for SQLite;
//	             a column for each field of an event in the first one
//
// States are JSON without the prefixes app: and user:. Times are texts in UTC without an
// offset ("2024-05-08 13:56:00.250000"), or seconds since 1970 in the tables of the service
// that is for SQLite alone. An event whose JSON has a time has it exactly.

// adkJSON are the columns of the first schema that hold a field of an event as JSON, and
// adkText those that hold one as a text. actions is pickled there, which would run what
// the file says: it stays unread, and so do the changes of state in it. The state itself
// is in tables of its own.
var (
	adkJSON = map[string]string{"content": "content", "grounding_metadata": "groundingMetadata",
		"custom_metadata": "customMetadata", "usage_metadata": "usageMetadata",
		"citation_metadata": "citationMetadata", "input_transcription": "inputTranscription",
		"output_transcription": "outputTranscription", "long_running_tool_ids_json": "longRunningToolIds"}
	adkText = map[string]string{"author": "author", "branch": "branch", "error_code": "errorCode",
		"error_message": "errorMessage"}
	// adkBool are columns of the first schema that are 1, 0 or NULL.
	adkBool = map[string]string{"partial": "partial", "turn_complete": "turnComplete", "interrupted": "interrupted"}
)

// adkDatabase is the database of an ADK session service.
type adkDatabase struct {
	*sink
	file string
	db   *sqlitedb.Foreign
}

// readADK reads the SQLite files of ADK's session services: of the first schema, of the
// second, and of the service that is for SQLite alone.
func readADK(ctx context.Context, s *sink, files []string) error {
	for _, file := range files {
		f, _, begins, err := s.open(file, len(sqliteMagic)) // says that a file is missing in plain words
		if err != nil {
			return err
		}
		_ = f.Close() // it was only read
		if string(begins) != sqliteMagic {
			return fmt.Errorf("%w: %s: it is no SQLite file: sessions in another database have to be copied into one",
				memory.ErrInvalid, file)
		}
		db, err := sqlitedb.OpenForeign(ctx, file)
		if err != nil {
			return err
		}
		d := &adkDatabase{s, file, db}
		if err := errors.Join(d.read(ctx), db.Close()); err != nil {
			return err
		}
	}
	return nil
}

// wrap adds the file to an error of the database.
func (d *adkDatabase) wrap(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, memory.ErrInvalid) {
		return err
	}
	return fmt.Errorf("%w: %s: %w", memory.ErrInvalid, d.file, err)
}

func (d *adkDatabase) read(ctx context.Context) error {
	key := []string{"app_name", "user_id"}
	if !d.db.Has("sessions", append(key, "id", "state", "update_time")...) ||
		!d.db.Has("events", append(key, "session_id", "id", "invocation_id", "timestamp")...) {
		return fmt.Errorf("%w: %s: it has no tables sessions and events as ADK makes them", memory.ErrInvalid, d.file)
	}
	if d.db.Has("app_states", "app_name", "state") {
		if err := d.shared(ctx, `SELECT app_name, '', `+cell("state")+` FROM app_states`); err != nil {
			return d.wrap(err)
		}
	}
	if d.db.Has("user_states", "app_name", "user_id", "state") {
		if err := d.shared(ctx, `SELECT app_name, user_id, `+cell("state")+` FROM user_states`); err != nil {
			return d.wrap(err)
		}
	}
	return d.wrap(d.sessions(ctx))
}

// shared takes state that sessions share.
func (d *adkDatabase) shared(ctx context.Context, query string) error {
	rows, err := d.db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var app, user, state sql.NullString
		if err := rows.Scan(&app, &user, &state); err != nil {
			return err
		}
		place := fmt.Sprintf("%s: state of app %.60q, user %.60q", d.file, app.String, user.String)
		to := sessionstore.SharedState{Scope: memory.Scope{App: app.String, User: user.String},
			State: d.state(place, state.String)}
		if len(to.State) == 0 {
			continue
		}
		if err := to.Validate(); err != nil {
			d.report.leave("state that cannot be as it is", place, err.Error())
			continue
		}
		if !d.first("state", app.String, user.String) {
			d.report.leave(again, place, "")
			continue
		}
		d.report.taken = true
		if err := d.w.Shared(to); err != nil {
			return err
		}
	}
	return rows.Err()
}

// state reads state, and leaves out a whole one that is broken and keys that belong
// elsewhere.
func (d *adkDatabase) state(place, text string) sessionstore.State {
	if strings.TrimSpace(text) == "" || text == "null" {
		return nil
	}
	state, err := sessionstore.ParseState("state", []byte(text))
	if err != nil {
		d.report.leave("state that cannot be as it is", place, err.Error())
		return nil
	}
	for key := range state {
		for _, prefix := range []string{sessionstore.AppPrefix, sessionstore.UserPrefix, sessionstore.TempPrefix} {
			if strings.HasPrefix(key, prefix) {
				d.report.leave("state that cannot be as it is", place, fmt.Sprintf("%.60q has a prefix", key))
				delete(state, key)
			}
		}
	}
	return state
}

// sessions takes the sessions with their events.
func (d *adkDatabase) sessions(ctx context.Context) error {
	created := "update_time"
	if d.db.Has("sessions", "create_time") {
		created = "create_time"
	}
	// Events are read by session, while the rows of sessions are open: the index of events
	// begins with the session in all schemas, and no table is held in memory.
	rows, err := d.db.QueryContext(ctx, `SELECT app_name, user_id, id, `+cell("state")+`, `+cell(created)+`, `+
		cell("update_time")+` FROM sessions ORDER BY app_name, user_id, id`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var app, user, id, state, created, updated sql.NullString
		if err := rows.Scan(&app, &user, &id, &state, &created, &updated); err != nil {
			return err
		}
		place := fmt.Sprintf("%s: session %.60q of app %.60q, user %.60q", d.file, id.String, app.String, user.String)
		of := about{state: d.state(place, state.String)}
		// A wrong time of the session costs nothing but that time.
		of.created, _ = readTimeText("create_time", created.String, d.opts.Zone)
		of.updated, _ = readTimeText("update_time", updated.String, d.opts.Zone)
		key := sessionstore.Key{Scope: memory.Scope{App: app.String, User: user.String}, ID: id.String}
		c := d.begin(place, key, of)
		if !c.skip {
			err = d.events(ctx, c)
		}
		if err := errors.Join(err, c.end()); err != nil {
			return err
		}
	}
	return rows.Err()
}

// columns are the columns of events to read: those that are always there, and then those
// of the schema.
func (d *adkDatabase) columns() (names []string) {
	names = []string{"id", "invocation_id", "timestamp"}
	if d.db.Has("events", "event_data") {
		return append(names, "event_data")
	}
	for _, column := range d.db.Columns["events"] {
		if adkJSON[column] != "" || adkText[column] != "" || adkBool[column] != "" {
			names = append(names, column)
		}
	}
	return names
}

// events takes the events of one session.
func (d *adkDatabase) events(ctx context.Context, c *session) error {
	names := d.columns()
	cells := make([]string, len(names))
	for i, name := range names {
		cells[i] = cell(name)
	}
	rows, err := d.db.QueryContext(ctx, `SELECT `+strings.Join(cells, ", ")+` FROM events
		WHERE app_name = ? AND user_id = ? AND session_id = ? ORDER BY timestamp, rowid`,
		c.key.App, c.key.User, c.key.ID)
	if err != nil {
		return err
	}
	defer rows.Close()
	values := make([]sql.NullString, len(names))
	into := make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		row := map[string]string{}
		for i, name := range names {
			if values[i].Valid {
				row[name] = values[i].String
			}
		}
		place := fmt.Sprintf("%s, event %.60q", c.place, row["id"])
		doc, err := d.event(row)
		if err != nil {
			d.report.leave(badEvent, place, err.Error())
			continue
		}
		if err := c.event(place, doc); err != nil {
			return err
		}
	}
	return rows.Err()
}

// event makes the JSON of an event of a row.
func (d *adkDatabase) event(row map[string]string) ([]byte, error) {
	doc := map[string]json.RawMessage{}
	if data, ok := row["event_data"]; ok {
		if err := object([]byte(data), &doc); err != nil {
			return nil, err
		}
	}
	// Texts of the columns become JSON by the encoder, so that no quote in one ends it.
	text := func(value string) json.RawMessage {
		raw, err := json.Marshal(value)
		if err != nil {
			panic(err) // a text always has a form in JSON
		}
		return raw
	}
	for column, value := range row {
		switch name := adkJSON[column]; {
		case name != "" && value != "null":
			if !json.Valid([]byte(value)) {
				return nil, fmt.Errorf("%w: %s: it is not JSON", memory.ErrInvalid, column)
			}
			doc[name] = json.RawMessage(value)
		case adkText[column] != "":
			doc[adkText[column]] = text(value)
		case adkBool[column] != "" && value == "1":
			doc[adkBool[column]] = json.RawMessage("true")
		}
	}
	// The columns name the event, as they do for ADK, whatever its JSON says.
	delete(doc, "invocation_id")
	doc["id"], doc["invocationId"] = text(row["id"]), text(row["invocation_id"])
	if at := doc["timestamp"]; len(at) == 0 || string(at) == "null" {
		t, err := readTimeText("timestamp", row["timestamp"], d.opts.Zone)
		if err != nil {
			return nil, err
		}
		doc["timestamp"] = text(t.UTC().Format(time.RFC3339Nano))
	}
	return json.Marshal(doc)
}
