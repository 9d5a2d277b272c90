package sessionstore_test

import (
	"encoding/base64"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

var shopper = memory.Scope{App: "shop", User: "ann"}

// A stored request is read as it was.
func TestReadRequest(t *testing.T) {
	for _, r := range []sessionstore.Request{{}, {DisableConsolidation: true}, {Facts: true}, {Traceparent: "00-1-2-01"},
		{AllowedTopics: []string{"DIET"}, TTL: time.Hour}, {Metadata: memory.Metadata{"k": []byte(`{"a":1}`)},
			MetadataMerge: sessionstore.MergeExact, Labels: memory.Labels{"a": "b"}}} {
		r.ID = sessionstore.OperationID(shopper, "plain:of:x") // a request that is stored is not read from an id
		doc, err := r.Doc()
		if err != nil {
			t.Fatal(err)
		}
		got, of, err := sessionstore.ReadRequest(r.ID, "facts-aa7ffc35-9f1d-41cb-b263-1ba20e5b4c1f", doc)
		if err != nil || !cmp.Equal(got, r) || of != "facts-aa7ffc35-9f1d-41cb-b263-1ba20e5b4c1f" {
			t.Errorf("ReadRequest of %s gives %+v of %q, %v; want %+v", doc, got, of, err, r)
		}
	}
	if _, _, err := sessionstore.ReadRequest("x", "s", []byte("{")); err == nil {
		t.Error("half a request is read")
	}
}

// Without a stored request, the id of the operation and the name of its session
// tell it.
func TestReadRequestOfID(t *testing.T) {
	const uuid = "aa7ffc35-9f1d-41cb-b263-1ba20e5b4c1f"
	chat := base64.RawURLEncoding.EncodeToString([]byte("my chat"))
	for name, c := range map[string]struct {
		unique, session string
		plain, facts    bool
		of              string
	}{
		"plain words":      {unique: uuid, session: "chat", of: "chat"},
		"no consolidation": {unique: "plain:" + uuid, session: "chat", plain: true, of: "chat"},
		"a range":          {unique: "of:" + chat + ":" + uuid, session: "range-" + uuid, of: "my chat"},
		"a plain range": {unique: "plain:of:" + chat + ":" + uuid, session: "range-" + uuid, plain: true,
			of: "my chat"},
		"facts": {unique: uuid, session: "facts-" + uuid, facts: true, of: "facts-" + uuid},
		"plain facts": {unique: "plain:" + uuid, session: "facts-" + uuid, plain: true, facts: true, of: "facts-" +
			uuid},
		"a client's name": {unique: uuid, session: "facts-of-life", of: "facts-of-life"},
		"broken base64":   {unique: "of:!:" + uuid, session: "range-" + uuid, of: "range-" + uuid},
	} {
		id := sessionstore.OperationID(shopper, c.unique)
		got, of, err := sessionstore.ReadRequest(id, c.session, nil)
		want := sessionstore.Request{ID: id, DisableConsolidation: c.plain, Facts: c.facts}
		if err != nil || !cmp.Equal(got, want) || of != c.of {
			t.Errorf("%s: ReadRequest gives %+v of %q, %v; want %+v of %q", name, got, of, err, want, c.of)
		}
	}
	const facts = "facts-" + uuid // work may wait without an operation, as after an import
	if got, _, err := sessionstore.ReadRequest("", facts, nil); err != nil || !got.Facts {
		t.Errorf("ReadRequest of session %q without an id gives %+v, %v; want facts", facts, got, err)
	}
	for _, id := range []string{"", "!", sessionstore.OperationID(shopper, "\x00")} {
		if got, of, err := sessionstore.ReadRequest(id, "chat", nil); err != nil ||
			!cmp.Equal(got, sessionstore.Request{ID: id}) || of != "chat" {
			t.Errorf("ReadRequest of id %q gives %+v of %q, %v", id, got, of, err)
		}
	}
}

// An Append that contradicts itself is invalid.
func TestAppendValidate(t *testing.T) {
	request := &sessionstore.Request{ID: "id"}
	for _, a := range []sessionstore.Append{{}, {Create: true}, {Request: request}, {Request: request, OneShot: true}} {
		if err := a.Validate(); err != nil {
			t.Errorf("%+v: %v", a, err)
		}
	}
	for _, a := range []sessionstore.Append{{OneShot: true}, {Request: &sessionstore.Request{Facts: true}}} {
		if err := a.Validate(); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%+v: %v, want ErrInvalid", a, err)
		}
	}
}
