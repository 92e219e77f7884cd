//go:build !linux

package bench

import "os"

// serverMeter knows nothing here: other systems do not tell the processor time of another user's processes.
type serverMeter struct{ postmaster int }

func (m *serverMeter) cpu() float64 { return 0 }

// privateMemory is not known here, either.
func privateMemory(int) int64 { return 0 }

func watchMemory(int) (peak func(*os.ProcessState) int64) {
	return func(*os.ProcessState) int64 { return 0 }
}
