package scratch

import (
	"fmt"
	"slices"
	"strings"
)

// MissingExtensions is the error for extensions that a server does not have.
type MissingExtensions struct {
	Names []string // sorted
	Where string   // which server programs, image or server
}

func (e *MissingExtensions) Error() string {
	if len(e.Names) == 1 {
		return fmt.Sprintf("extension %s is not available in %s", e.Names[0], e.Where)
	}
	return fmt.Sprintf("extensions %s are not available in %s", strings.Join(e.Names, ", "), e.Where)
}

// ExtensionsQuery asks a server for the names of the extensions that it could create.
// The server is asked, and not its files looked at, because the places of the
// files depend on how it was built and, since 18, on extension_control_path.
const ExtensionsQuery = "SELECT name FROM pg_catalog.pg_available_extensions"

// CheckExtensions is for providers: it runs ExtensionsQuery by query, which gives
// every name to add, and returns a *MissingExtensions with those of the wanted that
// are not there. Nothing is asked if none is wanted. where is the server in words.
func CheckExtensions(wanted []string, where string, query func(sql string, add func(name string)) error) error {
	if len(wanted) == 0 {
		return nil
	}
	missing := slices.Clone(wanted)
	err := query(ExtensionsQuery, func(name string) {
		missing = slices.DeleteFunc(missing, func(m string) bool { return m == name })
	})
	if err != nil {
		return fmt.Errorf("ask %s for its extensions: %w", where, err)
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return &MissingExtensions{Names: slices.Compact(missing), Where: where}
	}
	return nil
}
