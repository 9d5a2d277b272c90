package canonical

import (
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// work reads "at Acme", "for Acme as a nurse" and "as a nurse".
func (c *claim) work(ws english.Words) reading {
	switch ws.At(0) {
	case "as":
		return occupation(ws[1:])
	case "at", "for":
		return c.employer(ws[1:])
	}
	return reading{}
}

// occupation reads "a nurse" and "head nurse": the last word counts.
func occupation(ws english.Words) reading {
	ws = withoutArticle(ws)
	if len(ws) == 0 || len(ws) > 3 {
		return reading{}
	}
	return reading{"occupation", occupations.Of(ws[len(ws)-1].Text)}
}

// employer reads "Acme" and "Acme as a nurse".
func (c *claim) employer(ws english.Words) reading {
	if k := tradeAt(ws); k > 0 {
		ws = ws[:k]
	}
	return reading{"employer", c.company(ws)}
}

// tradeAt is where "as a nurse" begins at the end of ws; 0 if it does not.
func tradeAt(ws english.Words) int {
	for i := max(1, len(ws)-5); i+1 < len(ws); i++ {
		if ws[i].Text == "as" && occupations.Of(ws[len(ws)-1].Text) != "" {
			return i
		}
	}
	return 0
}

// company is ws as the name of a company, without its legal form: capitals
// throughout, and no word that says where or when somebody works. Otherwise "".
func (c *claim) company(ws english.Words) string {
	if len(ws) > 1 && companyForms.Has(ws[len(ws)-1].Text) {
		ws = ws[:len(ws)-1]
	}
	if len(ws) == 0 || len(ws) > 4 {
		return ""
	}
	first := ws[0].Text
	if inAny(first, english.DateWords, english.WeakDateWords, notCompanies, countries) ||
		relation(first) != "" || cities.Has(ws.String()) {
		return ""
	}
	for i, w := range ws {
		last := i+1 == len(ws)
		if !c.capital(w) && (i == 0 || w.Text != "of") || !last && (w.Stop != 0 || strings.HasSuffix(w.Text, "'s")) {
			return ""
		}
	}
	return ws.String()
}

// withoutArticle is ws without an article at its front.
func withoutArticle(ws english.Words) english.Words {
	if w := ws.At(0); w == "a" || w == "an" || w == "the" {
		return ws[1:]
	}
	return ws
}
