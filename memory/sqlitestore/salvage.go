package sqlitestore

import (
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/memoryd/memoryd/internal/salvage"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/index"
)

// Tables are the tables that hold memories, and what belongs to them.
func Tables() []string {
	return []string{"memories", "revisions", "scopes", "memory_model", "next_model", "memory_behind", "app_order",
		"links"}
}

// CheckRow reports what is wrong with the values of a row of one of Tables, given by
// column.
func CheckRow(table string, row map[string]any) error {
	doc, _ := row["doc"].([]byte)
	switch table {
	case "memories":
		var e index.Entry
		if err := decode(doc, &e.Memory); err != nil {
			return err
		}
		return checkIndexed(row)
	case "revisions":
		if labels, _ := row["labels"].([]byte); labels != nil {
			if err := decode(labels, new(memory.Labels)); err != nil {
				return fmt.Errorf("its labels: %w", err)
			}
		}
		if doc == nil {
			return nil
		}
		return decode(doc, new(memory.Memory))
	case "scopes":
		app, _ := row["app"].(string)
		user, _ := row["user"].(string)
		return memory.Scope{App: app, User: user}.ValidateOwner()
	}
	return nil
}

// checkIndexed checks the words and vectors of a memory.
func checkIndexed(row map[string]any) error {
	for _, at := range []place{placeAfter(0), placeAfter(1)} {
		if terms, _ := row[at.terms].([]byte); terms != nil {
			if err := decode(terms, new(memory.Terms)); err != nil {
				return fmt.Errorf("its words: %w", err)
			}
		}
		vector, _ := row[at.vector].([]byte)
		if _, err := bytesVector(vector); err != nil {
			return fmt.Errorf("its vector: %w", err)
		}
	}
	return nil
}

// Salvage tells package salvage about the tables of memories. The model is taken for
// memories whose file does not say any longer how they were made.
func Salvage(model Model) salvage.Component {
	return salvage.Component{
		Tables: Tables(),
		// A move to another model begins again, app_order is made of the memories, and sweeps
		// read links again.
		Skip: []string{"next_model", "memory_behind", "app_order", "links"},
		Migrate: func(db *sqlitedb.DB) error {
			return db.Migrate(component, schemas...)
		},
		Mend:    mendRow,
		Indexes: []salvage.Index{{Name: "sqlite_autoindex_memories_1", See: lostMemory}},
		Finish:  func(tx *sqlitedb.Tx) ([]string, error) { return finishSalvage(tx, model) },
	}
}

// mendRow checks a row. The doc of a memory decides where its columns say something
// else. A fact whose words or vector are lost is kept without them; a turn is not, as
// it is made again from its event.
func mendRow(table string, row map[string]any) error {
	err := CheckRow(table, row)
	if table != "memories" {
		return err
	}
	var m memory.Memory
	if doc, _ := row["doc"].([]byte); decode(doc, &m) != nil {
		return err
	}
	if err != nil {
		if m.Kind == memory.KindTurn {
			return err
		}
		for _, at := range []place{placeAfter(0), placeAfter(1)} {
			if row[at.terms] != nil {
				row[at.terms] = sqlitedb.Seal([]byte("null"))
			}
			row[at.vector] = nil
		}
	}
	row["id"], row["revision"], row["kind"], row["session"] = m.ID, m.Revision, string(m.Kind), m.Source.SessionID
	row["timestamp"], row["create_time"] = m.Timestamp.UnixMicro(), m.CreateTime.UnixMicro()
	row["update_time"], row["expires"] = m.UpdateTime.UnixMicro(), int64(unknownExpiry)
	return nil
}

// lostMemory names the memory of an entry (scope, id, n) if its row is not there.
func lostMemory(tx *sqlitedb.Tx, entry []any) (string, error) {
	if len(entry) != 3 {
		return "", nil
	}
	there := false
	err := tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM memories WHERE n = ?)`, entry[2]).Scan(&there)
	if err != nil || there {
		return "", err
	}
	var scope memory.Scope
	err = tx.QueryRow(`SELECT app, user FROM scopes WHERE n = ?`, entry[0]).Scan(&scope.App, &scope.User)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", err
	}
	return fmt.Sprintf("memory %q of app %q, user %q", entry[1], scope.App, scope.User), nil
}

// finishSalvage mends what the rows of memories say about each other.
func finishSalvage(tx *sqlitedb.Tx, model Model) (notes []string, err error) {
	moved, err := mendScopes(tx)
	if err != nil {
		return nil, err
	}
	if moved > 0 {
		notes = append(notes, fmt.Sprintf("%d memories were given back to the users that they name", moved))
	}
	for _, step := range []struct{ statement, note string }{
		{`DELETE FROM revisions WHERE memory NOT IN (SELECT n FROM memories)
			OR revision > (SELECT m.revision FROM memories m WHERE m.n = memory)
			OR doc IS NULL AND revision <> (SELECT m.revision FROM memories m WHERE m.n = memory)`,
			"%d revisions were dropped: the memory they belong to is lost"},
		{`INSERT OR IGNORE INTO revisions (memory, revision, action, time, actor, operation, doc)
			SELECT n, revision, iif(deleted, 'DELETED', iif(revision = 1, 'CREATED',
			'UPDATED')), update_time, 'memoryd recover', '', NULL FROM memories`,
			"%d memories got a revision in place of the one that is lost"},
		{`UPDATE revisions SET doc = NULL WHERE doc IS NOT NULL
			AND revision = (SELECT m.revision FROM memories m WHERE m.n = memory)`, ""},
		{`UPDATE memories SET removed = revision - (SELECT count(*) FROM revisions WHERE memory = n)
			WHERE removed <> revision - (SELECT count(*) FROM revisions WHERE memory = n)`,
			"%d memories have fewer revisions than before"},
	} {
		res, err := tx.Exec(step.statement)
		if err != nil {
			return nil, err
		}
		if n, _ := res.RowsAffected(); n > 0 && step.note != "" {
			notes = append(notes, fmt.Sprintf(step.note, n))
		}
	}
	if _, err := tx.Exec(`DELETE FROM app_order; ` + fillAppOrder); err != nil {
		return nil, err
	}
	return notes, mendModel(tx, model)
}

// mendScopes gives each memory the number of the scope that its doc names, and makes
// scopes that are lost.
func mendScopes(tx *sqlitedb.Tx) (moved int, err error) {
	numbers := map[memory.Scope]int64{}
	type at struct {
		scope memory.Scope
		was   int64
	}
	wrong := map[int64]at{} // by row
	known := map[int64]memory.Scope{}
	rows, err := tx.Query(`SELECT n, app, user FROM scopes`)
	if err != nil {
		return 0, err
	}
	for rows.Next() {
		var n int64
		var scope memory.Scope
		if err := rows.Scan(&n, &scope.App, &scope.User); err != nil {
			return 0, errors.Join(err, rows.Close())
		}
		numbers[scope], known[n] = n, scope
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return 0, err
	}
	rows, err = tx.Query(`SELECT n, scope, doc FROM memories`)
	if err != nil {
		return 0, err
	}
	for rows.Next() {
		var n, scope int64
		var doc []byte
		var m memory.Memory
		if err := errors.Join(rows.Scan(&n, &scope, &doc), decode(doc, &m)); err != nil {
			return 0, errors.Join(err, rows.Close())
		}
		if known[scope] != m.Scope {
			wrong[n] = at{m.Scope, scope}
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return 0, err
	}
	for _, row := range slices.Sorted(maps.Keys(wrong)) {
		to := wrong[row]
		number, there := numbers[to.scope]
		if !there {
			// The scope has its old number, unless another one has that.
			if number = to.was; known[number] != (memory.Scope{}) {
				number = slices.Max(slices.Collect(maps.Keys(known))) + 1
			}
			_, err := tx.Exec(`INSERT INTO scopes VALUES (?, ?, ?)`, number, to.scope.App, to.scope.User)
			if err != nil {
				return 0, err
			}
			numbers[to.scope], known[number] = number, to.scope
		}
		if number == to.was {
			continue
		}
		moved++
		if _, err := tx.Exec(`UPDATE OR REPLACE memories SET scope = ? WHERE n = ?`, number, row); err != nil {
			return 0, err
		}
	}
	return moved, nil
}

// mendModel makes the row that says how memories were made, if it is lost. The
// sessions in the same file may know its id.
func mendModel(tx *sqlitedb.Tx, model Model) error {
	there, bound, id := false, false, uuid.NewString()
	if err := tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM memory_model),
		EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'bound')`).Scan(&there, &bound); err != nil || there {
		return err
	}
	if bound {
		err := tx.QueryRow(`SELECT memories FROM bound`).Scan(&id)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	// More words are in the place that is in use.
	moves := 0
	if err := tx.QueryRow(`SELECT count(terms1) > count(terms) FROM memories`).Scan(&moves); err != nil {
		return err
	}
	_, err := tx.Exec(`INSERT INTO memory_model (one, id, moves, `+modelColumns+`) VALUES (1, ?, ?, ?, ?, ?, ?)`,
		id, moves, model.Embedder, model.Dimension, model.Analyzer, model.Keys)
	return err
}
