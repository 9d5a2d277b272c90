package qdrantstore

// ReadWhole has a store read only sessions of up to n turns whole.
func ReadWhole(s *Store, n int) { s.whole = n }
