//go:build !linux

package pg

import "net"

func paced(conn net.Conn) net.Conn { return conn }
