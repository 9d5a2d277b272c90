package redissession

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Others change what an audit reads. So it looks again at what seems wrong, after
// auditPause, and reports what still does. A message in an outbox is late after
// auditLate: the next look for work delivers it.
const (
	auditPause = 200 * time.Millisecond
	auditLate  = 2 * time.Minute
)

// auditPage is how many events an audit reads together.
const auditPage = 50

// streamID is the id of an event in its stream.
func streamID(number int64) string { return strconv.FormatInt(number, 10) + "-0" }

// eventKeys are the keys that hold a session's data beside its hash.
var eventKeys = regexp.MustCompile(`^(memoryd:\{\d+\}:)(?:events|state):(\d+)$`)

// Audit implements sessionstore.Audited.
func (s *Store) Audit(ctx context.Context, session func(sessionstore.SessionRecord) error,
	found func(memory.Finding)) error {
	if err := s.audit(ctx, session, found); err != nil {
		return fmt.Errorf("audit sessions: %w", err)
	}
	return nil
}

func (s *Store) audit(ctx context.Context, session func(sessionstore.SessionRecord) error,
	found func(memory.Finding)) error {
	if err := s.lookAtMarks(ctx); err != nil {
		return err
	}
	for prefix, l := range s.marks.losses() {
		found(memory.Finding{Rule: sessionstore.RuleLost, Of: prefix + "*", Text: fmt.Sprintf(
			"Redis has lost acknowledged data (noticed %s)", l.noticed.Format(time.RFC3339))})
	}
	pipe := s.redis.Pipeline()
	var busy [partitions]*redis.IntCmd
	for p := range busy {
		prefix := partitionPrefix(p)
		busy[p] = pipe.Exists(ctx, prefix+"since", prefix+"leases", prefix+"outboxes")
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return s.kind(ctx, err)
	}
	for p := range busy {
		if busy[p].Val() == 0 {
			continue
		}
		if err := s.auditPartition(ctx, p, found); err != nil {
			return err
		}
	}
	return s.scan(ctx, func(keys []string) error {
		for _, k := range keys {
			if sessionKeys.MatchString(k) {
				r, err := s.auditSession(ctx, k, found)
				if err != nil {
					return err
				}
				if r == nil {
					continue
				}
				if err := session(*r); err != nil {
					return err
				}
			} else if of := eventKeys.FindStringSubmatch(k); of != nil {
				if err := s.auditOrphan(ctx, k, of[1]+"session:"+of[2], found); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// scan calls f with the names of all keys, a page at a time. A key may come twice.
func (s *Store) scan(ctx context.Context, f func(keys []string) error) error {
	var mu sync.Mutex
	return s.eachMaster(ctx, func(ctx context.Context, c *redis.Client) error {
		for cursor := uint64(0); ; {
			page, next, err := c.Scan(ctx, cursor, "memoryd:*", 1000).Result()
			if err != nil {
				return s.kind(ctx, err)
			}
			mu.Lock()
			err = f(page)
			mu.Unlock()
			if err != nil || next == 0 {
				return err
			}
			cursor = next
		}
	})
}

// twice runs an audit of one thing, and again after a pause if it finds faults. It
// reports what the second has found.
func twice(ctx context.Context, found func(memory.Finding), audit func() ([]memory.Finding, error)) error {
	all, err := audit()
	if err == nil && len(all) > 0 {
		select {
		case <-time.After(auditPause):
		case <-ctx.Done():
			return ctx.Err()
		}
		all, err = audit()
	}
	for _, f := range all {
		found(f)
	}
	return err
}

// auditOrphan reports a key whose session is gone, unless it expires by itself.
func (s *Store) auditOrphan(ctx context.Context, key, session string, found func(memory.Finding)) error {
	return twice(ctx, found, func() ([]memory.Finding, error) {
		n, err := s.redis.Exists(ctx, session).Result()
		if err != nil || n == 1 {
			return nil, s.kind(ctx, err)
		}
		left, err := s.redis.PTTL(ctx, key).Result()
		if err != nil || left != -1 {
			return nil, s.kind(ctx, err)
		}
		return []memory.Finding{{Rule: sessionstore.RuleOrphans, Of: key, Text: "there is no session for it"}}, nil
	})
}

// auditPartition checks the work list, the leases and the outboxes of a partition.
func (s *Store) auditPartition(ctx context.Context, p int, found func(memory.Finding)) error {
	prefix := partitionPrefix(p)
	return twice(ctx, found, func() (out []memory.Finding, err error) {
		v, err := s.run(ctx, auditWorkScript, prefix, s.clock())
		if err != nil {
			return nil, err
		}
		for faults := replyOf(v); len(faults) > 1; faults = faults[2:] {
			of := faults.text(1)
			switch faults.text(0) {
			case "work":
				out = append(out, memory.Finding{Rule: sessionstore.RuleWork, Scope: scopeOf(of),
					Text: "it is in the work list otherwise than its sessions have it"})
			case "lease":
				out = append(out, memory.Finding{Rule: sessionstore.RuleLeases, Scope: scopeOf(of),
					Text: "its lease ends more than an hour from now"})
			case "outbox":
				late, err := s.undelivered(ctx, p, of)
				if err != nil {
					return nil, err
				}
				out = append(out, late...)
			}
		}
		return out, nil
	})
}

// undelivered reports the last message of an outbox if it is late. of is the number
// of the message, which is a time, and its app.
func (s *Store) undelivered(ctx context.Context, p int, of string) ([]memory.Finding, error) {
	number, app, _ := strings.Cut(of, " ")
	last, _ := strconv.ParseInt(number, 10, 64)
	if time.Since(sessionstore.FromMicros(last)) < auditLate {
		return nil, nil
	}
	applied, err := s.redis.HGet(ctx, appPrefix(app)+"applied", strconv.Itoa(p)).Int64()
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, s.kind(ctx, err)
	}
	if applied >= last {
		return nil, nil
	}
	return []memory.Finding{{Rule: sessionstore.RuleOutbox, Scope: memory.Scope{App: app},
		Of: partitionPrefix(p) + "outbox:" + app, Text: "changes of the app's state or list are not applied"}}, nil
}

// auditSession checks a session, by the name of its hash. It returns nil if the
// session is gone.
func (s *Store) auditSession(ctx context.Context, hash string, found func(memory.Finding)) (
	r *sessionstore.SessionRecord, err error) {
	prefix, ref, _ := strings.Cut(hash, "session:")
	err = twice(ctx, found, func() (out []memory.Finding, err error) {
		v, err := s.run(ctx, auditScript, prefix, ref)
		if err != nil {
			return nil, err
		}
		answer := replyOf(v)
		if r = nil; len(answer) == 0 {
			return nil, nil
		}
		r = auditRecord(ref, answer.list(0))
		out = auditAnswer(r, answer)
		add := func(rule, format string, args ...any) {
			out = append(out, memory.Finding{Rule: rule, Scope: r.Scope, Of: r.ID, Text: fmt.Sprintf(format, args...)})
		}
		if err := s.auditEvents(ctx, r, add); err != nil {
			return nil, err
		}
		return out, s.auditPlaces(ctx, r, answer, add)
	})
	return r, err
}

// auditRecord is the session that audit.lua has read.
func auditRecord(ref string, m reply) *sessionstore.SessionRecord {
	return &sessionstore.SessionRecord{Key: sessionstore.Key{Scope: scopeOf(m.text(0)), ID: m.text(1)}, Ref: ref,
		Events: m.num(2), Requested: m.num(3), Done: m.num(4), Failed: m.text(5) == "1",
		Waiting: waitingOf(m[10:])}
}

// auditAnswer checks what audit.lua has read in one step.
func auditAnswer(r *sessionstore.SessionRecord, answer reply) (out []memory.Finding) {
	add := func(rule, of, format string, args ...any) {
		out = append(out, memory.Finding{Rule: rule, Scope: r.Scope, Of: of, Text: fmt.Sprintf(format, args...)})
	}
	m, counts, work := answer.list(0), answer.list(1), answer.list(2)
	if r.Done < 0 || r.Done > r.Requested || r.Requested > r.Events {
		add(sessionstore.RulePositions, r.ID, "done %d, requested %d, %d events", r.Done, r.Requested, r.Events)
	}
	if counts.num(0) != r.Events || counts.num(1) != r.Events || counts.num(2) != r.Events {
		add(sessionstore.RuleEvents, r.ID, "it has %d events, %d by time, %d by id, and says %d", counts.num(0),
			counts.num(1), counts.num(2), r.Events)
	}
	waits := r.Requested > r.Done && !r.Failed
	listed := work.text(0) != "" && work.text(1) != "" && work.text(2) != "" && work.text(3) != ""
	if waits != listed && (waits || work.text(0) != "") {
		add(sessionstore.RuleWork, r.ID, "it waits: %t; the work list has it: %t", waits, listed)
	}
	if err := r.Waiting.Validate(r.Requested, r.Events); err != nil {
		add(sessionstore.RulePositions, r.ID, "%v", err)
	}
	if due := r.Waiting.Due; due.IsZero() != (answer.text(7) == "") {
		add(sessionstore.RuleWork, r.ID, "its trigger is due at %v, and is not listed as it should be", due)
	}
	planned := m.num(9)
	if answer.num(4) == 1 && (planned <= r.Done || planned > r.Requested) {
		add(sessionstore.RulePlan, r.ID, "a plan up to event %d, and the events %d to %d wait", planned, r.Done+1,
			r.Requested)
	}
	for ops := answer.list(5); len(ops) > 0; ops = ops[1:] {
		o := ops.list(0)
		first, last := o.num(2), o.num(3)
		if o.text(1) != r.Ref || o.text(4) != "0" || first < 0 || last < first || last > r.Events || last <= r.Done {
			add(
				sessionstore.RuleOperations,
				o.text(0),
				"it waits for events %d to %d of %d of session %q, of which %d are done",
				first+1,
				last,
				r.Events,
				r.ID,
				r.Done,
			)
		}
	}
	return out
}

// auditPlaces checks the session's state, and its place in the lists of its scope and
// its app.
func (s *Store) auditPlaces(ctx context.Context, r *sessionstore.SessionRecord, answer reply,
	add func(rule, format string, args ...any)) error {
	prefix := scopePrefix(r.Scope)
	pipe := s.redis.Pipeline()
	state, user := pipe.HGetAll(ctx, prefix+"state:"+r.Ref), pipe.HGetAll(ctx, prefix+"user:"+name(r.Scope))
	listed := pipe.ZScore(ctx, appPrefix(r.App)+"sessions", r.User+"/"+r.ID)
	if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
		return s.kind(ctx, err)
	}
	for owner, values := range map[string]map[string]string{"its": state.Val(), "the user's": user.Val()} {
		for k, v := range values {
			if !json.Valid([]byte(v)) {
				add(memory.RuleUnreadable, "a value of %s state is no JSON: %s", owner, k)
			}
		}
	}
	live, deleted := answer.text(3), answer.list(0).text(6) == "1"
	if !deleted && live != r.Ref {
		add(sessionstore.RuleOrphans, "its user's list of sessions does not have it")
	}
	// A message in the outbox may be about it.
	if !deleted && errors.Is(listed.Err(), redis.Nil) && answer.num(6) == 0 {
		add(sessionstore.RuleApp, "the app's list of sessions does not have it")
	}
	return nil
}

// auditEvents reads the events of a session.
func (s *Store) auditEvents(ctx context.Context, r *sessionstore.SessionRecord,
	add func(rule, format string, args ...any)) error {
	prefix := scopePrefix(r.Scope)
	for from := int64(1); from <= r.Events; from += auditPage {
		to := min(from+auditPage-1, r.Events)
		messages, err := s.redis.XRange(ctx, prefix+"events:"+r.Ref, streamID(from), streamID(to)).Result()
		if err != nil {
			return s.kind(ctx, err)
		}
		pipe := s.redis.Pipeline()
		var ids []*redis.StringCmd
		var times []*redis.FloatCmd
		var events []sessionstore.Event
		for i, m := range messages {
			doc, _ := m.Values["d"].(string)
			e, err := sessionstore.ReadEvent([]byte(doc))
			if err != nil {
				add(memory.RuleUnreadable, "event %s: %v", m.ID, err)
			}
			if want := streamID(from + int64(i)); m.ID != want && i == firstGap(messages, from) {
				add(sessionstore.RuleEvents, "event %s is where %s should be", m.ID, want)
			}
			seq, _, _ := strings.Cut(m.ID, "-")
			events = append(events, e)
			ids = append(ids, pipe.HGet(ctx, prefix+"ids:"+r.Ref, e.ID))
			times = append(times, pipe.ZScore(ctx, prefix+"times:"+r.Ref, fmt.Sprintf("%016s", seq)))
		}
		if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
			return s.kind(ctx, err)
		}
		for i, e := range events {
			if e.ID == "" {
				continue // it is unreadable
			}
			if ids[i].Val() != messages[i].ID || int64(times[i].Val()) != e.Timestamp.UnixMicro() {
				add(sessionstore.RuleEvents, "event %q is number %s, and is listed as %s", e.ID, messages[i].ID,
					cmp.Or(ids[i].Val(), "none"))
			}
		}
	}
	return nil
}

// firstGap is the place of the first message that does not have the number that
// follows the one before it.
func firstGap(messages []redis.XMessage, from int64) int {
	for i, m := range messages {
		if m.ID != streamID(from+int64(i)) {
			return i
		}
	}
	return -1
}
