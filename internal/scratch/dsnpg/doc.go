// Package dsnpg makes a throwaway database on a server that somebody else runs.
// In comes a scratch.Spec and, with the Provider, the server; out comes a
// scratch.Server whose only usable database is one of its own.
//
// The database is created under a random name and dropped at the end with all
// its sessions. Where the role may not create databases, the one that was named
// is used, if it is empty; at the end what was created in it is dropped. So
// nothing that is there before is ever touched, the source included: it is
// either another database, or not empty.
//
// The server goes on when our process dies, and then the database stays. A
// session that has the database's name as application_name says that its maker
// lives; the next Start reports databases, and roles, that lack one.
package dsnpg
