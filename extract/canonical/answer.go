package canonical

import (
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// answer is the statement that a question and its answer make together: "Where do
// you live? Porto." says "I live in Porto". A text without a question stays as it is.
// It is "" if the question is not known, or if the text ends with it.
func answer(text string) string {
	question, said, asked := strings.Cut(text, "?")
	if !asked {
		return text
	}
	said = strings.TrimSpace(said)
	if said == "" || strings.Contains(said, "?") {
		return ""
	}
	if list := english.Sentences(said); len(list) > 0 {
		said = list[0]
	}
	ws := english.Split(question)
	for i := range ws {
		if begin := asks(ws[i:]); begin != "" {
			return joined(begin, said)
		}
	}
	return ""
}

// asks is the beginning of the statement that a question asks for: "I live in" of
// "where do you live". It is "" if that is not known.
func asks(ws english.Words) string {
	for n := len(ws); n > 0 && len(ws)-n <= 3; n-- { // "these days" may follow
		if begin := answers.Of(ws[:n].String()); begin != "" {
			return begin
		}
	}
	if ws.StartWith("what", "is", "your") && len(ws) > 3 {
		return "my " + ws[3:].String() + " is"
	}
	return ""
}

// joined is the statement that begins so and goes on with an answer, which may repeat
// some of the beginning: "In Porto.", "I live in Porto."
func joined(begin, said string) string {
	ws := english.Split(said)
	skip := english.SkipLeads(ws)
	for i := skip; i < len(ws); i++ {
		if !strings.Contains(" "+begin+" ", " "+ws[i].Text+" ") {
			return begin + " " + said[ws[i].Start:]
		}
	}
	return ""
}
