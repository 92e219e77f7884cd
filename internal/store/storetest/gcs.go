package storetest

import (
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
)

// GCSServer is an emulator of Google Cloud Storage that was started for a test and ends with it. Its data are in memory.
type GCSServer struct {
	Endpoint string // http://127.0.0.1:port

	buckets atomic.Int32
}

// StartGCS starts an emulator, or skips the test if there is no program for it. It is skipped even where skips are forbidden: the driver's
// own tests have a stand-in for it, and the emulator takes longer to build than the CI has.
func StartGCS(t testing.TB) *GCSServer {
	t.Helper()
	program, ok := tool("fake-gcs-server-v*")
	if !ok {
		t.Skip("the emulator fake-gcs-server is not there: run scripts/setup.sh gcs")
	}
	s := new(GCSServer)
	s.Endpoint = "http://" + serve(t, func(port string) *exec.Cmd {
		return exec.Command(program, "-scheme", "http", "-host", "127.0.0.1", "-port", port, "-backend", "memory",
			"-external-url", "http://127.0.0.1:"+port, "-log-level", "error")
	})
	return s
}

// NewBucket makes an empty bucket and returns its name.
func (s *GCSServer) NewBucket(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("bucket-%d", s.buckets.Add(1))
	resp, err := http.Post(s.Endpoint+"/storage/v1/b?project=test", "application/json", strings.NewReader(`{"name":"`+name+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("making the bucket %s: %s", name, resp.Status)
	}
	return name
}
