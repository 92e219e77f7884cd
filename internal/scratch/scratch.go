package scratch

import (
	"context"
	"fmt"
	"sync"
)

// A Provider starts throwaway servers.
type Provider interface {
	// Start returns a server that accepts connections. The server lives until
	// Stop is called or ctx is done, whichever comes first; in both cases its
	// processes end and its folders are removed. When Start returns an error
	// nothing is left behind either.
	Start(ctx context.Context, spec Spec) (*Server, error)
}

// Spec describes the server that is wanted. The zero value asks for the newest
// version available, with the server's own default settings.
type Spec struct {
	// Major is the major version, 17 for PostgreSQL 17. 0 takes the newest.
	Major int

	// Tuned applies the settings of [Tuned]: fast, and without any care for the
	// data after a crash of the machine.
	Tuned bool

	// Settings are configuration parameters by name, in the form of
	// postgresql.conf but without quotes ("256MB"). They win over those of Tuned.
	Settings map[string]string

	// Dir is the folder in which the server's own folder is made, default the
	// system's folder for temporary files. A container has no such folder.
	Dir string

	// Encoding of the cluster's databases, default UTF8.
	Encoding string

	// Locale of the cluster's databases, default C.UTF-8, or C where the
	// system does not know that one.
	Locale string

	// ICULocale, if given, makes ICU the cluster's locale provider (15 and newer).
	ICULocale string

	// Jobs is the number of sessions that will work at the same time, default
	// the number of processors. It divides the memory of a tuned server.
	Jobs int

	// NeedLocks is the number of locks one transaction may have to hold, about
	// the number of relations restored or dumped in it. 0 keeps the default.
	NeedLocks int

	// Extensions are the names of extensions that must be available to CREATE
	// EXTENSION. If some are not, the error is a *MissingExtensions.
	Extensions []string

	// TCP makes the server listen on a free port of 127.0.0.1 as well, with a
	// random password; see Info.TCP.
	TCP bool
}

// Info are the facts about a running server.
type Info struct {
	// DSN connects to the database postgres as a superuser; to Database, as
	// whoever may use it, if that is set. It is in keyword form and names host,
	// port, user and dbname; sslmode, too, where the server is ours.
	DSN string

	// TCP is the same over TCP, with a password; empty unless asked for.
	TCP string

	// SocketDir is the folder of the Unix socket, for PGHOST. Only the user
	// that started the server (and root) can enter it.
	SocketDir string

	// Port is the server's port number, also part of the socket's name.
	Port int

	// Version is server_version_num, 170012 for 17.12.
	Version int

	// VersionString is server_version, such as "17.12 (Debian 17.12-1)".
	VersionString string

	// Dir is the server's own folder, with the data, the socket and the log.
	Dir string

	// BinDir is the folder of the server programs, empty if it is not known.
	BinDir string

	// Database, if not empty, is the only database of the server that may be
	// used. It exists and is empty, and DSN connects to it. Then the server has
	// other users: nothing but this database, and roles reported to CreatedRole,
	// may be created, and the settings of Spec were not applied.
	Database string

	// Kept says in words what Keep leaves, and how to look at it.
	Kept string
}

// Major returns the major version of the server, 17 for 17.12.
func (i *Info) Major() int { return i.Version / 10000 }

// Instance is what a provider keeps behind a [Server].
type Instance interface {
	// Stop ends the server's processes and, unless keep is set, removes what
	// it stored. It is called once.
	Stop(ctx context.Context, keep bool) error

	// Done is closed when the server's main process has ended.
	Done() <-chan struct{}

	// Err says why the server ended by itself; nil while it runs and after Stop.
	Err() error
}

// Server is a running throwaway server.
type Server struct {
	Info

	inst Instance

	mu      sync.Mutex
	keep    bool
	stopped chan struct{} // made by the first Stop, closed when it is through
	stopErr error
}

// NewServer is for providers: it returns the server with these facts.
func NewServer(info Info, inst Instance) *Server {
	return &Server{Info: info, inst: inst}
}

// Stop ends the server and removes what it stored. It may be called several
// times and from several goroutines: every call waits until the server is gone
// and returns the same error.
//
// ctx bounds the wait for an orderly end, not the work: when it is done the
// server is killed and removed all the same.
func (s *Server) Stop(ctx context.Context) error {
	s.mu.Lock()
	first := s.stopped == nil
	if first {
		s.stopped = make(chan struct{})
	}
	keep := s.keep
	s.mu.Unlock()

	if first {
		s.stopErr = s.inst.Stop(ctx, keep)
		close(s.stopped)
	}
	<-s.stopped
	if s.stopErr != nil {
		return fmt.Errorf("stop throwaway server: %w", s.stopErr)
	}
	return nil
}

// RoleRemover is implemented by an Instance whose roles do not go with it.
type RoleRemover interface {
	// CreatedRole notes that a role was created and is to be dropped by Stop.
	CreatedRole(name string)
}

// CreatedRole tells that a role was created on the server, which was not there
// before. Stop drops it where the server outlives us.
func (s *Server) CreatedRole(name string) {
	if r, ok := s.inst.(RoleRemover); ok {
		r.CreatedRole(name)
	}
}

// Keep makes Stop leave what Info.Kept says in place, for a look at it later.
func (s *Server) Keep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep = true
}

// Done is closed when the server has ended, by Stop or by itself.
func (s *Server) Done() <-chan struct{} { return s.inst.Done() }

// Err says why the server ended by itself, with the last lines of its log; it
// is nil while the server runs and after an ordinary Stop.
func (s *Server) Err() error { return s.inst.Err() }
