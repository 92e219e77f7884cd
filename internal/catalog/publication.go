package catalog

// Publication is a row of pg_publication.
type Publication struct {
	Meta
	AllTables                        bool
	Insert, Update, Delete, Truncate bool
	ViaRoot                          bool
	GenCols                          byte // n none, s stored (since 18)
}

// PublicationRel is a row of pg_publication_rel.
type PublicationRel struct {
	Meta
	Publication *Publication
	Table       *Table
	Where       *string  // row filter, nil for none
	Columns     []string // column list, nil for all
}

// PublicationSchema is a row of pg_publication_namespace. Meta.Name is the schema's name.
type PublicationSchema struct {
	Meta
	Publication *Publication
	Published   *Schema
}
