package redissession_test

import (
	"bytes"
	"testing"

	"github.com/memoryd/memoryd/internal/redistest"
	"github.com/memoryd/memoryd/sessionstore/redissession"
)

// seen is what a store has seen.
func seen(t testing.TB, s *redissession.Store) []byte {
	t.Helper()
	out, err := s.Seen()
	must(t, err)
	return out
}

// reopened is a store that was opened with what another had seen, which is closed.
func reopened(t testing.TB, url string, seen []byte) (*redissession.Store, *lines) {
	t.Helper()
	s, log := watched(t, url)
	must(t, s.Expect(t.Context(), seen))
	return s, log
}

// What is lost while no process runs is noticed by the next one that is told how far
// the sessions had got. Once it is accepted it is not noticed again, although the next
// process may be told the same.
func TestLostWhileStopped(t *testing.T) {
	t.Parallel()
	k := key("ann", "s")
	for name, lose := range map[string]func(t testing.TB, r *redistest.Server, older string){
		"emptied":  func(t testing.TB, r *redistest.Server, _ string) { r.Flush(t) },
		"older":    func(t testing.TB, r *redistest.Server, older string) { r.Restore(t, older) },
		"unmarked": func(t testing.TB, r *redistest.Server, older string) { r.Restore(t, older); unmarked(t, r) },
	} {
		t.Run(name, func(t *testing.T) {
			r := redistest.Start(t)
			s, _ := watched(t, r.URL())
			if all := seen(t, s); all != nil {
				t.Errorf("an empty Redis was seen as %s", all)
			}
			must(t, request(t, s, k, "e1", "op"))
			older := r.Backup(t)
			must(t, add(t, s, k, event(t, "e2")))
			all := seen(t, s)
			newest := r.Backup(t)
			whole, log := reopened(t, r.URL(), all)
			whole.Look(t.Context(), log.logger())
			must(t, whole.Check(t.Context()))
			if again := seen(t, whole); !bytes.Equal(all, again) {
				t.Errorf("seen %s, then %s", all, again)
			}

			lose(t, r, older)
			noticed, log := reopened(t, r.URL(), all)
			lost(t, noticed, log, k)
			after := seen(t, noticed)
			accepting, _ := watched(t, r.URL())
			if n, err := accepting.Accept(t.Context()); err != nil || n != 1 {
				t.Errorf("accepted %d losses, %v", n, err)
			}
			for _, told := range [][]byte{all, after} {
				s, log := reopened(t, r.URL(), told)
				s.Look(t.Context(), log.logger())
				must(t, s.Check(t.Context()))
			}

			// The newest data of before lacks what was stored since the loss.
			r.Restore(t, newest)
			s, log = reopened(t, r.URL(), after)
			s.Look(t.Context(), log.logger())
			isDamaged(t, "check", s.Check(t.Context()))
		})
	}
}

// A Redis whose newest data is back before anything else was stored is whole, and one
// with an older copy is not, however often it was restored meanwhile.
func TestBroughtBackWhileStopped(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	s, _ := watched(t, r.URL())
	k := key("ann", "s")
	must(t, add(t, s, k, event(t, "e1")))
	older := r.Backup(t)
	must(t, add(t, s, k, event(t, "e2")))
	newest := r.Backup(t)
	all := seen(t, s)
	r.Flush(t)
	s, _ = reopened(t, r.URL(), all)
	isDamaged(t, "check of an empty one", s.Check(t.Context()))
	all = seen(t, s)
	r.Restore(t, older)
	s, log := reopened(t, r.URL(), all)
	s.Look(t.Context(), log.logger())
	isDamaged(t, "check of an older one", s.Check(t.Context()))
	r.Restore(t, newest)
	s, log = reopened(t, r.URL(), all)
	s.Look(t.Context(), log.logger())
	must(t, s.Check(t.Context()))
	has(t, s, k, "e1", "e2")
}

// How far a collection had got is known until that is accepted.
func TestRemember(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	s, _ := watched(t, r.URL())
	is := func(want int64, wantAccepted bool) {
		t.Helper()
		beat, accepted, err := s.Remembered(t.Context(), "c")
		if err != nil || beat != want || accepted != wantAccepted {
			t.Errorf("remembered %d, accepted %t (%v), want %d, %t", beat, accepted, err, want, wantAccepted)
		}
	}
	is(0, false)
	must(t, s.AcceptMemories(t.Context()))
	is(0, false)
	must(t, s.Remember(t.Context(), "c", 1_700_000_000_000_001))
	is(1_700_000_000_000_001, false)
	must(t, s.AcceptMemories(t.Context()))
	is(0, true)
}
