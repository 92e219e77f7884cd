package pg

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// pair returns both ends of a connection over a Unix socket or TCP; the first is paced.
func pair(t *testing.T, network string) (*pacedConn, net.Conn) {
	t.Helper()
	address := "127.0.0.1:0"
	if network == "unix" {
		address = filepath.Join(t.TempDir(), "s")
	}
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial(network, l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(); server.Close() })
	return paced(client).(*pacedConn), server
}

// TestPaced reads answers whose parts come at once, in bursts and after waits longer than all pauses, each byte once.
func TestPaced(t *testing.T) {
	for _, network := range []string{"unix", "tcp"} {
		t.Run(network, func(t *testing.T) {
			c, server := pair(t, network)
			want := make([]byte, 8<<20)
			for i := range want {
				want[i] = byte(rand.Uint32())
			}
			for _, piece := range []int{8 << 10, 1 << 20, 100} {
				want := want[:min(len(want), piece*5000)]
				if _, err := c.Write([]byte("q")); err != nil {
					t.Fatal(err)
				}
				if _, err := io.ReadFull(server, make([]byte, 1)); err != nil {
					t.Fatal(err)
				}
				caught := make(chan int, 1) // how much the reader has
				done := make(chan error, 1)
				go func() {
					sent := 0
					for rest := want; len(rest) > 0; {
						n := min(piece, len(rest))
						if _, err := server.Write(rest[:n]); err != nil {
							done <- err
							return
						}
						rest = rest[n:]
						sent += n
						if sent >= len(want)/2 && sent-n < len(want)/2 {
							for got := range caught { // the reader has all of it and waits
								if got == sent {
									break
								}
							}
						}
					}
					done <- nil
				}()
				var got bytes.Buffer
				buf := make([]byte, 256<<10)
				for got.Len() < len(want) {
					n, err := c.Read(buf)
					if err != nil {
						t.Fatal(err)
					}
					got.Write(buf[:n])
					select {
					case <-caught:
					default:
					}
					caught <- got.Len()
				}
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got.Bytes(), want) {
					t.Fatalf("pieces of %d bytes: what arrived is not what was sent", piece)
				}
			}
		})
	}
}

// TestPacedEnds ends a paced read by each of the ways a read can end.
func TestPacedEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		do   func(c *pacedConn, server net.Conn)
		want error
	}{
		"deadline":      {func(c *pacedConn, _ net.Conn) { c.SetDeadline(time.Unix(1, 0)) }, os.ErrDeadlineExceeded},
		"closed here":   {func(c *pacedConn, _ net.Conn) { c.Close() }, net.ErrClosed},
		"closed beyond": {func(_ *pacedConn, server net.Conn) { server.Close() }, io.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			c, server := pair(t, "unix")
			go server.Write(make([]byte, paceAfter))
			if _, err := io.ReadFull(c, make([]byte, paceAfter)); err != nil {
				t.Fatal(err)
			}
			got := make(chan error, 1)
			go func() {
				_, err := c.Read(make([]byte, 100))
				got <- err
			}()
			tt.do(c, server)
			if err := <-got; !errors.Is(err, tt.want) {
				t.Errorf("read ended with %v, want %v", err, tt.want)
			}
		})
	}
}
