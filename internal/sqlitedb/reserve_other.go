//go:build !linux

package sqlitedb

import (
	"errors"
	"os"
)

// allocate would take room for a file without writing it.
func allocate(*os.File, int64) error { return errors.ErrUnsupported }

// diskSize would be how many bytes the disk with a file has.
func diskSize(string) int64 { return 0 }

// Free is not known here.
func Free(string) (int64, error) { return 0, errors.ErrUnsupported }
