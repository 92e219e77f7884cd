// Package estimate says what a backup of a database will take before it is taken. In come a connection and
// Options; out goes a Report: rows and bytes, what is stored of them by each way to compress, how long it takes, what
// leaves the server's network and what that may cost, the locks it needs, and how long and how large a restore is.
//
// The catalogue is read in a constant number of queries. The form of the rows is known from a sample: a few pages
// of each of the largest tables, within a limit of time. No table is read as a whole unless it is that small.
// The restore is predicted by package restore, from a table of contents that is made up of what the catalogue says.
package estimate
