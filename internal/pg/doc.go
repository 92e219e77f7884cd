// Package pg holds one session with one PostgreSQL server. A connection string comes in, in every form that libpq 18
// takes; out come a Conn that runs statements, COPY streams as raw bytes, and errors classified by SQLSTATE.
//
// The road in has three steps. ParseConfig reads the connection string, the flags, the service file, the environment and
// the password file as libpq does (src/interfaces/libpq/fe-connect.c). Connect walks the hosts, addresses and ways to
// encrypt; each attempt makes its own socket, secures it, and hands it to pgconn, which is told everything and
// reads no environment variable or file by itself. Errors of a failed attempt have libpq's words.
//
// COPY data goes past pgconn: CopyTo reads the socket in large blocks and strips the message headers in place, so that a
// row costs neither a call nor an allocation. See deframer.
package pg
