package analyzer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/internal/analyzer"
	"github.com/memoryd/memoryd/memory"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "",
		"What is it that you do?":   "",
		"She was running, he runs":  "run run",
		"Café CAFÉ cafe\u0301":      "cafe cafe cafe",
		"Melanie's sister’s dogs":   "melani sister dog",
		"don't can’t":               "",
		"in May 2023":               "may 2023",
		"3.5 km on 2023-05-08":      "3.5 km 2023 05 08",
		"ﬁne Ⅳ ﬀ":                   "fine iv ff",
		"ann@example.com":           "ann example.com",
		"🎉 !!! — …":                 "🎉",
		"Straße naïve Łódź søk":     "strass naiv lodz sok",
		"Привет, миры":              "привет мир",
		"The Cliffs of Moher":       "cliff moher",
		"Did Will say that?":        "will say",
		"s'mores o'clock O'Brien":   "smore oclock obrien",
		"l'Anna, qu'Anna dell’Anna": "anna anna anna",

		// Variants of writing.
		"Ｈｅｌｌｏ２０２３":                  "hello2023",
		"٢٠٢٣ ۲۰۲۳ २०२३ ๒๐๒๓":        "2023 2023 2023 2023",
		"pass\u200dword co\u00adop":  "password coop",
		"İSTANBUL Istanbul ıstanbul": "istanbul istanbul istanbul",
		"Ёлка ёлки елка":             "елк елк елк",
		"Αθήνα ΑΘΗΝΑ Νίκος ΝΙΚΟΣ":    "αθηνα αθηνα νικοσ νικοσ",
		"שָׁלוֹם שלום":               "שלום שלום",
		"كِتَابٌ كتـــاب كتاب":       "كتاب كتاب كتاب",
		"ﻛﺘﺎﺏ والكتاب":               "كتاب كتاب",
		"ﷺ":                          "صلىاللهعليهوسلم",

		// Vowel signs are letters, endings are not.
		"किताब किताबें किताबों": "किताब किताब किताब",
		"लड़का लड़के लडकों":     "लडक लडक लडक",
		"चाँद चांद":             "चांद चांद",
		"தமிழ் புத்தகம்":        "தமிழ் புத்தகம்",

		// Text without spaces.
		"北京大学":                      "北 北京 京 京大 大 大学 学",
		"猫":                         "猫",
		"猫 が":                       "猫",
		"コーヒー ｺｰﾋｰ":                 "コー ーヒ ヒー コー ーヒ ヒー",
		"がか が":                      "がか",
		"すし食べる":                     "すし し食 食 食べ べる",
		"安娜，北京":                     "安 安娜 娜 北 北京 京",
		"2023年3月":                   "2023 年 3 月",
		"iPhone手机":                  "iphon 手 手机 机",
		"K팝 PC방":                    "k 팝 pc 방",
		"김치찌개":                      "김 김치 치찌 찌개",
		"กรุงเทพ":                   "กรุ รุง งเ เท ทพ",
		"ア_イ":                       "ア イ",
		"user_id snake_case":        "user_id snake_case",
		strings.Repeat("x", 100):    "",
		"one\ttwo\nthree\u00a0four": "one two three four",
	} {
		if got := strings.Join(analyzer.Words(text), " "); got != want {
			t.Errorf("Words(%q) = %q, want %q", text, got, want)
		}
	}
}

// In one language, a question and a memory have in common all words that both
// use, in any form, and no function words.
func TestShared(t *testing.T) {
	for _, c := range []struct{ question, memory, want string }{
		{"Where does Ann keep her bikes?", "Ann has a bike in the cellar.", "ann bike"},

		{"Wo wohnt Anna?", "Anna wohnt seit drei Jahren in Berlin.", "wohnt anna"},
		{"Welche Häuser hat sie sich angesehen?", "Sie hat ein Haus am See gekauft.", "haus"},
		{"Mit wem spielt das Kind?", "Die Kinder spielten mit dem Hund im Garten.", "spielt kind"},
		{"Haben Sie Frau Mueller gesehen?", "Frau Müller war gestern nicht da.", "frau mull"},
		{"Wie groß ist die Straße?", "Die Strasse ist sehr gross.", "gross strass"},

		{"Où habitent les amis d'Anna ?", "L'ami d'Anna habite à Lyon.", "habit ami anna"},
		{"Quand a-t-elle acheté les chevaux ?", "Elle a acheté un cheval en mai.", "achet cheval"},
		{"Qu’est-ce qu’il mange ?", "Il mangeait toujours des pommes.", "mang"},

		{"¿Qué libros compró Ana?", "Ana quería comprar un libro sobre los Andes.", "libro libr compr ana"},
		{"¿Dónde viven sus hermanos?", "Su hermana vivía en Cádiz con él.", "viv herman"},

		{"Onde trabalha a irmã da Ana?", "A Ana trabalhava com as irmãs em Lisboa.", "trabalh irma ana"},
		{"Do que ela gosta?", "Ela não gostava muito de cozinhar.", "gost"},

		{"Где живёт Анна?", "Анна живет в Москве с двумя кошками.", "живет ан"},
		{"Сколько у неё кошек и собак?", "У нее есть собака и кошка.", "собак"},

		{"أين تسكن ليلى؟", "ليلى تسكن في القاهرة.", "تسك ليلي"},
		{"ما هو الكتاب الذي اشتراه علي؟", "اشترى علي كتابا من السوق.", "كتاب عل"},

		{"राधा की किताबें कहाँ हैं?", "राधा ने एक किताब खरीदी।", "राध किताब"},
		{"लड़कों को क्या पसंद है?", "वह लड़का क्रिकेट पसंद करता है।", "लडक पसंद"},

		{"安娜住在哪里？", "安娜和猫住在北京。", "安 安娜 娜 住 住在"},
		{"安娜的猫叫什么？", "我有一只猫，叫咪咪。", "猫 叫"},

		{"アンナはどこに住んでいますか？", "アンナは東京に住んでいる。", "アン ンナ ナは に住 住 住ん でい"},
		{"猫の名前は何ですか？", "猫はタマといいます。", "猫"},

		{"안나는 어디에 살아요?", "안나가 서울에 살아요.", "안 안나 살 살아"},
		{"แอนนาอยู่ที่ไหน", "แอนนาซื้อแมว", "แอ อน นน นา"},
		{"Dove abitano gli amici di Anna?", "L'amico di Anna abita a Roma.", "abit amic anna"},
		{"Waar slapen de katten van Anna?", "Anna heeft een kat die op het bed slaapt.", "kat anna"},
		{"Var bor Annas katter?", "Anna bor i Lund med sin katt.", "bor anna ann katt"},
		{"Hvor bor Annas katte?", "Anna bor i Aarhus med sin kat.", "bor anna kat"},
		{"Hvor bor kattene til Anna?", "Anna bor i Bergen med en katt og en hund.", "bor kat anna"},
		{"Missä Annan kissat ovat?", "Annalla on kissa ja koira.", "an kis"},
		{"Hol vannak a macskák?", "Anna nagyon szereti a macskákat.", "macska"},
		{"Unde sunt pisicile Anei?", "Ana are o pisică și un câine.", "pisic"},
		{"Ayşe nerede, kedileri nerede?", "Ayşe'nin bir kedisi var, İzmir'de yaşıyor.", "ayse"},
		{"Πού μένει η Άννα;", "Η Αννα μενει στην Αθηνα.", "μενει αννα"},
		{"איפה גרה אנה?", "אנה גרה בחיפה.", "גרה אנה"},
	} {
		if got := shared(c.question, c.memory); got != c.want {
			t.Errorf("%q and %q share %q, want %q", c.question, c.memory, got, c.want)
		}
	}
}

// A question finds a memory even if its language is guessed differently or not
// at all.
func TestSharedAcross(t *testing.T) {
	for _, c := range []struct{ question, memory, want string }{
		// One word, no function word.
		{"Geburtstag?", "Ich habe im Mai Geburtstag.", "geburtstag"},
		{"Fahrrad", "Wir haben zwei Fahrräder gekauft.", "fahrrad"},
		{"Kind", "Sie hat zwei Kinder.", "kind"},
		{"Häuser", "Das Haus ist alt.", "haus"},
		{"cheval", "Il a deux chevaux.", "cheval"},
		{"libro", "Me gustan los libros.", "libro"},
		{"猫", "我的猫很可爱", "猫"},
		{"猫", "猫が好きです", "猫"},
		{"집", "집에서 쉬었어요", "집"},
		// The memory has no function word.
		{"Wo hat sie Tomaten gekauft?", "Tomaten gekauft", "tomaten gekauft"},
		{"Was ist mit den Häusern?", "Haus verkauft!", "haus"},
		// The question is in one language, the memory in another.
		{"Who is Melanie?", "Mélanie habite à Paris avec sa sœur.", "melani"},
		{"Wer ist Mélanie?", "Melanie lives in Paris with her sister.", "melani"},
		{"What did she say about the Schmetterlinge?", "Sie mag die Schmetterlinge im Garten.", "schmetterling"},
		{"When was Pedro in Lisboa?", "O Pedro não esteve em Lisboa em maio.", "pedro lisboa"},
		{"¿Cuándo estuvo en Lisboa?", "Ela foi para Lisboa com o Pedro.", "lisboa lisbo"},
		// Both in one text.
		{"Was she brave at the dentist?", "Gestern war ich mit Anna beim Zahnarzt. She was brave, the dentist said.",
			"brave dentist"},
		{"Wann war Anna beim Zahnarzt?", "Gestern war ich mit Anna beim Zahnarzt. She was brave, the dentist said.",
			"anna zahnarzt"},
		{"iPhone多少钱？", "I got an iPhone.", "iphon"},
		// Function words elsewhere.
		{"Who wears a hat in the van?", "Dan wears a hat. His van broke.", "wear hat van"},
		{"Who will die?", "Plants die without water.", "die"},
	} {
		if got := shared(c.question, c.memory); got != c.want {
			t.Errorf("%q and %q share %q, want %q", c.question, c.memory, got, c.want)
		}
	}
}

// shared gives the words of a question that a memory has.
func shared(question, fact string) string {
	terms := analyzer.Of(&memory.Memory{Fact: fact})
	var out []string
	for _, w := range analyzer.Question(question) {
		if terms[w] > 0 {
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}

// A name is found whatever language it is said and asked for in, even if it is
// a function word in one of them.
func TestNames(t *testing.T) {
	texts := []string{
		"%s", "I met %s at the station with her dog.", "Ich habe %s gestern am Bahnhof mit dem Hund gesehen.",
		"J'ai vu %s à la gare avec son chien.",
		"Ayer vi a %s en la estación con su perro.", "Ontem vi %s na estação com o cão.",
		"Ieri ho visto %s alla stazione con il cane.",
		"Gisteren zag ik %s op het station met de hond.", "Igår såg jag %s på stationen med hunden.",
		"I går så jeg %s på stationen med hunden.",
		"Eilen näin, että %s oli asemalla koiran kanssa.", "Tegnap az állomáson volt %s és a kutya.",
		"Ieri am văzut-o pe %s la gară cu un câine.",
		"Dün istasyonda %s ile bir köpek vardı.", "Вчера я видел %s на вокзале.", "昨天我看见 %s 了。", "昨日%sに会いました。",
		"어제 %s 씨를 만났어요.", "قابلت %s في المحطة.",
	}
	for _, name := range []string{"Anna", "Melanie", "Zoë", "Müller", "José", "Søren", "Łukasz", "O'Brien", "Garcia",
		"Marcus", "Elena", "Hans", "Mia",
		"Will", "Dan", "Ed", "Ella", "Анна", "안나", "安娜", "アンナ", "ليلى", "राधा"} {
		want := analyzer.Of(&memory.Memory{Author: name})
		for w := range analyzer.Of(&memory.Memory{}) { // the day
			delete(want, w)
		}
		for _, q := range texts {
			for _, m := range texts {
				if name == "Will" && (q == "%s" || m == "%s") {
					continue // nothing tells that it is a name
				}
				q, m := strings.ReplaceAll(q, "%s", name), strings.ReplaceAll(m, "%s", name)
				both := strings.Fields(shared(q, m))
				for w := range want {
					if !slices.Contains(both, w) {
						t.Errorf("%q does not find %q by the name: they share %q, not %q", q, m, both, w)
					}
				}
			}
		}
	}
}

// A memory is found by its words, its author and its day.
func TestOf(t *testing.T) {
	m := memory.Memory{Author: "Ann", Fact: "I like tea. Green tea!",
		Timestamp: time.Date(2023, 5, 8, 23, 30, 0, 0, time.FixedZone("", -3600))}
	want := memory.Terms{"ann": 1, "like": 1, "tea": 2, "green": 1, "9": 1, "may": 1, "2023": 1}
	if diff := cmp.Diff(want, analyzer.Of(&m)); diff != "" {
		t.Errorf("terms (-want +got):\n%s", diff)
	}
}

// The author's name and the day do not count when the language of the fact is
// guessed, and no part of a name is left out.
func TestOfForeign(t *testing.T) {
	m := memory.Memory{Author: "Will de la Cruz", Fact: "Die Kinder schlafen.",
		Timestamp: time.Date(2023, 5, 8, 0, 0, 0, 0, time.UTC)}
	want := memory.Terms{"will": 1, "de": 1, "la": 1, "cruz": 1, "die": 1, "kinder": 1, "schlafen": 1, "8": 1, "may": 1,
		"2023": 1}
	if diff := cmp.Diff(want, analyzer.Of(&m)); diff != "" {
		t.Errorf("terms (-want +got):\n%s", diff)
	}
}

// Each word of a question counts once, and only the first ones count.
func TestQuestion(t *testing.T) {
	want := []string{"tea", "coffe"}
	if diff := cmp.Diff(want, analyzer.Question("Tea, or coffee? Tea!")); diff != "" {
		t.Errorf("words (-want +got):\n%s", diff)
	}
	var long strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&long, "und w%d ", i)
	}
	if got := len(analyzer.Question(long.String())); got != 256 {
		t.Errorf("a long question has %d words, want 256", got)
	}
}

// floods are long texts without words.
var floods = map[string]string{
	"marks":       "e" + strings.Repeat("\u0301", 32<<10),
	"vowel signs": "क" + strings.Repeat("ि", 20<<10),
	"zero width":  "a" + strings.Repeat("\u200d", 20<<10) + "b",
	"one word":    strings.Repeat("Übermut", 8<<10),
	"hangul":      strings.Repeat("가", 20<<10),
	"thai marks":  "ก" + strings.Repeat("ี", 20<<10),
	"chinese":     strings.Repeat("好学", 10<<10),
	"ligatures":   strings.Repeat("ﷺ", 20<<10),
	"apostrophes": strings.Repeat("l'", 32<<10) + "a",
	"not UTF-8":   strings.Repeat("\xff\xc3", 32<<10),
	"mixed":       strings.Repeat("a好б가ก", 6<<10),
}

func TestFloods(t *testing.T) {
	for name, text := range floods {
		t.Run(name, func(t *testing.T) { check(t, text) })
	}
}

// check checks the rules that the words of any text keep.
func check(t *testing.T, text string) {
	got := analyzer.Words(text)
	if n := len(got); n > 2*utf8.RuneCountInString(text) {
		t.Errorf("Words(%.200q) has %d words, more than two a character", text, n)
	}
	for _, w := range got {
		if w == "" || len(w) > 64 || !utf8.ValidString(w) || strings.ContainsFunc(w, unicode.IsSpace) {
			t.Errorf("Words(%.200q) has %q", text, w)
		}
	}
	if diff := cmp.Diff(got, analyzer.Words(text)); diff != "" {
		t.Errorf("Words(%.200q) twice (-first +second):\n%s", text, diff)
	}
	of := analyzer.Of(&memory.Memory{Fact: text})
	for _, w := range analyzer.Question(text) {
		if of[w] == 0 {
			t.Errorf("%.200q does not find itself by %q", text, w)
		}
	}
}

// The words of any text keep the rules, and so does the text made of them.
func FuzzWords(f *testing.F) {
	for _, s := range []string{"", "Hello, world", "don't", "日本語のテキスト", "a\xffb", "\u0301", "👩‍👩‍👧",
		strings.Repeat("é", 200), "'s", "’", "l'été d'Anna",
		"Die Häuser der Frau Mueller", "İstanbul'da yaşıyor", "Москва й", "والكتاب", "किताबों", "กรุงเทพ", "김치찌개", "ﷺ",
		"ｶﾞｷﾞ", "2023年", "k팝'ın ve bir", "a\u200bb"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		check(t, text)
		check(t, strings.Join(analyzer.Words(text), " "))
	})
}

func BenchmarkWords(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"english",
			"I went to the farmers' market yesterday and bought apples, pears and a melon for my sister's birthday."},
		{"german",
			"Ich war gestern auf dem Wochenmarkt und habe für den Geburtstag meiner Schwester Äpfel, Birnen und " +
				"eine Melone gekauft."},
		{"russian", "Вчера я ходил на рынок и купил яблоки, груши и дыню на день рождения сестры."},
		{"japanese", "昨日は市場に行って、妹の誕生日のためにりんごとなしとメロンを買いました。"},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				analyzer.Words(c.text)
			}
		})
	}
	for name, text := range floods {
		b.Run("flood of "+name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				analyzer.Words(text)
			}
		})
	}
}
