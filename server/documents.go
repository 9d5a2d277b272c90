package server

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
)

// documentBody is what an answer tells of a document. Added, Changed and Removed are in the
// answer of a call that stores one.
type documentBody struct {
	ID         string   `json:"id"`
	App        string   `json:"appName"`
	Title      string   `json:"title,omitzero"`
	URI        string   `json:"uri,omitzero"`
	MimeType   string   `json:"mimeType"`
	Topics     []string `json:"topics,omitempty"`
	Bytes      int      `json:"bytes"`
	Characters int      `json:"characters"`
	Passages   int      `json:"passages"`
	Embedded   int      `json:"embedded"`
	Complete   bool     `json:"complete"`
	CreateTime jsonTime `json:"createTime"`
	UpdateTime jsonTime `json:"updateTime"`
	Revision   int64    `json:"revision"`
	*ingest.DocumentChanges
}

func documentOf(app string, d ingest.StoredDocument) documentBody {
	return documentBody{ID: d.ID, App: app, Title: d.Title, URI: d.URI, MimeType: d.MimeType, Topics: d.Topics,
		Bytes: d.Bytes, Characters: d.Characters, Passages: d.Passages, Embedded: d.Embedded, Complete: d.Complete,
		CreateTime: jsonTime{d.CreateTime}, UpdateTime: jsonTime{d.UpdateTime}, Revision: d.Revision}
}

// putDocument answers POST /v1/apps/{app}/documents: 201 for a document whose id
// is new, and 200 for one that takes the place of another.
func (s *Server) putDocument(c echo.Context, scope memory.Scope) error {
	var req struct {
		App      string          `json:"appName"`
		ID       string          `json:"id"`
		Title    string          `json:"title"`
		URI      string          `json:"uri"`
		MimeType string          `json:"mimeType"`
		Text     string          `json:"text"`
		Topics   []string        `json:"topics"`
		Metadata memory.Metadata `json:"metadata"`
	}
	if err := decodeBody(c, &req); err != nil {
		return err
	}
	if err := checkScope(scope, req.App, ""); err != nil {
		return err
	}
	stored, changes, made, err := s.ingest.PutDocument(c.Request().Context(), scope.App, ingest.Document{
		ID: req.ID, Title: req.Title, URI: req.URI, MimeType: req.MimeType, Text: req.Text, Topics: req.Topics,
		Metadata: req.Metadata})
	if err != nil {
		return err
	}
	note(c, func(e *access.Entry) { e.Session = stored.ID })
	out := documentOf(scope.App, stored)
	out.DocumentChanges = &changes
	if made {
		return sendJSON(c, http.StatusCreated, out)
	}
	return sendJSON(c, http.StatusOK, out)
}

// listDocuments answers GET /v1/apps/{app}/documents.
func (s *Server) listDocuments(c echo.Context, scope memory.Scope) error {
	size, err := pageSizeParam(c)
	if err != nil {
		return err
	}
	page, token, err := s.ingest.Documents(c.Request().Context(), scope.App, size, c.QueryParam("pageToken"))
	if err != nil {
		return err
	}
	out := struct {
		Documents     []documentBody `json:"documents"`
		NextPageToken string         `json:"nextPageToken,omitzero"`
	}{[]documentBody{}, token}
	for _, d := range page {
		out.Documents = append(out.Documents, documentOf(scope.App, d))
	}
	return sendJSON(c, http.StatusOK, out)
}

// withDocument passes the scope of shared knowledge and the id of the document in the path
// to h.
func withDocument(h func(echo.Context, memory.Scope, string) error) echo.HandlerFunc {
	return withShared(func(c echo.Context, scope memory.Scope) error {
		id, err := pathParam(c, "document")
		if err != nil {
			return err
		}
		note(c, func(e *access.Entry) { e.Session = id })
		return h(c, scope, id)
	})
}

// getDocument answers GET /v1/apps/{app}/documents/{id}.
func (s *Server) getDocument(c echo.Context, scope memory.Scope, id string) error {
	d, err := s.ingest.Document(c.Request().Context(), scope.App, id)
	if err != nil {
		return err
	}
	return sendJSON(c, http.StatusOK, documentOf(scope.App, d))
}

// deleteDocument answers DELETE /v1/apps/{app}/documents/{id}.
func (s *Server) deleteDocument(c echo.Context, scope memory.Scope, id string) error {
	if err := s.ingest.DeleteDocument(c.Request().Context(), scope.App, id); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// eraseDocument answers POST /v1/apps/{app}/documents/{id}/erase.
func (s *Server) eraseDocument(c echo.Context, scope memory.Scope, id string) error {
	dry, err := s.isDryRun(c)
	if err != nil {
		return err
	}
	out, err := s.ingest.EraseDocument(c.Request().Context(), scope.App, id, dry)
	if err != nil {
		return err
	}
	return sendJSON(c, http.StatusOK, out)
}
