package bench

import (
	"cmp"
	"context"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Peer is a program of others found on this machine.
type Peer struct {
	Program string `json:"program"` // pg_dump, pg_restore, pgcopydb
	Version string `json:"version"`
	Major   int    `json:"major,omitempty"` // of PostgreSQL's programs
	Path    string `json:"-"`
}

// Name is what the report calls it.
func (p Peer) Name() string { return p.Program + " " + p.Version }

var versionNumber = regexp.MustCompile(`\d+(\.\d+)+`)

// findPeers looks for pg_dump and pg_restore of major version least and newer in the folders,
// and for pgcopydb there and in PATH. The list has the lowest version first.
func findPeers(ctx context.Context, folders []string, least int) []Peer {
	var peers []Peer
	places := []string{"pgcopydb"}
	for _, dir := range folders {
		for _, name := range []string{"pg_dump", "pg_restore"} {
			if peer, ok := lookAt(ctx, name, filepath.Join(dir, name)); ok && peer.Major >= least {
				peers = append(peers, peer)
			}
		}
		places = append(places, filepath.Join(dir, "pgcopydb"))
	}
	slices.SortStableFunc(peers, func(a, b Peer) int { return cmp.Compare(a.Major, b.Major) })
	for _, place := range places {
		if peer, ok := lookAt(ctx, "pgcopydb", place); ok {
			peers = append(peers, peer)
			break
		}
	}
	return peers
}

func lookAt(ctx context.Context, name, path string) (Peer, bool) {
	path, err := exec.LookPath(path)
	if err != nil {
		return Peer{}, false
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return Peer{}, false
	}
	v := versionNumber.FindString(string(out))
	first, _, _ := strings.Cut(v, ".")
	major, _ := strconv.Atoi(first)
	return Peer{Program: name, Version: v, Major: major, Path: path}, true
}
