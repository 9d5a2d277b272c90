package embed

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func similarity(a, b string) float64 {
	x, y, sum := builtin().vector(a), builtin().vector(b), 0.0
	for i := range x {
		sum += float64(x[i]) * float64(y[i])
	}
	return sum
}

// A text of any language is nearer to one with its meaning than to another, in its own
// language and in English, without a word in common.
func TestMeaning(t *testing.T) {
	for _, c := range []struct{ text, near, far string }{
		{"Letzten Frühling habe ich einen Welpen adoptiert.", "What pet does she have?", "Which car does she drive?"},
		{"Letzten Frühling habe ich einen Welpen adoptiert.", "Welches Haustier hat sie?", "Welchen Wagen fährt sie?"},
		{"Mi hermana es enfermera.", "She works at the hospital.", "She works at the bank."},
		{"Je joue du violon.", "What musical instrument does she play?", "What vegetables does she grow?"},
		{"Minha irmã é enfermeira.", "She works at the hospital.", "She sells cars."},
		{"Ho piantato dei pomodori in giardino.", "vegetables", "movies"},
		{"Ik heb mijn portemonnee verloren.", "her money is gone", "the weather is fine"},
		{"Mam alergię na orzeszki ziemne.", "food that makes her ill", "a trip by train"},
		{"Köpeğim hasta.", "the dog is ill", "the wedding was in June"},
		{"Моя сестра работает в больнице.", "She is a nurse.", "She is a painter."},
		{"أختي ممرضة في المستشفى.", "She is a nurse.", "She is a painter."},
		{"मेरी बहन अस्पताल में नर्स है।", "She works in medicine.", "She grows vegetables."},
		{"姉は病院で看護師をしています。", "She is a nurse.", "She is a painter."},
		{"我妹妹在医院工作。", "She is a nurse.", "She is a painter."},
		{"제 여동생은 병원에서 일해요.", "She is a nurse.", "She is a painter."},
		{"Meine Schwester ist Krankenschwester.", "私の姉は看護師です。", "私の姉は画家です。"},
	} {
		if near, far := similarity(c.text, c.near), similarity(c.text, c.far); near <= far {
			t.Errorf("%q: %.2f to %q, %.2f to %q", c.text, near, c.near, far, c.far)
		}
	}
}

// Words that a lexicon does not have are understood by their parts.
func TestUnknownWords(t *testing.T) {
	for _, c := range []struct{ text, part, far string }{
		{"Die Zahnarztrechnung ist hoch.", "dentist", "forest"},
		{"Das Musikinstrument ist alt.", "musical instrument", "vegetable"},
		{"我喜欢喝绿茶", "tea", "car"},
		{"猫が好きです", "cat", "train"},
		{"강아지를", "puppy", "money"},
	} {
		if near, far := similarity(c.text, c.part), similarity(c.text, c.far); near <= far {
			t.Errorf("%q: %.2f to %q, %.2f to %q", c.text, near, c.part, far, c.far)
		}
	}
}

// English has the vectors of the static model, to the last bit, also with names and
// words of other languages in it.
func TestEnglish(t *testing.T) {
	for _, text := range []string{
		"tea", "hat", "die", "I want to die laughing, no?", "Also, was the gift for her son?", "Melanie: Hey Caroline!",
		"We had tapas in Madrid and saw the Museo del Prado.", "My name is Jürgen Müller.", "lol same", "ok", "No.",
		"She said \"c'est la vie\" and left.", "Wow, José, that's great!", "on me", "We ate a la carte.", "Taxi!", "Caroline",
		strings.Repeat("I went to the farmers' market. ", 2000),
	} {
		if diff := cmp.Diff(builtin().static.vector(text), builtin().vector(text)); diff != "" {
			t.Errorf("%.40q differs from the static model", text)
		}
	}
}

// The language of a text is told by its words.
func TestGuess(t *testing.T) {
	for code, texts := range map[string][]string{
		"en": {"Where is the dog?", "hat", "Paris", "pasta", "", "?", "42", "日本語"},
		"de": {"Wo ist der Hund?", "Haustier", "Ich habe ein Meeting mit John."},
		"es": {"¿Dónde está el perro?", "Tengo un perro."},
		"fr": {"Où est le chien ?", "J'ai acheté du fromage."},
		"it": {"Dov'è il cane?", "Mia sorella lavora in ospedale."},
		"pt": {"Onde está o cachorro?", "Minha irmã trabalha no hospital."},
		"nl": {"Waar is de hond?", "Mijn zus werkt in het ziekenhuis."},
		"pl": {"Gdzie jest pies?", "Moja siostra pracuje w szpitalu."},
		"tr": {"Köpek nerede?", "Kız kardeşim hastanede çalışıyor."},
	} {
		p := builtin()
		for _, text := range texts {
			got, foreign := p.guess(tokens(text))
			if !foreign {
				got = p.lexicon.languages["en"]
			}
			if got != p.lexicon.languages[code] {
				t.Errorf("%q is taken for language %d, want %s", text, got, code)
			}
		}
	}
}

// checkVector fails unless a text has a vector of length 1 or 0, and the same one each time.
func checkVector(t *testing.T, text string) {
	t.Helper()
	v, length := builtin().vector(text), 0.0
	for _, x := range v {
		length += float64(x) * float64(x)
	}
	if length != 0 && !(math.Abs(length-1) <= 1e-5) {
		t.Errorf("%.20q: a vector of length %v", text, math.Sqrt(length))
	}
	if !slices.Equal(v, builtin().vector(text)) {
		t.Errorf("%.20q has two vectors", text)
	}
}

// BenchmarkBuiltin has the time that such texts take.
func TestHostileWords(t *testing.T) {
	for _, text := range []string{
		strings.Repeat(strings.Repeat("z", 40)+" ", 1000), strings.Repeat("あ", 1<<15), strings.Repeat("क्", 1<<15),
		strings.Repeat("ي", 1<<15), strings.Repeat("والكتاب", 1<<12), strings.Repeat("가", 1<<15),
		"der " + strings.Repeat("é", 1<<15), strings.Repeat("و", 1<<15), strings.Repeat("\ufdfa", 1<<14),
	} {
		checkVector(t, text)
	}
}

func FuzzWords(f *testing.F) {
	for _, text := range []string{
		"Die Zahnarztrechnung ist höher, и она 高い है 강아지를", "die \xff\xfeder \xe4\xb8", "\u0301\u0301", "ǅ İ ß ſ ﬁ ½ ²",
		"وبالمستشفى ﷺ", "猫が好きですー", "क्या ज़रूरत है", "",
	} {
		f.Add(text)
	}
	f.Fuzz(checkVector)
}
