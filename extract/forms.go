package extract

import "context"

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

// Consolidate implements Extractor. All that the rules can tell of two facts is
// in their forms, whoever found them, so there is nothing to add.
func (r *Rules) Consolidate(_ context.Context, c Comparison, _ bool) (Consolidated, error) {
	return Consolidated{Verdicts: unjudged(c)}, nil
}

// unjudged has every new fact be what it is by itself.
func unjudged(c Comparison) []Verdict {
	out := make([]Verdict, len(c.New))
	for i := range out {
		out[i] = Verdict{Action: Create, Same: -1}
		if c.New[i].Forget {
			out[i].Action = Delete
		}
	}
	return out
}
