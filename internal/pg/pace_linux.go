package pg

import (
	"io"
	"net"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const (
	// paceAfter is how much of one answer is read as it comes. Short answers are waited for.
	paceAfter = 256 << 10
	// maxPause is the longest wait for more to arrive: what a server sends meanwhile fits into a socket's buffer (208 KiB by default) up
	// to about 200 MB/s, and faster ones have shorter pauses.
	maxPause = time.Millisecond
	// A read should find about this much. Less, and the pause grows, more, and it shrinks before the server has to wait.
	paceLow, paceHigh = 64 << 10, 128 << 10
	// paceTries is how many pauses in a row may find nothing before the connection is waited for like any other.
	paceTries = 8
)

// pacedConn reads long answers in large pieces. A server writes 8 KiB at a time (PQ_SEND_BUFFER_SIZE in pqcomm.c), and a reader that waits
// for the socket is woken by each of these: for a table of a gigabyte 130,000 times, at the cost of more processor time than everything
// else that is done with the bytes, on both sides. This one waits by the clock instead.
type pacedConn struct {
	net.Conn
	raw   syscall.RawConn
	got   atomic.Int64  // bytes read since the last write: of one answer
	pause time.Duration // between two reads
	last  time.Time     // of the latest read
}

// paced returns a connection that does so, if conn is a socket.
func paced(conn net.Conn) net.Conn {
	s, ok := conn.(syscall.Conn)
	if !ok {
		return conn
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return conn
	}
	return &pacedConn{Conn: conn, raw: raw, pause: maxPause / 2}
}

// Write begins another question, whose answer may be short.
func (c *pacedConn) Write(p []byte) (int, error) {
	c.got.Store(0)
	return c.Conn.Write(p)
}

func (c *pacedConn) Read(p []byte) (n int, err error) {
	if c.got.Load() < paceAfter || len(p) == 0 {
		n, err = c.Conn.Read(p)
		c.got.Add(int64(n))
		return n, err
	}
	tries := 0
	if rerr := c.raw.Read(func(fd uintptr) (done bool) {
		for ; tries < paceTries; tries++ {
			c.wait()
			if n, err = readNow(fd, p); err != syscall.EAGAIN {
				return true
			}
		}
		n, err = readNow(fd, p) // it is waited for, or is here now
		return err != syscall.EAGAIN
	}); rerr != nil {
		return 0, rerr // a deadline, or closed
	}
	switch {
	case err != nil:
		return 0, &net.OpError{Op: "read", Net: c.RemoteAddr().Network(), Addr: c.RemoteAddr(), Err: err}
	case n == 0:
		return 0, io.EOF
	}
	switch {
	case n == len(p): // there is more
		c.last = time.Time{}
	case n > paceHigh:
		c.pause /= 2
	case n < paceLow:
		c.pause = min(2*c.pause+maxPause/16, maxPause)
	}
	return n, nil
}

// wait lets the rest of the pause pass: others that have work go first.
//
// The thread sleeps itself, without telling the runtime. Its own timers would not do: the thread that waits for them also waits for the
// sockets and is woken by each packet.
func (c *pacedConn) wait() {
	runtime.Gosched()
	now := time.Now()
	if left := c.pause - now.Sub(c.last); left > maxPause/64 {
		ts := syscall.NsecToTimespec(int64(left))
		syscall.RawSyscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&ts)), 0, 0) // if interrupted, it was shorter
		now = now.Add(left)
	}
	c.last = now
}

// readNow reads what there is; the error is EAGAIN if that is nothing.
func readNow(fd uintptr, p []byte) (int, error) {
	for {
		n, _, e := syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
		switch e {
		case 0:
			return int(n), nil
		case syscall.EINTR:
		default:
			return 0, e
		}
	}
}
