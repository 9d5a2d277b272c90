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

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/memory"
)

// Sizes of the net, a convolutional network over words in their order (Y. Kim, 2014) with dilated layers (F. Yu and
// V. Koltun, 2016). A word is a vector of netWidth numbers: a projection of its vector in the built-in embedder, which
// is near for words of the same meaning in all languages, and one vector for each of its marks. The first layer looks
// at netReach words at a time, and each layer behind it at three, as far apart as dilations tells, and adds what it
// finds. Of each word comes one number: how much it and the words around it read like an order to an agent.
const (
	netWidth   = 64
	netReach   = 5
	netFilters = 96
	netTaps    = 3
	netHidden  = 32
	// NetMarks is how many marks of words there are: markIdea and so on tell which.
	NetMarks = 112
)

// dilations are how far apart the words are that a layer behind the first looks at.
var dilations = [...]int{2, 4, 8}

// netContext is how many words before and behind a word its number depends on.
const netContext = netReach/2 + 2 + 4 + 8

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
	_                           // unused
	markFirst                   // the first of its text
	markLast                    // and the last one
)

// netFile has the weights of the net as float32 in little endian, in the order of the fields of net.
//
//go:embed net.bin
var netFile string

// net has the weights of the network, each a matrix by rows.
type net struct {
	project []float32 // dimension of the embedder by netWidth
	marks   []float32 // NetMarks by netWidth
	agent   []float32 // netWidth, of each word that an agent wrote
	base    []float32 // netWidth, of each word
	first   layer
	deeper  [len(dilations)]layer
	hidden  []float32 // netFilters by netHidden
	rests   []float32 // netHidden, biases of the hidden layer
	out     []float32 // netHidden, and a bias
	// rows has rows of the embedder as vectors of the net, made when they are first needed. Several goroutines use it:
	// a row that two of them make at a time is the same.
	rows []atomic.Pointer[projection]
}

// layer is a layer of filters.
type layer struct {
	weights []float32 // taps by the numbers of a word by netFilters
	biases  []float32 // netFilters
}

// projection is a row of the embedder.
type projection struct {
	vector [netWidth]float32
	length float32
}

// embedded is the dimension of the built-in embedder.
const embedded = 256

// theNet reads the weights. It is nil if the file has another size.
var theNet = sync.OnceValue(func() *net {
	n, rest, short := &net{}, netFile, false
	take := func(size int) []float32 {
		if short = short || len(rest) < 4*size; short {
			return nil
		}
		out := make([]float32, size)
		for i := range out {
			out[i] = math.Float32frombits(binary.LittleEndian.Uint32([]byte(rest[4*i : 4*i+4])))
		}
		rest = rest[4*size:]
		return out
	}
	n.project, n.marks = take(embedded*netWidth), take(NetMarks*netWidth)
	n.agent, n.base = take(netWidth), take(netWidth)
	n.first = layer{take(netReach * netWidth * netFilters), take(netFilters)}
	for i := range n.deeper {
		n.deeper[i] = layer{take(netTaps * netFilters * netFilters), take(netFilters)}
	}
	n.hidden, n.rests, n.out = take(netFilters*netHidden), take(netHidden), take(netHidden+1)
	if short || rest != "" {
		return nil
	}
	n.rows = make([]atomic.Pointer[projection], embed.Builtin{}.NumRows())
	return n
})

// row is a row of the embedder as the net sees it.
func (n *net) row(at int) *projection {
	if p := n.rows[at].Load(); p != nil {
		return p
	}
	var vector [embedded]float32
	p := &projection{length: embed.Builtin{}.Row(at, vector[:])}
	for i, x := range vector {
		addScaled(p.vector[:], n.project[i*netWidth:][:netWidth], x)
	}
	n.rows[at].Store(p)
	return p
}

// addScaled adds x times some numbers.
func addScaled(sum, numbers []float32, x float32) {
	numbers = numbers[:len(sum)]
	for i := range sum {
		sum[i] += numbers[i] * x
	}
}

// passage is a text as the net reads it. It is made for each text of others, and read only where a window of it is
// asked about: most never are.
type passage struct {
	text, folded string
	words        []word
	agent        bool     // an agent wrote it
	spell        []string // the words as the text has them, with the accents that the embedder needs
	reader       *embed.Reader
	// scores are those of the words, by chunks of chunkWords, once a window of the chunk is asked about.
	scores [][]float32
}

// chunkWords is how many words the net reads at a time, with those around them that they depend on.
const chunkWords = 128

// newPassage prepares the words of a text for the net.
func newPassage(text, folded string, words []word, from memory.Trust) *passage {
	return &passage{text: text, folded: folded, words: words, agent: from == memory.TrustAgent,
		scores: make([][]float32, (len(words)+chunkWords-1)/chunkWords)}
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
		if isPlain(run) {
			run = plainSpaces.Replace(run)
		}
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

// plainSpaces writes the white space of ASCII text as fold writes it in a text that has other characters too.
var plainSpaces = strings.NewReplacer("\t", " ", "\v", " ", "\f", " ", "\r", " ")

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

// maxRows is how many rows of a word the net looks at, as it did when it learned. A word in English has one or two, one
// in a language of long words or without spaces many.
const maxRows = 3

// vector adds to out the word at i as the net sees it.
func (n *net) vector(p *passage, i int, out []float32) {
	total, rows := float32(0), 0
	p.rows(i, func(row int, weight float32) {
		one := n.row(row)
		total += weight * one.length
		if rows++; rows <= maxRows {
			addScaled(out, one.vector[:], weight*one.length)
		}
	})
	if total > 0 {
		for j := range out {
			out[j] /= total
		}
	} else {
		addScaled(out, n.marks[markUnknown*netWidth:][:netWidth], 1)
	}
	p.marks(i, func(mark int) { addScaled(out, n.marks[mark*netWidth:][:netWidth], 1) })
	addScaled(out, n.base, 1)
	if p.agent {
		addScaled(out, n.agent, 1)
	}
}

// margin is how many rows of zeros stand before and behind the words in a table that a layer reads: as many as the
// widest layer looks beyond a word. Beyond the ends of a text there is nothing.
const margin = 8

// table is numbers of some words, a row each, between two margins.
type table struct {
	rows, columns int
	numbers       []float32
}

func newTable(rows, columns int) *table {
	return &table{rows, columns, make([]float32, (rows+2*margin)*columns)}
}

// from returns the numbers from a row on, which may be in a margin.
func (t *table) from(row int) []float32 { return t.numbers[(margin+row)*t.columns:] }

// through returns what a layer finds in the rows of t: the sums of its taps, and 0 for those below 0.
func (l *layer) through(t *table, dilation int) *table {
	out := newTable(t.rows, netFilters)
	for i := range t.rows {
		copy(out.from(i), l.biases)
	}
	taps := len(l.weights) / (t.columns * netFilters)
	for k := range taps {
		looked, tap := t.from((k-taps/2)*dilation), l.weights[k*t.columns*netFilters:]
		multiply(looked, tap, out.from(0), t.rows, t.columns, netFilters)
	}
	for i, x := range out.numbers {
		out.numbers[i] = max(x, 0)
	}
	return out
}

// multiply adds to out, of rows by columns, the product of a, of rows by inner, and b, of inner by columns.
func multiply(a, b, out []float32, rows, inner, columns int) {
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1,
		blas32.General{Rows: rows, Cols: inner, Stride: inner, Data: a},
		blas32.General{Rows: inner, Cols: columns, Stride: columns, Data: b}, 1,
		blas32.General{Rows: rows, Cols: columns, Stride: columns, Data: out})
}

// read returns the scores of the words in [from, to).
func (n *net) read(p *passage, from, to int) []float32 {
	begin, end := max(0, from-netContext), min(len(p.words), to+netContext)
	words := newTable(end-begin, netWidth)
	for i := range words.rows {
		n.vector(p, begin+i, words.from(i)[:netWidth])
	}
	found := n.first.through(words, 1)
	for i := range n.deeper {
		more := n.deeper[i].through(found, dilations[i])
		blas32.Axpy(1, blas32.Vector{N: len(more.numbers), Inc: 1, Data: more.numbers},
			blas32.Vector{N: len(more.numbers), Inc: 1, Data: found.numbers})
	}
	hidden := make([]float32, found.rows*netHidden)
	for i := range found.rows {
		copy(hidden[i*netHidden:], n.rests)
	}
	multiply(found.from(0), n.hidden, hidden, found.rows, netFilters, netHidden)
	scores := make([]float32, to-from)
	for i := range scores {
		scores[i] = n.out[netHidden]
		for j, x := range hidden[(from-begin+i)*netHidden:][:netHidden] {
			scores[i] += max(x, 0) * n.out[j]
		}
	}
	return scores
}

// score is how the net sees the words in [from, to) of a text: the more above 0, the more one of them reads like a part
// of an order to the agent.
func (n *net) score(p *passage, from, to int) float64 {
	best := float32(math.Inf(-1))
	for chunk := from / chunkWords; chunk*chunkWords < to; chunk++ {
		begin := chunk * chunkWords
		end := min(len(p.words), begin+chunkWords)
		if p.scores[chunk] == nil {
			p.scores[chunk] = n.read(p, begin, end)
		}
		for i := max(from, begin); i < min(to, end); i++ {
			best = max(best, p.scores[chunk][i-begin])
		}
	}
	return float64(best)
}

// NetWord is a word as the net reads it, for the program that learns its weights: up to maxRows rows of the embedder,
// with their shares of all rows of the word, and marks.
type NetWord struct {
	Rows   []int32
	Shares []float32
	Marks  []uint8
}

// NetWords are the words of a text as the net reads them.
func NetWords(text string, from memory.Trust) []NetWord {
	folded := fold(text)
	p := newPassage(text, folded, wordsOf(folded), from)
	out := make([]NetWord, len(p.words))
	row := make([]float32, embedded)
	for i := range p.words {
		w := &out[i]
		total := float32(0)
		p.rows(i, func(at int, weight float32) {
			length := embed.Builtin{}.Row(at, row)
			total += weight * length
			if len(w.Rows) < maxRows {
				w.Rows, w.Shares = append(w.Rows, int32(at)), append(w.Shares, weight*length)
			}
		})
		for j := range w.Shares {
			w.Shares[j] /= total
		}
		if total == 0 {
			*w = NetWord{Marks: []uint8{markUnknown}}
		}
		p.marks(i, func(mark int) { w.Marks = append(w.Marks, uint8(mark)) })
	}
	return out
}
