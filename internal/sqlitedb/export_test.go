package sqlitedb

import "time"

// RetakeNow has the next write try to take the reserve again at once.
func RetakeNow(db *DB) {
	db.reserve.mu.Lock()
	defer db.reserve.mu.Unlock()
	db.reserve.tried = time.Time{}
}

// SetMaxCopyLog sets how long the log may grow while a backup is made.
func SetMaxCopyLog(db *DB, bytes int64) { db.maxCopyLog = bytes }
