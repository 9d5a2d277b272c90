package sqlitesession

// Times are microseconds since 1970, UTC. A row of sessions is one life of a
// session, named by ref. A deleted session stays, hidden, until the requested
// memories are made. There is work as long as the requested position is ahead of
// the done position; both are sequence numbers of events.
const schema = `
CREATE TABLE sessions (
  ref          INTEGER PRIMARY KEY AUTOINCREMENT,
  app          TEXT NOT NULL,
  user         TEXT NOT NULL,
  id           TEXT NOT NULL,
  update_time  INTEGER NOT NULL,
  deleted      INTEGER NOT NULL DEFAULT 0, -- or hidden from the start, as a one-shot session is
  seq          INTEGER NOT NULL DEFAULT 0, -- of the last event
  requested    INTEGER NOT NULL DEFAULT 0,
  done         INTEGER NOT NULL DEFAULT 0,
  request_time INTEGER NOT NULL DEFAULT 0, -- since when requested is ahead
  due_time     INTEGER NOT NULL DEFAULT 0, -- of the next attempt; of failed work, when it failed
  attempts     INTEGER NOT NULL DEFAULT 0, -- begun since the last success
  failed       INTEGER NOT NULL DEFAULT 0, -- given up until the next request
  last_error   TEXT NOT NULL DEFAULT '',
  plan         BLOB,                       -- changes for events done+1 to plan_to
  plan_to      INTEGER NOT NULL DEFAULT 0,
  rewinds      INTEGER NOT NULL DEFAULT 0  -- an event takes others back
) STRICT;
-- An id is in use by one session at a time, and a deleted one does not use it.
CREATE UNIQUE INDEX sessions_id ON sessions (app, user, id) WHERE deleted = 0;
-- For pages of List and ListApp: a higher ref was created later.
CREATE INDEX sessions_list ON sessions (app, user, ref) WHERE deleted = 0;
CREATE INDEX sessions_app ON sessions (app, ref) WHERE deleted = 0;
-- For the work of a scope: since when its oldest waits, and when its first is due.
CREATE INDEX sessions_work ON sessions (app, user, request_time) WHERE requested > done AND failed = 0;
CREATE INDEX sessions_due ON sessions (app, user, due_time) WHERE requested > done AND failed = 0;
-- For the deleted sessions that were given up, and are removed in the end.
CREATE INDEX sessions_failed ON sessions (due_time) WHERE failed = 1 AND deleted = 1;

CREATE TABLE events (
  ref  INTEGER NOT NULL,
  seq  INTEGER NOT NULL, -- from 1, in order of arrival
  id   TEXT NOT NULL,
  time INTEGER NOT NULL,
  doc  BLOB NOT NULL,    -- the whole event, JSON
  PRIMARY KEY (ref, seq)
) STRICT;
-- An event of an id that is there is not stored again.
CREATE UNIQUE INDEX events_id ON events (ref, id);
-- For Get: the last events by timestamp, and by arrival where that is equal.
CREATE INDEX events_time ON events (ref, time, seq);

-- State without its prefix, in the table of its owner.
CREATE TABLE app_state (
  app   TEXT NOT NULL,
  key   TEXT NOT NULL,
  value BLOB NOT NULL,
  PRIMARY KEY (app, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE user_state (
  app   TEXT NOT NULL,
  user  TEXT NOT NULL,
  key   TEXT NOT NULL,
  value BLOB NOT NULL,
  PRIMARY KEY (app, user, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE session_state (
  ref   INTEGER NOT NULL,
  key   TEXT NOT NULL,
  value BLOB NOT NULL,
  PRIMARY KEY (ref, key)
) STRICT, WITHOUT ROWID;

-- The scopes with work, one row each: since when, and when the first is due.
CREATE TABLE waiting (
  app   TEXT NOT NULL,
  user  TEXT NOT NULL,
  since INTEGER NOT NULL,
  due   INTEGER NOT NULL,
  PRIMARY KEY (app, user)
) STRICT, WITHOUT ROWID;
-- For a claim: the longest waiting scopes first.
CREATE INDEX waiting_since ON waiting (since, due);

-- The scopes that a worker has, and until when.
CREATE TABLE leases (
  app   TEXT NOT NULL,
  user  TEXT NOT NULL,
  owner TEXT NOT NULL,
  until INTEGER NOT NULL,
  PRIMARY KEY (app, user)
) STRICT, WITHOUT ROWID;

CREATE TABLE operations (
  n           INTEGER PRIMARY KEY AUTOINCREMENT,
  id          TEXT NOT NULL UNIQUE,
  ref         INTEGER NOT NULL,
  app         TEXT NOT NULL,
  user        TEXT NOT NULL,
  session     TEXT NOT NULL,
  first       INTEGER NOT NULL, -- its events are first+1 to last
  last        INTEGER NOT NULL,
  create_time INTEGER NOT NULL,
  done_time   INTEGER NOT NULL DEFAULT 0, -- 0 until it has succeeded
  attempts    INTEGER NOT NULL DEFAULT 0
) STRICT;
-- For pages of Operations; for the operations of a session; for those that expire.
CREATE INDEX operations_scope ON operations (app, user, n);
CREATE INDEX operations_ref ON operations (ref, last);
CREATE INDEX operations_done ON operations (done_time) WHERE done_time > 0;

-- The memory store that the done positions refer to, in one row.
CREATE TABLE bound (one INTEGER PRIMARY KEY CHECK (one = 1), memories TEXT NOT NULL) STRICT;

-- The changes of the event seq, for the operations that cover it to report.
CREATE TABLE changes (ref INTEGER NOT NULL, seq INTEGER NOT NULL, time INTEGER NOT NULL, doc BLOB NOT NULL) STRICT;
CREATE INDEX changes_ref ON changes (ref, seq);
CREATE INDEX changes_time ON changes (time);
`

// schemaRequest adds the request of each operation, as JSON. Operations that
// were stored before have none: see sessionstore.ReadRequest.
const schemaRequest = `ALTER TABLE operations ADD COLUMN request BLOB NOT NULL DEFAULT x'';`

// schemaTurns adds the number of the event up to which turns were written by
// Store.AppendTurns and Store.WriteTurns. Where it is behind the done position,
// that counts: turns of events that are done were written by a worker.
const schemaTurns = `ALTER TABLE sessions ADD COLUMN turns INTEGER NOT NULL DEFAULT 0;`

// schemaStateSizes adds the sizes of state, as sessionstore.StateBytes counts them:
// 64 is its StateKeyBytes. Triggers keep them, so that no write of state misses
// them. In shared_bytes the state of an app has no user.
const schemaStateSizes = `
ALTER TABLE sessions ADD COLUMN state_bytes INTEGER NOT NULL DEFAULT 0;
CREATE TABLE shared_bytes (
  app   TEXT NOT NULL,
  user  TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (app, user)
) STRICT, WITHOUT ROWID;
UPDATE sessions SET state_bytes = (SELECT coalesce(sum(octet_length(key) + octet_length(value) + 64), 0)
  FROM session_state t WHERE t.ref = sessions.ref);
INSERT INTO shared_bytes SELECT app, '', sum(octet_length(key) + octet_length(value) + 64) FROM app_state GROUP BY app;
INSERT INTO shared_bytes SELECT app, user, sum(octet_length(key) + octet_length(value) + 64) FROM user_state
  GROUP BY app, user;
CREATE TRIGGER app_state_insert AFTER INSERT ON app_state BEGIN
  INSERT INTO shared_bytes VALUES (NEW.app, '', octet_length(NEW.key) + octet_length(NEW.value) + 64)
    ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes; END;
CREATE TRIGGER app_state_update AFTER UPDATE ON app_state BEGIN
  UPDATE shared_bytes SET bytes = bytes + octet_length(NEW.value) - octet_length(OLD.value)
    WHERE app = NEW.app AND user = ''; END;
CREATE TRIGGER app_state_delete AFTER DELETE ON app_state BEGIN
  UPDATE shared_bytes SET bytes = bytes - octet_length(OLD.key) - octet_length(OLD.value) - 64
    WHERE app = OLD.app AND user = ''; END;
CREATE TRIGGER user_state_insert AFTER INSERT ON user_state BEGIN
  INSERT INTO shared_bytes VALUES (NEW.app, NEW.user, octet_length(NEW.key) + octet_length(NEW.value) + 64)
    ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes; END;
CREATE TRIGGER user_state_update AFTER UPDATE ON user_state BEGIN
  UPDATE shared_bytes SET bytes = bytes + octet_length(NEW.value) - octet_length(OLD.value)
    WHERE app = NEW.app AND user = NEW.user; END;
CREATE TRIGGER user_state_delete AFTER DELETE ON user_state BEGIN
  UPDATE shared_bytes SET bytes = bytes - octet_length(OLD.key) - octet_length(OLD.value) - 64
    WHERE app = OLD.app AND user = OLD.user; END;
CREATE TRIGGER session_state_insert AFTER INSERT ON session_state BEGIN
  UPDATE sessions SET state_bytes = state_bytes + octet_length(NEW.key) + octet_length(NEW.value) + 64
    WHERE ref = NEW.ref; END;
CREATE TRIGGER session_state_update AFTER UPDATE ON session_state BEGIN
  UPDATE sessions SET state_bytes = state_bytes + octet_length(NEW.value) - octet_length(OLD.value)
    WHERE ref = NEW.ref; END;
`

// Values in the column doc of events have been sealed since this step; see
// sqlitedb.Seal. It changes nothing itself: it keeps earlier versions, which cannot
// read such values, from opening the file.
const schemaSeals = `SELECT 1`

// schemaWaitingApp has a claim find the longest waiting scopes of each app.
const schemaWaitingApp = `CREATE INDEX waiting_app ON waiting (app, since, due);`

// schemaTriggers has how events wait for a trigger: see sessionstore.Waiting. rule is the
// trigger as text, and wait_op the number of the operation of the events that wait. A
// session without such events has 0 in wait_since to wait_op.
const schemaTriggers = `
ALTER TABLE sessions ADD COLUMN rule TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN own_rule INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN wait_since INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN wait_last INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN wait_due INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN wait_to INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN wait_op INTEGER NOT NULL DEFAULT 0;
-- For a claim: the triggers that are due.
CREATE INDEX sessions_wait ON sessions (wait_due) WHERE wait_due > 0;
`

// schemaAppOperations has AppOperations read those of an app, and those of them that have
// not succeeded, which are few among many. SQLite orders equal apps by the number.
const schemaAppOperations = `
CREATE INDEX operations_app ON operations (app);
CREATE INDEX operations_open ON operations (app) WHERE done_time = 0;
`
