package extract

import (
	"context"

	"github.com/memoryd/memoryd/memory"
)

// Form is what the rules compare of a fact.
type Form struct {
	Gist        string // see Gist
	Slot, Value string // see Slot; "" if it has none
	Ends        string // the gist that it ends, see Ends; "" if it ends none
}

// FormOf reads a fact.
func FormOf(fact string) Form {
	f := Form{Gist: Gist(fact)}
	f.Slot, f.Value, _ = Slot(fact)
	f.Ends, _ = Ends(fact)
	return f
}

// Excludes reports whether two facts of one author cannot both hold at a time:
// they give one attribute two values, or one says that the other holds no more.
func (f *Form) Excludes(o *Form) bool {
	return f.Slot != "" && f.Slot == o.Slot && f.Value != o.Value || f.Ends != "" && f.Ends == o.Gist || o.Ends != "" && o.Ends == f.Gist
}

// Consolidate implements Extractor by form alone. What says the same is told
// apart before. What a client gave has no author, and is anybody's.
func (r *Rules) Consolidate(_ context.Context, c Comparison, _ bool) (Consolidated, error) {
	type stated struct {
		Form
		author string
		fact   bool
	}
	var all []stated
	for i := range c.Known {
		m := &c.Known[i]
		all = append(all, stated{FormOf(m.Fact), m.Author, m.Kind == memory.KindFact})
	}
	for _, f := range c.New {
		all = append(all, stated{FormOf(f.Text), f.Author, !f.Forget})
	}
	out := Consolidated{Verdicts: make([]Verdict, len(c.New))}
	for i := range c.New {
		a := &all[len(c.Known)+i]
		v := Verdict{Action: Create, Same: -1, Reason: "both cannot hold"}
		excludes := a.Excludes
		if c.New[i].Forget {
			v.Action, v.Reason = Delete, "asked to be forgotten"
			forget := ToForget(c.New[i].Text)
			excludes = func(o *Form) bool { return o.Gist == forget }
		}
		for j := range all {
			if b := &all[j]; b != a && b.fact && (a.author == b.author || a.author == "" || b.author == "") && excludes(&b.Form) {
				v.Against = append(v.Against, j)
			}
		}
		if v.Against == nil {
			v.Reason = ""
		}
		out.Verdicts[i] = v
	}
	return out, nil
}
