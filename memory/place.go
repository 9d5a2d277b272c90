package memory

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
)

// Place is where a page of a List ended: what is in a page token. Stores share
// it, so that all refuse the same tokens.
type Place struct {
	Order Order // a token serves the order it was made for
	At    int64 // microseconds since 1970 of the field that orders
	ID    string
}

// Token writes a place as a page token.
func (p Place) Token() string {
	raw, err := json.Marshal(p)
	if err != nil { // two strings and a number always encode
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// ReadPlace reads a page token made for an order; ErrInvalid if it is none.
func ReadPlace(token string, order Order) (p Place, err error) {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err == nil {
		err = json.Unmarshal(raw, &p)
	}
	if err != nil || p.ID == "" || p.Order != order {
		return p, fmt.Errorf("%w: pageToken %.40q is not one of an earlier answer to this list", ErrInvalid, token)
	}
	return p, nil
}

// Size is how many memories a page of the list has; ErrInvalid if it asks for
// none, or too many.
func (l *List) Size() (int, error) {
	switch {
	case l.PageSize == 0:
		return DefaultPageSize, nil
	case l.PageSize < 1 || l.PageSize > MaxPageSize:
		return 0, fmt.Errorf("%w: pageSize %d is not within 1 to %d", ErrInvalid, l.PageSize, MaxPageSize)
	}
	return l.PageSize, nil
}
