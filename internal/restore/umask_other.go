//go:build !unix

package restore

import "os"

func umask() os.FileMode { return 0 }
