// Package bench measures dumps, restores and copies side by side with the programs they take the place of. What comes in is a
// server, the peers found on the machine and the sizes wanted; what goes out is a [Report], which says of each line how long
// each program took, with how much memory and processor time, and how far that is from what the server itself needs.
//
// A [Suite] is groups of lines, a line is contenders that do the same work. The contenders of a line run in turn,
// A B A B, so that whatever else the machine does meets all of them alike; the report has medians, the
// spread, and ratios of medians (measure.go). Every program is a process of its own, ours too, so that memory and processor time
// are what the kernel says of it; the server's processor time is that of all its processes (server_linux.go).
// Databases are filled by workload.sql and its like.
package bench
