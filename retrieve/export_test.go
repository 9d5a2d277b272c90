package retrieve

// BlockOf chooses among matches that a test has scored itself.
var BlockOf = cited.block

// PreloadOf is the same for Preload.
var PreloadOf = spoken.block
