package movein

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// isURL reports whether a file is a collection of a Qdrant.
func isURL(file string) bool {
	return strings.HasPrefix(file, "http://") || strings.HasPrefix(file, "https://")
}

// shown is a file as messages name it: a password in a URL is in none of them.
func shown(file string) string {
	if !isURL(file) {
		return file
	}
	at, err := url.Parse(file)
	if err != nil {
		return "a URL that cannot be read"
	}
	return at.Redacted()
}

const (
	// pagePoints is how many points one request of a scroll asks for.
	pagePoints = 256
	// pageTime bounds one request.
	pageTime = 30 * time.Second
)

// scroll reads all points of a collection, such as
// http://127.0.0.1:6333/collections/mem0, page by page over Qdrant's REST API.
func scroll(ctx context.Context, s *sink, file string, do func(item) error) error {
	at, err := url.Parse(file)
	if err != nil || !strings.Contains(at.Path, "/collections/") {
		return fmt.Errorf("%w: %s: want the URL of a collection, such as http://127.0.0.1:6333/collections/mem0",
			memory.ErrInvalid, shown(file))
	}
	file = at.Redacted()
	at.Path = strings.TrimSuffix(at.Path, "/") + "/points/scroll"
	offset, asked := json.RawMessage("null"), map[string]bool{}
	for n := 0; string(offset) != "null" || n == 0; {
		page, err := s.page(ctx, at.String(), offset)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		next := json.RawMessage("null")
		// next_page_offset is null after the last page, or missing.
		err = newStream(bytes.NewReader(page)).each(mem0Lists, func(i item) error {
			i.list, i.index = "point", n
			n++
			return do(i)
		}, func(name string, raw json.RawMessage) {
			if name == "next_page_offset" {
				next = raw
			}
		})
		if err != nil {
			return in(file, "", err)
		}
		// A server that leads in a circle would be asked for ever.
		if asked[string(next)] {
			return fmt.Errorf("%w: %s: the page after %s was read before", memory.ErrInvalid, file, offset)
		}
		asked[string(next)] = string(next) != "null"
		if offset = next; n == 0 {
			return nil
		}
	}
	return nil
}

// qdrantClient follows no redirect: a key in a header of its own would go along to whichever
// host it names.
var qdrantClient = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
	return http.ErrUseLastResponse
}}

// page asks for the points from an offset on.
func (s *sink) page(ctx context.Context, at string, offset json.RawMessage) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTime)
	defer cancel()
	body := fmt.Sprintf(`{"limit":%d,"with_payload":true,"with_vector":false,"offset":%s}`, pagePoints, offset)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, at, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	// The key goes into a header, so that no log of a proxy has it.
	r.Header.Set("Content-Type", "application/json")
	if s.opts.Key != "" {
		r.Header.Set("Api-Key", s.opts.Key)
	}
	answer, err := qdrantClient.Do(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", memory.ErrUnavailable, err)
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(io.LimitReader(answer.Body, maxItem+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", memory.ErrUnavailable, err)
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%w: Qdrant answers %s: %.200s", memory.ErrInvalid, answer.Status, page)
	case len(page) > maxItem:
		return nil, fmt.Errorf("%w: a page of more than %d MiB", memory.ErrInvalid, maxItem>>20)
	}
	if s.opts.Progress != nil {
		s.opts.Progress(len(page))
	}
	return page, nil
}
