//go:build !amd64

package fastzstd

func setPortable(bool) {}
