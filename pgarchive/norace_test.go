//go:build !race

package pgarchive_test

const stride = 1 // see race_test.go
