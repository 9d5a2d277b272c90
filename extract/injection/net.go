package injection

import (
	_ "embed"
	"encoding/binary"
	"math"
	"math/bits"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/memory"
)

// Sizes of the net, a small convolutional network (Y. Kim, 2014) that reads words in their order. A word is a
// vector of NetWidth numbers: a projection of its vector in the built-in embedder, which is near for words of the
// same meaning in all languages, and one vector for each of its marks. Each filter looks at NetReach words at a
// time, and the highest value of each in a window counts, wherever it stands.
const (
	NetWidth   = 24
	NetReach   = 5
	NetFilters = 48
	NetHidden  = 16
	// NetInputs of the hidden layer are the filters, whether the window speaks to a model, and whether an agent wrote
	// it.
	NetInputs = NetFilters + 2
	// NetMarks is how many marks of words there are: markIdea and so on tell which.
	NetMarks = 112
)

// The marks of a word: its class, the bits of which come first, its ideas, and where it stands.
const (
	markIdea    = 64
	markComma   = 96 + iota - 1 // before it
	markStop                    // before it
	markLine                    // before it
	markColon                   // behind it, and so on
	markAsks                    // ?
	markShouts                  // !
	markEnds                    // another mark
	markNumber                  // it has a digit
	markUnknown                 // the embedder does not know it
	markTag                     // its sentence begins behind signs such as <!-- or //
	markFirst                   // the first of its text
	markLast                    // and the last one
)

// netFile has the weights of the net as float32 in little endian, in the order of the fields of Net.
//
//go:embed net.bin
var netFile string

// Net has the weights of the network, each a matrix by rows.
type Net struct {
	Project []float32 // dimension of the embedder by NetWidth
	Marks   []float32 // NetMarks by NetWidth
	Filters []float32 // NetReach by NetWidth by NetFilters
	Biases  []float32 // NetFilters
	Hidden  []float32 // NetInputs by NetHidden
	Rests   []float32 // NetHidden, biases of the hidden layer
	Out     []float32 // NetHidden, and a bias
}

// embedded is the dimension of the built-in embedder.
const embedded = 256

// NewNet returns a net with all weights 0.
func NewNet() *Net {
	return &Net{
		Project: make([]float32, embedded*NetWidth), Marks: make([]float32, NetMarks*NetWidth),
		Filters: make([]float32, NetReach*NetWidth*NetFilters), Biases: make([]float32, NetFilters),
		Hidden: make([]float32, NetInputs*NetHidden), Rests: make([]float32, NetHidden),
		Out: make([]float32, NetHidden+1),
	}
}

// All are the weights, matrix by matrix.
func (n *Net) All() [][]float32 {
	return [][]float32{n.Project, n.Marks, n.Filters, n.Biases, n.Hidden, n.Rests, n.Out}
}

// reader is the net with what it has read of the embedder. Several goroutines use it: a row that two of them make
// at a time is the same.
type reader struct {
	*Net
	// projected has rows of the embedder as vectors of the net, made when they are first needed.
	projected []atomic.Pointer[projection]
}

// projection is a row of the embedder.
type projection struct {
	vector [NetWidth]float32
	length float32
}

// theNet reads the weights. It is nil if the file has another size.
var theNet = sync.OnceValue(func() *reader {
	n, rest := NewNet(), netFile
	for _, matrix := range n.All() {
		if len(rest) < 4*len(matrix) {
			return nil
		}
		for i := range matrix {
			matrix[i] = math.Float32frombits(binary.LittleEndian.Uint32([]byte(rest[4*i : 4*i+4])))
		}
		rest = rest[4*len(matrix):]
	}
	return &reader{Net: n, projected: make([]atomic.Pointer[projection], embed.Builtin{}.NumRows())}
})

// row is a row of the embedder as the net sees it.
func (r *reader) row(at int) *projection {
	if p := r.projected[at].Load(); p != nil {
		return p
	}
	var vector [embedded]float32
	p := &projection{length: embed.Builtin{}.Row(at, vector[:])}
	for i, x := range vector {
		addScaled(p.vector[:], r.Project[i*NetWidth:][:NetWidth], x)
	}
	r.projected[at].Store(p)
	return p
}

// addScaled adds x times some numbers. The conversion keeps a processor from fusing both operations, so that the
// score is the same on every machine.
func addScaled(sum, numbers []float32, x float32) {
	numbers = numbers[:len(sum)]
	for i := range sum {
		sum[i] += float32(numbers[i] * x)
	}
}

// passage is a text as the net reads it. It is made for each text of others, and read only when a window of it is
// asked about: most never are.
type passage struct {
	text, folded string
	words        []word
	spell        []string // the words as the text has them, with the accents that the embedder needs
	reader       *embed.Reader
	// spans are the last two sentences, which windows are in.
	spans [2]span
}

// span is a sentence, and the values of the filters at each of its words once they are known.
type span struct {
	from, to int
	values   []float32
}

// next begins a sentence. The memory of the last but one is used again, so a long text needs room for its two longest
// sentences.
func (p *passage) next(from, to int) {
	if p != nil {
		p.spans[0], p.spans[1] = p.spans[1], span{from: from, to: to, values: p.spans[0].values[:0]}
	}
}

// newPassage prepares the words of a text for the net.
func newPassage(text, folded string, words []word) *passage {
	return &passage{text: text, folded: folded, words: words}
}

// unfolded are words as a text has them, and not as it is folded. Of a run of text in which there are more words,
// or fewer, than before it was folded the words are the folded ones.
func unfolded(text, folded string, words []word) []string {
	out := make([]string, len(words))
	for i := range words {
		out[i] = words[i].text
		if first := words[i].text; first != "" && isUnspacedWord(&words[i]) {
			end := len(folded)
			if i+1 < len(words) {
				end = words[i+1].at
			}
			run := folded[words[i].at:end]
			out[i] = run[:unspacedEnd(run)]
		}
	}
	if isPlain(text) {
		return out
	}
	at, i := 0, 0
	for len(text) > 0 && i < len(words) {
		end := strings.IndexFunc(text, unicode.IsSpace)
		if end < 0 {
			end = len(text)
		} else {
			end += len(text[end:]) - len(strings.TrimLeftFunc(text[end:], unicode.IsSpace))
		}
		run := fold(text[:end])
		if !strings.HasPrefix(folded[at:], run) {
			return out
		}
		at += len(run)
		first := i
		for i < len(words) && words[i].at < at {
			i++
		}
		own := strings.FieldsFunc(text[:end], func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
		})
		if len(own) == i-first && !isPlain(text[:end]) {
			for j, w := range own {
				if !isUnspacedWord(&words[first+j]) {
					out[first+j] = w
				}
			}
		}
		text = text[end:]
	}
	return out
}

// marks calls do with each mark of the word at i.
func (p *passage) marks(i int, do func(mark int)) {
	w := &p.words[i]
	for c := w.class; c != 0; c &= c - 1 {
		do(bits.TrailingZeros64(uint64(c)))
	}
	for c := w.ideas; c != 0; c &= c - 1 {
		do(markIdea + bits.TrailingZeros64(uint64(c)))
	}
	switch w.starts {
	case ',':
		do(markComma)
	case '.':
		do(markStop)
	case '\n':
		do(markLine)
	}
	switch w.ends {
	case 0:
	case ':', '：':
		do(markColon)
	case '?', '？', '؟':
		do(markAsks)
	case '!', '！':
		do(markShouts)
	default:
		do(markEnds)
	}
	if strings.ContainsAny(w.text, "0123456789") {
		do(markNumber)
	}
	if i == 0 {
		do(markFirst)
	}
	if i == len(p.words)-1 {
		do(markLast)
	}
}

// rows calls found with the rows of the embedder that the word at i has.
func (p *passage) rows(i int, found func(row int, weight float32)) {
	if p.reader == nil { // most texts are judged without the net
		p.spell, p.reader = unfolded(p.text, p.folded, p.words), embed.Builtin{}.Reader(p.text)
	}
	p.reader.Rows(p.spell[i], found)
}

// vector is the word at i as the net sees it. Beyond the ends of a text there is nothing.
func (r *reader) vector(p *passage, i int) (out [NetWidth]float32) {
	if i < 0 || i >= len(p.words) {
		return out
	}
	total := float32(0)
	p.rows(i, func(row int, weight float32) {
		one := r.row(row)
		total += float32(weight * one.length)
		addScaled(out[:], one.vector[:], float32(weight*one.length))
	})
	if total > 0 {
		for j := range out {
			out[j] /= total
		}
	} else {
		addScaled(out[:], r.Marks[markUnknown*NetWidth:][:NetWidth], 1)
	}
	p.marks(i, func(mark int) { addScaled(out[:], r.Marks[mark*NetWidth:][:NetWidth], 1) })
	return out
}

// values are those of the filters at each word of a span, each with the two words before and behind it, also of the
// sentences around. They are made once, for all windows in the span.
func (r *reader) values(p *passage, s *span) []float32 {
	if len(s.values) > 0 {
		return s.values
	}
	var around [NetReach][NetWidth]float32
	const half = NetReach / 2
	for k := range NetReach - 1 {
		around[k+1] = r.vector(p, s.from-half+k)
	}
	for i := s.from; i < s.to; i++ {
		copy(around[:], around[1:])
		around[NetReach-1] = r.vector(p, i+half)
		at := len(s.values)
		s.values = append(s.values, r.Biases...)
		for k := range around {
			for d, x := range around[k] {
				if x != 0 {
					addScaled(s.values[at:], r.Filters[(k*NetWidth+d)*NetFilters:][:NetFilters], x)
				}
			}
		}
	}
	return s.values
}

// score is how the net sees the words in [from, to) of the last two sentences: the more above 0, the more they read
// like an order to the agent.
func (r *reader) score(p *passage, from, to int, addressed, agent bool) float64 {
	var in [NetInputs]float32
	for k := range p.spans {
		s := &p.spans[k]
		a, b := max(from, s.from), min(to, s.to)
		if a >= b {
			continue
		}
		values := r.values(p, s)
		for at := (a - s.from) * NetFilters; at < (b-s.from)*NetFilters; at += NetFilters {
			for f, x := range values[at : at+NetFilters] {
				in[f] = max(in[f], x)
			}
		}
	}
	if addressed {
		in[NetFilters] = 1
	}
	if agent {
		in[NetFilters+1] = 1
	}
	hidden := [NetHidden]float32(r.Rests)
	for i, x := range in {
		if x != 0 {
			addScaled(hidden[:], r.Hidden[i*NetHidden:][:NetHidden], x)
		}
	}
	sum := r.Out[NetHidden]
	for i, x := range hidden {
		if x > 0 {
			sum += float32(x * r.Out[i])
		}
	}
	return float64(sum)
}

// Reading is a text as the net reads it, for the program that learns its weights. It has the same words, rows and
// marks that score goes through.
type Reading struct {
	Words   []NetWord
	Windows []NetWindow
}

// NetWord is a word: rows of the embedder, whose shares add up to 1, and marks.
type NetWord struct {
	Rows   []int32
	Shares []float32
	Marks  []uint8
}

// NetWindow is a window of the words [From, To).
type NetWindow struct {
	From, To  int
	Addressed bool // it speaks to a model, or a sentence shortly before it does
}

// Read reads a text as the net does.
func Read(text string, from memory.Trust) (out Reading) {
	var last *passage
	sentences(text, from, func(s *sentence, _ string) bool {
		last = s.of
		out.Windows = append(out.Windows, NetWindow{s.first, s.first + len(s.words), s.addressed})
		return true
	})
	if last == nil {
		return out
	}
	row := make([]float32, embedded)
	for i := range last.words {
		var w NetWord
		total := float32(0)
		last.rows(i, func(at int, weight float32) {
			length := embed.Builtin{}.Row(at, row)
			w.Rows, w.Shares = append(w.Rows, int32(at)), append(w.Shares, weight*length)
			total += weight * length
		})
		for j := range w.Shares {
			w.Shares[j] /= total
		}
		if total == 0 {
			w.Marks = append(w.Marks, markUnknown)
			w.Rows, w.Shares = nil, nil
		}
		last.marks(i, func(mark int) { w.Marks = append(w.Marks, uint8(mark)) })
		out.Words = append(out.Words, w)
	}
	return out
}
