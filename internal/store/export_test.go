package store

// Small ranges, so that small objects have several.
func init() { rangeSize = 64 << 10 }
