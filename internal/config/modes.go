package config

import "runtime"

// hasModes says that the modes of files tell who can read them.
const hasModes = runtime.GOOS != "windows"
