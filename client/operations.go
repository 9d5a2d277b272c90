package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"time"

	"github.com/memoryd/memoryd/appconfig"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Operation is one request to make memories, and its progress.
type Operation struct {
	ID       string            `json:"id"`
	Done     bool              `json:"done"`
	Metadata OperationMetadata `json:"metadata"`
	Response *struct {
		Memories []Changed `json:"memories"` // the facts that changed
		// NotFound has the words of requests to forget that name nothing known, or that
		// are not understood for certain: they changed nothing.
		NotFound []string `json:"notFound"`
		// Confirm is set if a user asked to forget everything: nothing is forgotten
		// before ConfirmOperation.
		Confirm *Confirm `json:"confirm"`
		// Forgotten counts what the operation of ConfirmOperation forgot.
		Forgotten *Forgotten `json:"forgotten"`
	} `json:"response"` // set if it has succeeded
	Error *Error `json:"error"` // set if it has failed
	// Findable, in the answer of Ingest and AddSession alone, says that a search which
	// begins afterwards finds the turns of the request. If it is false they can be
	// found by the time that the operation is done.
	Findable bool `json:"findable"`
	// Quarantined, in the same answers, says that some of the words try to instruct the
	// agent. They are hidden until User.Review.
	Quarantined bool `json:"quarantined"`
}

// OperationMetadata is the progress of an operation.
type OperationMetadata struct {
	State       sessionstore.OperationState `json:"state"`
	UserID      string                      `json:"userId"`
	SessionID   string                      `json:"sessionId"`
	RollbackOf  string                      `json:"rollbackOf"` // the operation that this one undoes
	CreateTime  time.Time                   `json:"createTime"`
	EndTime     time.Time                   `json:"endTime"` // when it succeeded; zero before
	Attempts    int                         `json:"attempts"`
	EventsTotal int                         `json:"eventsTotal"`
	EventsDone  int                         `json:"eventsDone"`
	LastError   string                      `json:"lastError"`
	// WaitsFor is the trigger that the memories wait for; nil if they do not. They are
	// made at DueTime if no other event comes.
	WaitsFor *appconfig.Trigger `json:"waitsFor"`
	DueTime  time.Time          `json:"dueTime"`
}

// Confirm is a request to forget everything, which waits to be confirmed.
type Confirm struct {
	ID         string    `json:"id"`         // for ConfirmOperation
	Text       string    `json:"text"`       // what is to be confirmed, in English
	ExpireTime time.Time `json:"expireTime"` // when the request lapses
}

// Forgotten counts the facts and the turns that were forgotten.
type Forgotten struct {
	Facts int `json:"facts"`
	Turns int `json:"turns"`
}

// Skipped is the Action of a Changed that tells of a memory which a rollback leaves alone.
const Skipped memory.Action = "SKIPPED"

// Changed is a memory that an operation changed, or that a rollback leaves alone.
type Changed struct {
	Action memory.Action `json:"action"`
	Memory memory.Memory `json:"memory"`
	Reason string        `json:"reason"`
}

// operation makes a call that answers with an operation. A repetition makes no
// memory twice.
func (u *User) operation(ctx context.Context, path string, body any, wait bool) (*Operation, error) {
	q := url.Values{}
	if wait {
		q.Set("wait", "true")
	}
	out := &Operation{}
	err := u.do(ctx, call{method: http.MethodPost, path: path, query: q, body: body, answer: out, idempotent: true})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Operation reads an operation.
func (c *Client) Operation(ctx context.Context, id string) (*Operation, error) {
	out := &Operation{}
	err := c.do(ctx, call{method: http.MethodGet, path: operationPath(id), answer: out, idempotent: true})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func operationPath(id string) string { return "/v1/operations/" + url.PathEscape(id) }

// RetryOperation resumes an operation at once that has failed or waits for its
// next attempt.
func (c *Client) RetryOperation(ctx context.Context, id string) (*Operation, error) {
	out := &Operation{}
	err := c.do(ctx, call{method: http.MethodPost, path: operationPath(id) + "/retry", answer: out, idempotent: true})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ConfirmOperation has everything forgotten that was said before a request to forget
// everything; id is that of its Confirm. It returns the operation that does it, and with
// wait, when that is done or 30 s later. A repetition returns the same operation.
func (c *Client) ConfirmOperation(ctx context.Context, id string, wait bool) (*Operation, error) {
	q := url.Values{}
	if wait {
		q.Set("wait", "true")
	}
	out := &Operation{}
	err := c.do(ctx, call{method: http.MethodPost, path: operationPath(id) + "/confirm", query: q, answer: out,
		idempotent: true})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// RollbackOperation undoes all that an operation has changed, as far as no later change
// is lost by it. It returns the operation that does so, and with wait, when that is done
// or 30 s later. An operation can be rolled back once: memory.ErrExists is the error after
// that, also of a call that was sent again because its answer was lost.
func (c *Client) RollbackOperation(ctx context.Context, id string, wait bool) (*Operation, error) {
	q := url.Values{}
	if wait {
		q.Set("wait", "true")
	}
	out := &Operation{}
	err := c.do(ctx, call{method: http.MethodPost, path: operationPath(id) + "/rollback", query: q, answer: out})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// PreviewRollback returns what RollbackOperation would change and leave alone. Nothing
// changes.
func (c *Client) PreviewRollback(ctx context.Context, id string) ([]Changed, error) {
	var out struct {
		Response struct {
			Memories []Changed `json:"memories"`
		} `json:"response"`
	}
	err := c.do(ctx, call{method: http.MethodPost, path: operationPath(id) + "/rollback",
		body: map[string]bool{"dryRun": true}, answer: &out, idempotent: true})
	return out.Response.Memories, err
}

// Follow yields an operation as it is, and again after each change. The last value
// is the operation when it is done. Follow reconnects when its stream breaks. An
// error ends the sequence; the end of ctx is one.
func (c *Client) Follow(ctx context.Context, id string) iter.Seq2[*Operation, error] {
	return func(yield func(*Operation, error) bool) {
		for {
			if _, err := c.Operation(ctx, id); err != nil { // it retries if that can help
				yield(nil, err)
				return
			}
			over, err := c.stream(ctx, id, yield)
			if over {
				return
			}
			if errors.Is(err, memory.ErrUnavailable) {
				err = rest(ctx)
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// rest waits before a reconnection.
func rest(ctx context.Context) error {
	select {
	case <-time.After(firstWait):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stream yields the states of an operation from one stream of server-sent events.
// over reports that the operation is done or that the caller stopped.
func (c *Client) stream(ctx context.Context, id string, yield func(*Operation, error) bool) (over bool, err error) {
	res, err := c.send(ctx, &call{method: http.MethodGet, path: operationPath(id)}, nil, "text/event-stream")
	if err != nil {
		return false, err
	}
	defer res.Body.Close()
	lines := bufio.NewReader(res.Body)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil { // an incomplete line is dropped
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return false, &unreachable{base: c.base, err: err}
		}
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok {
			continue
		}
		op := &Operation{}
		if err := json.Unmarshal(data, op); err != nil {
			return false, fmt.Errorf("memoryd's answer cannot be read: %w", err)
		}
		if !yield(op, nil) || op.Done {
			return true, nil
		}
	}
}

// AppOperations reads a page of the operations of all users of an app, newest first, without
// their changes. A page of one state may have few or none although others follow. next is
// the token of the next page, "" on the last one. It takes the verb admin.
func (c *Client) AppOperations(ctx context.Context, app string, list sessionstore.OperationList) (
	ops []Operation, next string, err error) {
	if err := memory.ValidateID("app", app); err != nil {
		return nil, "", err
	}
	query := page(list.List)
	if list.State != "" {
		query.Set("state", string(list.State))
	}
	if list.User != "" {
		query.Set("userId", list.User)
	}
	var out struct {
		Operations    []Operation `json:"operations"`
		NextPageToken string      `json:"nextPageToken"`
	}
	err = c.do(ctx, call{method: http.MethodGet, path: "/v1/apps/" + url.PathEscape(app) + "/operations", query: query,
		answer: &out, idempotent: true})
	return out.Operations, out.NextPageToken, err
}

// Operations reads a page of the user's operations, newest first, without their
// changes. next is the token of the next page, "" on the last one.
func (u *User) Operations(ctx context.Context, list sessionstore.List) (ops []Operation, next string, err error) {
	var out struct {
		Operations    []Operation `json:"operations"`
		NextPageToken string      `json:"nextPageToken"`
	}
	err = u.do(
		ctx,
		call{method: http.MethodGet, path: "/operations", query: page(list), answer: &out, idempotent: true},
	)
	return out.Operations, out.NextPageToken, err
}
