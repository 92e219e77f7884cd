// Package preflight looks before a restore whether it can succeed. In come a plan of package restore, what is known
// of the backup, and a connection to the target; out comes a [Report]: what stands in the way, what may go wrong, and what is so. It writes
// nothing. [CreateRoles] then makes roles that the target lacks.
//
// Each kind of check is a file or a function: gates.go (is it the right target), roles.go, objects.go (extensions, collations,
// tablespaces, access methods, what only some roles may do), machine.go (versions, settings, room).
package preflight
