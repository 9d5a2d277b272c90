package qdrantstore

// ReadWhole has a store read no session whole that has more turns than n.
func ReadWhole(s *Store, n int) { s.whole = n }
