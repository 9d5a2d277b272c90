package assembly

import (
	"time"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory/index"
	"github.com/memoryd/memoryd/sessionstore"
)

// What stores may tell for metrics. Each is a method that some stores have.
type (
	// failures counts calls that failed as the store could not serve.
	failures interface{ Failures() int64 }
	// operationCounts counts operations by the state that they came into.
	operationCounts interface {
		OperationCounts() map[sessionstore.OperationState]int64
	}
	// cacheStats tells of indexes that are kept in memory.
	cacheStats interface{ CacheStats() index.Stats }
)

// Figures returns the figures of both stores as they are now, by the names of their
// metrics; see server.Figures.
func (s *Stores) Figures() map[string]func() map[string]float64 {
	out := map[string]func() map[string]float64{"store_failures_total": s.failures()}
	if counts, ok := s.Sessions.(operationCounts); ok {
		out["operations_total"] = func() map[string]float64 {
			values := map[string]float64{}
			for state, n := range counts.OperationCounts() {
				values[string(state)] = float64(n)
			}
			return values
		}
	}
	if c, ok := s.Memories.(cacheStats); ok {
		one := func(read func(index.Stats) int64) func() map[string]float64 {
			return func() map[string]float64 { return map[string]float64{"": float64(read(c.CacheStats()))} }
		}
		out["cache_bytes"] = one(func(c index.Stats) int64 { return c.Bytes })
		out["cache_limit_bytes"] = one(func(c index.Stats) int64 { return c.Limit })
		out["cache_scopes"] = one(func(c index.Stats) int64 { return int64(c.Scopes) })
		out["cache_hits_total"] = one(func(c index.Stats) int64 { return c.Hits })
		out["cache_misses_total"] = one(func(c index.Stats) int64 { return c.Misses })
		out["cache_loads_total"] = one(func(c index.Stats) int64 { return c.Loads })
	}
	if len(s.files) > 0 {
		s.fileFigures(out)
	}
	return out
}

// failures reads how many calls of each store failed. SQLite counts them by file, so
// both stores in one file show the same.
func (s *Stores) failures() func() map[string]float64 {
	stores := map[string]any{"sessions": s.Sessions, "memories": s.Memories}
	return func() map[string]float64 {
		out := map[string]float64{}
		for name, store := range stores {
			if f, ok := store.(failures); ok {
				out[name] = float64(f.Failures())
			}
		}
		return out
	}
}

// fileFigures adds the figures of the embedded files, all of them together.
func (s *Stores) fileFigures(out map[string]func() map[string]float64) {
	var files []*sqlitedb.DB
	for _, db := range s.files {
		files = append(files, db)
	}
	sum := func(read func(*sqlitedb.DB) float64) func() map[string]float64 {
		return func() map[string]float64 {
			total := 0.0
			for _, db := range files {
				total += read(db)
			}
			return map[string]float64{"": total}
		}
	}
	out["writes_waiting"] = sum(func(db *sqlitedb.DB) float64 { return float64(db.Writes().Waiting) })
	out["writes_total"] = sum(func(db *sqlitedb.DB) float64 { return float64(db.Writes().Writes) })
	out["write_wait_seconds_total"] = sum(func(db *sqlitedb.DB) float64 { return db.Writes().Waited.Seconds() })
	out["write_commits_total"] = sum(func(db *sqlitedb.DB) float64 { return float64(db.Writes().Commits) })
	out["rows_unreadable"] = sum(func(db *sqlitedb.DB) float64 { return float64(db.Stats().Unreadable) })
	out["files_damaged"] = sum(func(db *sqlitedb.DB) float64 {
		if db.Stats().Damaged != "" {
			return 1
		}
		return 0
	})
	out["write_slowest_seconds"] = func() map[string]float64 {
		slowest := time.Duration(0)
		for _, db := range files {
			slowest = max(slowest, db.Writes().Slowest)
		}
		return map[string]float64{"": slowest.Seconds()}
	}
}
