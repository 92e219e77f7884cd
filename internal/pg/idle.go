package pg

import (
	"context"
	"errors"
	"net"
	"time"
)

// Idle waits for d, or until ctx is done, and returns early only if the session ends meanwhile, which a session that
// nobody uses does not notice otherwise. ctx's end is no error.
func (c *Conn) Idle(ctx context.Context, d time.Duration) error {
	if err := c.acquire(); err != nil {
		return err
	}
	defer c.release()
	conn := c.pg.Conn()
	conn.SetReadDeadline(time.Now().Add(d))
	woken := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		conn.SetReadDeadline(time.Unix(1, 0))
		close(woken)
	})
	var err error
	for err == nil { // notices and notifications may come in between
		err = c.pg.WaitForNotification(context.Background())
	}
	if !stop() {
		<-woken
	}
	conn.SetReadDeadline(time.Time{})
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() && !c.pg.IsClosed() {
		return nil
	}
	return c.classify(context.Background(), err)
}
