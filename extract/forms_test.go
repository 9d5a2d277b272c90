package extract

import "testing"

// What is stated of the user reads as what the user states.
func TestFormOfUser(t *testing.T) {
	for of, own := range map[string]string{
		"User is allergic to peanuts.":                   "I am allergic to peanuts.",
		"The user is allergic to peanuts":                "I'm allergic to peanuts",
		"the user isn’t allergic to peanuts":             "I'm not allergic to peanuts",
		"User lives in Porto.":                           "I live in Porto.",
		"User has a cat":                                 "I have a cat",
		"User doesn't eat meat":                          "I don't eat meat",
		"The user no longer eats meat.":                  "I no longer eat meat.",
		"The user studies law":                           "I study law",
		"User moved to Berlin.":                          "I moved to Berlin.",
		"User's favourite colour is green.":              "My favorite color is green.",
		"The user’s sister lives in Oslo":                "My sister lives in Oslo",
		"User can't take calls before ten":               "I can't take calls before ten",
		"User loves Thai food":                           "I love Thai food",
		"User never smokes":                              "I never smoke",
		"The user is never late, and the user's dog too": "I am never late, and the user's dog too",
	} {
		if got, want := FormOf(of), FormOf(own); got != want {
			t.Errorf("%q is %+v, want that of %q: %+v", of, got, own, want)
		}
	}
	for _, other := range []string{"User interfaces are fun.", "Users like tea", "User manual in the drawer", "The user", "User", "The username is ann", "User stories matter to me", "A user is allergic to nuts", "My user is ann", "user-friendly"} {
		if got := asUser(other); got != other {
			t.Errorf("%q is read as %q", other, got)
		}
	}
	lives, moved, mine := FormOf("User lives in Berlin"), FormOf("The user lives in Porto."), FormOf("I live in Oslo")
	if !lives.Excludes(&moved) || !lives.Excludes(&mine) || !mine.Excludes(&moved) {
		t.Errorf("homes do not exclude each other: %+v, %+v, %+v", lives, moved, mine)
	}
	if eats, ended := FormOf("User eats meat"), FormOf("The user no longer eats meat"); !ended.Excludes(&eats) {
		t.Errorf("what ended is not excluded: %+v, %+v", eats, ended)
	}
}
