//go:build !linux

package sqlitedb

import (
	"errors"
	"os"
)

// allocate would take room for a file without writing it.
func allocate(*os.File, int64) error { return errors.ErrUnsupported }
