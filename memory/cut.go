package memory

import "unicode/utf8"

// Cut returns the longest prefix of text that has at most n bytes and ends
// between two characters. Limits on text count bytes, which is what is stored
// and sent; half a character at the end would be invalid UTF-8.
func Cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
