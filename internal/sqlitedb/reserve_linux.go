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

// diskSize is how many bytes the disk with a file has, in use and free; 0 if that is
// unknown.
func diskSize(path string) int64 {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(path, &disk); err != nil {
		return 0
	}
	return int64(disk.Blocks) * int64(disk.Bsize)
}

// Free is how many bytes a user without rights may still write to the disk of a directory.
func Free(dir string) (int64, error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		return 0, err
	}
	return int64(disk.Bavail) * int64(disk.Bsize), nil
}
