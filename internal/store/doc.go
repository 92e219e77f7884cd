// Package store keeps objects in a place that a driver gives access to. What comes in
// are names and streams; what goes out are the same streams, proven to be the same: every object is
// hashed on its way in, and compared with its hash on its way out before its last byte is handed over.
//
// A driver (package driver) only moves bytes. Names are checked here, lists are put
// together from pages here, and an object is read by several requests at a time here.
package store
