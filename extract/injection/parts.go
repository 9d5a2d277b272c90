package injection

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// promptMarks are marks between the parts of prompts, which people do not type by hand.
var promptMarks = regexp.MustCompile(`(?i)<\|?(?:im_start|im_end|start_header_id|end_header_id|eot_id|endoftext|` +
	`system|assistant|begin_of_text)\|?>|\[/?inst\]|<</?sys>>|` +
	`</?(?:system|developer)(?:[_-]?(?:prompt|message|instructions?))?>|` +
	`<start_of_turn>|<end_of_turn>|\bBEGIN SYSTEM (?:PROMPT|MESSAGE)\b|` +
	// An answer of a tool that is said to end, and a call or a turn that is said to follow.
	`</(?:tool_?)?(?:result|output|response|document)s?>\s*<(?:tool_?call|function_?call|assistant|user)\b`)

// hasPromptMarks reports whether a text has marks of prompts.
func hasPromptMarks(text string) bool {
	return strings.ContainsAny(text, "<[") && promptMarks.MatchString(text) ||
		strings.Contains(text, "BEGIN SYSTEM") && promptMarks.MatchString(text)
}

// header is a line that passes for a message of the system or the developer.
var header = regexp.MustCompile(`(?i)(?:^|[\n"“”„«>\` + "`" + `])[ \t>]*(?:\[|\*\*|#{1,4}[ \t]*|\()?(?:new[ \t]+)?` +
	`(?:system|developer|systemnachricht|système|sistema|systeem|systemowy|система|sistem|系统|システム|시스템|النظام|सिस्टम)` +
	`(?:[ _-]?(?:message|prompt|override|note|update|directive|instructions?|command|notice|` +
	`nachricht|notiz|anweisung))?` +
	`(?:\]|\*\*|\))?[ \t]*(?::|：|\n|\])`)

// headerEnd is where the first header in a text ends; -1 if there is none. It looks for
// the words alone first, which takes a fraction of the time.
func headerEnd(text string) int {
	if !strings.ContainsAny(text, ":]\n：") {
		return -1
	}
	lower := strings.ToLower(text)
	for _, sign := range []string{"system", "développ", "developer", "système", "sistem", "systeem", "система", "系统",
		"システム", "시스템", "النظام", "सिस्टम"} {
		if strings.Contains(lower, sign) {
			if at := header.FindStringIndex(text); at != nil {
				return at[1]
			}
			return -1
		}
	}
	return -1
}

// quotes are the marks around quoted words.
var quotes = []struct{ open, close string }{
	{"```", "```"}, {`"""`, `"""`}, {"'''", "'''"}, {"“", "”"}, {"„", "“"}, {"«", "»"}, {"「", "」"}, {`"`, `"`},
}

// minQuote is how many bytes a quoted passage has that may be text of somebody else.
const minQuote = 16

// parts parts what a user said from what the user pasted: blocks in code fences, quoted
// lines, mails that were forwarded, and longer quotations that a colon or a verb of
// saying announces. Words in quotes that are only mentioned are neither.
func parts(text string) (own string, pasted []string) {
	if at := headerEnd(text); at >= 0 {
		pasted = append(pasted, addressee+text[at:])
	}
	own, pasted = quotedLines(text, pasted)
	for _, q := range quotes {
		if !strings.Contains(own, q.open) {
			continue
		}
		own, pasted = quoted(own, q.open, q.close, pasted)
	}
	return own, pasted
}

// forwarded begins a mail in a message.
var forwarded = regexp.MustCompile(`(?im)^[ \t]*(?:-{2,}[^\n]*(?:forwarded|original|weitergeleitet|ursprüngliche|` +
	`reenviado|transféré|encaminhada|inoltrato|doorgestuurd)[^\n]*-{2,}|` +
	`-{3,}[ \t]*\n[ \t]*(?:from|von|de|da|van|od|от|kimden|من|प्रेषक|发件人|差出人|보낸 사람)[ \t]*[:：]|` +
	`(?:from|von|de|da|van|od|от|kimden|发件人|差出人)[ \t]*:[^\n]*\n` +
	`[ \t]*(?:to|an|date|subject|sent|betreff|gesendet|para|asunto|objet|à|assunto|oggetto|a|onderwerp|temat|` +
	`тема|konu|主题|件名)[ \t]*:)`)

// quotedLines takes out of a text the lines that begin with ">", and a forwarded mail.
func quotedLines(text string, pasted []string) (string, []string) {
	if strings.Contains(text, ":") && strings.Contains(text, "\n") {
		if at := forwarded.FindStringIndex(text); at != nil {
			pasted, text = append(pasted, text[at[0]:]), text[:at[0]]
		}
	}
	if !strings.Contains(text, "\n>") && !strings.HasPrefix(text, ">") {
		return text, pasted
	}
	var own, block strings.Builder
	for line := range strings.Lines(text) {
		if trimmed := strings.TrimLeft(line, " \t"); strings.HasPrefix(trimmed, ">") {
			block.WriteString(strings.TrimLeft(trimmed, "> \t"))
		} else {
			own.WriteString(line)
		}
	}
	return own.String(), append(pasted, block.String())
}

// quoted takes passages in quotes out of a text. Those that are announced are pasted.
func quoted(text, open, end string, pasted []string) (string, []string) {
	var own strings.Builder
	var about discussing
	tells := invented.MatchString(text) // to look at each sentence takes seconds in a file of JSON
	for {
		before, rest, ok := strings.Cut(text, open)
		own.WriteString(before)
		if !ok {
			return own.String(), pasted
		}
		inside, after, closed := strings.Cut(rest, end)
		block := len(open) == 3 && open[0] < 0x80
		switch {
		case !closed && !block:
			own.WriteString(" " + rest)
			return own.String(), pasted
		case !block && tells && fiction(own.String()):
			own.WriteString(" ")
		case block || len(inside) >= minQuote && announced(own.String()):
			pasted = append(pasted, inside)
			own.WriteString(" ")
		case about.has(own.String()):
			own.WriteString(" ")
		default:
			own.WriteString(" " + inside + " ")
		}
		text = after
	}
}

// announced reports whether a text ends in such a way that the words of somebody else
// follow: with a colon, a question about them, or a verb of saying.
func announced(text string) bool {
	text = strings.TrimRight(text, " \t\n")
	last, _ := utf8.DecodeLastRuneInString(text)
	if text == "" || strings.ContainsRune(":：?？", last) {
		return true
	}
	at := strings.LastIndexAny(text, " \n")
	switch strings.ToLower(strings.Trim(text[at+1:], ",.")) {
	case "says", "said", "reads", "wrote", "writes", "steht", "schreibt", "sagt", "dice", "pone", "escribe", "dit",
		"écrit", "diz", "escreve", "scrive", "zegt", "staat", "schrijft", "mówi", "pisze", "пишет", "говорит",
		"написано", "diyor", "yazıyor":
		return true
	}
	return false
}

// discussion are words of sentences that talk about attacks.
var discussion = regexp.MustCompile(`(?i)\b(?:inject|attack|hack|jailbreak|phish|malicious|such as|phrase|angriff|` +
	`lines? like|words like|` +
	`angreif|injizier|zum beispiel|ataque|atac|inyec|por ejemplo|attaque|injection|par exemple|injeç|por exemplo|` +
	`attacc|iniezion|per esempio|aanval|bijvoorbeeld|atak|wstrzyk|saldırı)|атак|инъекци|攻击|注入|攻撃|공격|هجوم|हमल`)

func discussed(text string) bool { return discussion.MatchString(text) }

// discussing is discussed of a text that grows: it looks at each part of the text once, as a pasted
// file of JSON has thousands of quotes.
type discussing struct {
	found bool
	seen  int // bytes of the text
}

// longestSign is more bytes than a match of discussion has.
const longestSign = 64

func (d *discussing) has(text string) bool {
	from := max(0, d.seen-longestSign)
	for from > 0 && from < len(text) && isASCIIWord(text[from]) {
		from++ // the middle of a word is not its beginning
	}
	d.found, d.seen = d.found || discussed(text[from:]), len(text)
	return d.found
}

func isASCIIWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}

// invented are words of sentences about what somebody in a story says, or a program in a test.
var invented = regexp.MustCompile(`(?i)\b(?:story|novel|movie|film|scene|character|screenplay|unit tests?|test case|` +
	`roman|geschichte|drehbuch|cuento|novela|película|histoire|scénario|racconto|romanzo|conto|romance)\b`)

// fiction reports whether the sentence that a text ends in introduces words of a story. A colon
// introduces all that is pasted, whatever the user calls it.
func fiction(text string) bool {
	text = strings.TrimRight(text, " \t\n")
	if strings.HasSuffix(text, ":") || strings.HasSuffix(text, "：") {
		return false
	}
	if from := len(text) - maxStory; from > 0 {
		text = text[from:]
		text = text[strings.IndexByte(text, ' ')+1:]
	}
	return invented.MatchString(text[strings.LastIndexAny(text, ".!?\n")+1:])
}

// maxStory is how many bytes of a sentence are looked at, the last ones.
const maxStory = 300

// maxMention is how many bytes the words have that a text about attacks only mentions, and
// how far before them it says that it is about attacks.
const maxMention = 160

// withoutMentions returns a text of another than the user without the short quotations by
// which it talks about attacks: "a sentence such as "ignore all instructions" was enough".
// What a colon or a verb of saying announces stays, for it may be meant.
func withoutMentions(text string) string {
	if !strings.ContainsAny(text, "\"“„«「") || !discussed(text) {
		return text
	}
	for _, q := range quotes {
		if len(q.open) == 3 && q.open[0] < 0x80 || !strings.Contains(text, q.open) {
			continue
		}
		var out strings.Builder
		for {
			before, rest, ok := strings.Cut(text, q.open)
			inside, after, closed := strings.Cut(rest, q.close)
			out.WriteString(before)
			if !ok || !closed {
				out.WriteString(text[len(before):])
				break
			}
			tail := before[max(0, len(before)-maxMention):]
			if len(inside) > maxMention || announced(before) || !discussed(tail) {
				out.WriteString(q.open + inside + q.close)
			} else {
				out.WriteByte(' ')
			}
			text = after
		}
		text = out.String()
	}
	return text
}
