package catalog

// Policy is a row of pg_policy; with an empty PolicyName it stands for
// ALTER TABLE ... ENABLE ROW LEVEL SECURITY.
type Policy struct {
	Meta
	Table      *Table
	PolicyName string
	Cmd        byte // polcmd: * r a w d
	Permissive bool
	Roles      string // quoted and separated by commas, or PUBLIC
	Using      string
	WithCheck  string
}
