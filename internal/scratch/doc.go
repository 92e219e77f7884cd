// Package scratch says what a throwaway PostgreSQL server is. In comes a
// [Spec], the wish: a major version, settings, how many jobs will use it. Out
// comes a [Server] that runs, with a connection string, until Stop removes it
// together with everything that was stored in it.
//
// The package itself starts nothing. A [Provider] does, and each way to get a
// server is a provider in a package of its own: scratch/localpg runs the server
// programs found on this machine. Only a command or a test names a provider.
package scratch
