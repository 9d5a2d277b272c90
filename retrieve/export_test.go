package retrieve

// BlockOf chooses among matches that a test has scored itself.
var BlockOf = contextForm.block

// PreloadOf is the same for Preload.
var PreloadOf = preloadForm.block
