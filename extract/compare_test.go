package extract

import (
	"strings"
	"testing"
)

func TestGistSame(t *testing.T) {
	for _, same := range [][]string{
		{"I'm vegetarian", "I am vegetarian.", "i’m really vegetarian", "I am also vegetarian", "I'm vegetarian now", "By the way, I'm vegetarian", "Please remember that I'm vegetarian", "Note that I am vegetarian!", "I'm still vegetarian", "I'm vegetarian too"},
		{"I don't eat meat", "I do not eat meat", "I don’t eat meat.", "I really don't eat meat", "i dont eat meat"},
		{"My favourite colour is green", "my favorite color is green!", "My favorite color is green now", "My favourite colour is actually green", "Well, my favourite colour is green"},
		{"I love my sister", "I love my sister so much", "I love my sister very much", "I love my sister a lot", "I really love my sister", "I absolutely love my sister"},
		{"I have two dogs", "I've got two dogs", "I have 2 dogs", "I've 2 dogs"},
		{"I have moved to Lisbon", "I've just moved to Lisbon", "I just moved to Lisbon", "I moved to Lisbon"},
		{"I like swimming", "I like to swim", "I really like swimming"},
		{"I stopped smoking", "I've stopped smoking", "I no longer smoke", "I don't smoke anymore", "I don't smoke any more", "I quit smoking", "I don't smoke any longer"},
		{"I'm thirty-four", "I am 34"},
		{"I'm a nurse", "I am nurse", "I'm a nurse now", "I'm currently a nurse"},
		{"Please call me Ann", "Call me Ann", "Call me Ann, please", "please call me ann"},
		{"I live in the Netherlands", "I live in Netherlands"},
		{"I organise the neighbours' party", "I organize the neighbors' party"},
		{"I am self-employed", "I'm self employed"},
		{"I'm so happy", "I'm happy", "I am very happy", "I'm really happy"},
		{"I like salt & pepper", "I like salt and pepper"},
		{"Ich mag Käse.", "ich mag käse"},
		{"我住在北京。", "我住在北京"},
	} {
		for _, s := range same {
			if got, want := Gist(s), Gist(same[0]); got != want {
				t.Errorf("Gist(%q) = %q, of %q %q", s, got, same[0], want)
			}
			if g := Gist(s); Gist(g) != g {
				t.Errorf("Gist(%q) = %q, and of that %q", s, g, Gist(g))
			}
		}
	}
}

func TestGistDiffers(t *testing.T) {
	for _, pair := range [][2]string{
		{"Ann loves Bob", "Bob loves Ann"},
		{"I love that Ann likes Bob", "I love that Bob likes Ann"},
		{"I live in Porto", "I lived in Porto"},
		{"I live in Porto", "I used to live in Porto"},
		{"I live in Porto", "I will live in Porto"},
		{"I live in Porto", "We live in Porto"},
		{"I eat meat", "I don't eat meat"},
		{"I eat meat", "I never eat meat"},
		{"I eat meat", "I no longer eat meat"},
		{"I don't eat meat", "I no longer eat meat"},
		{"I don't eat meat", "I don't eat meat now"},
		{"I don't like it", "I don't really like it"},
		{"I don't like tea very much", "I don't like tea"},
		{"I'm not very happy", "I'm not happy"},
		{"I have a dog", "I have dogs"},
		{"I have two dogs", "I have three dogs"},
		{"I have a few friends", "I have few friends"},
		{"I paid 3,5 euros", "I paid 3 euros"},
		{"I paid $5 for it", "I paid €5 for it"},
		{"It is -5 outside today", "It is 5 outside today"},
		{"I code in C# at work", "I code in C at work"},
		{"I code in C++ at work", "I code in C at work"},
		{"I went to Rome yesterday (2023-05-07)", "I went to Rome yesterday (2023-05-08)"},
		{"I'm the boss", "I'm a boss"},
		{"I like the most expensive wine", "I like most expensive wine"},
		{"I hate the kids", "I hate kids"},
		{"I only eat fish", "I eat fish"},
		{"I paint still life", "I paint life"},
		{"I want to please my boss", "I want to my boss"},
		{"I usually work at night", "I work at night"},
		{"Hopefully I will get the job", "I will get the job"},
		{"I would like to swim", "I like to swim"},
		{"I have to move", "I move"},
		{"I could have bought a house", "I bought a house"},
		{"I love my work", "I like my work"},
		{"I'm allergic to nuts", "I'm allergic to nuts and eggs"},
		{"I was happy but I'm sad now", "I was happy but I'm sad"},
		{"I just eat fish", "I eat fish"},
		{"I ate too much", "I ate much"},
		{"I stopped smoking", "I stopped to smoke"},
		{"I have stopped smoking", "I have never stopped smoking"},
		{"Ich denke an dich", "Ich denke dich"},
		{"I'm running", "I run"},
		{"My sister is 34", "My brother is 34"},
		{"From now on answer in French", "On answer in French"},
		{"I'm interested in art", "I'm interesting in art"},
		{"I am moving to Rome", "I moved to Rome"},
		{"I'm pretty", "I'm"},
		{"I stopped smoking yesterday (2023-05-07)", "I stopped smoking yesterday (2023-06-07)"},
		{"I stopped smoking yesterday (2023-05-07)", "I stopped smoking"},
		{"I listen to the Police", "I listen to police"},
		{"The Rock is my favorite actor", "Rock is my favorite actor"},
		{"I work so much", "I work"},
		{"I run a lot", "I run"},
		{"I have so much work", "I have work"},
		{"I'm only a nurse", "I'm a nurse"},
		{"I wish I had a dog", "I had a dog"},
		{"I was in Porto just now", "I was in Porto"},
		{"I'm staying for now", "I'm staying"},
		{"I drink 1-5 l", "I drink 1.5 l"},
		{"I think it is true", "It is true"},
		{"We have a dog", "I have a dog"},
		{"I am a bit tired", "I am tired"},
		{"I'm almost vegan", "I'm vegan"},
		{"I might move to Rome", "I move to Rome"},
	} {
		if g := Gist(pair[0]); g == Gist(pair[1]) {
			t.Errorf("%q and %q have one gist, %q", pair[0], pair[1], g)
		}
	}
}

func TestEnds(t *testing.T) {
	for said, positive := range map[string]string{
		"I no longer eat meat":                           "I eat meat",
		"I don't eat meat anymore.":                      "I eat meat",
		"I don't drink coffee any more":                  "I drink coffee",
		"I do not drink any longer":                      "I drink",
		"I'm not vegetarian any more":                    "I'm vegetarian",
		"I'm no longer vegetarian":                       "I'm vegetarian",
		"I am not a vegan anymore":                       "I'm a vegan",
		"I've stopped smoking":                           "I smoke",
		"I stopped eating meat last week":                "I eat meat",
		"I stopped smoking yesterday (2023-05-07)":       "I smoke",
		"I quit smoking":                                 "I smoke",
		"I gave up drinking coffee":                      "I drink coffee",
		"I quit my job at Acme":                          "I work at Acme",
		"I left my job at Acme last month (2023-04)":     "I work at Acme",
		"I no longer live in Porto":                      "I live in Porto",
		"I don't live in Porto anymore":                  "I live in Porto",
		"I don't work for Acme anymore":                  "I work for Acme",
		"I can no longer eat nuts":                       "I can eat nuts",
		"I can't eat nuts anymore":                       "I can eat nuts",
		"I don't like swimming anymore":                  "I like to swim",
		"We don't have a dog anymore":                    "We have a dog",
		"My sister no longer lives in Porto":             "My sister lives in Porto",
		"My sister doesn't live in Porto anymore":        "My sister lives in Porto",
		"My wife stopped smoking":                        "My wife smokes",
		"My sister doesn't study law anymore":            "My sister studies law",
		"My wife doesn't watch films anymore":            "My wife watches films",
		"My dad doesn't have a dog anymore":              "My dad has a dog",
		"By the way, I no longer play football":          "I play football",
		"Please remember that I'm not married any more.": "I'm married",
		"I stopped running":                              "I run",
		"I've given up writing":                          "I write",
	} {
		if what, ok := Ends(said); !ok || what != Gist(positive) {
			t.Errorf("Ends(%q) = %q, %v, want %q", said, what, ok, Gist(positive))
		}
	}
	for _, s := range []string{
		"I eat meat", "I don't eat meat", "I never eat meat", "I used to eat meat", "I'm trying to stop smoking", "I want to quit smoking", "I never stopped smoking", "I haven't stopped smoking",
		"I stopped smoking for a month", "I stopped smoking while I was pregnant", "I stopped smoking when I was 30", "I almost stopped smoking", "I stopped smoking again", "Did I stop smoking?",
		"I don't eat much meat anymore", "I don't really eat meat anymore", "I don't go out as often anymore", "I don't always drink coffee anymore", "I don't know anymore", "I can't take it anymore", "I'm not sure about that anymore",
		"I don't care anymore", "I no longer eat meat and fish", "I no longer eat meat because of my heart", "I no longer think so", "I stopped at the shop", "I stopped to eat", "I quit my job", "I quit",
		"I stopped being a nurse", "I quit my job at Acme to travel", "I quit Acme", "I stopped working there", "I won't smoke anymore", "I don't have any pets anymore", "I stopped smoking but started again", "If I no longer eat meat, I get sick", "I will no longer eat meat", "She no longer lives here", "I don't eat meat anymore, only fish", "I no longer eat meat during Lent", "No longer do I eat meat",
		"Do I no longer live in Porto?", "I stopped smoking in 2019", "I can't run anymore", "My parents no longer live in Porto, but in Rome", "Ich rauche nicht mehr", "", "no longer", "anymore", "I don't anymore",
	} {
		if what, ok := Ends(s); ok {
			t.Errorf("Ends(%q) = %q", s, what)
		}
	}
}

func TestForgets(t *testing.T) {
	for said, statement := range map[string]string{
		"Forget that I like tea":                              "I like tea",
		"Please forget that I'm diabetic.":                    "I'm diabetic",
		"Could you please forget that I live in Porto?":       "I live in Porto",
		"don't remember that I like tea":                      "I like tea",
		"Forget the fact that my sister lives in Porto":       "My sister lives in Porto",
		"please forget that I said that I like tea":           "I like tea",
		"Forget that I told you I'm vegan":                    "I'm vegan",
		"Delete from your memory that I work at Acme, please": "I work at Acme",
		"Can you forget that my favourite colour is green":    "My favorite color is green",
		"I want you to forget that I have two dogs":           "I have 2 dogs",
		"Also forget that I like tea and coffee":              "I like tea and coffee",
		"Forget that I don't eat meat":                        "I don't eat meat",
		"OK, forget that I smoke cigars":                      "I smoke cigars",
		"Stop remembering that we moved to Lisbon":            "We moved to Lisbon",
	} {
		if what, ok := Forgets(said); !ok || what != Gist(statement) {
			t.Errorf("Forgets(%q) = %q, %v, want %q", said, what, ok, Gist(statement))
		}
	}
	for _, s := range []string{
		"Don't forget that I like tea", "Never forget that I like tea", "Please don't forget that I'm diabetic", "I forgot that I like tea", "Forget it", "Forget that", "Forget that idea", "Forget about it",
		"She told me to forget that I like tea", "I don't remember that I said it", "Delete what I said about living in Porto", "Forget everything", "Forget what I said", "Forget that I asked", "Forget that I said anything",
		"Did you forget that I like tea?", "You forgot that I like tea", "I can't forget that I live alone", "Forget that I like tea, remember that I like coffee", "Forget that I like tea and that I live in Porto",
		"Forget that I mentioned my sister", "Forget that movie", "Forget that the milk is sour", "Why would you forget that I like tea?", "Forget that I exist", "You can forget that I will come", "Let's forget that I like tea",
		"Do not forget that my dog is ill", "I like tea", "", "forget", "Forget that my friend's recipe", "Don't remember that I ever lived there",
	} {
		if what, ok := Forgets(s); ok {
			t.Errorf("Forgets(%q) = %q", s, what)
		}
	}
}

// Pasted text costs no more than its length.
func TestCompareLong(t *testing.T) {
	for _, unit := range []string{"our", "is", "a-", "no longer ", "i have ", "please ", "really ", "twenty-", "( ", "😊", "don't anymore, "} {
		s := "I live " + strings.Repeat(unit, 1<<18/len(unit))
		if Gist(s) == "" {
			t.Errorf("the gist of many %q is empty", unit)
		}
		Ends(s)
		Forgets("forget that " + s)
		if slot, _, ok := Slot(s); ok {
			t.Errorf("many %q are a %q", unit, slot)
		}
	}
}

func FuzzCompare(f *testing.F) {
	for _, s := range []string{
		"", "I", "I live in", "I live in Porto, ", "My favourite colour is green now", "I've stopped smoking", "I don't anymore", "call me", "my phone is +351 912", "my sister's", "my sister's is", "I moved from to", "moved to the",
		"I'm -5 C++ & 3,5 ❤️", "I have 'İstanbul'", "ﬁne Ⅳ ﬀ I am", "\xffI live in \x00", "Forget that I ", "from now on", "I turned 35 yesterday (2023-05-07)", "my e-mail is a@b", "I am 180cm tall", "is my favorite", "we are to",
		"I work as", "I work at", "I joined as a nurse", "My -- is", "I - am", "my favorite is x", "Green is my favorite color", "-", "I'm married to", "I weigh 5kg", "use metric", "answer in", "ꭷꭷ I am", "I'm the", "just moved",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n := Normalize(s)
		for _, v := range []string{n, "  " + s + " ..", strings.ToValidUTF8(s, "\uFFFD")} {
			if Normalize(v) == n && Gist(v) != Gist(s) {
				t.Errorf("Gist(%q) = %q, of %q %q", v, Gist(v), s, Gist(s))
			}
		}
		if Gist(s) == "" && n != "" {
			t.Errorf("Gist(%q) is empty", s)
		}
		if slot, value, ok := Slot(s); ok != (slot != "") || ok != (value != "") {
			t.Errorf("Slot(%q) = %q, %q, %v", s, slot, value, ok)
		}
		if what, ok := Ends(s); ok != (what != "") {
			t.Errorf("Ends(%q) = %q, %v", s, what, ok)
		}
		if what, ok := Forgets(s); ok != (what != "") {
			t.Errorf("Forgets(%q) = %q, %v", s, what, ok)
		}
	})
}

func BenchmarkGist(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Gist("By the way, I've just moved to Lisbon with my husband last week (week of 2023-05-01).")
	}
}

func BenchmarkSlot(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Slot("I moved to Lisbon last week (week of 2023-05-01).")
	}
}

func BenchmarkSlotRefused(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Slot("I went to the farmers' market with my sister and bought apples, pears and a melon.")
	}
}

func TestSlot(t *testing.T) {
	for _, tc := range []struct{ fact, slot, value string }{
		{"My favourite colour is green now", "favorite color", "green"},
		{"my favorite color is Green.", "favorite color", "green"},
		{"Green is my favorite color", "favorite color", "green"},
		{"By the way, my favorite color is actually dark blue", "favorite color", "dark blue"},
		{"My favorite food is pizza", "favorite food", "pizza"},
		{"Our favourite dish is pad see ew", "favorite dish", "pad see ew"},
		{"My favorite animal is the dog", "favorite animal", "dog"},
		{"My favorite animals... no", "", ""},
		{"My favorite season is autumn", "favorite season", "autumn"},
		{"My favorite book is Dune", "favorite book", "dune"},
		{"My favourite film is \"The Matrix\"", "favorite film", "matrix"},
		{"My favorite band is Radiohead", "favorite band", "radiohead"},
		{"My least favorite food is liver", "least favorite food", "liver"},
		{"My wife's favourite colour is red", "wife favorite color", "red"},
		{"My favorite programming language is Go", "favorite programming language", "go"},
		{"My favorite sport is running", "favorite sport", "running"},
		{"I live in Porto", "home", "porto"},
		{"i live in porto now", "home", "porto"},
		{"I currently live in Porto, Portugal.", "home", "porto"},
		{"We live in Rio de Janeiro", "home", "rio de janeiro"},
		{"I'm living in Berlin", "home", "berlin"},
		{"I've lived in Porto since 2019", "home", "porto"},
		{"I have been living in Porto for five years", "home", "porto"},
		{"I moved to Lisbon last week (week of 2023-05-01)", "home", "lisbon"},
		{"I've just moved to Lisbon", "home", "lisbon"},
		{"We moved to Lisbon", "home", "lisbon"},
		{"Last month (2023-04) I moved to Lisbon", "home", "lisbon"},
		{"I moved from Porto to Lisbon", "home", "lisbon"},
		{"I moved back to Chicago two weeks ago (2023-04-24)", "home", "chicago"},
		{"I've relocated to Berlin", "home", "berlin"},
		{"I live in NYC", "home", "new york"},
		{"I live in Leamington", "home", "leamington"},
		{"I live in the US", "home country", "us"},
		{"I live in Portugal", "home country", "portugal"},
		{"I moved to Germany", "home country", "germany"},
		{"My sister lives in Porto", "sister home", "porto"},
		{"My older brother lives in Rome", "older brother home", "rome"},
		{"My dad moved to Madrid", "dad home", "madrid"},
		{"My hometown is Ghent", "hometown", "ghent"},
		{"I work at Acme", "employer", "acme"},
		{"I work for Acme Inc.", "employer", "acme"},
		{"I'm working at Siemens now", "employer", "siemens"},
		{"I work at Siemens as an engineer", "employer", "siemens"},
		{"I started working at Bosch on Monday (2023-05-08)", "employer", "bosch"},
		{"I joined Acme as a nurse last week", "employer", "acme"},
		{"My employer is Mercy Hospital", "employer", "mercy hospital"},
		{"I've worked at Acme since 2019", "employer", "acme"},
		{"My husband works for IBM", "husband employer", "ibm"},
		{"I work as a nurse", "occupation", "nurse"},
		{"I work as a senior software developer", "occupation", "engineer"},
		{"I'm a nurse by profession", "occupation", "nurse"},
		{"My occupation is teacher", "occupation", "teacher"},
		{"My job is being a chef", "occupation", "cook"},
		{"I am 34", "age", "34"},
		{"im 34", "age", "34"},
		{"I'm thirty-four", "age", "34"},
		{"I'm thirty", "age", "30"},
		{"I live in Portland Maine", "home", "portland"},
		{"I live in South Africa", "home country", "south africa"},
		{"I'm 34 years old", "age", "34"},
		{"I turned 35 yesterday (2023-05-07)", "age", "35"},
		{"I just turned 35", "age", "35"},
		{"My wife is 40", "wife age", "40"},
		{"My name is Ann", "name", "ann"},
		{"my name's Ann Lee", "name", "ann"},
		{"My last name is Lee", "last name", "lee"},
		{"Please call me Ann", "form of address", "ann"},
		{"From now on, call me Bob", "form of address", "bob"},
		{"You should call me Bob", "form of address", "bob"},
		{"Please call me ann from now on", "form of address", "ann"},
		{"I'd like you to call me Robert.", "form of address", "robert"},
		{"Address me as Dr. Lee", "form of address", "dr lee"},
		{"My birthday is on 3 May", "birthday", "5 3"},
		{"my birthday is May 3rd, 1990", "birthday", "5 3"},
		{"My birthday is the 3rd of May", "birthday", "5 3"},
		{"My sister's birthday is on 12 June", "sister birthday", "6 12"},
		{"My email is ann@example.org", "email", "ann@example.org"},
		{"my e-mail address is Ann@Example.org", "email", "ann@example.org"},
		{"My phone number is +351 912 345 678", "phone", "351912345678"},
		{"My address is 12 High Street, Porto", "address", "12 high street"},
		{"My timezone is CET", "timezone", "cet"},
		{"My time zone is Europe/Lisbon", "timezone", "europe/lisbon"},
		{"My pronouns are she/her", "pronouns", "she/her"},
		{"I'm married", "marital status", "married"},
		{"I'm happily married to Tom", "marital status", "married"},
		{"I'm single now", "marital status", "single"},
		{"We got engaged yesterday (2023-05-07)", "marital status", "engaged"},
		{"I got divorced last month", "marital status", "divorced"},
		{"My brother got married last weekend (2023-05-06)", "brother marital status", "married"},
		{"My dog's name is Rex", "dog name", "rex"},
		{"Our dog is called Pip", "dog name", "pip"},
		{"My wife's name is Mia", "wife name", "mia"},
		{"My wife is Mia", "wife name", "mia"},
		{"My boss is Ann", "boss name", "ann"},
		{"My manager is called Tom Smith", "manager name", "tom"},
		{"My landlord is Mr. Lee", "landlord name", "mr lee"},
		{"My native language is Dutch", "native language", "dutch"},
		{"I weigh 80 kg", "weight kg", "80"},
		{"I'm 180 cm tall", "height cm", "180"},
		{"My height is 180cm", "height cm", "180"},
		{"From now on, answer in French", "language of answers", "french"},
		{"always reply in English", "language of answers", "english"},
		{"Please answer me in Brazilian Portuguese", "language of answers", "portuguese"},
		{"Use metric units", "units", "metric"},
		{"From now on use the imperial system", "units", "imperial"},
		{"I prefer metric units", "units", "metric"},
		{"Use Celsius", "temperature unit", "celsius"},
	} {
		slot, value, ok := Slot(tc.fact)
		if slot != tc.slot || value != tc.value || ok != (tc.slot != "") {
			t.Errorf("Slot(%q) = %q, %q, %v, want %q, %q", tc.fact, slot, value, ok, tc.slot, tc.value)
		}
	}
}

func TestSlotRefuses(t *testing.T) {
	for fact := range strings.Lines(`I wish I lived in Porto
I might move to Lisbon
I want to live in Porto
I will move to Lisbon
I'm going to move to Lisbon
I'm moving to Lisbon
I used to live in Porto
I lived in Porto
I lived in Porto when I was a child
I've lived in Porto
I have lived in Porto and Rome
I don't live in Porto
I no longer live in Porto
I never lived in Porto
Do I live in Porto?
I live in Porto?
I live in Porto during summer
I live in Porto in summer
I live in Porto with Ann
I live in Porto and Lisbon
I live in Porto and work in Gaia
I live in Porto, but I work in Gaia
I live in Porto most of the time
I live in Porto on weekends
I live in Porto for now
I live in a small flat
I live in the countryside
I live in the city
I live in a society
We live in uncertain times
I live in fear
I live in Europe
I live in California
I live in Brooklyn
I live in England
I live in Scotland
I live in my van
I live in the Alfama
I live in Green Street
I live near Porto
I live in New England
I live in Latin America
I live in Emacs
We live in Interesting Times
I relocated to Slack
I live in Porto - with my dog
I live in God's country
I work for Free
I work for Mom
I work at Christmas
My favorite animal is extinct
My favorite movie is the best
My favorite day is tomorrow
My favorite food is ramen these days
My favorite movie is the one with Tom
My favorite drink in summer is lemonade
Nobody is my favorite singer
This song is my favorite song
I turned 30 pages
I'm single and happy
I'm a single mom
I'm married to my job
I got separated from the group
My boss is American
My boss is Ann's husband
Please call me back
Please call me later
Call me an Uber
Call me Bob instead of Robert
Answer in one word
Please answer in French unless I ask otherwise
I live alone
I live with my parents
I'm in Porto
I'm in Porto today
I'm staying in Lisbon this week
I'm from Porto
I was born in Porto
I grew up in Porto
I moved to Lisbon in 2015
I moved to Lisbon last year (2022)
I moved to Lisbon when I was five
I moved to Lisbon for a semester
I moved to Linux
I moved to Google
I moved to Rust last week
I moved to the sales team
I moved to a new apartment
I moved to tears
I moved
I could move to Lisbon
If I live in Porto, I need a car
Maybe I live in Porto
My friend lives in Porto
My friend is a doctor
My parents live in Porto
My sisters live in Porto
My sister lives in Porto with her kids
One of my sisters lives in Porto
My other sister lives in Porto
My sister's friend lives in Porto
My sister's in Porto
Ann lives in Porto
She lives in Porto
They live in Porto
You live in Porto
I also live in Porto
I work from home
I work at night
I work at a bank
I work at the hospital
I work for myself
I work for free
I work with Ann
I work in IT
I work at Acme and Bosch
I also work at Acme
I work at Acme on Mondays
I used to work at Acme
I worked at Acme
I've worked at Acme
I will work at Acme
I don't work at Acme
I'd love to work at Acme
I applied to Acme
I joined Facebook
I joined a gym
I joined Acme
I started at Acme
I started working on my thesis
I started working at Acme in 2015
We work at Acme
I work as a consultant
I work as a volunteer
I work as a nurse on weekends
I work as a nurse and a singer
I work hard
I'm a nurse
I'm a nurse at heart
My job is stressful
My job is great
My job is to teach
My job is in Porto
I am 34 weeks pregnant
I'm 20 minutes late
I'm 5
I'm 34 and single
I'm almost 34
I was 34
I'm 100% sure
I'm 5'10
I turn 35 next week
I'm turning 35
I turned 35 in 2015
I turned 18 when I lived in Rome
I turned 180 degrees
My sister is 34
My son is 5
My name is not Ann
My name is hard to spell
My name is on the list
My name is Ann and I live in Porto
My name was Ann
My name means star
People call me Bob
My friends call me Bob
Don't call me Ann
Never call me before 9
Call me when you are done
Call me tomorrow
Call me maybe
Call me crazy
Call me old-fashioned
Call me Ann or Bob
Call me Ishmael is a line
She calls me Ann
Can you call me Ann?
My birthday is in May
My birthday is coming up
My birthday is today
My birthday is tomorrow (2023-05-09)
My birthday is the best day of the year
My birthday was on 3 May
My birthday party is on 3 May
My email is broken
My email is full
My phone is broken
My phone is an iPhone 12
My phone number is secret
My address is changing
My address is private
My pronouns are important to me
My favorite color is not green
My favorite color was green
My favorite color is probably green
My favorite color is bright
My favorite color is green or blue
My favorite color is green and blue
My favorite color is the same as yours
My favorite color is green because it calms me
My favorite colors are green and blue
My favorite things are books
My favorite part is the end
My favorite thing is the food
My favorite memory is Rome
My second favorite color is green
My new favorite band is Muse
My other favorite color is green
One of my favorite colors is green
My favorite restaurant is closed
My favorite restaurant is nearby
My favorite show is back
My favorite show is on Netflix
My favorite band is coming to town
My favorite band is German
My favorite team is winning
My favorite team is terrible
My favorite book is old
My favorite mug is broken
My favorite mug is blue
My favorite dish is spicy
My favorite food is vegan
My favorite food is what my mom cooks
My favorite song is playing
It's my favorite color
That is my favorite food
This is my favorite song
Is green my favorite color?
My friend's favorite color is green
My daughters' favorite color is green
My car is broken
My car is a Tesla
My goal is to run
My goal is a marathon
My house is big
My hobby is chess
My allergy is getting worse
My nationality is Portuguese
My boss is angry
My boss is AWOL
My boss is OK
My boss is German
My boss is Catholic
My boss is Head of Sales
My boss is in Rome
My boss is not Ann
My boss was Ann
My wife is a nurse
My wife is pregnant
My wife is Portuguese
My doctor is great
My dog is Rex and he is old
My dog is brown
My dog is German
My dogs are Rex and Bella
My dog's name is a secret
My other dog's name is Bella
My cat's name is Tom or Jerry
My friend's name is Tom
My sister's name is Mia
My ex's name is Tom
I'm not married
I was married
I'm married with two kids
I'm single-handedly doing it
I'm engaged in a project
I'm separated from my luggage
I'm getting married
I'm getting married in June 2023
I want to get married
I got married in 2015
My friends got married
My parents are divorced
I weigh my options
I weigh 80 kg with shoes
I'm 180 cm
I'm tall
Don't answer in French
Answer this in French
Answer in French when I ask about food
Answer in French and English
Answer in short sentences
Answer in detail
Write in French
Write it in French
How do I answer in French?
I answered in French
Reply in kind
Speak in public
Use metric for recipes
Don't use metric units
Use this metric
Use the metric from the paper
I prefer tea
My metric is accuracy
I like tea
I have two dogs
Pretend my name is Ann
I guess my name is Ann
I think I live in Porto
I told her I live in Porto
My timezone is annoying
My blood type is A+
My religion is important to me
My hair color is changing
My native language is hard
Ich wohne in Berlin
Vivo no Porto
`) {
		fact = strings.TrimSpace(fact)
		if slot, value, ok := Slot(fact); ok || slot != "" || value != "" {
			t.Errorf("Slot(%q) = %q, %q, %v", fact, slot, value, ok)
		}
	}
}
