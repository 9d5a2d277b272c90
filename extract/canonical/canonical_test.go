package canonical

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/memoryd/memoryd/extract/english"
)

// lines are the lines of a file in testdata.
func lines(t *testing.T, file string) []string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(raw)), "\n")
}

// pair is the two sides of a line "one = other".
func pair(t *testing.T, line string) (one, other string) {
	t.Helper()
	one, other, ok := strings.Cut(line, " = ")
	if !ok {
		t.Fatalf("line %q has no \" = \"", line)
	}
	return one, other
}

// asserted lists the claims of a form as "attribute: value".
func asserted(f Form) (out []string) {
	for _, c := range f.Claims {
		if !c.Ended {
			out = append(out, c.Attribute+": "+c.Value)
		}
	}
	return out
}

// The facts of each paragraph have one text, and a text is its own text.
func TestSameText(t *testing.T) {
	first := ""
	for _, fact := range lines(t, "same-text.txt") {
		switch {
		case fact == "":
			first = ""
			continue
		case first == "":
			first = fact
		}
		got := Text(fact)
		if want := Text(first); got != want {
			t.Errorf("Text(%q) = %q, and of %q it is %q", fact, got, first, want)
		}
		if again := Text(got); again != got {
			t.Errorf("Text(%q) = %q, and of that %q", fact, got, again)
		}
	}
}

// The two facts of a line differ in meaning, so they have two texts.
func TestDifferentText(t *testing.T) {
	for _, line := range lines(t, "different-text.txt") {
		one, other := pair(t, line)
		if text := Text(one); text == Text(other) {
			t.Errorf("%q and %q have one text, %q", one, other, text)
		}
	}
}

// The first fact of a line ends the second.
func TestEnded(t *testing.T) {
	for _, line := range lines(t, "ended.txt") {
		fact, ended := pair(t, line)
		if got, want := Of(fact).Ends, Text(ended); got != want {
			t.Errorf("%q ends %q, want %q", fact, got, want)
		}
	}
}

// Facts that end nothing, or nothing that is certain.
func TestNotEnded(t *testing.T) {
	for _, fact := range append(lines(t, "not-ended.txt"), "") {
		if ends := Of(fact).Ends; ends != "" {
			t.Errorf("%q ends %q", fact, ends)
		}
	}
}

// Each fact gives the attribute after its "=" the value after the colon.
func TestAttribute(t *testing.T) {
	for _, line := range lines(t, "attributes.txt") {
		fact, want := pair(t, line)
		if got := asserted(Of(fact)); !slices.Contains(got, want) {
			t.Errorf("%q claims %q, want %q", fact, got, want)
		}
	}
}

// Facts that give no value to an attribute of which a person has one.
func TestNoAttribute(t *testing.T) {
	for _, fact := range lines(t, "no-attribute.txt") {
		for _, c := range Of(fact).Claims {
			first := " " + strings.Fields(c.Attribute)[0] + " "
			firm := !c.Several && !c.Ended && !c.Dated && !c.Loose
			if firm && !strings.Contains(" habit has count taste ", first) {
				t.Errorf("%q claims %+v", fact, c)
			}
		}
	}
}

// A statement about the user has the form of the user's own.
func TestFormOfUser(t *testing.T) {
	for of, own := range map[string]string{
		"User is allergic to peanuts.":                   "I am allergic to peanuts.",
		"The user is allergic to peanuts":                "I'm allergic to peanuts",
		"the user isn’t allergic to peanuts":             "I'm not allergic to peanuts",
		"User lives in Porto.":                           "I live in Porto.",
		"User has a cat":                                 "I have a cat",
		"User doesn't eat meat":                          "I don't eat meat",
		"The user no longer eats meat.":                  "I no longer eat meat.",
		"The user studies law":                           "I study law",
		"User moved to Berlin.":                          "I moved to Berlin.",
		"User's favourite colour is green.":              "My favorite color is green.",
		"The user’s sister lives in Oslo":                "My sister lives in Oslo",
		"User can't take calls before ten":               "I can't take calls before ten",
		"User loves Thai food":                           "I love Thai food",
		"User never smokes":                              "I never smoke",
		"The user is never late, and the user's dog too": "I am never late, and the user's dog too",
	} {
		if got, want := Of(of), Of(own); !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %+v, want that of %q: %+v", of, got, own, want)
		}
	}
	for _, other := range []string{
		"User interfaces are fun.", "Users like tea", "User manual in the drawer", "The user", "User",
		"The username is ann", "User stories matter to me", "A user is allergic to nuts", "My user is ann",
		"user-friendly",
	} {
		if got := firstPerson(other); got != other {
			t.Errorf("%q is read as %q", other, got)
		}
	}
}

// Two values of one attribute exclude each other, and so do a statement and its
// end.
func TestExcludes(t *testing.T) {
	lives, moved, mine := Of("User lives in Berlin"), Of("The user lives in Porto."), Of("I live in Oslo")
	if !lives.Excludes(&moved) || !lives.Excludes(&mine) || !mine.Excludes(&moved) {
		t.Errorf("homes do not exclude each other: %+v, %+v, %+v", lives, moved, mine)
	}
	eats, ended := Of("User eats meat"), Of("The user no longer eats meat")
	if !ended.Excludes(&eats) || !eats.Excludes(&ended) {
		t.Errorf("a statement does not exclude its end: %+v, %+v", eats, ended)
	}
	if lives.Excludes(&lives) || ended.Excludes(&ended) || lives.Excludes(&eats) {
		t.Errorf("%+v, %+v and %+v exclude too much", lives, ended, eats)
	}
}

// Pasted text is read in time linear in its length: a reader that takes the square
// of it does not end within the limit of the tests.
func TestLongText(t *testing.T) {
	for _, unit := range []string{
		"our", "is", "a-", "no longer ", "i have ", "please ", "really ", "twenty-", "( ", "😊", "don't anymore, ",
	} {
		s := "I live " + strings.Repeat(unit, 1<<18/len(unit))
		f := Of(s)
		if f.Text == "" {
			t.Errorf("the text of many %q is empty", unit)
		}
		if len(f.Claims) > 0 {
			t.Errorf("many %q are %+v", unit, f.Claims)
		}
		ForgetRequest("forget that " + s)
	}
}

func FuzzOf(f *testing.F) {
	for _, s := range []string{
		"", "I", "I live in", "I live in Porto, ", "My favourite colour is green now", "I've stopped smoking",
		"I don't anymore", "call me", "my phone is +351 912", "my sister's", "my sister's is", "I moved from to",
		"moved to the", "I'm -5 C++ & 3,5 ❤️", "I have 'İstanbul'", "ﬁne Ⅳ ﬀ I am", "\xffI live in \x00",
		"Forget that I ", "from now on", "I turned 35 yesterday (2023-05-07)", "my e-mail is a@b",
		"I am 180cm tall", "is my favorite", "we are to", "I work as", "I work at", "I joined as a nurse",
		"My -- is", "I - am", "my favorite is x", "Green is my favorite color", "-", "I'm married to",
		"I weigh 5kg", "use metric", "answer in", "ꭷꭷ I am", "I'm the", "just moved",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, form := Normalize(s), Of(s)
		if Normalize(n) != n || !utf8.ValidString(n) {
			t.Errorf("Normalize(%q) = %q, and of that %q", s, n, Normalize(n))
		}
		for _, v := range []string{n, "  " + s + " ..", strings.ToValidUTF8(s, "\uFFFD")} {
			if Normalize(v) == n && Text(v) != Text(s) {
				t.Errorf("Text(%q) = %q, of %q %q", v, Text(v), s, Text(s))
			}
		}
		if form.Text == "" && n != "" {
			t.Errorf("the text of %q is empty", s)
		}
		for _, c := range form.Claims {
			if c.Attribute == "" || c.Value == "" && !c.Ended {
				t.Errorf("%q claims %+v", s, c)
			}
		}
		if w, ok := ForgetRequest(s); !ok && w.Names() {
			t.Errorf("ForgetRequest(%q) = %+v, %v", s, w, ok)
		}
	})
}

func BenchmarkText(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Text("By the way, I've just moved to Lisbon with my husband last week (week of 2023-05-01).")
	}
}

func BenchmarkAttribute(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		claimsOf("I moved to Lisbon last week (week of 2023-05-01).")
	}
}

func BenchmarkNoAttribute(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		claimsOf("I went to the farmers' market with my sister and bought apples, pears and a melon.")
	}
}

// The second fact of a line, said later, takes the place of the first.
func TestSuperseded(t *testing.T) {
	for _, line := range lines(t, "superseded.txt") {
		earlier, later := pair(t, line)
		a, b := Of(earlier), Of(later)
		if !b.Supersedes(&a, time.Date(2023, 5, 1, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("%q does not supersede %q: %+v and %+v", later, earlier, b.Claims, a.Claims)
		}
	}
}

// isTown looks names up in a sorted list.
func TestTownsAreSorted(t *testing.T) {
	if !slices.IsSorted(towns()) || len(towns()) < 30_000 {
		t.Errorf("%d towns, or they are in another order", len(towns()))
	}
}

// Both facts of a line hold, in whatever order they are said.
func TestBothHold(t *testing.T) {
	for _, line := range lines(t, "both-hold.txt") {
		one, other := pair(t, line)
		a, b := Of(one), Of(other)
		if a.Excludes(&b) {
			t.Errorf("%q and %q exclude each other: %+v and %+v", one, other, a.Claims, b.Claims)
		}
	}
}

// A statement that depends on something, or of which nothing is left, claims nothing.
func TestClaimsNothing(t *testing.T) {
	for _, text := range []string{
		"Be brief unless I ask for more", "Answer in detail if I ask why", "now now, full",
	} {
		if f := Of(text); len(f.Claims) > 0 {
			t.Errorf("%q: %+v", text, f.Claims)
		}
	}
}

// A fact without a subject reads as one of the user's. Words of a conversation do not, and no order, question or other
// language is taken for such a fact.
func TestWithoutSubject(t *testing.T) {
	for fact, said := range map[string]string{
		"Lives in Porto":             "I live in Porto",
		"Is vegan":                   "I am vegan",
		"No longer eats meat":        "I no longer eat meat",
		"Doesn't drink":              "I don't drink",
		"Moved to Porto":             "I moved to Porto",
		"Allergic to nuts":           "I'm allergic to nuts",
		"Born in Porto":              "I was born in Porto",
		"Has two kids":               "I have two kids",
		"Quit smoking":               "I quit smoking",
		"Favorite color is red":      "My favorite color is red",
		"Birthday is 3 May":          "My birthday is 3 May",
		"Currently works at Acme":    "I currently work at Acme",
		"Studies law in Porto":       "I study law in Porto",
		"Married to Tom":             "I am married to Tom",
		"Never drinks coffee":        "I never drink coffee",
		"Vegan restaurants are nice": "Vegan restaurants are nice",
		"Read me a story":            "Read me a story",
		"Rose moved to Porto":        "Rose moved to Porto",
		"Will lives in Porto":        "Will lives in Porto",
		"French is my first tongue":  "French is my first tongue",
		"Quit calling me sir":        "Quit calling me sir",
		"Is the door open":           "Is the door open",
		"Was sie mag, ist Tee":       "Was sie mag, ist Tee",
		"Always use bullet points":   "Always use bullet points",
	} {
		if got, want := Of(fact), OfWords(said); got.Text != want.Text {
			t.Errorf("%q reads as %q, want %q", fact, got.Text, want.Text)
		}
	}
	if got := OfWords("Lives in Porto"); len(got.Claims) > 0 {
		t.Errorf("words without a subject claim %+v", got.Claims)
	}
}

// What is home for somebody may be a feeling, which leaves where they live; a move ends both.
func TestFeltHome(t *testing.T) {
	lives, felt, moved := Of("I live in Berlin"), Of("Home for me is Paris"), Of("I moved to Rome")
	if felt.Supersedes(&lives, time.Time{}) || !moved.Supersedes(&felt, time.Time{}) {
		t.Error("want a feeling to end no home, and a move to end the feeling")
	}
}

// A fact of many marks is read a few times, not once for each way to leave some of its parts out.
func TestManyTails(t *testing.T) {
	fact := "I zig" + strings.Repeat(", zag", 60)
	if f := Of(fact[:min(len(fact), english.MaxSentenceBytes)]); len(f.Claims) > 0 && firm(f.Claims) {
		t.Errorf("%+v", f.Claims)
	}
}

// A statement may end anywhere, as people send what they have not finished.
func TestCutOff(t *testing.T) {
	for _, file := range []string{"superseded.txt", "both-hold.txt"} {
		for _, line := range lines(t, file) {
			one, other := pair(t, line)
			for _, fact := range []string{one, other} {
				for end := range fact {
					if fact[end] == ' ' {
						claimsOf(fact[:end])
					}
				}
			}
		}
	}
}
