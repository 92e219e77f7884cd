//go:build unix

package localpg

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is the user as whom the server programs run. The zero value is
// ourselves.
type account struct {
	name     string
	uid, gid int
	other    bool // not ourselves
}

// serverAccount returns who runs the server programs: ourselves, or if we are
// root the user postgres or nobody.
func serverAccount() (account, error) {
	if os.Geteuid() != 0 {
		return account{uid: os.Geteuid(), gid: os.Getegid()}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.Atoi(u.Uid)
		gid, err2 := strconv.Atoi(u.Gid)
		if err1 != nil || err2 != nil || uid == 0 {
			continue
		}
		return account{name: name, uid: uid, gid: gid, other: true}, nil
	}
	return account{}, errors.New("PostgreSQL does not run as root, and this system has neither a user postgres nor nobody to run it as: run as another user")
}

// credential returns the setting for a process of the account, nil for ourselves.
func (a account) credential() *syscall.Credential {
	if !a.other {
		return nil
	}
	return &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
}

// own gives a file to the account.
func (a account) own(file string) error {
	if !a.other {
		return nil
	}
	return os.Chown(file, a.uid, a.gid)
}

// reach reports, as an error, the first parent folder of dir that the account
// cannot pass through.
func (a account) reach(dir string) error {
	if !a.other {
		return nil
	}
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		st, err := os.Stat(d)
		if err != nil {
			return err
		}
		sys, ok := st.Sys().(*syscall.Stat_t)
		if !ok {
			return nil
		}
		need := os.FileMode(0o001)
		switch {
		case int(sys.Uid) == a.uid:
			need = 0o100
		case int(sys.Gid) == a.gid:
			need = 0o010
		}
		if st.Mode().Perm()&need == 0 {
			return fmt.Errorf("use folder %s: user %s, who runs the server because we are root, cannot enter %s", dir, a.name, d)
		}
		if d == filepath.Dir(d) {
			return nil
		}
	}
}
