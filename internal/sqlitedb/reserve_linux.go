package sqlitedb

import (
	"errors"
	"os"
	"syscall"
)

// allocate takes room for a file without writing it. The error is ErrUnsupported on
// file systems that cannot.
func allocate(f *os.File, bytes int64) error {
	err := syscall.Fallocate(int(f.Fd()), 0, 0, bytes)
	if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EINVAL) {
		return errors.ErrUnsupported
	}
	return err
}
