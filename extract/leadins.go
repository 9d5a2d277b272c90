package extract

// What people put before and after what they say. A fact's text does without
// it; its quote keeps it.

var (
	// leads go wherever they stand at the front.
	leads = phraseTable("by the way", "btw", "to be honest", "tbh", "fyi", "just so you know", "so you know", "for your information",
		"for the record", "for what it is worth", "in case it helps", "in case it matters", "as i said", "as i mentioned", "as you know", "you know",
		"fun fact", "a bit about me", "about me", "little background", "some background", "for context", "for reference", "for background",
		"in fact", "as a matter of fact", "in other words", "that said", "that being said", "anyway", "anyways", "speaking of which",
		"i told you that", "i told you", "i should mention that", "i should mention", "i should add that", "i should add",
		"i forgot to mention that", "i forgot to mention", "i forgot to say that", "i forgot to say", "i forgot to tell you that", "i forgot to tell you",
		"i wanted to tell you that", "i wanted to tell you", "i wanted to let you know that", "i wanted to let you know", "i wanted to mention that",
		"i wanted to mention", "i just wanted to say that", "i just wanted to say", "i just wanted to tell you that", "i just wanted to tell you",
		"i just wanted to let you know that", "i just wanted to let you know", "just wanted to say that", "just wanted to say",
		"wanted to let you know that", "wanted to let you know", "wanted to tell you that", "wanted to tell you", "just wanted to let you know that", "just wanted to let you know", "just to let you know", "i have to tell you", "i must admit",
		"i have to admit", "i have to say", "i must say", "did i mention that", "did i mention", "guess what", "let me tell you", "you see",
		"turns out", "it turns out", "it turns out that", "good news", "bad news", "great news", "big news", "update", "quick update", "correction",
		"please note that", "note that", "please note", "and yes", "and no", "oh and", "what is more",
		"thanks for asking", "thank you for asking", "the thing is", "the truth is", "of course", "i mean", "i swear", "long story short")
	// softLeads go before a mark or before what a statement begins with: "Well,
	// water is…" and "Well I…", but not "Well water…".
	softLeads = words(`well oh ah aw aww hey hi hello hiya yo greetings so and but also yes yeah yep yup no nope nah ok okay k sure right alright
		cool nice great good awesome wow haha hahaha lol ha hmm hm mm um uh er actually honestly anyhow plus though thanks cheers sorry
		oops man dude mate guys lately please now look listen see first firstly second secondly third thirdly finally lastly basically
		seriously frankly absolutely definitely totally exactly indeed true unfortunately fortunately luckily sadly hopefully obviously
		however otherwise therefore still yay omg gosh congrats perfect interesting amazing wonderful fantastic`)
	statementStart = words("i we my our me please remember always never call it there do keep note from born just both one two today yesterday last next on in at when after before since every")
	// named may carry a name: "Hey Ann," "Thanks, Tom!"
	named = words("hey hi hello hiya thanks thx wow yes yeah yep no ok okay sure cool oh congrats morning evening good great sorry well")
	// firmTails begin a request whatever the mark at the end, openTails only in
	// a question.
	firmTails = phraseTable("can you", "could you", "would you", "will you", "can we", "could we", "can i", "could i", "should i", "please", "what should",
		"what do you", "what would you", "what about you", "how about you", "how about", "what about", "do you", "are you", "have you", "any ideas", "any suggestions",
		"any recommendations", "any tips", "any advice", "any thoughts", "help me", "give me", "tell me", "show me", "find me", "let me know", "thanks", "thank you",
		"and you", "you know", "is that", "is there", "are there", "is it", "where can", "where should", "how can", "how do", "how should", "what can",
		"which one", "suggest", "recommend", "remember that", "remember this", "remember it", "do not forget", "keep that in mind", "keep this in mind",
		"just so you know", "by the way", "btw", "fyi", "i wonder", "i was wondering", "i need you", "i want you", "i would like you", "lol", "haha")
	openTails = phraseTable("right", "what", "how", "which", "who", "where", "when", "why", "is", "are", "did", "does", "any", "have", "was", "were", "you")
	// asksToRemember at the end: "I'm vegan, please remember that."
	asksToRemember = phraseTable("remember that", "remember this", "remember it", "please remember that", "please remember this", "please remember it",
		"please remember", "do not forget", "do not forget it", "do not forget that", "please do not forget", "please do not forget that", "keep that in mind",
		"keep this in mind", "please keep that in mind", "please keep this in mind", "can you remember that", "could you remember that")
)

// skipLeads is the index of the first word after whatever leads into the
// statement.
func skipLeads(ws []word) int {
	i := 0
	for range 8 { // more than people pile up; a bound keeps rows of "ha ha ha" cheap
		next := i + leads.at(ws, i)
		if next == i {
			next = skipSoft(ws, i)
		}
		if next == i || next >= len(ws) {
			break
		}
		i = next
	}
	return i
}

func skipSoft(ws []word, i int) int {
	if i >= len(ws) || !softLeads[ws[i].text] || i+1 >= len(ws) {
		return i
	}
	if named[ws[i].text] {
		// "Hey Ann," and "Thanks, Ann," end in a mark after at most two more words.
		for j := i + 1; j < len(ws) && j <= i+2; j++ {
			if statementStart[ws[j].text] {
				break
			}
			if ws[j].stop != 0 && ws[j].upper && ws[j].stop != '\'' {
				return j + 1
			}
		}
	}
	if ws[i].stop != 0 || statementStart[ws[i+1].text] || softLeads[ws[i+1].text] {
		return i + 1
	}
	return i
}

// cutTail finds where a request or question begins after the statement
// ("I'm vegan, what can I eat?"): the index of its first word, or len(ws).
// asked reports that the tail asks to remember the statement, open that the
// sentence is a question to its very start.
func cutTail(ws []word, from int, question bool) (end int, asked, open bool) {
	for i := from + 2; i < len(ws); i++ {
		joint := ws[i-1].stop != 0 && ws[i-1].stop != '\''
		first := i
		for first < len(ws) && (ws[first].text == "and" || ws[first].text == "so" || ws[first].text == "but") {
			joint = true
			first++
		}
		if !joint || firmTails.at(ws, first) == 0 && (!question || openTails.at(ws, first) == 0) {
			continue
		}
		return i, asksToRemember.at(ws, first) >= len(ws)-first-2 && asksToRemember.at(ws, first) > 0, false
	}
	return len(ws), false, question
}
