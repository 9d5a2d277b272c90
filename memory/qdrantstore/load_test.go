package qdrantstore

import (
	"fmt"
	"slices"
	"testing"

	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/internal/qdranttest"
)

// The first search of a scope of few memories takes two rounds of calls, and the one after it a
// single call.
func TestColdSearchIsTwoRounds(t *testing.T) {
	t.Parallel()
	url := qdranttest.Start(t).URL(t)
	s, other := followed(t, url), followed(t, url)
	c := &calls{}
	c.record(t, s, url)
	for n, word := range []string{"", "w1", "w2"} { // a scope without memories has no index
		if word != "" {
			putWord(t, other, word)
		}
		s.cache.Clear()
		c.take()
		if got := has(t, s, "w1", "w2"); len(got) != n {
			t.Errorf("%d memories: the first search finds %v", n, got)
		}
		made := c.take()
		slices.Sort(made)
		if !slices.Equal(made, []string{"Count", "Get", "Scroll"}) {
			t.Errorf("%d memories: the first search makes the calls %v", n, made)
		}
	}
	has(t, s, "w1")
	if made := c.take(); !slices.Equal(made, []string{"Get"}) {
		t.Errorf("the second search makes the calls %v", made)
	}
	putWord(t, other, "w3")
	if got := has(t, s, "w1", "w3"); len(got) != 2 {
		t.Errorf("after a write of another process: %v", got)
	}
}

// A page may have a part of what is written while it is read. No search is answered by that.
func TestWriteWhileIndexIsRead(t *testing.T) {
	t.Parallel()
	url := qdranttest.Start(t).URL(t)
	s, other := followed(t, url), followed(t, url)
	putWord(t, other, "w")
	c := &calls{}
	c.record(t, s, url)
	for i := range 4 {
		first, second := fmt.Sprint("first", i), fmt.Sprint("second", i)
		lacking := pointIDs(followScope, []string{second})[0].GetUuid()
		written, lacked := false, 0
		c.mu.Lock()
		c.after = func(method string, _ any) {
			if method == "Get" && !written { // it has read the head
				written = true
				putWord(t, other, first)
				putWord(t, other, second)
			}
		}
		c.edit = func(reply any) {
			if page, ok := reply.(*qdrant.ScrollResponse); ok {
				page.Result = slices.DeleteFunc(page.Result, func(p *qdrant.RetrievedPoint) bool {
					if p.GetId().GetUuid() != lacking {
						return false
					}
					lacked++
					return true
				})
			}
		}
		c.mu.Unlock()
		s.cache.Clear()
		if got := has(t, s, first, second); len(got) != 2 || lacked != 1 {
			t.Errorf("found %v; a page lacked %d", got, lacked)
		}
	}
}
