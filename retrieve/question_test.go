package retrieve

import (
	"testing"
	"time"

	"github.com/memoryd/memoryd/memory"
)

func TestReadQuestion(t *testing.T) {
	now := time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC)
	type read struct {
		wants         expected
		mine, present bool
	}
	for text, want := range map[string]read{
		"When did Ann move?":                {wants: aTime},
		"What year was it?":                 {wants: aTime},
		"Who is that?":                      {wants: aName},
		"Which song did she sing?":          {wants: aName},
		"What is my dog called?":            {wants: aName, mine: true},
		"What did you tell me about it?":    {},
		"What do I like?":                   {mine: true},
		"What is her job now?":              {present: true},
		"Wann hat Tim geheiratet?":          {wants: aTime},
		"Wo arbeite ich jetzt?":             {wants: aName, mine: true, present: true},
		"Quand est-ce qu'elle est partie ?": {wants: aTime},
		"Où habite mon frère maintenant ?":  {wants: aName, mine: true, present: true},
		"¿Cuándo nació Eva?":                {wants: aTime},
		"¿Dónde trabajo yo ahora?":          {wants: aName, mine: true, present: true},
		"Quando ele chegou?":                {wants: aTime},
		"Quem me ligou?":                    {wants: aName, mine: true},
		"Когда она приехала?":               {wants: aTime},
		"Где я сейчас живу?":                {wants: aName, mine: true, present: true},
		"متى سافر أحمد؟":                    {wants: aTime},
		"रवि कब आया?":                       {wants: aTime},
		"मेरा भाई कहाँ है?":                 {wants: aName, mine: true},
		"她什么时候结婚的？":                         {wants: aTime},
		"我现在住在哪里？":                          {wants: aName, mine: true, present: true},
		"彼女はいつ結婚しましたか？":                     {wants: aTime},
		"私は今どこに住んでいますか":                     {wants: aName, mine: true},
		"tea": {},
		"a text \xff with bytes that are no letters \x00": {},
	} {
		q := readQuestion(text, "ann", time.Time{}, now)
		if got := (read{q.wants, q.mine, q.present}); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

func TestMeans(t *testing.T) {
	for _, c := range []struct {
		query, author string
		want          bool
	}{
		{"What does Ann eat?", "Ann", true}, {"What does ann eat?", "Ann", true}, {"What is Ann's car?", "ann", true}, {"What does Ann eat?", "Anna", false},
		{"What does Schmidt eat?", "Jo Schmidt", true}, {"What does she eat?", "Ann", false}, {"What do I eat?", "user", true}, {"What do I eat?", "ANN", true},
		{"What do I eat?", "guide", false}, {"What do I and Bob eat?", "Bob", false}, {"What does she eat?", "", false}, {"Что ест Анна?", "Анна", true}, {"小明喜欢什么？", "小明", true},
	} {
		if got := readQuestion(c.query, "ann", time.Time{}, time.Now()).isAbout(c.author); got != c.want {
			t.Errorf("%q means %q: %v", c.query, c.author, got)
		}
	}
}

func TestAsks(t *testing.T) {
	for text, want := range map[string]bool{
		"Really?": true, "Really? ": true, "Is it (so)?": true, "He asked: \"why?\"": true, "Look? [shares a photo of a dog]": true, "So nice, no? 🎉": true, "真的吗？": true, "حقا؟": true, "What?!": true,
		"No.": false, "Why? Because.": false, "": false, "?": true, "[shares a photo?]": false, "]": false, "🎉": false,
	} {
		if got := asks(text); got != want {
			t.Errorf("%q asks: %v", text, got)
		}
	}
}

func TestAnsweredBy(t *testing.T) {
	for _, c := range []struct {
		wants expected
		text  string
		want  bool
	}{
		{aTime, "We met in 2019.", true}, {aTime, "We met last Friday.", true}, {aTime, "We met in the park.", false}, {aTime, "Wir trafen uns gestern.", true}, {aTime, "我们昨天见面了", true},
		{aTime, "It cost 2500 and weighs 19kg.", false}, {aTime, "", false},
		{aName, "It was Marco.", true}, {aName, "Marco was it. The other one.", false}, {aName, "I think I'm late, I said.", false}, {aName, "She read \"Emma\".", true}, {aName, "it was ok", false},
		{aName, "Then, Lisbon.", true}, {anything, "It was Marco in 2019.", false},
	} {
		q := question{wants: c.wants}
		if got := q.answeredBy(c.text); got != c.want {
			t.Errorf("%q as an answer of sort %d: %v", c.text, c.wants, got)
		}
	}
}

// "Today" is the day where the question is asked, and a memory is of the day that it
// was for its speaker.
func TestTimelyOnClocks(t *testing.T) {
	west, east := time.FixedZone("", -8*3600), time.FixedZone("", 9*3600)
	evening := time.Date(2026, 3, 1, 23, 30, 0, 0, west) // 2 March in UTC and in the east
	day := func(offset memory.UTCOffset) *memory.Memory {
		return &memory.Memory{Timestamp: evening.UTC(), UTCOffset: offset}
	}
	for _, c := range []struct {
		query string
		now   time.Time
		m     *memory.Memory
		want  float64
	}{
		{"What did I do today?", evening, day("-08:00"), 1},
		{"What did I do today?", evening, day(""), 1},
		{"What did I do today?", evening.UTC(), day(""), 1},
		{"What did I do today?", evening.In(east), day("-08:00"), 0},
		{"What did I do yesterday?", evening.In(east), day("-08:00"), 1},
		{"What did I do yesterday?", evening.Add(time.Hour), day("-08:00"), 1},
		{"What did I do yesterday?", evening.Add(time.Hour), day(""), 1},
		{"What did I do on 1 March 2026?", evening.In(east).AddDate(0, 1, 0), day("-08:00"), 1},
		{"What did I do on 2 March 2026?", evening.In(east).AddDate(0, 1, 0), day("-08:00"), 0},
		{"What did I do on 2 March 2026?", evening.UTC().AddDate(0, 1, 0), day(""), 1},
		{"What will I do on 5 March 2026?", evening.UTC(),
			&memory.Memory{ValidFrom: time.Date(2026, 3, 5, 0, 0, 0, 0, east).UTC(), UTCOffset: "+09:00"}, 1},
	} {
		if got := readQuestion(c.query, "ann", time.Time{}, c.now).timely(c.m); got != c.want {
			t.Errorf("%q at %v: %+v is timely by %v, want %v", c.query, c.now, c.m, got, c.want)
		}
	}
}
