// Package drill proves that an archive restores. What comes in is an archive; what
// goes out is a [Report]: proven identity, or a list of differences, each with the name of
// the object and, if it is to be expected, of the rule that says so (rules.go, explain.go).
//
// A drill goes through these phases:
//
//	open      read the archive's table of contents and its manifest
//	start     start a throwaway server of the source's major version
//	restore   create the roles the archive speaks of, restore in parallel; every byte
//	          that the archive gives is counted and hashed on the way (reader.go)
//	inspect   read the copy as a dump would: every object, every row, from one snapshot
//	compare   archive against manifest, copy against manifest (expect.go)
//	probe     count what the roles of a platform see of tables with row security
//	check     run the user's own statements and commands (checks.go, command.go)
//	stop      remove the server, or leave it running if that was asked for
//
// The manifest was made from the source's snapshot while it was dumped. Where an
// archive has none, because pg_dump made it, the archive itself is what the
// copy is compared with, and the report says so.
package drill
