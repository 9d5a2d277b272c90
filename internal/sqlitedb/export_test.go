package sqlitedb

import "time"

// RetakeNow has the next write try to take the reserve again at once.
func RetakeNow(db *DB) {
	db.reserve.mu.Lock()
	defer db.reserve.mu.Unlock()
	db.reserve.tried = time.Time{}
}
