package catalog

// Subscription is a row of pg_subscription.
type Subscription struct {
	Meta
	Enabled          bool // only read for binary upgrade
	Binary           bool
	Stream           byte // f off, t on, p parallel
	TwoPhase         byte // d disabled, p pending, e enabled
	DisableOnErr     bool
	PasswordRequired bool
	RunAsOwner       bool
	Failover         bool
	ConnInfo         string
	SlotName         *string
	SyncCommit       string
	Publications     []string
	Origin           string
	OriginRemoteLSN  *string // only read for binary upgrade
}

// SubscriptionRel is a row of pg_subscription_rel, only read for binary upgrade.
type SubscriptionRel struct {
	Meta
	Subscription *Subscription
	Table        *Table
	State        byte
	LSN          *string
}
