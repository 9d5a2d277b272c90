package remote_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/internal/remote"
	"github.com/memoryd/memoryd/memory"
)

// Texts are sent in batches, in order, and cut where they are too long. Texts
// without a word are not sent.
func TestBatches(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limits remote.Batches
		texts  []string
		want   [][]string
	}{
		"none":           {remote.Batches{Texts: 2, Longest: 9}, nil, nil},
		"all empty":      {remote.Batches{Texts: 2, Longest: 9}, []string{"", " \n"}, nil},
		"by number":      {remote.Batches{Texts: 2, Longest: 9}, []string{"a", "", "b", "c", "d", "e"}, [][]string{{"a", "b"}, {"c", "d"}, {"e"}}},
		"by bytes":       {remote.Batches{Texts: 9, Bytes: 5, Longest: 9}, []string{"aa", "bb", "cc", "dddddd", "e"}, [][]string{{"aa", "bb"}, {"cc"}, {"dddddd"}, {"e"}}},
		"just in":        {remote.Batches{Texts: 3, Bytes: 6, Longest: 9}, []string{"aa", "bb", "cc"}, [][]string{{"aa", "bb", "cc"}}},
		"cut":            {remote.Batches{Texts: 9, Longest: 4}, []string{"abcdef", "äöü", "日本"}, [][]string{{"abcd", "äö", "日"}}},
		"not characters": {remote.Batches{Texts: 9, Longest: 9}, []string{"a\xff"}, [][]string{{"a\uFFFD"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got [][]string
			vectors, err := caller().Embed(
				t.Context(),
				c.limits,
				2,
				c.texts,
				func(_ context.Context, batch []string) ([][]float32, error) {
					got = append(got, batch)
					out := make([][]float32, len(batch))
					for i, text := range batch {
						out[i] = []float32{float32(text[0]), 0}
					}
					return out, nil
				},
			)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("batches (-want +got):\n%s", diff)
			}
			for i, v := range vectors {
				want := []float32{1, 0}
				if strings.TrimSpace(c.texts[i]) == "" {
					want[0] = 0
				}
				if diff := cmp.Diff(want, v); diff != "" {
					t.Errorf("vector of %q (-want +got):\n%s", c.texts[i], diff)
				}
			}
			if len(vectors) != len(c.texts) {
				t.Errorf("%d vectors", len(vectors))
			}
		})
	}
}

// A vector of another dimension is an error. Others are scaled to unit length, or
// left at zero.
func TestChecked(t *testing.T) {
	t.Parallel()
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for name, c := range map[string]struct {
		answer [][]float32
		want   [][]float32
		kind   error
		tries  int
	}{
		"right":     {[][]float32{{3, 4}, {0, -9}}, [][]float32{{0.6, 0.8}, {0, -1}}, nil, 1},
		"zero":      {[][]float32{{0, 0}, {1e-30, 0}}, [][]float32{{0, 0}, {1, 0}}, nil, 1},
		"huge":      {[][]float32{{3e38, 0}, {0, 3e38}}, [][]float32{{1, 0}, {0, 1}}, nil, 1},
		"too few":   {[][]float32{{1, 0}}, nil, memory.ErrUnavailable, 3},
		"too many":  {[][]float32{{1, 0}, {1, 0}, {1, 0}}, nil, memory.ErrUnavailable, 3},
		"infinite":  {[][]float32{{1, 0}, {inf, 0}}, nil, memory.ErrUnavailable, 3},
		"no number": {[][]float32{{1, 0}, {0, nan}}, nil, memory.ErrUnavailable, 3},
		"too short": {[][]float32{{1, 0}, {1}}, nil, memory.ErrInvalid, 1},
		"missing":   {[][]float32{{1, 0}, nil}, nil, memory.ErrInvalid, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				got, err := caller().Embed(
					t.Context(),
					remote.Batches{Texts: 2, Longest: 9},
					2,
					[]string{"a", "b"},
					func(context.Context, []string) ([][]float32, error) {
						tries++
						return c.answer, nil
					},
				)
				if !errors.Is(err, c.kind) || tries != c.tries {
					t.Errorf("error %v after %d tries", err, tries)
				}
				if c.kind == memory.ErrInvalid && !strings.Contains(fmt.Sprint(err), "-embedding-dimension") {
					t.Errorf("error %v names no flag", err)
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}
