package scratch

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
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

// CheckExtensions asks the server which of the extensions it could create. It
// returns a *MissingExtensions that names the others. where is the server in words.
// The server is asked, and not its files looked at, because the places of the
// files depend on how it was built and, since 18, on extension_control_path.
func CheckExtensions(ctx context.Context, dsn string, names []string, where string) error {
	if len(names) == 0 {
		return nil
	}
	// Not by package pg: its own tests run on servers of this package.
	c, err := pgconn.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	results, err := c.Exec(ctx, "SELECT name FROM pg_catalog.pg_available_extensions").ReadAll()
	if err != nil {
		return fmt.Errorf("ask %s for its extensions: %w", where, err)
	}
	missing := slices.Clone(names)
	for _, r := range results {
		for _, row := range r.Rows {
			missing = slices.DeleteFunc(missing, func(name string) bool { return name == string(row[0]) })
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return &MissingExtensions{Names: slices.Compact(missing), Where: where}
	}
	return nil
}
