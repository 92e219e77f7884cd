// Package platform knows what managed platforms put into a database beside what is
// the user's: roles, schemas, helper functions, and tables that foreign keys refer to. What
// comes in is the table of contents of an archive; what goes out are the statements that make, on a server that is
// not the platform's, what the archive refers to and does not hold ([Profile.Stubs]), the archive as it
// restores beside them ([Adapt]), and, of a database with row security, which rows each of
// the platform's roles sees ([Profile.Probe]).
//
// A stub stands in for something of the platform and behaves like it as far as a user's objects can tell: auth.uid()
// reads the claims of the request, auth.users has the columns and the key of the real one. Every stub is named, so that a report
// can list them.
package platform
