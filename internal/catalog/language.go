package catalog

// Language is a row of pg_language with lanispl.
type Language struct {
	Meta
	Trusted                    bool
	Handler, Inline, Validator uint32 // pg_proc OIDs, 0 for none
}
