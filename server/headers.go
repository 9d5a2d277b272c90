package server

import "net/http"

// nothing is the policy of all answers but the pages: a browser that is led to one
// runs nothing in it and shows it in no frame.
const nothing = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// secure sets the headers by which a browser handles answers with care: it does
// not guess their type, run anything in them, frame them, keep them, tell where a
// link was followed from, or give them to pages of other sites. A handler may
// replace them.
func secure(header http.Header) {
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", nothing)
	header.Set("X-Frame-Options", "DENY")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cache-Control", "no-store")
}
