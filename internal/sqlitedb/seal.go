package sqlitedb

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// sealBytes is the length of a seal: a zero byte, and the CRC-32C of the value and
// that byte, big-endian.
const sealBytes = 5

// errSeal is the error of Unseal for bytes that were not sealed so.
var errSeal = errors.New("its checksum does not match")

// Seal returns a value with a checksum behind it. SQLite has none of its own: a bit
// that flips within a value reads as another value. Nil, which is NULL, stays nil.
func Seal(value []byte) []byte {
	if value == nil {
		return nil
	}
	out := make([]byte, len(value)+1, len(value)+sealBytes)
	copy(out, value)
	return binary.BigEndian.AppendUint32(out, checksum(out))
}

// Unseal returns the value that was sealed. A value without a seal, which earlier
// versions have written, comes back as it is: of JSON it has no zero byte where a
// seal has one.
func Unseal(sealed []byte) ([]byte, error) {
	n := len(sealed) - sealBytes
	if n < 0 || sealed[n] != 0 {
		return sealed, nil
	}
	if binary.BigEndian.Uint32(sealed[n+1:]) != checksum(sealed[:n+1]) {
		return nil, errSeal
	}
	return sealed[:n], nil
}

// UnsealNumbers is Unseal for numbers of four bytes each, which may hold zero bytes:
// there the length tells whether there is a seal.
func UnsealNumbers(sealed []byte) ([]byte, error) {
	if len(sealed)%4 == 0 {
		return sealed, nil
	}
	out, err := Unseal(sealed)
	if err == nil && len(out)%4 != 0 {
		err = errSeal
	}
	return out, err
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }
