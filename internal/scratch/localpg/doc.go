// Package localpg starts throwaway servers from the PostgreSQL programs that
// are installed on this machine. In comes a scratch.Spec, out comes a running
// scratch.Server.
//
// A server is a folder with the data, a Unix socket and a log, and a postgres
// process that is a child of ours. The folder has mode 0700, so that the socket,
// which asks for no password, is open to the same user only. PostgreSQL's
// programs refuse to run as root; then they run as the user postgres, or else as
// nobody, to whom the folder belongs.
//
// Nothing may be left over:
//   - Stop ends the process and removes the folder;
//   - the end of the context does the same;
//   - when our process dies without a chance to do either, the kernel tells
//     postgres to quit (Linux), and the next Start removes the folder. A folder
//     belongs to a living process as long as the file "owner" in it is locked.
package localpg
