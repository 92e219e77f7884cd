package files

// Tests do with smaller files.
func init() { smallFile, partBytes = 1<<20, 5<<20 }
