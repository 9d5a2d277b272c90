package client_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/client"
	"github.com/memoryd/memoryd/memory"
)

// testFilters finds the one memory with a number in its metadata, which is 1.
func testFilters(t *testing.T, u *client.User, id string) {
	ctx := t.Context()
	for filter, found := range map[string]bool{"metadata.k >= 1 AND kind=fact": true, `metadata."k" > 1`: false} {
		list := memory.List{Filter: memory.Filter{Where: must[memory.Where](t)(client.ParseFilter(filter))}}
		page := must[memory.Page](t)(u.Memories(ctx, list))
		matches := must[[]memory.Match](t)(u.Search(ctx, client.Search{Query: "Ann", Filter: filter}))
		block := must[client.Block](t)(u.Context(ctx, client.Search{Query: "Ann", Filter: filter}, 100))
		if !found {
			if len(page.Memories)+len(matches)+len(block.Memories) > 0 {
				t.Errorf("%s: listed %v, found %v and %v", filter, page, matches, block)
			}
			continue
		}
		if len(page.Memories) != 1 || page.Memories[0].ID != id || len(matches) != 1 || matches[0].Memory.ID != id ||
			len(block.Memories) != 1 {
			t.Errorf("%s: listed %v, found %v and %v", filter, page, matches, block)
		}
	}
	const wrong, place = "metadata.k >", "at byte 12"
	_, parsing := client.ParseFilter(wrong)
	_, searching := u.Search(ctx, client.Search{Query: "Ann", Filter: wrong})
	for _, err := range []error{parsing, searching} {
		if !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), place) {
			t.Errorf("%s: error %v, want ErrInvalid %s", wrong, err, place)
		}
	}
}
