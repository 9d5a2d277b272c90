package analyzer

import "testing"

func TestGuess(t *testing.T) {
	for text, want := range map[string]language{
		"What did Will and Mia do in Berlin?":     en,
		"Take care!":                              en,
		"Dan fixed van door":                      en,
		"The café in Zürich":                      en,
		"Anna Melanie Berlin":                     en,
		"Wo wohnt Anna?":                          de,
		"Was hat die Anna in Berlin gekauft?":     de,
		"Wer war das?":                            de,
		"Ich mag Tee":                             de,
		"Süße Äpfel":                              de,
		"Où habite Anna ?":                        fr,
		"c'est l'ami d'Anna":                      fr,
		"Quels fruits Marie a-t-elle achetés ?":   fr,
		"¿Dónde vive Ana?":                        es,
		"No me gusta el té":                       es,
		"niños":                                   es,
		"Onde mora a Ana?":                        pt,
		"Eu moro no Porto":                        pt,
		"Dove sono gli amici di Anna?":            it,
		"Waar woont Anna?":                        nl,
		"Var bor han nu?":                         sv,
		"Hvad hedder hendes kat?":                 da,
		"Hva heter katten til noen?":              nb,
		"Missä hänen kissansa on?":                fi,
		"Hol van Anna macskája?":                  hu,
		"Ayşe nerede yaşıyor?":                    tr,
		"Unde sunt pisicile?":                     ro,
		"Где живёт Анна?":                         en, // its script tells what it is
		"Gestern war ich mit Anna dort. OK, bye!": de,
		"": en,
	} {
		if got := guess(split(text)); got != want {
			t.Errorf("guess of %q is %d, want %d", text, got, want)
		}
	}
}
