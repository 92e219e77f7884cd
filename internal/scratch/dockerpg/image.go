package dockerpg

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pghaul/pghaul/internal/scratch"
)

// image is a kind of image, and what it has beyond PostgreSQL's own extensions.
type image struct {
	name       string         // with %d for the major version, and %s for a version of its own
	versions   map[int]string // the latter by major version
	extensions []string
}

var postgis = []string{
	"postgis", "postgis_raster", "postgis_topology", "postgis_sfcgal", "postgis_tiger_geocoder",
	"address_standardizer", "address_standardizer_data_us",
}

// images are the images that are chosen from; the first that has all that is
// wanted is taken. They are built on Debian: the C library decides how text is
// sorted, and most servers have this one.
var images = []image{
	{name: "postgres:%d"},
	{name: "pgvector/pgvector:pg%d", extensions: []string{"vector"}},
	{
		name: "postgis/postgis:%d-%s",
		versions: map[int]string{
			10: "3.2", 11: "3.3", 12: "3.4", 13: "3.5", 14: "3.5", 15: "3.5", 16: "3.5", 17: "3.5", 18: "3.6",
		},
		extensions: postgis,
	},
	{
		name: "timescale/timescaledb-ha:pg%d",
		extensions: append([]string{
			"timescaledb", "timescaledb_toolkit", "vector", "vectorscale", "pgrouting", "hypopg", "pgaudit", "pg_cron",
		}, postgis...),
	},
}

// contrib are the extensions of PostgreSQL itself that every image has: all but
// those of procedural languages other than PL/pgSQL
// (https://www.postgresql.org/docs/current/contrib.html; adminpack until 16, old_snapshot 14 to 16).
var contrib = strings.Fields(`adminpack amcheck autoinc bloom btree_gin btree_gist citext cube dblink dict_int
	dict_xsyn earthdistance file_fdw fuzzystrmatch hstore insert_username intagg intarray isn lo ltree moddatetime
	old_snapshot pageinspect pg_buffercache pg_freespacemap pg_logicalinspect pg_prewarm pg_stat_statements
	pg_surgery pg_trgm pg_visibility pg_walinspect pgcrypto pgrowlocks pgstattuple plpgsql postgres_fdw refint seg
	sslinfo tablefunc tcn timetravel tsm_system_rows tsm_system_time unaccent uuid-ossp xml2`)

// has reports whether an image of this kind has the extension.
func (i *image) has(extension string) bool {
	return slices.Contains(contrib, extension) || slices.Contains(i.extensions, extension)
}

// tag returns the image's name for a major version; false if there is none.
func (i *image) tag(major int) (string, bool) {
	if i.versions == nil {
		return fmt.Sprintf(i.name, major), true
	}
	v, ok := i.versions[major]
	return fmt.Sprintf(i.name, major, v), ok
}

// NoImageError says that no image is known to have all of the extensions.
type NoImageError struct {
	Major      int
	Extensions []string
}

func (e *NoImageError) Error() string {
	return fmt.Sprintf("no image of PostgreSQL %d is known to have %s: name one that has it with --image", e.Major, strings.Join(e.Extensions, ", "))
}

// Unwrap returns the same as a *scratch.MissingExtensions, for those who can do without them.
func (e *NoImageError) Unwrap() error {
	return &scratch.MissingExtensions{Names: e.Extensions, Where: "the known images"}
}

// Choose returns the image for servers of the major version with the extensions,
// or a *NoImageError with those of the extensions that stand in the way.
func Choose(major int, extensions []string) (string, error) {
	for i := range images {
		lacks := slices.ContainsFunc(extensions, func(x string) bool { return !images[i].has(x) })
		if name, ok := images[i].tag(major); ok && !lacks {
			return name, nil
		}
	}
	e := &NoImageError{Major: major}
	for _, x := range extensions {
		if !slices.Contains(contrib, x) {
			e.Extensions = append(e.Extensions, x)
		}
	}
	slices.Sort(e.Extensions)
	return "", e
}
