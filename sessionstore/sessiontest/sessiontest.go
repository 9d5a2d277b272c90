// Package sessiontest is the suite that every session store passes. Each case is
// one promise of [sessionstore.Store], [sessionstore.Progress],
// [sessionstore.Operations], [sessionstore.Archive], [sessionstore.Configs],
// [sessionstore.Expirer], [access.Keys] or [access.Audit], so that the suite is their specification. The
// comment of a case states the promise, and then who relies on it. A new promise is a
// new case here first.
//
// A backend runs the suite from a test of its own:
//
//	func TestConformance(t *testing.T) {
//		sessiontest.Run(t, func(t *testing.T) sessiontest.Harness {
//			path := filepath.Join(t.TempDir(), "sessions.db")
//			return sessiontest.Harness{
//				Open:     func(t *testing.T, now func() time.Time) sessiontest.Backend { … },
//				Close:    func(t *testing.T, b sessiontest.Backend) { … },
//				Keeps:    func(t *testing.T, text string) bool { … },
//				Embedded: true,
//			}
//		})
//	}
//
// # How to read a case
//
// A case gets a fixture: an open backend, empty at first, and a clock that stands
// still until the case moves it. No case sleeps, and no backend may read another
// clock for the times that it stores or compares. Most cases play in the scope of
// ann, and use bob to check that nothing reaches another user.
//
// The fixture's own methods, such as create, ask and finish, fail the test on an
// error; a case calls the backend's methods where it expects one. Events have
// short ids, which are their texts too, so that a failure names them.
//
// # What the suite leaves open
//
// Backends differ in what several processes may do, and in how they fail when a
// server or a disk does. Harness.Embedded covers the first. Tests of the backend
// itself cover the second: see the failure tests beside each.
package sessiontest

import (
	"testing"
	"time"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/sessionstore"
)

// Backend is the part of a session store that the suite checks.
type Backend interface {
	sessionstore.Store
	sessionstore.Progress
	sessionstore.Operations
	sessionstore.Archive
	sessionstore.Audited
	sessionstore.Configs
	sessionstore.Eraser
	sessionstore.Expirer
	access.Keys
	access.Audit
}

// Harness is a place that keeps data, empty at first, and how to open and close
// it.
type Harness struct {
	// Open opens the place, or fails the test. now is the backend's only clock, its limit
	// on a state is MaxState, that on the keys of an app is MaxKeys, that on the sessions
	// of a user is MaxSessions, and that on the audit log of an app is AuditEntries. The
	// suite has one Backend open at a time. It closes one and opens another to
	// check what a restart keeps.
	Open func(t *testing.T, now func() time.Time) Backend

	// OpenTTL is Open of a backend with a TTL: how long after its last append or update a
	// session expires that has no ExpireTime of its own. 0 is never.
	OpenTTL func(t *testing.T, now func() time.Time, ttl time.Duration) Backend

	// Close closes what Open and OpenTTL opened, cleanly.
	Close func(t *testing.T, b Backend)

	// Keeps reports whether the place has some text anywhere: in the name of a key, in a
	// value, in a byte of a file. The store is open meanwhile.
	Keeps func(t *testing.T, text string) bool

	// Embedded says that the place belongs to one process, so that the leases of an
	// earlier Open are void. Otherwise leases outlive their owners.
	Embedded bool
}

// MaxState is the limit on the state of one owner that Harness.Open sets, in bytes.
const MaxState = 1 << 20

// MaxKeys is how many keys of callers an app may have in a backend that Harness.Open
// opens.
const MaxKeys = 30

// MaxSessions is how many sessions a user may have in a backend that Harness.Open opens.
const MaxSessions = 130

// Run runs every case, each in a subtest with a Harness of its own.
func Run(t *testing.T, newHarness func(t *testing.T) Harness) {
	subjects := []struct {
		name  string
		cases []testCase
	}{
		{"Create", createCases()},
		{"Append", appendCases()},
		{"RoundTrip", roundTripCases()},
		{"State", stateCases()},
		{"Keys", keyCases()},
		{"Get", getCases()},
		{"Pages", pageCases()},
		{"List", listCases()},
		{"Filter", filterCases()},
		{"Limits", limitCases()},
		{"Delete", deleteCases()},
		{"Details", detailCases()},
		{"Expire", expireCases()},
		{"Contexts", contextCases()},
		{"Concurrency", concurrencyCases()},
		{"Progress", progressCases()},
		{"Leases", leaseCases()},
		{"Finish", finishCases()},
		{"Fail", failCases()},
		{"Operations", operationCases()},
		{"Watch", watchCases()},
		{"DeletedWork", deletedWorkCases()},
		{"Request", requestCases()},
		{"OneShot", oneShotCases()},
		{"Trigger", triggerCases()},
		{"Restart", restartCases()},
		{"Archive", archiveCases()},
		{"CallerKeys", callerKeyCases()},
		{"AuditLog", auditLogCases()},
		{"Config", configCases()},
		{"Erase", eraseCases()},
	}
	for _, s := range subjects {
		t.Run(s.name, func(t *testing.T) {
			for _, c := range s.cases {
				t.Run(c.name, func(t *testing.T) { c.run(newFixture(t, newHarness(t))) })
			}
		})
	}
}

// testCase is one promise. The comment of its function states it.
type testCase struct {
	name string
	run  func(f *fixture)
}
