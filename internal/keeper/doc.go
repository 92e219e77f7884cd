// Package keeper keeps a snapshot of a database alive in a process of its own, so that it outlives the program
// that wants it. What comes in are a way to connect and perhaps a snapshot to take over; what goes out is the
// name of a snapshot that others import as long as the keeper lives.
//
// [Start] starts the keeper, which is the same program again with the arguments it is given, and there calls [Serve]. They talk
// through the keeper's standard input and output, a line of JSON for each message, so nothing of the connection is seen
// in a list of processes. The keeper ends when it is told to, when its session ends, and when its
// standard input ends without a word, which is what happens when the program is killed: a given time later if the
// snapshot is on record, else at once.
package keeper
