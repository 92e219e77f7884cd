package localpg

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// hello connects to the server's socket as the superuser and returns its
// server_version. It speaks the first messages of the protocol itself: what
// PGSERVICE, PGOPTIONS and their like say is about the user's servers, not ours.
func hello(ctx context.Context, socket, user string) (version string, err error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return "", err
	}
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()

	fe := pgproto3.NewFrontend(conn, conn)
	fe.Send(&pgproto3.StartupMessage{
		ProtocolVersion: pgproto3.ProtocolVersion30,
		Parameters:      map[string]string{"user": user, "database": "postgres", "application_name": "pghaul"},
	})
	if err := fe.Flush(); err != nil {
		return "", err
	}
	for {
		msg, err := fe.Receive()
		if err != nil {
			return "", err
		}
		switch m := msg.(type) {
		case *pgproto3.ParameterStatus:
			if m.Name == "server_version" {
				version = m.Value
			}
		case *pgproto3.ErrorResponse:
			return "", fmt.Errorf("%s (SQLSTATE %s)", m.Message, m.Code)
		case *pgproto3.ReadyForQuery:
			if version == "" {
				return "", errors.New("server did not say its version")
			}
			fe.Send(&pgproto3.Terminate{})
			return version, fe.Flush()
		}
	}
}

// awaitReady tries to connect until that works, the server ends, or ctx is done.
// A server has no way to tell its parent that it is ready; trying is what
// pg_ctl and pg_isready do, too.
func awaitReady(ctx context.Context, socket, user string, ended <-chan struct{}) (version string, err error) {
	wait := 5 * time.Millisecond
	for {
		version, err = hello(ctx, socket, user)
		if err == nil {
			return version, nil
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("%w (last try to connect: %v)", context.Cause(ctx), err)
		case <-ended:
			return "", errEnded
		case <-time.After(wait):
		}
		wait = min(2*wait, 100*time.Millisecond)
	}
}

// askNames returns a function that runs a query whose rows are one name each. It is
// not by package pg, whose own tests run on servers of this package.
func askNames(ctx context.Context, dsn string) func(sql string, add func(name string)) error {
	return func(sql string, add func(name string)) error {
		c, err := pgconn.Connect(ctx, dsn)
		if err != nil {
			return err
		}
		defer c.Close(ctx)
		results, err := c.Exec(ctx, sql).ReadAll()
		if err != nil {
			return err
		}
		for _, row := range results[0].Rows {
			add(string(row[0]))
		}
		return nil
	}
}

// errEnded is replaced by what the process left as its reason.
var errEnded = errors.New("server ended")
