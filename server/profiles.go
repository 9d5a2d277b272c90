package server

import (
	"encoding/json"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/memory"
)

// profilesBody is the JSON of the profiles of a user.
type profilesBody struct {
	// Profiles have the values, by schema and field.
	Profiles map[string]map[string]json.RawMessage `json:"profiles"`
	// IDs are those of the memories that hold the values.
	IDs map[string]map[string]string `json:"ids,omitempty"`
}

// profiles answers GET {scope}/profiles: the values that the schemas of the app allow.
func (s *Server) profiles(c echo.Context, scope memory.Scope) error {
	ids, err := boolParam(c, "ids")
	if err != nil {
		return err
	}
	found, err := s.ingest.Profiles(c.Request().Context(), scope)
	if err != nil {
		return err
	}
	out := profilesBody{Profiles: map[string]map[string]json.RawMessage{}}
	if ids {
		out.IDs = map[string]map[string]string{}
	}
	for schema, fields := range found {
		out.Profiles[schema] = map[string]json.RawMessage{}
		if ids {
			out.IDs[schema] = map[string]string{}
		}
		for field, m := range fields {
			out.Profiles[schema][field] = m.Value
			if ids {
				out.IDs[schema][field] = m.ID
			}
		}
	}
	return sendJSON(c, http.StatusOK, out)
}
