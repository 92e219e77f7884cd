// Package httpline is the way of HTTP requests to a service that keeps objects. What comes in is
// how long a connection may be silent; what goes out is a transport whose connections are given up then, so that a request
// ends with an error that can be tried again, and never hangs.
package httpline

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// Silence is the usual limit. A service may take minutes to put the parts of a large object together.
const Silence = 5 * time.Minute

// New returns a transport. Connections on which no byte has moved for silence (0: Silence) in either direction, while
// something was awaited, are closed. There are many connections instead of one that is shared, since one stream is slow.
func New(silence time.Duration) *http.Transport {
	if silence <= 0 {
		silence = Silence
	}
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 15 * time.Second}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &conn{Conn: c, silence: silence}, nil
		},
		MaxIdleConnsPerHost: 64,
		IdleConnTimeout:     time.Minute,
		TLSHandshakeTimeout: 15 * time.Second,
		DisableCompression:  true, // objects come as they were put
	}
}

// conn ends when it was silent for too long.
type conn struct {
	net.Conn
	silence time.Duration
	moved   atomic.Int64 // when the deadline was last moved, in ns of the epoch
}

// move moves the deadline of both directions: while a large body is sent, no reply is due. It is asked
// to often, and does it ten times in the time of silence at most.
func (c *conn) move() {
	now := time.Now()
	if last := c.moved.Load(); now.UnixNano()-last < int64(c.silence/10) || !c.moved.CompareAndSwap(last, now.UnixNano()) {
		return
	}
	c.Conn.SetDeadline(now.Add(c.silence)) // an error of it comes back from the read or write itself
}

func (c *conn) Read(p []byte) (int, error) {
	c.move()
	n, err := c.Conn.Read(p)
	c.move()
	return n, err
}

func (c *conn) Write(p []byte) (int, error) {
	c.move()
	n, err := c.Conn.Write(p)
	c.move()
	return n, err
}
