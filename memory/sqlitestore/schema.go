package sqlitestore

// component is the name of these tables among those of the file.
const component = "memories"

// schemas are the steps that make these tables, in order. A file has taken the first ones.
var schemas = []string{
	schema, schemaMoves, schemaKeys, schemaSeals, schemaCompanion, schemaRevoked, schemaLabels, schemaAppOrder,
	schemaSweep, schemaRevisionExpiry, schemaRemoved, schemaIDs, schemaPersons, schemaCounts, schemaDeleted,
	schemaDeletedOrders, schemaWarm,
}

// Times are microseconds since 1970, UTC. A deleted memory keeps its row,
// without words and vector, so that a repeated write cannot bring it back. The
// doc of a memory's current revision is NULL in revisions, as memories has it.
const schema = `
CREATE TABLE memory_model (
  one       INTEGER PRIMARY KEY CHECK (one = 1),
  id        TEXT NOT NULL,
  embedder  TEXT NOT NULL,
  dimension INTEGER NOT NULL,
  analyzer  TEXT NOT NULL
) STRICT;

CREATE TABLE scopes (n INTEGER PRIMARY KEY, app TEXT NOT NULL, user TEXT NOT NULL, UNIQUE (app, user)) STRICT;

CREATE TABLE memories (
  n           INTEGER PRIMARY KEY,
  scope       INTEGER NOT NULL,
  id          TEXT NOT NULL,
  revision    INTEGER NOT NULL,
  deleted     INTEGER NOT NULL DEFAULT 0,
  kind        TEXT NOT NULL,
  session     TEXT NOT NULL,
  timestamp   INTEGER NOT NULL,
  create_time INTEGER NOT NULL,
  update_time INTEGER NOT NULL,
  doc         BLOB NOT NULL, -- the whole memory, JSON
  terms       BLOB,          -- word to count, JSON
  vector      BLOB,          -- float32, little endian
  UNIQUE (scope, id)
) STRICT;
CREATE INDEX memories_timestamp ON memories (scope, timestamp, id) WHERE deleted = 0;
CREATE INDEX memories_create ON memories (scope, create_time, id) WHERE deleted = 0;
CREATE INDEX memories_update ON memories (scope, update_time, id) WHERE deleted = 0;
CREATE INDEX memories_session ON memories (scope, session, timestamp, id) WHERE deleted = 0;

CREATE TABLE revisions (
  memory    INTEGER NOT NULL, -- memories.n
  revision  INTEGER NOT NULL,
  action    TEXT NOT NULL,
  time      INTEGER NOT NULL,
  actor     TEXT NOT NULL,
  operation TEXT NOT NULL,
  doc       BLOB,
  PRIMARY KEY (memory, revision)
) STRICT, WITHOUT ROWID;
`

// Words and vectors have two places, which take turns. Columns terms and vector
// are in use after an even number of moves to another model; terms1 and vector1
// belong to the move under way, if there is one. After an odd number it is the
// other way round. Table memory_behind lists the memories that the other place
// lacks. Triggers keep that list, so that no write can miss it.
const schemaMoves = `
ALTER TABLE memory_model ADD COLUMN moves INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memories ADD COLUMN terms1 BLOB;
ALTER TABLE memories ADD COLUMN vector1 BLOB;

CREATE TABLE next_model (
  one       INTEGER PRIMARY KEY CHECK (one = 1),
  embedder  TEXT NOT NULL,
  dimension INTEGER NOT NULL,
  analyzer  TEXT NOT NULL
) STRICT;
CREATE TABLE memory_behind (memory INTEGER PRIMARY KEY) STRICT; -- memories.n

CREATE TRIGGER memories_insert AFTER INSERT ON memories WHEN EXISTS (SELECT 1 FROM next_model)
  BEGIN INSERT INTO memory_behind VALUES (new.n); END;
CREATE TRIGGER memories_update AFTER UPDATE OF revision ON memories WHEN EXISTS (SELECT 1 FROM next_model)
  BEGIN INSERT INTO memory_behind VALUES (new.n) ON CONFLICT DO NOTHING; END;
CREATE TRIGGER memories_delete AFTER DELETE ON memories WHEN EXISTS (SELECT 1 FROM next_model)
  BEGIN DELETE FROM memory_behind WHERE memory = old.n; END;
`

// The lookup keys among the words got a version of their own. Files from before
// have the empty one, which no start has, so they are moved once.
const schemaKeys = `
ALTER TABLE memory_model ADD COLUMN keys TEXT NOT NULL DEFAULT '';
ALTER TABLE next_model ADD COLUMN keys TEXT NOT NULL DEFAULT '';
`

// Values in the columns doc, terms and vector have been sealed since this step; see
// sqlitedb.Seal. It changes nothing itself: it keeps earlier versions, which cannot
// read such values, from opening the file.
const schemaSeals = `SELECT 1`

// Revisions have had labels since this step: names to values as JSON, sealed, or NULL.
const schemaLabels = `ALTER TABLE revisions ADD COLUMN labels BLOB`

// place is the columns of one set of words and vectors.
type place struct{ terms, vector string }

// placeAfter is the place in use after some moves.
func placeAfter(moves int64) place {
	if moves%2 == 0 {
		return place{"terms", "vector"}
	}
	return place{"terms1", "vector1"}
}

// inScope is a condition on table memories that takes the app and the user of a
// scope.
const inScope = `scope = (SELECT n FROM scopes WHERE app = ? AND user = ?)`

// schemaDeleted has the list of deleted memories find those of some days.
const schemaDeleted = `CREATE INDEX memories_deleted ON memories (scope, update_time, id) WHERE deleted = 1;`

// schemaDeletedOrders has the list of deleted memories read a page in its other orders too, as a sort of all read
// 40,000 of them for each page.
const schemaDeletedOrders = `
CREATE INDEX memories_deleted_timestamp ON memories (scope, timestamp, id) WHERE deleted = 1;
CREATE INDEX memories_deleted_create ON memories (scope, create_time, id) WHERE deleted = 1;
`
