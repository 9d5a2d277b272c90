package qdrantstore

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/memory"
)

// namespace is that of the ids derived here. Any fixed UUID serves.
var namespace = uuid.MustParse("6d656d6f-7279-5d01-8000-716472616e74")

func derive(parts ...string) string {
	return uuid.NewSHA1(namespace, []byte(strings.Join(parts, "\x00"))).String()
}

// pointID names the point of a memory.
func pointID(scope memory.Scope, id string) *qdrant.PointId {
	return qdrant.NewIDUUID(derive("memory", scope.App, scope.User, id))
}

// pastID names the point of a past revision.
func pastID(scope memory.Scope, id string, revision int64) *qdrant.PointId {
	return qdrant.NewIDUUID(derive("revision", scope.App, scope.User, id, strconv.FormatInt(revision, 10)))
}

// tenant is the value of payload field "scope". Ids have no slash, so it is
// unique.
func tenant(scope memory.Scope) string { return scope.App + "/" + scope.User }

// wordNumber stands for a word of a scope in payload field "words", by which
// words are counted.
func wordNumber(scope memory.Scope, word string) int64 {
	sum := sha256.Sum256([]byte(tenant(scope) + "\x00" + word))
	return int64(binary.LittleEndian.Uint64(sum[:8]) >> 1)
}

// wordIndex is a word's index in a sparse vector. Two words may share one: the
// frequencies of the memories found, which are read from their words, tell them
// apart.
func wordIndex(word string) uint32 {
	sum := sha256.Sum256([]byte(word))
	return binary.LittleEndian.Uint32(sum[:4])
}

// pairDigests are digests of metadata: equal pairs of name and value have equal
// ones.
func pairDigests(md memory.Metadata) []string {
	var out []string
	for k, v := range md {
		sum := sha256.Sum256([]byte(k + "\x00" + memory.CanonicalJSON(v)))
		out = append(out, hex.EncodeToString(sum[:16]))
	}
	return out
}
