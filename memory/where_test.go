package memory

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func must(t *testing.T) func(v Value, err error) Value {
	return func(v Value, err error) Value {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// A tree that is made without the parser has the same bounds.
func TestValidateWhere(t *testing.T) {
	tea := Cmp{Field: FieldFact, Op: OpHas, Value: Text("tea")}
	deep := func(n int) (w Where) {
		w = tea
		for range n {
			w = Not{w}
		}
		return w
	}
	long := must(t)(Pattern(strings.Repeat("a", 900)))
	long.steps = MaxPatternSteps/2 + 1
	for _, w := range []Where{nil, And{}, Or{}, tea, deep(MaxWhereDepth), And(make([]Where, 0)), Or{tea, Not{tea}},
		Cmp{FieldMetadata, "k", OpLess, Text("b")}, Cmp{FieldValidTo, "", OpHas, Anything()},
		Cmp{FieldFact, "", OpMatches, long}} {
		if err := ValidateWhere(w); err != nil {
			t.Errorf("%v: %v", w, err)
		}
	}
	many := make(And, MaxWhereTerms+1)
	for i := range many {
		many[i] = tea
	}
	for want, w := range map[string]Where{
		"more than 100 levels":                   deep(MaxWhereDepth + 1),
		"more than 256 comparisons":              many,
		"the patterns take 2002 steps":           And{Cmp{FieldFact, "", OpMatches, long}, Cmp{FieldFact, "", OpMatches, long}},
		"a part is missing":                      Or{tea, nil},
		"no field \"\"":                          Cmp{},
		"no field \"colour\"":                    Cmp{Field: "colour", Op: OpEqual, Value: Text("red")},
		"fact has no keys":                       Cmp{FieldFact, "k", OpEqual, Text("red")},
		"a name of metadata":                     Cmp{FieldMetadata, "", OpEqual, Text("red")},
		"fact: invalid argument: = has no value": Cmp{Field: FieldFact, Op: OpEqual},
		"want =, !=, : or =~, not <":             Cmp{FieldFact, "", OpLess, Text("red")},
		"want :, not =":                          Cmp{FieldTopics, "", OpEqual, Text("red")},
		"= takes a time here":                    Cmp{FieldTimestamp, "", OpEqual, Text("red")},
		": takes * alone here":                   Cmp{FieldTimestamp, "", OpHas, Time(time.Now())},
		": takes a text here":                    Cmp{FieldFact, "", OpHas, Bool(true)},
		"=~ takes a pattern":                     Cmp{FieldFact, "", OpMatches, Text("red")},
		"= takes a pattern":                      Cmp{FieldFact, "", OpEqual, long},
		"< takes a text, a number":               Cmp{FieldMetadata, "k", OpLess, Bool(true)},
		"* stands behind":                        Cmp{FieldFact, "", OpEqual, Anything()},
		"not ==":                                 Cmp{FieldFact, "", "==", Text("red")},
		"none of \"fact\"":                       Cmp{FieldKind, "", OpNot, Text("red")},
		"takes UTF-8":                            Cmp{FieldFact, "", OpEqual, Text("\xff")},
	} {
		err := ValidateWhere(w)
		if !errors.Is(err, ErrInvalid) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%.100v: error %v, want %s", w, err, want)
		}
		f := Filter{Where: w}
		if f.Validate() == nil {
			t.Errorf("%.100v: the filter is valid", w)
		}
		f.Match(&Memory{Metadata: Metadata{"k": []byte(`1`)}}, time.Now()) // does not panic
	}
}

// A pattern that repeats much would take long on every character.
func TestPatternLimits(t *testing.T) {
	for _, expr := range []string{"(", `\C`, strings.Repeat("a", MaxPattern+1), strings.Repeat("a{1000}", 3), "(?:a{99}){99}"} {
		if _, err := Pattern(expr); !errors.Is(err, ErrInvalid) {
			t.Errorf("Pattern(%.40q): error %v, want ErrInvalid", expr, err)
		}
	}
	for _, expr := range []string{"", "a{1000}", strings.Repeat("a|", 500) + "b", `(?i)\bTEA\b`} {
		if _, err := Pattern(expr); err != nil {
			t.Errorf("Pattern(%.40q): %v", expr, err)
		}
	}
	for _, s := range []string{"", "1e999", "01", " 1", "1 ", "1,", "NaN", "0x1", "--1", "-"} {
		if _, err := Number(s); !errors.Is(err, ErrInvalid) {
			t.Errorf("Number(%q): error %v, want ErrInvalid", s, err)
		}
	}
}

// Conjuncts must hold of all that passes. If they are complete, they pass nothing else.
func TestConjuncts(t *testing.T) {
	a, b := Cmp{FieldID, "", OpEqual, Text("a")}, Cmp{FieldAuthor, "", OpNot, Text("b")}
	notA, isB := Cmp{FieldID, "", OpNot, Text("a")}, Cmp{FieldAuthor, "", OpEqual, Text("b")}
	has := Cmp{FieldFact, "", OpHas, Text("c")}
	for _, c := range []struct {
		where    Where
		want     []Cmp
		complete bool
	}{
		{nil, nil, true},
		{a, []Cmp{a}, true},
		{And{a, And{b}, Or{has}}, []Cmp{a, b, has}, true},
		{Or{a, b}, nil, false},
		{And{a, Or{a, b}}, []Cmp{a}, false},
		{Not{a}, []Cmp{notA}, true},
		{And{Not{b}, Not{has}}, []Cmp{isB}, false},
		{Not{And{a, b}}, nil, false},
		{Or{}, nil, false},
	} {
		got, complete := Conjuncts(c.where)
		if fmt.Sprint(got) != fmt.Sprint(c.want) || complete != c.complete {
			t.Errorf("Conjuncts(%v) = %v, %v, want %v, %v", c.where, got, complete, c.want, c.complete)
		}
	}
	for w, want := range map[Where]bool{
		Cmp{FieldKind, "", OpEqual, Text("turn")}: true, Cmp{FieldKind, "", OpNot, Text("fact")}: true,
		Cmp{FieldKind, "", OpEqual, Text("fact")}: false, Cmp{FieldKind, "", OpNot, Text("turn")}: false,
	} {
		f := Filter{Where: w}
		if f.LeavesOutFacts() != want {
			t.Errorf("%v leaves out facts: %v", w, !want)
		}
	}
}

// A filter of revisions compares their fields. A label that is not there equals nothing.
func TestRevisionFilter(t *testing.T) {
	r := Revision{Revision: 3, Action: Updated, Fact: "Tea.", Actor: "client", Operation: "op-1",
		CreateTime: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), Labels: Labels{"release": "7", "empty": ""}}
	at := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	three, _ := Number("3")
	pattern, _ := Pattern("^[0-9]$")
	for want, all := range map[bool][]Cmp{
		true: {
			{Field: FieldRevision, Op: OpEqual, Value: three}, {Field: FieldAction, Op: OpEqual, Value: Text("UPDATED")},
			{Field: FieldFact, Op: OpHas, Value: Text("tea")}, {Field: FieldCreateTime, Op: OpMore, Value: Time(at)},
			{Field: FieldActor, Op: OpNot, Value: Text("rules")}, {Field: FieldOperation, Op: OpEqual, Value: Text("op-1")},
			{Field: FieldLabels, Key: "release", Op: OpEqual, Value: Text("7")},
			{Field: FieldLabels, Key: "release", Op: OpMatches, Value: pattern},
			{Field: FieldLabels, Key: "empty", Op: OpHas, Value: Anything()},
			{Field: FieldLabels, Key: "none", Op: OpNot, Value: Text("7")},
		},
		false: {
			{Field: FieldLabels, Key: "none", Op: OpEqual, Value: Text("")},
			{Field: FieldLabels, Key: "none", Op: OpHas, Value: Anything()},
			{Field: FieldLabels, Key: "none", Op: OpHas, Value: Text("")},
			{Field: FieldLabels, Key: "release", Op: OpEqual, Value: Text("8")},
			{Field: FieldRevision, Op: OpLess, Value: three}, {Field: FieldKind, Op: OpEqual, Value: Text("fact")},
		},
	} {
		for _, c := range all {
			if got := r.Compare(c); got != want {
				t.Errorf("%s is %t", c, got)
			}
		}
	}
	if c := (Cmp{Field: FieldLabels, Key: "release", Op: OpEqual, Value: Text("7")}); ValidateWhere(c) == nil {
		t.Error("a memory has no labels")
	}
}
