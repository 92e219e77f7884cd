// Package internal_test holds the rules between the packages of this repository.
package internal_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/pghaul/pghaul/"

// layer is one package's place. It may import what stands in uses, and only
// from a lower level. The text of a use says what for.
type layer struct {
	level int
	uses  map[string]string
}

// driverOnly is for drivers of stores and wrappers of such.
var driverOnly = map[string]string{"internal/store/driver": "the Store it is"}

// driverOnService is for drivers of stores that are services.
var driverOnService = map[string]string{
	"internal/store/driver":   "the Store it is",
	"internal/store/parts":    "how large objects are cut",
	"internal/store/httpline": "the way to the service",
}

// layers lists every package, bottom first.
var layers = map[string]layer{
	// Below: what one of level 0 is made of.
	"internal/codec/fastzstd": {-1, nil},

	// Level 0: text, bytes and numbers; they know nothing of ours.
	"internal/sqltext": {0, nil},
	"internal/graph":   {0, nil},
	"internal/codec": {0, map[string]string{
		"internal/codec/fastzstd": "the fastest level of Zstandard",
	}},
	"internal/digest": {0, nil},
	"internal/seal":   {0, nil},

	"internal/linediff": {0, nil},
	"internal/tail":     {0, nil},
	"internal/spelling": {0, nil},

	"internal/store/driver":   {0, nil},
	"internal/store/httpline": {0, nil},

	"internal/config": {1, map[string]string{
		"internal/spelling": "what was meant by a key that is not known",
	}},

	// Level 1: one server, its catalogue, its archives; objects in a store.
	"internal/store": {1, map[string]string{
		"internal/store/driver": "what moves the bytes",
	}},
	"internal/store/parts": {1, map[string]string{
		"internal/store/driver": "an error that no second try would mend",
	}},
	"internal/pg": {1, map[string]string{
		"internal/sqltext": "settings and snapshot names are quoted into statements",
		"internal/digest":  "rows are counted and summed as they pass by",
	}},
	"internal/catalog": {1, map[string]string{
		"internal/sqltext": "name patterns become conditions, arrays of the catalogue are parsed",
	}},
	"pgarchive": {1, map[string]string{
		"internal/codec":   "data are stored compressed",
		"internal/sqltext": "the plain format is a script with quoted names",
	}},

	// Level 2: what is made of those.
	"internal/order": {2, map[string]string{
		"internal/catalog": "the objects to put in order, and what they depend on",
		"internal/graph":   "the sort",
	}},
	"internal/ddl": {2, map[string]string{
		"internal/catalog": "the objects to write as SQL",
		"internal/sqltext": "how identifiers, literals and privileges are written",
		"pgarchive":        "the entries that come out",
	}},
	"internal/manifest": {2, map[string]string{
		"internal/digest":  "the digests it records",
		"internal/catalog": "the inventory of objects it records",
		"pgarchive":        "the entries it describes, and the attachment it is stored as",
	}},
	"internal/restore": {2, map[string]string{
		"internal/pg":      "the server to fill",
		"internal/graph":   "which entry may start when",
		"internal/digest":  "what arrives is counted and summed",
		"internal/codec":   "how much larger data are than what an archive stores of them",
		"internal/sqltext": "names in statements of its own",
		"pgarchive":        "the archive to read",
	}},
	"internal/files": {3, map[string]string{
		"internal/store/driver": "patience with a server",
		"internal/store":        "what damage of an object is",
		"internal/manifest":     "how a hash is written",
		"internal/pg":           "what the database says of its files",
		"internal/sqltext":      "the name of a snapshot in a statement, arrays",
	}},
	"internal/platform": {2, map[string]string{
		"internal/pg":      "row security is probed on a server",
		"internal/sqltext": "names and settings in statements of its own",
		"pgarchive":        "what an archive refers to, and the entries that are added",
	}},
	"internal/rescue": {2, map[string]string{
		"internal/digest":   "what is read is compared with what was backed up",
		"internal/sqltext":  "names and literals of the script",
		"internal/spelling": "which table was meant",
		"pgarchive":         "the archive to read",
	}},
	"internal/keeper": {2, map[string]string{
		"internal/pg": "the session that holds the snapshot",
	}},
	"internal/scratch": {2, nil},

	// Stores: one package for each service, one for each wrapper.
	"internal/store/memstore":   {2, driverOnly},
	"internal/store/filestore":  {2, driverOnly},
	"internal/store/s3store":    {2, driverOnService},
	"internal/store/gcsstore":   {2, driverOnService},
	"internal/store/azurestore": {2, driverOnService},
	"internal/store/retrystore": {2, driverOnly},
	"internal/store/limitstore": {2, driverOnly},
	"internal/store/faultstore": {2, driverOnly},

	// Level 3: the engines, which meet in nothing but pgarchive and manifest.
	"internal/dump": {3, map[string]string{
		"internal/pg":       "the server to read",
		"internal/catalog":  "what is in it",
		"internal/order":    "in which order it is written",
		"internal/ddl":      "as which SQL it is written",
		"internal/digest":   "what leaves is counted and summed",
		"internal/manifest": "the result: what the backup contains",
		"internal/codec":    "the compression that is asked for",
		"internal/sqltext":  "names in statements of its own",
		"pgarchive":         "the archive to write",
	}},
	"internal/estimate": {3, map[string]string{
		"internal/pg":      "the server to ask",
		"internal/restore": "how long a restore takes",
		"internal/codec":   "how far samples can be compressed",
		"internal/sqltext": "names in statements of its own, patterns of schemas",
		"pgarchive":        "the table of contents that restore predicts by",
	}},
	"internal/drill": {3, map[string]string{
		"internal/restore":  "the way back into a server",
		"internal/tail":     "the output of a command",
		"internal/scratch":  "the server to restore into",
		"internal/manifest": "what must be there afterwards",
		"internal/catalog":  "the objects that are there afterwards",
		"internal/digest":   "the rows that are there afterwards",
		"internal/pg":       "to ask the restored server",
		"internal/platform": "what a managed platform has and the copy must be given",
		"internal/sqltext":  "names in statements of its own",
		"pgarchive":         "the archive to try",
	}},
	"internal/preflight": {3, map[string]string{
		"internal/restore":  "the plan of what is to be restored",
		"internal/manifest": "what is known of the backup",
		"internal/pg":       "the server that is looked at",
		"internal/sqltext":  "names in definitions, and in statements of its own",
		"pgarchive":         "the entries of the plan",
	}},
	"internal/repo": {3, map[string]string{
		"internal/store":    "where backups are kept",
		"internal/seal":     "what leaves is encrypted and signed",
		"internal/digest":   "the rows of an archive are compared with the manifest",
		"internal/manifest": "what is in a backup, and which objects it has",
		"pgarchive":         "the archive that a backup is",
	}},
	"internal/store/all": {3, map[string]string{
		"internal/store":            "what is opened",
		"internal/store/driver":     "what every kind of store is",
		"internal/store/filestore":  "one of the kinds",
		"internal/store/s3store":    "one of the kinds",
		"internal/store/gcsstore":   "one of the kinds",
		"internal/store/azurestore": "one of the kinds",
		"internal/store/limitstore": "every store can be slowed down",
		"internal/store/retrystore": "every store is asked again",
	}},
	"internal/scratch/dockerpg": {3, map[string]string{
		"internal/tail":    "what an engine and a container said at last",
		"internal/scratch": "the Provider it is",
		"internal/pg":      "to ask the server whether it is ready",
	}},
	"internal/scratch/dsnpg": {3, map[string]string{
		"internal/scratch": "the Provider it is",
		"internal/pg":      "the server on which a database is made",
		"internal/restore": "whether a database is empty is asked as before a restore",
		"internal/sqltext": "names in statements of its own",
	}},
	"internal/scratch/localpg": {3, map[string]string{
		"internal/scratch": "the Provider it is",
	}},

	"internal/copydb": {4, map[string]string{
		"internal/dump":     "the half that reads the source",
		"internal/restore":  "the half that fills the target",
		"internal/manifest": "source and target are compared by their manifests",
		"internal/pg":       "which databases they are",
		"pgarchive":         "the pipe between the halves is an archive to both",
	}},

	"internal/dumpall": {4, map[string]string{
		"internal/catalog": "what is odd about a database is passed on",
		"internal/dump":    "each database",
		"internal/pg":      "roles and tablespaces, which belong to no database",
		"internal/sqltext": "names and privileges",
		"pgarchive":        "the script each database is written to",
	}},

	// Level 4: what faces people and tests.
	"internal/pgflags": {5, map[string]string{
		"internal/dump":    "the options it fills in",
		"internal/dumpall": "the options it fills in",
		"internal/restore": "the options it fills in",
		"internal/pg":      "where to connect to",
		"internal/codec":   "the argument of -Z",
		"pgarchive":        "formats and selections",
	}},
	"internal/ui": {0, map[string]string{}},
	"internal/bench": {4, map[string]string{
		"internal/pg":      "to fill databases, and to copy tables to nowhere",
		"internal/scratch": "the server to measure on",
		"internal/tail":    "why a program failed",
	}},
	"internal/report": {4, map[string]string{
		"internal/drill":    "what is written down",
		"internal/manifest": "names in it",
		"internal/ui":       "how numbers and times are written",
	}},
	"internal/store/storetest": {3, map[string]string{
		"internal/store/driver":     "what is tested",
		"internal/store/faultproxy": "the line to a service",
		"internal/store/retrystore": "what a driver of a service is used with",
	}},
	"internal/scratch/scratchtest": {4, map[string]string{
		"internal/scratch": "the Provider that is tested",
	}},
	"internal/store/faultproxy": {0, nil},
	"internal/pgtest": {4, map[string]string{
		"internal/scratch":         "what a throwaway server is",
		"internal/scratch/localpg": "tests run on the programs of this machine",
	}},

	// The top names concrete providers and puts all of it together.
	"cmd/pghaul": {7, map[string]string{
		"internal/catalog":          "command",
		"internal/codec":            "command",
		"internal/copydb":           "command",
		"internal/digest":           "command",
		"internal/drill":            "command",
		"internal/dump":             "command",
		"internal/dumpall":          "command",
		"internal/linediff":         "command",
		"internal/keeper":           "the process that keeps a snapshot",
		"internal/manifest":         "command",
		"internal/pg":               "command",
		"internal/pgflags":          "command",
		"internal/preflight":        "command",
		"internal/files":            "command",
		"internal/platform":         "command",
		"internal/repo":             "command",
		"internal/report":           "command",
		"internal/rescue":           "command",
		"internal/restore":          "command",
		"internal/store":            "command",
		"internal/store/all":        "every kind of store",
		"internal/scratch":          "command",
		"internal/seal":             "command",
		"internal/scratch/dockerpg": "a provider of throwaway servers",
		"internal/scratch/dsnpg":    "a provider of throwaway servers",
		"internal/scratch/localpg":  "a provider of throwaway servers",
		"internal/sqltext":          "command",
		"internal/ui":               "command",
		"pgarchive":                 "command",
		"internal/config":           "command",
		"internal/estimate":         "command",
		"internal/bench":            "command",
	}},
}

// testOnly are packages that no program may contain, and folders that hold tests
// and nothing else.
var testOnly = map[string]string{
	"internal/pgtest": "servers and databases for tests",

	"internal/store/storetest": "what every driver must pass",

	"internal/scratch/scratchtest": "what every provider must pass",

	"internal/store/faultproxy": "a bad line to a server",
	"internal":                  "these rules",
	"e2e":                       "the programs against the stock programs, from outside",
}

// modules says which packages may use a module of others, and what for. A new
// line is a new dependency, which is a big step (CONTRIBUTING.md).
var modules = map[string]map[string]string{
	"github.com/jackc/pgx/v5": {
		"internal/pg":                  "the protocol",
		"internal/scratch/localpg":     "to see whether a server is ready; not by internal/pg, whose tests run on servers of it",
		"internal/pgtest":              "SQL of tests, independent of internal/pg which is tested by it",
		"internal/scratch/scratchtest": "SQL of tests",
		"internal/restore":             "the fields of a server's error",
	},
	"github.com/klauspost/compress": {"internal/codec": "gzip and zstd"},
	"github.com/cespare/xxhash/v2":  {"internal/codec/fastzstd": "the checksum of a frame"},
	"github.com/pierrec/lz4/v4":     {"internal/codec": "lz4"},
	"github.com/zeebo/xxh3":         {"internal/digest": "the hash of a row"},
	"golang.org/x/sync": {
		"internal/bench":   "sessions that read side by side",
		"internal/catalog": "queries over several sessions",
		"internal/dump":    "groups of workers",
		"internal/copydb":  "the two halves",
		"internal/restore": "groups of workers",
		"internal/drill":   "groups of workers",
		"internal/repo":    "groups of workers",
		"internal/files":   "groups of workers",
		"internal/rescue":  "groups of workers",

		"internal/store":       "several objects at a time",
		"internal/store/parts": "several parts at a time",
	},
	"filippo.io/age":                                       {"internal/seal": "encryption that others can open, too"},
	"golang.org/x/crypto":                                  {"internal/seal": "SSH keys and signatures"},
	"github.com/minio/minio-go/v7":                         {"internal/store/s3store": "the S3 protocol", "internal/files": "files with their metadata, which a store does not keep"},
	"cloud.google.com/go/auth":                             {"internal/store/gcsstore": "credentials of Google's services"},
	"github.com/Azure/azure-sdk-for-go/sdk/azcore":         {"internal/store/azurestore": "requests to Azure's services"},
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity":     {"internal/store/azurestore": "credentials of Azure's services"},
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob": {"internal/store/azurestore": "the protocol of Azure Blob Storage"},
	"golang.org/x/term": {
		"internal/ui": "is it a terminal, and how wide",
		"internal/pg": "to ask for a password without echo",
		"cmd/pghaul":  "to ask for a password without echo, and whether there is somebody to ask",
	},
	"golang.org/x/sys":       {"pgarchive": "how a file was opened"},
	"github.com/spf13/cobra": {"cmd/pghaul": "commands"},
	"github.com/goccy/go-yaml": {
		"internal/config": "the configuration file",
	},
}

// testModules stay out of the program.
var testModules = []string{"github.com/google/go-cmp", "github.com/rogpeppe/go-internal", "pgregory.net/rapid"}

// importsOf returns what the Go files of each package import: in the program,
// and in its tests only. All files count, whatever system they are for.
func importsOf(t *testing.T, root string) (program, tests map[string][]string) {
	t.Helper()
	program, tests = map[string][]string{}, map[string][]string{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if file != root && (name == "testdata" || name == "vendor" || name[0] == '.' || name[0] == '_') {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		dir = filepath.ToSlash(dir)
		into := program
		if strings.HasSuffix(name, "_test.go") {
			into = tests
		}
		if into[dir] == nil {
			into[dir] = []string{}
		}
		for _, spec := range f.Imports {
			p, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if !slices.Contains(into[dir], p) {
				into[dir] = append(into[dir], p)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return program, tests
}

// belongs reports whether the import path is the module or in it.
func belongs(importPath, module string) bool {
	return importPath == module || strings.HasPrefix(importPath, module+"/")
}

func TestImportsPointOneWay(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	program, tests := importsOf(t, root)

	for pkg, imports := range program {
		l, ok := layers[pkg]
		if _, only := testOnly[pkg]; !ok && !only {
			t.Errorf("%s is not in the table: give it a level and say what it may use", pkg)
			continue
		}
		for _, p := range imports {
			ours, ok := strings.CutPrefix(p, module)
			switch {
			case ok:
				used, known := layers[ours]
				switch {
				case !known:
					t.Errorf("%s imports %s, which is not in the table", pkg, ours)
				case testOnly[ours] != "" && testOnly[pkg] == "":
					t.Errorf("%s imports %s, which is for tests only", pkg, ours)
				case used.level >= l.level:
					t.Errorf("%s (level %d) imports %s (level %d): imports point down", pkg, l.level, ours, used.level)
				case l.uses[ours] == "":
					t.Errorf("%s imports %s: not in its list; say there what for, or do without", pkg, ours)
				}
			case strings.Contains(strings.Split(p, "/")[0], "."):
				checkModule(t, pkg, p)
			case p == "C":
				t.Errorf("%s uses cgo; the program is static", pkg)
			}
		}
	}
	for pkg := range tests {
		_, known := layers[pkg]
		if _, only := testOnly[pkg]; !known && !only {
			t.Errorf("%s has tests but is not in the table", pkg)
		}
	}
}

func checkModule(t *testing.T, pkg, importPath string) {
	t.Helper()
	for _, m := range testModules {
		if belongs(importPath, m) && testOnly[pkg] == "" {
			t.Errorf("%s imports %s: a test library stays out of the program", pkg, importPath)
			return
		}
	}
	for m, users := range modules {
		if !belongs(importPath, m) {
			continue
		}
		if users[pkg] == "" {
			t.Errorf("%s imports %s, which is for %v", pkg, importPath, slices.Sorted(maps.Keys(users)))
		}
		return
	}
	t.Errorf("%s imports %s: no line for this module", pkg, importPath)
}

func TestTable(t *testing.T) {
	for pkg, l := range layers {
		if _, err := os.Stat(filepath.Join("..", filepath.FromSlash(pkg))); err != nil {
			t.Errorf("the table names a package that is not there: %v", err)
		}
		for used, reason := range l.uses {
			if reason == "" {
				t.Errorf("%s may use %s for no reason", pkg, used)
			}
			below, ok := layers[used]
			if !ok || below.level >= l.level {
				t.Errorf("%s (level %d) may use %s, which is not below it", pkg, l.level, used)
			}
		}
		// dump and restore meet in pgarchive only; a concrete provider is
		// named by a command or a test only.
		if strings.HasPrefix(pkg, "cmd/") || testOnly[pkg] != "" {
			continue
		}
		for used := range l.uses {
			if path.Dir(used) == "internal/scratch" {
				t.Errorf("%s may use the provider %s; only commands and tests name one", pkg, used)
			}
		}
		if l.uses["internal/dump"] != "" && l.uses["internal/restore"] != "" && l.level < 4 {
			t.Errorf("%s may use dump and restore", pkg)
		}
	}
	for _, pair := range [][2]string{{"internal/dump", "internal/restore"}, {"internal/restore", "internal/dump"}} {
		if layers[pair[0]].uses[pair[1]] != "" {
			t.Errorf("%s may use %s; they meet in pgarchive", pair[0], pair[1])
		}
	}
}
