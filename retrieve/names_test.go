package retrieve_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
)

// household is what one user told on several days, with an agent's answers; AUTHOR stands for the user.
var household = []string{
	"AUTHOR: The kitchen window sticks, so we cook with the balcony door open.",
	"bot (agent): Sounds draughty.",
	"AUTHOR: Our rabbit Pablo has chewed the phone cable.",
	"bot (agent): Poor cable.",
	"AUTHOR: I repair violins in a workshop by the canal.",
	"bot (agent): It must smell of varnish there.",
	"AUTHOR: I hate cilantro in soup.",
}

// ofUser returns a retriever over a store with what was said in the scope of a user, a day apart.
func ofUser(t *testing.T, user, author string, more ...string) (*retrieve.Retriever, memory.Scope) {
	t.Helper()
	s, scope := emptyStore(t), memory.Scope{App: "app", User: user}
	var writes []memory.Write
	for i, line := range append(slices.Clone(more), household...) {
		by, text, _ := strings.Cut(strings.Replace(line, "AUTHOR", author, 1), ": ")
		m := turn(fmt.Sprint("m", i), fmt.Sprint("s", i/2), 1+i, "", text)
		m.Scope, m.Author = scope, by
		if name, agent := strings.CutSuffix(by, " (agent)"); agent {
			m.Author, m.Trust = name, memory.TrustAgent
		}
		writes = append(writes, indexed(t, m))
	}
	if _, err := s.Put(t.Context(), scope, writes); err != nil {
		t.Fatal(err)
	}
	return retrieve.New(s, embed.Builtin{}, nil), scope
}

// A question that names the user is answered as one that says "I", and about as surely.
func TestUserByName(t *testing.T) {
	for _, c := range []struct {
		user, author, name string
		said               []string
	}{
		{"ines", "user", "Ines", nil},
		{"ines.mendes", "user", "Ines", nil},
		{"Ines_Mendes", "ines_mendes", "Ines", nil},
		{"ines@example.com", "user", "ines", nil},
		{"ines", "Ines", "Ines", nil},
		{"u-4711", "Ines", "Ines", nil},
		{"u-4711", "Ines", "the user", nil},
		{"u-4711", "user", "Ines", []string{"AUTHOR: Hello, my name is Ines.", "bot (agent): Welcome, Ines!"}},
		{"u-4711", "user", "Oda", []string{"AUTHOR: Oh, and just call me Oda."}},
		{"u-4711", "user", "Jorun", []string{"AUTHOR: Ich heiße Jorun."}},
	} {
		r, scope := ofUser(t, c.user, c.author, c.said...)
		for _, q := range []struct{ named, self, want string }{
			{"Which animal does NAME keep?", "Which animal do I keep?", "Pablo"},
			{"What does NAME repair?", "What do I repair?", "violins"},
			{"Where is NAME's workshop?", "Where is my workshop?", "canal"},
			{"Which herb does NAME dislike?", "Which herb do I dislike?", "cilantro"},
		} {
			named := answer(t, r, scope, strings.ReplaceAll(q.named, "NAME", c.name))
			self := answer(t, r, scope, q.self)
			if len(named.Matches) == 0 || len(self.Matches) == 0 {
				t.Errorf("%s, %s: nothing is found", c.user, q.named)
				continue
			}
			if got := named.Matches[0].Memory.Fact; !strings.Contains(got, q.want) {
				t.Errorf("%s as %s, %s of %s: %q is first", c.user, c.author, q.named, c.name, got)
			}
			if named.Confidence < self.Confidence-0.06 {
				t.Errorf("%s as %s, %s of %s: confidence %v, and %v of %q", c.user, c.author, q.named, c.name,
					named.Confidence, self.Confidence, q.self)
			}
		}
	}
}

// A name that is not the user's, or is so no longer, is somebody else's.
func TestOtherName(t *testing.T) {
	changed := fact("old", "s0", "m0", 1, "", "My name is Ines.")
	for _, c := range []struct {
		user, author, query string
		said                []string
	}{
		{"ines", "user", "Which animal does Tove keep?", nil},
		{"conv-26", "user", "Which animal does Conv keep?", nil},
		{"user_tove", "user", "Which animal does Tove keep?", nil},
		{"u1", "user", "Which animal does Ines keep?", []string{"AUTHOR: My sister's name is Ines."}},
		{"u1", "user", "Which animal does Ines keep?", []string{"AUTHOR: Please don't call me Ines."}},
		{"u1", "user", "Which animal does Ines keep?", []string{"AUTHOR: My friends call me Ines's sister."}},
		{"u1", "user", "Which animal comes on Monday?", []string{"AUTHOR: Please call me Monday about the rent."}},
		{"u1", "user", "which animal chewed bike", []string{"AUTHOR: I go by bike to work."}},
		{"u1", "user", "Which animal does Ines keep?", []string{"bot (agent): My name is Ines."}},
		{"u1", "user", "Which animal does Ines keep?", []string{"AUTHOR: Did I say that my name is Ines?"}},
	} {
		r, scope := ofUser(t, c.user, c.author, c.said...)
		if got := answer(t, r, scope, c.query); aboutUser(got) != 0 {
			t.Errorf("%s, %s: it is about the user", c.user, c.query)
		}
	}
	s := emptyStore(t)
	scope := memory.Scope{App: "app", User: "u1"}
	var writes []memory.Write
	for _, m := range []memory.Memory{
		turn("m0", "s0", 1, "user", "My name is Ines."), ended(changed, 9, "new"),
		turn("m1", "s1", 9, "user", "I have changed my name to Tove."), fact("new", "s1", "m1", 9, "", "My name is Tove."),
		turn("m2", "s2", 12, "user", "Our rabbit Pablo has chewed the phone cable."),
	} {
		m.Scope = scope
		if m.Kind == memory.KindTurn {
			m.Source.EventIDs = []string{m.ID}
		} else {
			m.Author = "user"
		}
		writes = append(writes, indexed(t, m))
	}
	if _, err := s.Put(t.Context(), scope, writes); err != nil {
		t.Fatal(err)
	}
	r := retrieve.New(s, embed.Builtin{}, nil)
	old, now := answer(t, r, scope, "Which animal does Ines keep?"), answer(t, r, scope, "Which animal does Tove keep?")
	if !strings.Contains(now.Matches[0].Memory.Fact, "Pablo") || aboutUser(old) != 0 || aboutUser(now) != 1 {
		t.Errorf("by the old name %v, by the new one %v, %q first", aboutUser(old), aboutUser(now), now.Matches[0].Memory.Fact)
	}
}

// Of two people who talk in one memory, a name finds what that one said, and "I" the user's own, whatever the id is.
func TestTwoPeople(t *testing.T) {
	talk := []string{
		"Tove: We have got a tortoise.", "Ines: We have got a parrot.",
		"Tove: I work nights at the bakery.", "Ines: I work days at the dockyard.",
	}
	for user, mine := range map[string]string{"ines": "parrot", "Tove": "tortoise", "chat-7": ""} {
		s, scope := emptyStore(t), memory.Scope{App: "app", User: user}
		var writes []memory.Write
		for i, line := range talk {
			by, text, _ := strings.Cut(line, ": ")
			m := turn(fmt.Sprint("m", i), "s", 1+i, by, text)
			m.Scope = scope
			writes = append(writes, indexed(t, m))
		}
		if _, err := s.Put(t.Context(), scope, writes); err != nil {
			t.Fatal(err)
		}
		r := retrieve.New(s, embed.Builtin{}, nil)
		for query, want := range map[string]string{
			"Which animal has Ines got?": "parrot", "Which animal has Tove got?": "tortoise", "Which animal have I got?": mine,
		} {
			if got := answer(t, r, scope, query); !strings.Contains(got.Matches[0].Memory.Fact, want) {
				t.Errorf("of %s, %s: %q is first", user, query, got.Matches[0].Memory.Fact)
			}
		}
	}
}

func answer(t *testing.T, r *retrieve.Retriever, scope memory.Scope, query string) retrieve.Answer {
	t.Helper()
	out, err := r.Answer(t.Context(), scope, retrieve.Request{Query: query, Explain: true})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// aboutUser is the sign of whether a question is about the one person who speaks.
func aboutUser(a retrieve.Answer) float64 {
	at := slices.IndexFunc(a.Signs, func(p memory.Part) bool { return p.Name == "about" })
	if at < 0 {
		return -1
	}
	return a.Signs[at].Value
}
