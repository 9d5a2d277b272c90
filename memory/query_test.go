package memory

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestParseOrder(t *testing.T) {
	for s, want := range map[string]Order{
		"":                   {Field: "timestamp"},
		"  ":                 {Field: "timestamp"},
		"timestamp":          {Field: "timestamp"},
		"timestamp asc":      {Field: "timestamp", Ascending: true},
		"createTime":         {Field: "createTime"},
		"createTime desc":    {Field: "createTime"},
		"createTime ASC":     {Field: "createTime", Ascending: true},
		" updateTime   asc ": {Field: "updateTime", Ascending: true},
		"updateTime Desc":    {Field: "updateTime"},
	} {
		if got, err := ParseOrder(s); err != nil || got != want {
			t.Errorf("ParseOrder(%q) = %+v, %v, want %+v", s, got, err, want)
		}
	}
	for _, s := range []string{"asc", "desc", "fact", "createtime", "create_time", "timestamp up", "timestamp asc desc",
		"timestamp,createTime", "timestamp asc, id"} {
		if _, err := ParseOrder(s); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), s) {
			t.Errorf("ParseOrder(%q) gives error %v, want ErrInvalid that quotes it", s, err)
		}
	}
}

func TestTermsLength(t *testing.T) {
	for _, c := range []struct {
		terms Terms
		want  int
	}{{nil, 0}, {Terms{}, 0}, {Terms{"tea": 1}, 1}, {Terms{"tea": 3, "milk": 2}, 5}} {
		if got := c.terms.Length(); got != c.want {
			t.Errorf("%v has length %d, want %d", c.terms, got, c.want)
		}
	}
}

// near compares with numbers computed elsewhere to nine digits.
func near(a, b float64) bool { return math.Abs(a-b) < 1e-8 }

func TestIDF(t *testing.T) {
	for _, c := range []struct {
		docs, df int
		want     float64
	}{
		{100, 5, 2.910372425},   // ln(1 + 95.5/5.5) = ln(202/11)
		{5, 5, 2.910372425},     // as of 100
		{0, 0, 5.308267697},     // ln(1 + 100.5/0.5) = ln(202)
		{1000, 0, 7.601901960},  // ln(1 + 1000.5/0.5) = ln(2002)
		{101, 101, 0.004914014}, // ln(1 + 0.5/101.5) = ln(204/203)
	} {
		if got := IDF(c.docs, c.df); !near(got, c.want) {
			t.Errorf("IDF(%d, %d) = %.9f, want %.9f", c.docs, c.df, got, c.want)
		}
	}
}

func TestSaturate(t *testing.T) {
	for _, c := range []struct {
		freq, length, want float64
	}{
		{0, 20, 0},
		{1, 20, 1},           // 2.2 / (1 + 1.2)
		{2, 20, 1.375},       // 4.4 / (2 + 1.2)
		{1, 10, 1.257142857}, // 2.2 / (1 + 1.2*(0.25 + 0.375)) = 2.2 / 1.75
		{3, 40, 1.294117647}, // 6.6 / (3 + 1.2*1.75) = 6.6 / 5.1
		{1000, 20, 2.197363164},
	} {
		if got := Saturate(c.freq, c.length); !near(got, c.want) {
			t.Errorf("Saturate(%v, %v) = %.9f, want %.9f", c.freq, c.length, got, c.want)
		}
	}
	for freq := 1.0; freq < 50; freq++ {
		if Saturate(freq, 20) <= Saturate(freq-1, 20) || Saturate(freq, 21) >= Saturate(freq, 20) ||
			Saturate(freq, 1) >= BM25K1+1 {
			t.Errorf("Saturate does not grow with freq %v, fall with the length, or stay below its bound", freq)
		}
	}
}

func TestLexicalScore(t *testing.T) {
	s := Stats{Docs: 100, DF: []int{5, 50, 0}}
	for _, c := range []struct {
		freqs  []int
		length int
		want   float64
	}{
		{[]int{0, 0, 0}, 10, 0},
		{[]int{1, 0, 0}, 20, 2.910372425},
		// ln(202/11) * 1.375 + ln(2) * 1, as 50 of 100 have the second term.
		{[]int{2, 1, 0}, 20, 4.694909264},
		{nil, 10, 0},
	} {
		if got := LexicalScore(s, c.freqs, c.length); !near(got, c.want) {
			t.Errorf("LexicalScore(%v, %d) = %.9f, want %.9f", c.freqs, c.length, got, c.want)
		}
	}
}
