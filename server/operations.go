package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/internal/strict"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// operationBody is an Operation in an answer.
type operationBody struct {
	ID       string             `json:"id"`
	Done     bool               `json:"done"`
	Metadata operationMetadata  `json:"metadata"`
	Response *operationResponse `json:"response,omitzero"`
	Error    *errorDetail       `json:"error,omitzero"`
}

type operationMetadata struct {
	State       sessionstore.OperationState `json:"state"`
	App         string                      `json:"appName"`
	User        string                      `json:"userId"`
	SessionID   string                      `json:"sessionId,omitzero"`
	CreateTime  time.Time                   `json:"createTime"`
	Attempts    int                         `json:"attempts"`
	EventsTotal int                         `json:"eventsTotal"`
	EventsDone  int                         `json:"eventsDone"`
	LastError   string                      `json:"lastError,omitzero"`
	// What its events have cost, where a model was asked.
	Usage        *extract.Usage `json:"usage,omitzero"`
	FactsDropped int            `json:"factsDropped,omitzero"`
}

type operationResponse struct {
	// Memories are the facts that changed; the turns are the events sent.
	Memories []ingest.Changed `json:"memories"`
}

func operationOf(op *sessionstore.Operation) (operationBody, error) {
	out := operationBody{ID: op.ID, Done: op.Done(), Metadata: operationMetadata{State: op.State, App: op.Key.App, User: op.Key.User,
		SessionID: ingest.SessionOf(op), CreateTime: op.CreateTime, Attempts: op.Attempts, EventsTotal: op.EventsTotal, EventsDone: op.EventsDone, LastError: op.LastError}}
	response := &operationResponse{Memories: []ingest.Changed{}}
	for _, raw := range op.Changes {
		var changed ingest.Changed
		if err := json.Unmarshal(raw, &changed); err != nil {
			return out, fmt.Errorf("stored change: %w", err)
		}
		if changed.Cost == nil {
			response.Memories = append(response.Memories, changed)
			continue
		}
		if out.Metadata.Usage == nil {
			out.Metadata.Usage = &extract.Usage{}
		}
		*out.Metadata.Usage = out.Metadata.Usage.Add(changed.Cost.Usage)
		out.Metadata.FactsDropped += changed.Cost.FactsDropped
	}
	switch op.State {
	case sessionstore.Succeeded:
		out.Response = response
	case sessionstore.Failed:
		out.Error = &errorDetail{http.StatusInternalServerError, "INTERNAL", op.LastError}
	}
	return out, nil
}

func sendOperation(c echo.Context, status int, op *sessionstore.Operation) error {
	out, err := operationOf(op)
	if err != nil {
		return err
	}
	return answer(c, status, out)
}

// answerOperation answers a request for memories: at once, or when they are
// made, or when the longest wait is over.
func (s *Server) answerOperation(c echo.Context, op *sessionstore.Operation, wait bool) error {
	if wait {
		ctx, cancel := s.untilStop(c.Request().Context())
		defer cancel()
		waited, err := s.ingest.Wait(ctx, op.Key.Scope, op.ID, maxWait)
		switch {
		case err == nil:
			op = waited
		case !s.stops():
			return err
		}
	}
	status := http.StatusAccepted
	if wait && op.Done() {
		status = http.StatusOK
	}
	return sendOperation(c, status, op)
}

// untilStop derives a context that is cancelled when the server stops, too.
func (s *Server) untilStop(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-s.stopping:
			cancel()
		case <-ctx.Done():
		}
	})
	return ctx, func() {
		cancel()
		watch.Wait()
	}
}

// stops reports whether Stop was called.
func (s *Server) stops() bool {
	select {
	case <-s.stopping:
		return true
	default:
		return false
	}
}

func streams(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/event-stream")
}

func (s *Server) getOperation(c echo.Context, scope memory.Scope, id string) error {
	if streams(c.Request()) {
		return s.streamOperation(c, scope, id)
	}
	op, err := s.progress.Operation(c.Request().Context(), scope, id)
	if err != nil {
		return err
	}
	return sendOperation(c, http.StatusOK, op)
}

// streamOperation sends an operation as server-sent events: each of its states
// until it is done, and a comment now and then so that nobody in between takes
// the connection for dead.
func (s *Server) streamOperation(c echo.Context, scope memory.Scope, id string) error {
	ctx, cancel := s.untilStop(c.Request().Context())
	defer cancel()
	w := c.Response()
	out := http.NewResponseController(w)
	send := func(text string) error {
		if !w.Committed {
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("Cache-Control", "no-store")
			w.WriteHeader(http.StatusOK)
		}
		if err := out.SetWriteDeadline(time.Now().Add(requestTime)); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return err
		}
		if _, err := fmt.Fprint(w, text); err != nil {
			return err
		}
		return out.Flush()
	}
	for {
		quiet, over := context.WithTimeout(ctx, 15*time.Second)
		err := s.ingest.Watch(quiet, scope, id, func(op *sessionstore.Operation) error {
			out, err := operationOf(op)
			if err != nil {
				return err
			}
			raw, err := strict.Encode(out)
			if err != nil {
				return err
			}
			return send("data: " + string(raw) + "\n\n")
		})
		over()
		if err == nil || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			if w.Committed {
				return nil // the client sees the stream end
			}
			return err
		}
		if err := send(": still there\n\n"); err != nil {
			return nil
		}
	}
}

func (s *Server) listOperations(c echo.Context, scope memory.Scope) error {
	list, err := listOf(c)
	if err != nil {
		return err
	}
	ops, next, err := s.progress.Operations(c.Request().Context(), scope, list)
	if err != nil {
		return err
	}
	out := struct {
		Operations    []operationBody `json:"operations"`
		NextPageToken string          `json:"nextPageToken,omitzero"`
	}{NextPageToken: next}
	for i := range ops {
		o, err := operationOf(&ops[i])
		if err != nil {
			return err
		}
		o.Response = nil // what changed is in the operation itself
		out.Operations = append(out.Operations, o)
	}
	return answer(c, http.StatusOK, out)
}

func (s *Server) retryOperation(c echo.Context, scope memory.Scope, id string) error {
	if err := body(c, &struct{}{}); err != nil {
		return err
	}
	op, err := s.ingest.Retry(c.Request().Context(), scope, id)
	if err != nil {
		return err
	}
	return sendOperation(c, http.StatusOK, op)
}
