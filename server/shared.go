package server

import (
	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/memory"
)

// The routes of an app's shared knowledge have the handlers of the same routes of a user.

// withShared passes the scope of the shared knowledge of the app in the path to h.
func withShared(h func(echo.Context, memory.Scope) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		app, err := pathParam(c, "app")
		if err != nil {
			return err
		}
		return h(c, memory.Shared(app))
	}
}

// withSharedMemory passes that scope and the id of the memory in the path to h.
func withSharedMemory(h func(echo.Context, memory.Scope, string) error) echo.HandlerFunc {
	return withShared(func(c echo.Context, scope memory.Scope) error {
		id, err := pathParam(c, "memory")
		if err != nil {
			return err
		}
		return h(c, scope, id)
	})
}
