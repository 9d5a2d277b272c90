package memory

import "strings"

// A user id that begins with ~ is a list of attributes, ~name=value&name=value, by which memories are
// kept apart. One of them may say whose they are: so one person's memories can be those of several
// users of an app.
const (
	partsPrefix = "~"
	partBetween = "&"
	// PersonKey is the name of the attribute that says whose memories a user's are.
	PersonKey = "user_id"
)

// Person is one person among the users of an app. The zero value is everybody.
type Person struct {
	User string // who has memories as this user
	// Part is what PersonPart returns of the other users whose memories are this person's too; "" if
	// there are none.
	Part string
}

// Is reports whether the memories of a user are the person's.
func (p Person) Is(user string) bool {
	return p == Person{} || user == p.User || p.Part != "" && PersonPart(user) == p.Part
}

// PersonPart is the attribute of a user id that says whose memories they are, such as "user_id=ann"
// of "~team=x&user_id=ann"; "" if it has none.
func PersonPart(user string) string {
	parts, ok := strings.CutPrefix(user, partsPrefix)
	for ok && parts != "" {
		var part string
		part, parts, _ = strings.Cut(parts, partBetween)
		if strings.HasPrefix(part, PersonKey+"=") {
			return part
		}
	}
	return ""
}
