package embed_test

import (
	"context"
	"errors"
	"hash/fnv"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/embed"
)

func vectors(t testing.TB, texts ...string) [][]float32 {
	t.Helper()
	out, err := embed.Builtin{}.Embed(context.Background(), embed.Document, texts)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func cosine(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// Vectors are of unit length and of the model's dimension; a text without
// words has the zero vector.
func TestLength(t *testing.T) {
	dimension := embed.Builtin{}.Model().Dimension
	for _, text := range []string{"tea", "I went to the market and bought apples.", "日本語", "x y z"} {
		v := vectors(t, text)[0]
		if len(v) != dimension || math.Abs(cosine(v, v)-1) > 1e-5 {
			t.Errorf("%q: %d numbers of length %v", text, len(v), math.Sqrt(cosine(v, v)))
		}
	}
	for _, text := range []string{"", "…", "what is it"} {
		if v := vectors(t, text)[0]; len(v) != dimension || cosine(v, v) != 0 {
			t.Errorf("%q is not zero: %v", text, v)
		}
	}
}

// Other forms and spellings of a word are nearer than other words.
func TestNearness(t *testing.T) {
	v := vectors(t, "photography", "photographer", "fotography", "gardening")
	if form, spelling, other := cosine(v[0], v[1]), cosine(v[0], v[2]), cosine(v[0], v[3]); form < 0.2 || spelling < 0.2 || other > 0.1 {
		t.Errorf("cosines: form %.2f, spelling %.2f, other %.2f", form, spelling, other)
	}
}

// Vectors are stored: the same text must give the same bits tomorrow and on
// every machine. If this changes, so must the model's name.
func TestSameBits(t *testing.T) {
	h := fnv.New64a()
	for _, x := range vectors(t, "Melanie's sister moved to Porto, the city of trams; she loves the trams.")[0] {
		bits := math.Float32bits(x)
		h.Write([]byte{byte(bits), byte(bits >> 8), byte(bits >> 16), byte(bits >> 24)})
	}
	want := map[string]uint64{"hash-1": 10664398145627220847}
	if diff := cmp.Diff(want, map[string]uint64{embed.Builtin{}.Model().Name: h.Sum64()}); diff != "" {
		t.Errorf("the vector has changed (-want +got):\n%s", diff)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (embed.Builtin{}).Embed(ctx, embed.Query, []string{"x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func BenchmarkBuiltin(b *testing.B) {
	text := []string{"I went to the farmers' market yesterday and bought apples, pears and a melon for my sister's birthday."}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (embed.Builtin{}).Embed(b.Context(), embed.Document, text); err != nil {
			b.Fatal(err)
		}
	}
}
