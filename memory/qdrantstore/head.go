package qdrantstore

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/memory"
)

// head is a point that tells how many writes a scope has had. Each write has a number,
// which the points that it writes carry in field "change", and a token of its own. The
// head has the number and the tokens of the last writes. It changes only from what
// was read, so each number belongs to one write.
type head struct {
	n      int64    // of the last write; 0 before the first
	tokens []string // of the last writes, the last one first
}

// keptTokens is how many tokens a head has. An index that is further behind is read
// again.
const keptTokens = 64

// The payload fields of a head, and of the points that writes have numbered.
const (
	changeField = "change" // see changeNumber
	tokenField  = "token"  // of the last write
	tokensField = "tokens"
)

// headID names the head of a scope.
func headID(scope memory.Scope) *qdrant.PointId {
	return qdrant.NewIDUUID(derive("head", scope.App, scope.User))
}

// maxWrites is how many writes a scope may have.
const maxWrites = 1<<32 - 1

// changeNumber is the value of payload field "change" for a write of a scope. Its upper
// 20 bits are of the scope, so that a range of them leads to few points of others. It
// has 52 bits, as Qdrant compares ranges as floating point numbers.
func changeNumber(scope memory.Scope, n int64) int64 {
	sum := sha256.Sum256([]byte(tenant(scope)))
	return int64(binary.LittleEndian.Uint32(sum[:4])>>12)<<32 | n
}

// writeMark is the number and the token of one write.
type writeMark struct {
	n     int64
	token string
}

// last is the mark of the last write.
func (h *head) last() writeMark {
	if h.n == 0 {
		return writeMark{}
	}
	return writeMark{h.n, h.tokens[0]}
}

// follows reports whether a write is among those that the head knows. It does not know
// those before the last keptTokens.
func (h *head) follows(w writeMark) bool {
	at := h.n - w.n
	return w.n == 0 || at >= 0 && at < int64(len(h.tokens)) && h.tokens[at] == w.token
}

// lacks reports whether a write is surely none of those that led to the head.
func (h *head) lacks(w writeMark) bool { return h.n-w.n < keptTokens && !h.follows(w) }

// next is the head after one more write.
func (h *head) next() *head {
	tokens := append([]string{uuid.NewString()}, h.tokens...)
	return &head{h.n + 1, tokens[:min(len(tokens), keptTokens)]}
}

// point writes h as the head of a scope.
func (h *head) point(scope memory.Scope) *qdrant.PointStruct {
	return &qdrant.PointStruct{
		Id: headID(scope), Vectors: qdrant.NewVectorsMap(map[string]*qdrant.Vector{}),
		Payload: map[string]*qdrant.Value{
			changeField: qdrant.NewValueInt(changeNumber(scope, h.n)),
			tokenField:  qdrant.NewValueString(h.tokens[0]),
			tokensField: qdrant.NewValueString(strings.Join(h.tokens, " ")),
		},
	}
}

// swap makes h the head of a scope, if that still is what was.
func (h *head) swap(scope memory.Scope, was *head) *qdrant.PointsUpdateOperation {
	p := h.point(scope)
	if was.n == 0 {
		return insertOnly(p)
	}
	return updateOnly(p, qdrant.NewMatch(tokenField, was.tokens[0]))
}

// readHead reads a head from its payload. No payload is a scope without writes.
func readHead(payload map[string]*qdrant.Value) *head {
	h := &head{n: payload[changeField].GetIntegerValue() & maxWrites}
	if h.n > 0 {
		h.tokens = strings.Fields(payload[tokensField].GetStringValue())
	}
	return h
}

// markOf reads the mark of the last write from the payload of a head.
func markOf(payload map[string]*qdrant.Value) writeMark {
	return writeMark{payload[changeField].GetIntegerValue() & maxWrites, payload[tokenField].GetStringValue()}
}

// headOf reads the head of a scope.
func (s *Store) headOf(ctx context.Context, scope memory.Scope) (*head, error) {
	got, err := s.get(ctx, []*qdrant.PointId{headID(scope)}, []string{changeField, tokensField})
	if err != nil || len(got) == 0 {
		return &head{}, err
	}
	return readHead(got[0].GetPayload()), nil
}

// renumber has the head tell of changes whose write was given a number that another one
// took, and of those that were found made already: who made them may have been cut off
// before it changed the head. It gives them the number of a new write.
func (s *Store) renumber(ctx context.Context, scope memory.Scope, ids []string, h *head) error {
	for try := 0; len(ids) > 0; try++ {
		if try > 0 { // others write here too
			select {
			case <-time.After(rand.N(time.Duration(min(try, 20)) * 100 * time.Microsecond)):
			case <-ctx.Done():
				return s.kind(ctx, ctx.Err())
			}
		}
		mark, err := s.writes.do(ctx, writeCall{scope: scope, head: h, again: pointIDs(scope, ids)})
		if err != nil {
			return err
		}
		is, err := s.readToWrite(ctx, scope, nil)
		if err != nil {
			return err
		}
		h = is.head
		if s.heads.confirm(scope, h, mark) {
			return nil
		}
	}
	return nil
}

// setNumber gives points a number. Others may have given them a later one.
func setNumber(ids []*qdrant.PointId, change int64) *qdrant.PointsUpdateOperation {
	earlier := &qdrant.Filter{
		Must: []*qdrant.Condition{qdrant.NewHasID(ids...)},
		Should: []*qdrant.Condition{
			qdrant.NewRange(changeField, &qdrant.Range{Lt: qdrant.PtrOf(float64(change))}),
			qdrant.NewIsEmpty(changeField),
		},
	}
	return qdrant.NewPointsUpdateSetPayload(&qdrant.PointsUpdateOperation_SetPayload{
		Payload:        map[string]*qdrant.Value{changeField: qdrant.NewValueInt(change)},
		PointsSelector: qdrant.NewPointsSelectorFilter(earlier),
	})
}

// heads are those that this process has sent last. A write that follows another one of
// this process closely has read the head before that changed it, or is sent before
// that has ended. It would lose its number if it went by what it has read.
type heads struct {
	mu   sync.Mutex
	sent map[memory.Scope]*head
}

// maxHeads bounds the scopes of heads.
const maxHeads = 10_000

// next gives the head of a scope that follows the one sent last, or the one that was
// read if that is later.
func (hs *heads) next(scope memory.Scope, read *head) (was, now *head) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if was = hs.sent[scope]; was == nil || was.n < read.n {
		was = read
	}
	if hs.sent == nil || len(hs.sent) >= maxHeads {
		hs.sent = map[memory.Scope]*head{}
	}
	now = was.next()
	hs.sent[scope] = now
	return was, now
}

// sentAfter reports whether this process has sent a later head of a scope than that of a write.
func (hs *heads) sentAfter(scope memory.Scope, write int64) bool {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	sent := hs.sent[scope]
	return sent != nil && sent.n > write
}

// confirm reports whether a write has its number, by the head that was read after it.
// If not, what was sent is forgotten, as it may not come true.
func (hs *heads) confirm(scope memory.Scope, is *head, w writeMark) bool {
	if is.follows(w) {
		return true
	}
	hs.forget(scope)
	return false
}

// forget forgets what was sent of a scope.
func (hs *heads) forget(scope memory.Scope) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	delete(hs.sent, scope)
}
