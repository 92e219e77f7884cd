package catalog

// FDW is a row of pg_foreign_data_wrapper.
type FDW struct {
	Meta
	Handler, Validator string // regproc, "-" for none
	Options            string // as it stands in OPTIONS (...), empty if none
}

// ForeignServer is a row of pg_foreign_server.
type ForeignServer struct {
	Meta
	FDW           string // name of its wrapper
	Type, Version string
	Options       string
	UserMappings  []UserMapping // in the order of the user names
}

// UserMapping is a row of pg_user_mappings.
type UserMapping struct {
	User    string // role, or "public"
	Options string // empty also when the reading role may not see them
}
