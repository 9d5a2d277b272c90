package memory

import (
	"errors"
	"fmt"
	"maps"
	"unicode"
	"unicode/utf8"
)

// Limits on the labels of one revision or session.
const (
	MaxLabels = 64 // labels together
	MaxLabel  = 63 // bytes of a name, and of a value
)

// Labels are a client's own names for a change, each with a value: what made it, such as
// a release or a test. They are of the revision, and not of the memory.
type Labels map[string]string

// stored is a copy of l as a revision has it: nil if there are none.
func (l Labels) stored() Labels {
	if len(l) == 0 {
		return nil
	}
	return maps.Clone(l)
}

// Validate returns ErrInvalid for the first rule that l breaks. The field is its name for
// the client.
func (l Labels) Validate(field string) error {
	if len(l) > MaxLabels {
		return fmt.Errorf("%w: %s: there are %d, more than %d", ErrInvalid, field, len(l), MaxLabels)
	}
	for name, value := range l {
		if name == "" {
			return fmt.Errorf("%w: %s: a name is empty", ErrInvalid, field)
		}
		for part, text := range map[string]string{"name": name, "value": value} {
			if err := validateLabel(text); err != nil {
				return fmt.Errorf("%w: %s: the %s %.80q %w", ErrInvalid, field, part, text, err)
			}
		}
	}
	return nil
}

func validateLabel(text string) error {
	if len(text) > MaxLabel {
		return fmt.Errorf("has %d bytes, more than %d", len(text), MaxLabel)
	}
	if !utf8.ValidString(text) {
		return errors.New("is not valid UTF-8")
	}
	for _, r := range text {
		if unicode.IsControl(r) {
			return errors.New("has a control character")
		}
	}
	return nil
}
