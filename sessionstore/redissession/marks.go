package redissession

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// ownFor is how long a process remembers its own writes beside those of all. Only
// a write that another process makes right after a failover can hide that an own
// write is gone, and the next look is a second away. Less than WRITER_TTL in
// guard.lua.
const ownFor = 10 * time.Minute

// maxMarks bounds the marks that a process remembers: there is one for each
// partition, and one for each app that has state.
const maxMarks = 10_000

// mark is what a process has seen of the mark of a partition, or of an app's keys:
// see guard.lua.
type mark struct {
	made string // when the first write was stored, which names the data; "" if there was none
	n    int64  // writes
	own  int64  // n after the last write of this process; 0 if it has written none lately
	at   time.Time
	lost *loss
	// before has the counts that were seen of data that is gone, by made. If it
	// comes back it has to have these.
	before map[string]int64
}

// loss is acknowledged data that is gone, as guard.lua has recorded it.
type loss struct {
	noticed time.Time
	last    int64 // the last number given to a session before; those made since are whole
	n       int64 // the writes that were there
}

// marks are those that a process has seen, by the prefix of their keys.
type marks struct {
	owner string // names the process in them
	mu    sync.Mutex
	all   map[string]*mark
	// lossy is called when a loss is seen for the first time.
	lossy func()
}

// seen is the last argument of a script: what its caller has seen of the mark.
func (m *marks) seen(prefix string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.all[prefix]
	if k == nil {
		return " 0 " + m.owner + " 0"
	}
	if k.own > 0 && time.Since(k.at) > ownFor {
		k.own = 0
	}
	return fmt.Sprintf("%s %d %s %d", k.made, k.n, m.owner, k.own)
}

// learn takes the mark from the answer of a script, and returns what the script
// itself has returned.
func (m *marks) learn(prefix string, answer any) any {
	r := replyOf(answer)
	m.note(prefix, r.text(0), r.num(1), r.text(2), r.num(3) == 1)
	if len(r) < 5 {
		return nil
	}
	return r[4]
}

// note takes a mark as it is stored. wrote says that this process has just written.
func (m *marks) note(prefix, made string, n int64, lost string, wrote bool) {
	if m.take(prefix, made, n, lost, wrote) {
		m.lossy()
	}
}

// take is note, and reports whether it has seen a loss for the first time.
func (m *marks) take(prefix, made string, n int64, lost string, wrote bool) (first bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.all[prefix]
	if k == nil {
		if made == "" {
			return false // nothing was ever written there
		}
		m.makeRoom()
		k = &mark{made: made}
		m.all[prefix] = k
	}
	if k.made != made {
		if k.before == nil {
			k.before = map[string]int64{}
		}
		if k.n > 0 {
			k.before[k.made] = k.n
		}
		k.made, k.n, k.own = made, k.before[made], 0
	}
	k.n = max(k.n, n)
	if wrote {
		k.own, k.at = max(k.own, n), time.Now()
	}
	first = k.lost == nil && lost != ""
	k.lost = lossOf(lost)
	return first
}

// makeRoom forgets a mark of an app if there are too many.
func (m *marks) makeRoom() {
	for prefix := range m.all {
		if len(m.all) < maxMarks {
			return
		}
		if strings.HasPrefix(prefix, appsPrefix) {
			delete(m.all, prefix)
		}
	}
}

// lossOf reads a loss as guard.lua has recorded it; nil for "".
func lossOf(text string) *loss {
	f := strings.Split(text, " ")
	if len(f) < 2 {
		return nil
	}
	r := make(reply, len(f))
	for i := range f {
		r[i] = f[i]
	}
	l := &loss{noticed: sessionstore.FromMicros(r.num(0)), last: r.num(1)}
	if len(f) == 4 {
		l.n = r.num(3)
	}
	return l
}

// compare takes a mark as a look has read it, unless writes are missing, and reports
// whether they are.
func (m *marks) compare(prefix string, is reply) (missing bool) {
	made, n, lost := is.text(0), is.num(1), is.text(2)
	m.mu.Lock()
	if k := m.all[prefix]; k != nil && k.n > 0 {
		var own int64
		if fields := strings.Fields(is.text(3)); len(fields) > 0 {
			own = reply{fields[0]}.num(0)
		}
		stale := k.own > 0 && time.Since(k.at) > ownFor
		missing = made != k.made || n < k.n || own < k.own && !stale
	}
	m.mu.Unlock()
	if !missing {
		m.note(prefix, made, n, lost, false)
	}
	return missing
}

// readMarks reads the marks of all partitions, and has those marked that only builds
// before marks have written.
func (s *Store) readMarks(ctx context.Context) error {
	within, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	pipe := s.side.Pipeline()
	var marks [partitions]*redis.SliceCmd
	var numbers [partitions]*redis.IntCmd
	for p := range partitions {
		prefix := partitionPrefix(p)
		marks[p] = pipe.HMGet(within, prefix+"mark", "made", "n", "lost")
		numbers[p] = pipe.Exists(within, prefix+"n")
	}
	if _, err := pipe.Exec(within); err != nil {
		return s.kind(within, err)
	}
	for p := range partitions {
		prefix, is := partitionPrefix(p), reply(marks[p].Val())
		s.marks.note(prefix, is.text(0), is.num(1), is.text(2), false)
		if is.text(0) == "" && numbers[p].Val() == 1 {
			if _, err := s.runOn(within, s.side, markScript, prefix); err != nil {
				return err
			}
		}
	}
	return nil
}

// apps are the prefixes of the apps whose marks are known.
func (m *marks) apps() (out []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for prefix := range m.all {
		if strings.HasPrefix(prefix, appsPrefix) {
			out = append(out, prefix)
		}
	}
	return out
}

// lost is the loss among the keys with a prefix; nil if there is none.
func (m *marks) lost(prefix string) *loss {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k := m.all[prefix]; k != nil {
		return k.lost
	}
	return nil
}

// losses are all that this process knows of, by the prefix of the keys.
func (m *marks) losses() map[string]loss {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := map[string]loss{}
	for prefix, k := range m.all {
		if k.lost != nil {
			out[prefix] = *k.lost
		}
	}
	return out
}

// damaged is the error of a call that reads data which may be incomplete.
func (l *loss) damaged() error {
	return memory.Damaged(
		"Redis has lost sessions that were acknowledged, of this user or app among others (noticed %s). "+
			"What is stored from now on is kept and can be read; what was stored before may be missing. %s",
		l.noticed.Format(time.RFC3339),
		remedy,
	)
}

// remedy is what an operator can do about a loss.
const remedy = "Bring back the newest data of Redis, or run memoryd accept to go on with what is left"

// completeApp is an error if any keys have lost data, which may be of sessions of any
// app.
func (s *Store) completeApp() error {
	if !s.opts.Contain {
		return nil
	}
	for _, l := range s.marks.losses() {
		return l.damaged()
	}
	return nil
}

// complete is an error if the keys of a scope, or of its app, have lost data: an
// answer that something is missing, or a list, would not be true.
func (s *Store) complete(scope memory.Scope) error {
	for _, prefix := range []string{scopePrefix(scope), appPrefix(scope.App), workPrefix} {
		if l := s.marks.lost(prefix); l != nil && s.opts.Contain {
			return l.damaged()
		}
	}
	return nil
}

// whole is an error if a session, by its number, may lack some of its events: if
// it is older than a loss among its keys, or if its app has lost state.
func (s *Store) whole(scope memory.Scope, ref int64) error {
	if !s.opts.Contain {
		return nil
	}
	if l := s.marks.lost(scopePrefix(scope)); l != nil && ref <= l.last {
		return l.damaged()
	}
	if l := s.marks.lost(workPrefix); l != nil && ref <= l.last {
		return l.damaged()
	}
	if l := s.marks.lost(appPrefix(scope.App)); l != nil {
		return l.damaged()
	}
	return nil
}

// missing is the error of something that is not there: ErrNotFound, unless it may
// have been lost.
func (s *Store) missing(scope memory.Scope) error {
	if err := s.complete(scope); err != nil {
		return err
	}
	return memory.ErrNotFound
}
