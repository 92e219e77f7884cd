package catalog

// EventTrigger is a row of pg_event_trigger.
type EventTrigger struct {
	Meta
	Event   string
	Tags    string // literals separated by ", ", empty for all
	Func    string // regproc
	Enabled byte   // O D R A
}
