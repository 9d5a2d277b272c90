package embed_test

import (
	"context"
	"errors"
	"hash/fnv"
	"math"
	"strings"
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

// Vectors are of unit length and of the model's dimension; a text without any
// known word has the zero vector.
func TestLength(t *testing.T) {
	dimension := embed.Builtin{}.Model().Dimension
	for _, text := range []string{"tea", "I went to the market and bought apples.", "what is it", "a\xffb", "日本語 tea", "日本語。", "Привет, мир!"} {
		v := vectors(t, text)[0]
		if len(v) != dimension || math.Abs(cosine(v, v)-1) > 1e-5 {
			t.Errorf("%q: %d numbers of length %v", text, len(v), math.Sqrt(cosine(v, v)))
		}
	}
	for _, text := range []string{"", " \n", "?!", "สวัสดี。", "Γειά σου!", "\xff\xfe", "\x00", strings.Repeat("x", 1<<20)} {
		if v := vectors(t, text)[0]; len(v) != dimension || cosine(v, v) != 0 {
			t.Errorf("%q is not zero: %v", text, v)
		}
	}
}

// Texts with much the same meaning are nearer than others, without a word in common.
func TestNearness(t *testing.T) {
	for _, c := range []struct{ text, near, far string }{
		{"I adopted a puppy last spring.", "When did she get her dog?", "When did she get her car?"},
		{"photography", "photographer", "gardening"},
		{"photography", "fotography", "gardening"},
		{"We had to see a doctor because of her fever.", "Was the child ill?", "Was the film good?"},
		{"He was promoted to head of sales.", "career success at work", "apple pie with cream"},
		{"Our flight was cancelled, so we stayed at the airport.", "trouble while travelling", "trouble with the neighbours"},
		{"I bake bread every weekend.", "What does he like to cook?", "What does he like to read?"},
		{"My daughter plays the cello in an orchestra.", "Which instrument does the girl practise?", "Which sport does the girl practise?"},
		{"We got married in June.", "When was the wedding?", "When was the exam?"},
	} {
		v := vectors(t, c.text, c.near, c.far)
		if near, far := cosine(v[0], v[1]), cosine(v[0], v[2]); near <= far {
			t.Errorf("%q: %.2f to %q, %.2f to %q", c.text, near, c.near, far, c.far)
		}
	}
}

// Only the beginning of a text is read, so that none takes long.
func TestLongText(t *testing.T) {
	begin := strings.Repeat("tea ", 8<<10)
	v := vectors(
		t,
		begin,
		begin+strings.Repeat("coffee ", 1<<17),
		strings.Repeat("\xf0\x9f", 1<<19),
		strings.Repeat("é", 1<<19),
	)
	if diff := cmp.Diff(v[0], v[1]); diff != "" {
		t.Errorf("more than the beginning was read (-want +got):\n%s", diff)
	}
}

// Vectors are stored: the same text must give the same bits tomorrow and on
// every machine. If this changes, so must the model's name.
func TestSameBits(t *testing.T) {
	got := map[string]uint64{}
	for _, text := range []string{
		"Melanie's sister moved to Porto, the city of trams; she loves the trams.",
		"Melanies Schwester zog nach Porto, in die Stadt der Straßenbahnen.",
		"妹はポルトに引っ越しました。",
	} {
		h := fnv.New64a()
		for _, x := range vectors(t, text)[0] {
			bits := math.Float32bits(x)
			h.Write([]byte{byte(bits), byte(bits >> 8), byte(bits >> 16), byte(bits >> 24)})
		}
		got[embed.Builtin{}.Model().Name+": "+text] = h.Sum64()
	}
	want := map[string]uint64{
		"static-2: Melanie's sister moved to Porto, the city of trams; she loves the trams.": 2211716071005348815,
		"static-2: Melanies Schwester zog nach Porto, in die Stadt der Straßenbahnen.":       12707094822971028520,
		"static-2: 妹はポルトに引っ越しました。":                                                           2274429640061195706,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the vectors have changed (-want +got):\n%s", diff)
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
	for _, c := range []struct{ name, text string }{
		{"turn", "I went to the farmers' market yesterday and bought apples, pears and a melon for my sister's birthday."},
		{"German", "Gestern war ich auf dem Bauernmarkt und habe Äpfel, Birnen und eine Melone für den Geburtstag meiner Schwester gekauft."},
		{"Japanese", "昨日は農家の市場に行って、姉の誕生日のためにりんごと梨とメロンを買いました。"},
		{"long", strings.Repeat("I went to the farmers' market yesterday. ", 1<<15)},
		{"unknown words", "der die das " + strings.Repeat(strings.Repeat("zq", 20)+" ", 1<<10)},
		{"clitics", strings.Repeat("\u0648", 1<<14)},
		{"expanding", strings.Repeat("\ufdfa", 1<<14)},
		{"hostile", strings.Repeat(strings.Repeat("q\u0301", 99)+" ", 1<<13)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := (embed.Builtin{}).Embed(b.Context(), embed.Document, []string{c.text}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
