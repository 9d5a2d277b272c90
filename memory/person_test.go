package memory

import "testing"

// A person is a user, and the users whose attributes name the person.
func TestPerson(t *testing.T) {
	for user, part := range map[string]string{
		"": "", "ann": "", "user_id=ann": "", "~": "", "~&": "", "~team=x": "", "~xuser_id=ann": "", "~user_id": "",
		"~user_id=ann": "user_id=ann", "~user_id=": "user_id=", "~a=b&user_id=ann": "user_id=ann",
		"~a=b&user_id=ann&z=": "user_id=ann", "~user_id=ann&user_id=bob": "user_id=ann", "~a=user_id=ann": "",
	} {
		if got := PersonPart(user); got != part {
			t.Errorf("PersonPart(%q) = %q, want %q", user, got, part)
		}
		for _, p := range []Person{{User: "ann", Part: "user_id=ann"}, {User: "ann"}} {
			if got, want := p.Is(user), user == "ann" || p.Part != "" && part == p.Part; got != want {
				t.Errorf("%+v.Is(%q) = %v", p, user, got)
			}
		}
		if !(Person{}).Is(user) {
			t.Errorf("%q is not one of all", user)
		}
	}
}
