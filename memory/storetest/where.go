package storetest

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// whereCases check that expressions are what [memory.Filter.Match] says of them, in
// lists and in both lists of a search, and that they are checked before the limit. The
// random calls of the Model group have expressions too.
func whereCases() []testCase {
	cases := []testCase{
		{"Fields", whereFields},
		{"Metadata", whereMetadata},
		{"Moments", whereMoments},
		{"BeforeTheLimit", whereBeforeLimit},
		{"Pages", wherePages},
		{"WithOtherFields", whereWithOthers},
	}
	for seed := range uint64(4) {
		cases = append(cases, testCase{fmt.Sprint("Random", seed), func(b *bank) { whereRandom(b, seed) }})
	}
	return cases
}

// is compares a field with a value.
func is(field string, op memory.Op, v memory.Value) memory.Cmp {
	return memory.Cmp{Field: field, Op: op, Value: v}
}

// has compares metadata with a value.
func has(key string, op memory.Op, v memory.Value) memory.Cmp {
	return memory.Cmp{Field: memory.FieldMetadata, Key: key, Op: op, Value: v}
}

// number is a number to compare with.
func number(literal string) memory.Value {
	v, err := memory.Number(literal)
	if err != nil {
		panic(err)
	}
	return v
}

// pattern is a pattern to compare with.
func pattern(expr string) memory.Value {
	v, err := memory.Pattern(expr)
	if err != nil {
		panic(err)
	}
	return v
}

// where checks which memories an expression passes; see passes.
func (b *bank) where(w memory.Where, want ...string) {
	b.Helper()
	b.passes(memory.Filter{Where: w}, want...)
}

// Each field is compared by its operators. A time that a memory lacks equals nothing.
func whereFields(b *bank) {
	a, c, d := fact("a", "Green TEA, a hot tea"), fact("c", "tea"), turn("d", "s1", 5, "a cup of tea")
	a.Author, a.Topics, a.Source.SessionID = "Ann", []string{"food", "home"}, "s1"
	c.Author, c.Topics, c.ValidTo, c.SupersededBy = "Bob", []string{"work"}, at(100), "a"
	c.ValidFrom, c.ExpireTime = at(-100), at(500)
	for _, m := range []memory.Memory{a, c, d} {
		b.clock.advance(time.Minute) // a is created at 1, c at 2, d at 3
		b.put(embedded(m, axis(0)))
	}
	text, when := memory.Text, func(minute int) memory.Value { return memory.Time(at(minute)) }
	for _, x := range []struct {
		where memory.Where
		want  []string
	}{
		{nil, []string{"a", "c", "d"}},
		{memory.And{}, []string{"a", "c", "d"}},
		{memory.Or{}, nil},
		{memory.Not{Where: memory.Or{}}, []string{"a", "c", "d"}},
		{is("id", "=", text("c")), []string{"c"}},
		{is("id", "!=", text("c")), []string{"a", "d"}},
		{is("userId", "=", text("ann")), []string{"a", "c", "d"}},
		{is("userId", "!=", text("ann")), nil},
		{is("userId", "=~", pattern("^~|nn")), []string{"a", "c", "d"}},
		{is("fact", "=", text("tea")), []string{"c"}},
		{is("fact", ":", text("green tea")), []string{"a"}},
		{is("fact", "=~", pattern("^a? ?[a-z]*")), []string{"a", "c", "d"}},
		{is("fact", "=~", pattern("(cup|hot)")), []string{"a", "d"}},
		{is("kind", "=", text("turn")), []string{"d"}},
		{is("kind", "!=", text("turn")), []string{"a", "c"}},
		{is("author", "=", text("Ann")), []string{"a"}},
		{is("author", "=", text("ann")), nil},
		{is("author", "=", text("")), []string{"d"}},
		{is("author", ":", memory.Anything()), []string{"a", "c"}},
		{is("topics", ":", text("food")), []string{"a"}},
		{is("topics", ":", text("foo")), nil},
		{is("topics", ":", memory.Anything()), []string{"a", "c"}},
		{memory.Not{Where: is("topics", ":", text("food"))}, []string{"c", "d"}},
		{is("timestamp", ">", when(0)), []string{"d"}},
		{is("timestamp", ">=", when(5)), []string{"d"}},
		{is("timestamp", "=", when(5)), []string{"d"}},
		{is("timestamp", "!=", when(5)), []string{"a", "c"}},
		{is("timestamp", "<=", when(4)), []string{"a", "c"}},
		{is("createTime", "<", when(2)), []string{"a"}},
		{is("updateTime", ">=", when(2)), []string{"c", "d"}},
		{is("validTo", "<", when(200)), []string{"c"}},
		{is("validTo", ">", when(200)), nil},
		{is("validTo", "!=", when(100)), []string{"a", "d"}},
		{is("validTo", "!=", when(101)), []string{"a", "c", "d"}},
		{is("validFrom", "<", when(0)), []string{"c"}},
		{is("expireTime", "=", when(500)), []string{"c"}},
		{memory.Not{Where: is("expireTime", ":", memory.Anything())}, []string{"a", "d"}},
		{is("supersededBy", "=", text("a")), []string{"c"}},
		{is("supersededBy", "!=", text("a")), []string{"a", "d"}},
		{is("supersededBy", "=", text("")), []string{"a", "d"}},
		{is("source.sessionId", "=", text("s1")), []string{"a", "d"}},
		{memory.And{is("source.sessionId", "=", text("s1")), is("kind", "=", text("fact"))}, []string{"a"}},
		{memory.Or{is("source.sessionId", "=", text("s2")), is("fact", ":", text("cup")), is("id", "=", text("c"))},
			[]string{"c", "d"}},
		{memory.And{is("id", "!=", text("a")), memory.Or{is("author", "=", text("Bob"))}}, []string{"c"}},
	} {
		b.where(x.where, x.want...)
	}
}

// Metadata is compared by the type of the value: a text is no number, and "1" is not 1.
// Numbers are equal however they are written, times wherever they were written, and what
// is missing equals nothing.
func whereMetadata(b *bank) {
	text := memory.Text
	noon := memory.Time(start)
	for i, v := range []string{
		`1`, `1.0`, `2`, `"1"`, `"go"`, `"\u0067o"`, `true`, `null`, `["go",2,true]`, `{"go":1}`,
		`9007199254740993`, `9007199254740992`, `"2026-03-01T12:00:00Z"`, `"2026-03-01T13:00:00+01:00"`, `-0`, ` 1e400`,
		`{"timestampValue":"2026-03-01T14:00:00+01:00"}`,
	} {
		m := fact(fmt.Sprintf("m%02d", i), "tea")
		m.Metadata = memory.Metadata{"k": []byte(v)}
		b.put(embedded(m, axis(0)))
	}
	b.put(embedded(fact("none", "tea"), axis(0)))
	name := func(some ...int) (out []string) {
		for _, i := range some {
			out = append(out, fmt.Sprintf("m%02d", i))
		}
		return out
	}
	for _, x := range []struct {
		where memory.Where
		want  []string
	}{
		{has("k", "=", number("1")), name(0, 1)},
		{has("k", "=", number("1.00")), name(0, 1)},
		{has("k", "=", text("1")), name(3)},
		{has("k", ">", number("1")), name(2, 10, 11, 15)},
		{has("k", "<=", number("1")), name(0, 1, 14)},
		{has("k", "=", number("0")), name(14)},
		{has("k", "=", number("9007199254740993")), name(10)},
		{has("k", ">", number("9007199254740992")), name(10, 15)},
		{has("k", "=", text("go")), name(4, 5)},
		{has("k", ":", text("G")), name(4, 5)},
		{has("k", ":", text("go")), name(4, 5, 8)},
		{has("k", ":", number("2")), name(2, 8)},
		{has("k", "<", text("go")), name(3, 12, 13)},
		{has("k", "=~", pattern("^.o$")), name(4, 5)},
		{has("k", "=", memory.Bool(true)), name(6)},
		{has("k", ":", memory.Bool(true)), name(6, 8)},
		{has("k", "=", memory.Bool(false)), nil},
		{has("k", "=", noon), name(12, 13)},
		{has("k", ">=", noon), name(12, 13, 16)},
		{has("k", ":", memory.Time(start.Add(time.Hour))), name(16)},
		{has("k", ":", text("14:00")), nil},
		{has("k", "<", noon), nil},
		{has("k", ":", memory.Anything()), name(0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16)},
		{memory.And{has("k", ":", memory.Anything()), has("k", "!=", text("go"))},
			name(0, 1, 2, 3, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16)},
		{memory.And{memory.Not{Where: has("k", "<", number("1e300"))}, has("k", "!=", text("1"))},
			append(name(4, 5, 6, 7, 8, 9, 12, 13, 15, 16), "none")},
		{has("K", "=", number("1")), nil},
	} {
		b.where(x.where, x.want...)
	}
}

// Times are compared exactly, also with those between two microseconds.
func whereMoments(b *bank) {
	m := fact("m", "tea")
	m.Timestamp = start.Add(5 * time.Microsecond)
	b.put(embedded(m, axis(0)))
	for _, x := range []struct {
		op    memory.Op
		nanos int
		want  bool
	}{
		{"=", 5000, true}, {"=", 5001, false}, {"!=", 5001, true}, {"!=", 5000, false},
		{"<", 5000, false}, {"<", 5001, true}, {"<=", 5000, true}, {"<=", 4999, false}, {"<=", 5999, true},
		{">", 5000, false}, {">", 4999, true}, {">=", 5000, true}, {">=", 5001, false}, {">=", 4001, true},
	} {
		var want []string
		if x.want {
			want = []string{"m"}
		}
		b.where(is("timestamp", x.op, memory.Time(start.Add(time.Duration(x.nanos)))), want...)
	}
}

// A search finds what passes an expression however many better memories do not, also
// where a store cannot narrow by the expression itself.
func whereBeforeLimit(b *bank) {
	var writes []memory.Write
	for i := range 300 {
		m := fact(fmt.Sprintf("m%03d", i), "tea tea tea")
		m.Metadata = memory.Metadata{"n": []byte(strconv.Itoa(i))}
		writes = append(writes, embedded(m, toward(0.9)))
	}
	last := fact("last", "a tea of another sort entirely")
	last.Author, last.Metadata = "Zoe", memory.Metadata{"n": []byte("1000")}
	b.put(append(writes, embedded(last, toward(0.1)))...)
	for _, w := range []memory.Where{
		is("author", "=", memory.Text("Zoe")),
		is("fact", ":", memory.Text("another sort")),
		has("n", ">", number("999")),
		memory.And{is("kind", "=", memory.Text("fact")), has("n", ">=", number("1000"))},
		memory.Or{is("id", "=", memory.Text("last")), is("author", "=", memory.Text("Yan"))},
	} {
		f := memory.Filter{Where: w}
		b.same(fmt.Sprint("words: ", w),
			foundIDs(b.search(memory.Query{Filter: f, Terms: []string{"tea"}, Limit: 1})), []string{"last"})
		b.same(fmt.Sprint("vector: ", w),
			foundIDs(b.search(memory.Query{Filter: f, Vector: axis(0), Limit: 1})), []string{"last"})
	}
	// Of equals those with the smaller ids are in the list.
	f := memory.Filter{Where: has("n", ">=", number("250"))}
	b.same("ties", foundIDs(b.search(memory.Query{Filter: f, Terms: []string{"tea"}, Limit: 3})),
		[]string{"m250", "m251", "m252"})
}

// Pages of a list with an expression are full although most memories do not pass it,
// and have all that pass it in order.
func wherePages(b *bank) {
	var writes []memory.Write
	var want []string
	for i := range 240 {
		m := turn(fmt.Sprintf("m%03d", i), "s", i/7, fmt.Sprint("tea number ", i))
		m.Metadata = memory.Metadata{"n": []byte(strconv.Itoa(i))}
		writes = append(writes, write(m))
		if i%30 == 17 || i > 235 {
			want = append(want, m.ID)
		}
	}
	b.put(writes...)
	f := memory.Filter{Where: memory.Or{
		is("fact", "=~", pattern("number (17|47|77|107|137|167|197|227)$")), has("n", ">", number("235")),
	}}
	for _, size := range []int{1, 2, 3, len(want) - 1, len(want), len(want) + 1, 500} {
		order := memory.Order{Ascending: true}
		list := memory.List{Filter: f, PageSize: size, Order: order}
		page, err := b.store.List(b.Context(), ann, list)
		if err != nil {
			b.Fatal(err)
		}
		b.same(fmt.Sprint("first page of ", size), ids(page.Memories), want[:min(size, len(want))])
		b.same(fmt.Sprint("a next page after ", size), page.NextPageToken != "", size < len(want))
		b.same(fmt.Sprint("pages of ", size), ids(b.list(ann, list)), want)
	}
	none := memory.Filter{Where: is("author", "=", memory.Text("Zoe"))}
	page, err := b.store.List(b.Context(), ann, memory.List{Filter: none, PageSize: 2})
	if err != nil || len(page.Memories) != 0 || page.NextPageToken != "" {
		b.Errorf("a list that nothing passes: %v, next %q, error %v", ids(page.Memories), page.NextPageToken, err)
	}
}

// An expression and the other fields of a filter must both hold. History is
// hidden unless the filter asks for it.
func whereWithOthers(b *bank) {
	a, c := fact("a", "tea"), fact("c", "tea")
	a.Topics, a.ValidTo, c.Topics = []string{"food"}, at(10), []string{"food"}
	b.put(embedded(a, axis(0)), embedded(c, axis(0)))
	b.clock.advance(time.Hour)
	food := is("topics", ":", memory.Text("food"))
	b.where(food, "c")
	b.passes(memory.Filter{Where: food, History: true}, "a", "c")
	b.passes(memory.Filter{Where: food, AsOf: at(5)}, "a", "c")
	b.passes(memory.Filter{Where: food, Topics: []string{"work"}})
	b.passes(memory.Filter{Where: is("validTo", ":", memory.Anything()), History: true}, "a")
}

// Random expressions pass the memories that Match says.
func whereRandom(b *bank, seed uint64) {
	m := newModel(b, seed)
	for i := range 40 {
		one := m.write(ann, modelNames[i%len(modelNames)])
		one.Memory.ID, one.Memory.Fact = fmt.Sprint(one.Memory.ID, i), one.Memory.Fact+" tea"
		one.Memory.Forgotten, one.Expect, one.Terms = nil, 0, write(one.Memory).Terms
		one.Memory.State = pick(m, []memory.State{"", memory.Approved})
		one.Vector = axis(0)
		b.put(one)
	}
	b.clock.advance(20 * time.Minute)
	all := b.list(ann, memory.List{Filter: memory.Filter{History: true}})
	for range 60 {
		f := memory.Filter{Where: m.where(3), History: m.chance(50)}
		var want []string
		for i := range all {
			if f.Match(&all[i], b.clock.now()) {
				want = append(want, all[i].ID)
			}
		}
		b.passes(f, want...)
		if b.Failed() {
			return
		}
	}
}

// where is a random expression of up to depth levels.
func (m *model) where(depth int) memory.Where {
	if depth == 0 || m.chance(30) {
		return m.comparison()
	}
	switch m.IntN(3) {
	case 0:
		return memory.Not{Where: m.where(depth - 1)}
	case 1:
		var parts memory.Or
		for range 1 + m.IntN(3) {
			parts = append(parts, m.where(depth-1))
		}
		return parts
	}
	var parts memory.And
	for range 1 + m.IntN(3) {
		parts = append(parts, m.where(depth-1))
	}
	return parts
}

// comparison is a random comparison that is valid.
func (m *model) comparison() memory.Cmp {
	texts := map[string][]string{
		memory.FieldID: modelNames, memory.FieldFact: modelWords, memory.FieldKind: {"fact", "turn", "profile"},
		memory.FieldAuthor: {"", "Ann", "an"}, memory.FieldSupersededBy: append([]string{""}, modelNames...),
		memory.FieldSession: modelSessions, memory.FieldUser: {"", "ann", "bob"},
		memory.FieldDisplayName: {"", "Drinks", "drink"}, memory.FieldDescription: {"", "of tea"},
		memory.FieldSchema: {"", "person"}, memory.FieldField: {"drink", "food"},
		memory.FieldTrust: {"user", "external"}, memory.FieldState: {"", "approved", "quarantined"},
	}
	equality, orders := []memory.Op{"=", "!="}, []memory.Op{"=", "!=", "<", "<=", ">", ">="}
	types := memory.WhereFields()
	fields := make([]string, 0, len(types))
	for field := range types {
		fields = append(fields, field)
	}
	slices.Sort(fields)
	for {
		c := memory.Cmp{Field: pick(m, fields)}
		switch types[c.Field] {
		case memory.TextField:
			c.Op, c.Value = pick(m, append(equality, ":")), memory.Text(pick(m, texts[c.Field]))
		case memory.NumberField:
			c.Op, c.Value = pick(m, orders), number(pick(m, []string{"0", "1", "1.5", "2"}))
		case memory.ListField:
			c.Op, c.Value = ":", memory.Text(pick(m, modelTopics))
		case memory.TimeField:
			nanos := time.Duration(m.IntN(3) - 1)
			c.Op, c.Value = pick(m, orders), memory.Time(at(m.IntN(60)).Add(nanos))
		default:
			c.Key, c.Op = pick(m, modelKeys), pick(m, append(orders, ":"))
			c.Value = pick(m, []memory.Value{
				number("1"), number("2"), number("1.5"), memory.Bool(true), memory.Text("go"), memory.Text("1"),
			})
		}
		if m.chance(10) {
			c.Op, c.Value = ":", memory.Anything()
		} else if types[c.Field] == memory.TextField && m.chance(10) {
			c.Op, c.Value = "=~", pattern(pick(m, []string{"^[fs]", "[12]$", "(?i)TEA|ann"}))
		}
		if c.Validate() == nil {
			return c
		}
	}
}
