package vertex

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/memoryd/memoryd/memory"
)

// Resource is what a name or a path names. Names in an answer have the Prefix and the
// Collection of the request.
type Resource struct {
	Prefix     string // "projects/P/locations/L/", or "" of express mode
	Collection string // "reasoningEngines" or "memoryBanks"
	Engine     string
	// Kind and ID name one thing of the engine: "sessions", "memories" or "operations". Without
	// an ID they name the collection.
	Kind, ID string
	// SubKind and SubID name a part of that: "events" of a session, "revisions" of a memory,
	// "operations" of either.
	SubKind, SubID string
}

const engines = "reasoningEngines"

// plainID is the form of ids that clients choose.
var plainID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,63}$`)

// ParseName reads a name. Its segments are escaped as in a path if escaped says so.
func ParseName(name string, escaped bool) (r Resource, err error) {
	parts := strings.Split(name, "/")
	if escaped {
		for i, part := range parts {
			if parts[i], err = url.PathUnescape(part); err != nil {
				return r, invalid("name %.200q: %v", name, err)
			}
		}
	}
	if len(parts) >= 4 && parts[0] == "projects" && parts[2] == "locations" {
		r.Prefix = strings.Join(parts[:4], "/") + "/"
		parts = parts[4:]
	}
	if len(parts) > 1 && slices.Contains(parts[1:], "") { // it would pass for a name without the part
		return r, fmt.Errorf("name %.200q: %w: it has an empty part", name, memory.ErrNotFound)
	}
	// An operation may come without the engine: its id tells of which it is.
	if n := len(parts); n >= 2 && parts[n-2] == "operations" {
		r.SubKind, r.SubID, parts = "operations", parts[n-1], parts[:n-2]
		if len(parts) == 0 {
			r.Collection = engines
			return r, nil
		}
	}
	if len(parts) == 0 || parts[0] != engines && parts[0] != "memoryBanks" {
		return r, fmt.Errorf("name %.200q: %w: want …/%s/ENGINE and what is in it", name, memory.ErrNotFound, engines)
	}
	r.Collection = parts[0]
	if parts = parts[1:]; len(parts) == 0 {
		return r, nil
	}
	if r.Engine, parts = parts[0], parts[1:]; !plainID.MatchString(r.Engine) {
		return r, invalid("engine %.80q: want 1 to 63 letters, digits, - and _", r.Engine)
	}
	for _, to := range []struct{ kind, id *string }{{&r.Kind, &r.ID}, {&r.SubKind, &r.SubID}} {
		if len(parts) > 0 && *to.kind == "" {
			*to.kind, parts = parts[0], parts[1:]
			if len(parts) > 0 {
				*to.id, parts = parts[0], parts[1:]
			}
		}
	}
	if len(parts) > 0 {
		return r, fmt.Errorf("name %.200q: %w: it has too many parts", name, memory.ErrNotFound)
	}
	return r, nil
}

// engine is the name of the engine of r.
func (r Resource) engine() string { return r.Prefix + r.Collection + "/" + r.Engine }

// session is the name of a session of r's engine.
func (r Resource) session(id string) string { return r.engine() + "/sessions/" + id }

// memory is the name of a memory of r's engine.
func (r Resource) memory(id string) string { return r.engine() + "/memories/" + id }

// revision is the name of a revision of a memory of r's engine.
func (r Resource) revision(id string, number int64) string {
	return r.memory(id) + "/revisions/" + strconv.FormatInt(number, 10)
}
