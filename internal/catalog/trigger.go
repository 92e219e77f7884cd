package catalog

// Trigger is a row of pg_trigger that a user made.
type Trigger struct {
	Meta
	Table       *Table
	Enabled     byte // O D R A
	IsInternal  bool
	IsPartition bool
	Def         string // pg_get_triggerdef
}
