package extract

import (
	"context"

	"github.com/memoryd/memoryd/memory"
)

// Consolidate implements Extractor by form alone: facts of one author that give
// one attribute two values, or of which one says that the other holds no more,
// cannot both hold. What says the same is told apart before. What a client gave
// without an author is anybody's.
func (r *Rules) Consolidate(_ context.Context, c Comparison, _ bool) (Consolidated, error) {
	all := make([]form, 0, len(c.Known)+len(c.New))
	for i := range c.Known {
		all = append(all, formOf(c.Known[i].Fact, c.Known[i].Author, c.Known[i].Kind == memory.KindFact))
	}
	for i := range c.New {
		all = append(all, formOf(c.New[i].Text, c.New[i].Author, !c.New[i].Forget))
	}
	out := Consolidated{Verdicts: make([]Verdict, len(c.New))}
	for i := range c.New {
		v := Verdict{Action: Create, Same: -1}
		place := len(c.Known) + i
		forget := ""
		if c.New[i].Forget {
			v.Action, v.Reason, forget = Delete, "asked to be forgotten", ToForget(c.New[i].Text)
		}
		for j := range all {
			reason := ""
			switch a, b := &all[place], &all[j]; {
			case j == place || !b.fact || a.author != b.author && a.author != "" && b.author != "":
			case forget != "":
				if b.gist == forget {
					reason = v.Reason
				}
			case a.slot != "" && a.slot == b.slot && a.value != b.value:
				reason = "another value of: " + a.slot
			case a.ends == b.gist || b.ends == a.gist:
				reason = "it holds no more"
			}
			if reason != "" {
				v.Against, v.Reason = append(v.Against, j), reason
			}
		}
		out.Verdicts[i] = v
	}
	return out, nil
}

// form is what the rules compare of a fact.
type form struct {
	fact                      bool
	author, gist, slot, value string
	ends                      string // the gist that it ends
}

func formOf(text, author string, fact bool) form {
	f := form{fact: fact, author: author, gist: Gist(text), ends: none}
	f.slot, f.value, _ = Slot(text)
	if what, ok := Ends(text); ok {
		f.ends = what
	}
	return f
}

// none is the gist of nothing.
const none = "\x00"
