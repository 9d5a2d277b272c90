package retrieve

// BlockOf chooses among matches that a test has scored itself.
var BlockOf = block
