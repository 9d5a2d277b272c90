package sqlitedb

import "os"

// A checkpoint copies pages from the write-ahead log into the main file and flushes
// both. It takes as long as many commits, so the writer makes it between two groups:
// then only a write that comes meanwhile waits for it. SQLite by itself would make it
// within a commit, and with readers present within every commit.
const (
	// restPages is how many pages the log has beyond the main file, at least, when the
	// writer makes a checkpoint while nothing waits.
	restPages = 1000
	// busyPages is the same while writes wait. A page that was written many times is
	// copied once, so a larger number takes less time in all, and one checkpoint longer.
	busyPages = 4000
	// maxLog is how long the log may grow, in bytes. SQLite reuses it only at a moment
	// without readers, which never comes under load.
	maxLog = 64 << 20
)

// tried is where the log ended when the writer last made a checkpoint. Readers may have
// kept it from copying all: then the next one waits until as much has come again.
type tried struct {
	salts  uint64
	frames uint32
}

// checkpoint makes a checkpoint if one is due. If it fails, the next one tries again:
// the log has all that it did not copy.
func (db *DB) checkpoint() {
	if db.path == Memory || db.conn == nil {
		return
	}
	scrubbing := db.scrubs.take()
	defer db.answer(scrubbing)
	long := len(scrubbing) > 0 || db.reserve.given()
	if log, err := os.Stat(db.path + "-wal"); err == nil {
		long = (long || log.Size() > maxLog) && db.copying.Load() == 0
	}
	if !long && !db.checkpointDue() {
		return
	}
	db.seen.mu.Lock()
	defer db.seen.mu.Unlock()
	if db.Damaged() != nil || db.seen.infos == nil {
		return // the log may be all that is left
	}
	tx := &Tx{db: db}
	if long {
		db.reading.Lock() // a moment without readers
		defer db.reading.Unlock()
	}
	if long && db.copying.Load() == 0 { // no copy has begun meanwhile: it would keep the checkpoint waiting
		db.clearRecord()
		tx.run("PRAGMA wal_checkpoint(TRUNCATE)")
	} else {
		tx.run("PRAGMA wal_checkpoint(PASSIVE)")
	}
	db.note()
}

// checkpointDue reports whether the log has so many new pages that it is time for a
// checkpoint, and notes where it ends.
func (db *DB) checkpointDue() bool {
	ix, ok := readIndex(db.handles.index)
	if !ok {
		return false
	}
	have := ix.backfill
	if ix.salts == db.tried.salts {
		have = max(have, db.tried.frames)
	}
	due := uint32(busyPages)
	if db.queue.empty() {
		due = restPages
	}
	if ix.frames < have+due {
		return false
	}
	db.tried = tried{ix.salts, ix.frames}
	return true
}
