package s3store

// The fake server takes small parts, which makes small objects large ones.
func init() { minPart = 64 << 10 }
