package catalog

// Opfamily is a row of pg_opfamily.
type Opfamily struct {
	Meta
	Method uint32 // pg_am OID
	AMName string
	Loose  FamilyMembers // members of no operator class, only if its definition is dumped
}
