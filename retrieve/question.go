package retrieve

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/memoryd/memoryd/extract/dates"
	"github.com/memoryd/memoryd/internal/analyzer"
	"github.com/memoryd/memoryd/memory"
)

// question is what a query tells of the memory that would answer it.
type question struct {
	terms   []string // analyzed words, distinct
	user    string   // who asks
	mine    bool     // it is about who asks
	wants   expected
	present bool // it asks what is so now
	periods []dates.Period
	asOf    time.Time // zero for now
}

// expected is the sort of answer that a question wants.
type expected int

const (
	anything expected = iota
	aTime             // when?
	aName             // who, where, which, called what?
)

// readQuestion reads a query put by a user at now, about what was known asOf.
func readQuestion(text, user string, asOf, now time.Time) *question {
	q := &question{terms: analyzer.Question(text), user: user, asOf: asOf}
	if len(text) > maxRead {
		return q // a document, not a question
	}
	words := plainWords(text)
	q.mine = has(words, text, firstPerson) && !has(words, text, secondPerson)
	q.present = has(words, text, presentWords)
	switch {
	case has(words, text, whenWords):
		q.wants = aTime
	case has(words, text, nameWords):
		q.wants = aName
	}
	at := now
	if !asOf.IsZero() {
		at = asOf
	}
	q.periods = dates.Periods(text, at)
	return q
}

// maxRead is how long a text is, in bytes, that is read as a question, and how
// much of a memory is read as its answer.
const maxRead = 2 << 10

// heard reports whether a candidate had been said by the time that the question
// is about: nobody could go by it before.
func (q *question) heard(c *memory.Candidate) bool {
	return q.asOf.IsZero() || !c.Memory.Timestamp.After(q.asOf)
}

// means reports whether the question is about what an author said.
func (q *question) means(author string) bool {
	if q.mine {
		return author == "user" || strings.EqualFold(author, q.user)
	}
	return slices.ContainsFunc(analyzer.Words(author), func(w string) bool { return slices.Contains(q.terms, w) })
}

// answeredBy reports whether a text has the sort of thing that is wanted.
func (q *question) answeredBy(text string) bool {
	text = memory.Cut(text, maxRead)
	switch q.wants {
	case aTime:
		return hasTime(text)
	case aName:
		return hasName(text)
	}
	return false
}

// timely is 1 for what was said in a time that the question names, or speaks of
// it, and half for what was said soon after: people tell what has happened.
func (q *question) timely(m *memory.Memory) float64 {
	best := 0.0
	for _, p := range q.periods {
		soon := min(max(p.To.Sub(p.From), 7*24*time.Hour), 31*24*time.Hour)
		switch {
		case p.Holds(m.Timestamp), !m.ValidFrom.IsZero() && p.Holds(m.ValidFrom):
			return 1
		case p.Holds(m.Timestamp.Add(-soon)):
			best = 0.5
		}
	}
	return best
}

// asks reports whether a text ends in a question. What was shown with it in
// brackets, quotes and pictures do not count.
func asks(text string) bool {
	text = strings.TrimRightFunc(text, unicode.IsSpace)
	if strings.HasSuffix(text, "]") {
		if at := strings.LastIndexByte(text, '['); at >= 0 {
			text = text[:at]
		}
	}
	text = strings.TrimRightFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.Is(unicode.So, r) || strings.ContainsRune(`"'”’»)!`, r) || unicode.Is(unicode.Variation_Selector, r)
	})
	last, _ := utf8.DecodeLastRuneInString(text)
	return last == '?' || last == '？' || last == '؟' || last == '՞' || last == '⁇' || last == '⁈' || last == '⁉'
}

// hasName reports whether a text has a word that is capitalized though it does
// not begin a sentence, or quotes a title. In scripts without capitals nothing
// is found.
func hasName(text string) bool {
	if strings.ContainsAny(text, `"“«„`) {
		return true
	}
	before := '.'
	for i, r := range text {
		if unicode.IsUpper(r) && i > 0 && text[i-1] == ' ' && (unicode.IsLower(before) || before == ',') {
			next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
			if unicode.IsLower(next) {
				return true
			}
		}
		if r != ' ' {
			before = r
		}
	}
	return false
}

// hasTime reports whether a text names a time.
func hasTime(text string) bool {
	words := plainWords(text)
	if has(words, text, timeWords) {
		return true
	}
	for _, w := range words {
		if len(w) == 4 && (strings.HasPrefix(w, "19") || strings.HasPrefix(w, "20")) && w[2] >= '0' && w[2] <= '9' && w[3] >= '0' && w[3] <= '9' {
			return true
		}
	}
	return false
}

// plainWords are a text's words in small letters, as they stand.
func plainWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.Is(unicode.M, r)
	})
}

// vocabulary is words of many languages that mean one thing. Those of languages
// written without spaces are looked for anywhere in a text.
type vocabulary struct {
	words map[string]bool
	parts []string
}

func newVocabulary(words, parts string) vocabulary {
	v := vocabulary{words: map[string]bool{}, parts: strings.Fields(parts)}
	for _, w := range strings.Fields(words) {
		v.words[w] = true
	}
	return v
}

func has(words []string, text string, v vocabulary) bool {
	return slices.ContainsFunc(words, func(w string) bool { return v.words[w] }) ||
		slices.ContainsFunc(v.parts, func(p string) bool { return strings.Contains(text, p) })
}

// The vocabularies have English, German, French, Spanish, Portuguese, Italian,
// Dutch, Russian, Arabic, Hindi, Chinese and Japanese. Where a word of one
// language means something else in another, it is left out.
var (
	whenWords = newVocabulary(`when date year month wann wanneer quand cuándo cuando quando когда متى कब`,
		`什么时候 什麼時候 何时 何時 几月 哪年 哪天 いつ`)
	nameWords = newVocabulary(`who whom whose where which name named called title
		wer wen wem wessen wo welche welcher welches heißt qui où quel quelle quels quelles quién quiénes dónde cuál
		quem onde qual chi dove quale waar welke кто кого где какой какая как من أين कौन कहाँ कहां`,
		`谁 誰 哪里 哪裡 哪儿 哪个 哪個 名字 どこ どれ 名前`)
	presentWords = newVocabulary(`now current currently latest newest nowadays still recent recently
		jetzt derzeit aktuell aktuelle aktueller aktuelles momentan maintenant actuellement actuel actuelle ahora actualmente
		agora atualmente adesso attualmente nu momenteel сейчас теперь الآن अभी`,
		`现在 現在 目前 最近 最新`)
	firstPerson = newVocabulary(`i me my mine myself ich mir mich mein meine meinen meinem meiner meines je moi mon j yo mi mis
		eu meu minha meus minhas io mio mia miei mie ik mij mijn я мне меня мой моя моё мои моей моего моих أنا मैं मेरा मेरी मेरे मुझे`,
		`我 私 僕 俺`)
	secondPerson = newVocabulary(`you your yours du dir dich dein deine deinen deinem deiner tu toi ton tes vous votre vos tú tus usted ustedes
		você vocês teu tua voi tuo tua jij jouw ты вы тебе тебя вам вас твой ваш أنت तुम आप`,
		`你 您 あなた`)
	timeWords = newVocabulary(`yesterday today tomorrow tonight last next ago week weeks weekend month months year years since recently
		january february march april june july august september october november december
		monday tuesday wednesday thursday friday saturday sunday
		gestern heute morgen woche wochen wochenende monat monate jahr jahre seit vor letzte letzten letzter nächste nächsten kürzlich
		januar februar märz mai juni juli oktober dezember montag dienstag mittwoch donnerstag freitag samstag sonntag
		demain semaine semaines mois année années depuis prochain prochaine dernier dernière
		janvier février avril juin juillet août septembre octobre novembre décembre lundi mardi mercredi jeudi vendredi samedi dimanche
		ayer hoy mañana semana semanas mes año años desde hace próximo próxima pasado pasada
		enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre lunes martes miércoles jueves viernes sábado domingo
		ontem hoje amanhã mês ano anos janeiro fevereiro março maio junho julho setembro outubro novembro dezembro
		ieri oggi domani settimana settimane mese anno anni gennaio febbraio aprile maggio giugno luglio settembre ottobre novembre dicembre
		gisteren vandaag weken weekend maand maanden jaar geleden sinds
		вчера сегодня завтра неделю неделе неделя недели месяц месяца месяце год года году лет назад
		января февраля марта апреля мая июня июля августа сентября октября ноября декабря
		أمس اليوم غدا أسبوع شهر سنة عام कल आज हफ्ते महीने साल`,
		`昨天 今天 明天 星期 上周 下周 去年 明年 今年 昨日 今日 明日 先週 来週 先月 来月 月 年 日`)
)
