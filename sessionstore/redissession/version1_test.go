package redissession_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/memoryd/memoryd/internal/redistest"
	"github.com/memoryd/memoryd/sessionstore/redissession"
	"github.com/memoryd/memoryd/sessionstore/sessiontest"
)

// Operations that have no request beside them are read by their ids.
func TestVersion1(t *testing.T) {
	r := redistest.Start(t)
	data, err := os.ReadFile(filepath.Join("testdata", "version1.txt"))
	must(t, err)
	client := r.Client(t)
	for line := range strings.Lines(string(data)) {
		var args []any
		for rest := strings.TrimSpace(line); rest != ""; rest = strings.TrimSpace(rest) {
			quoted, err := strconv.QuotedPrefix(rest)
			must(t, err)
			arg, err := strconv.Unquote(quoted)
			must(t, err)
			args = append(args, arg)
			rest = rest[len(quoted):]
		}
		must(t, client.Do(t.Context(), args...).Err())
	}
	s := open(t, r.URL(), &redissession.Options{Now: func() time.Time { return sessiontest.Version1Now }})
	defer s.Close()
	sessiontest.Version1(t, s)
}
