package pg

import "context"

// Column is a column of a query's result.
type Column struct {
	Name string
	Type uint32 // OID of pg_type; 16 is boolean
}

// QueryTyped is Query that says before the rows of each statement which columns they have. A statement that
// returns no rows by its nature (an UPDATE, say) has no call of head.
func (c *Conn) QueryTyped(ctx context.Context, sql string, head func([]Column), row func(values [][]byte) error) error {
	if err := c.acquire(); err != nil {
		return err
	}
	defer c.release()
	return c.query(ctx, sql, head, row)
}
