package storetest

import (
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// AzureServer is an emulator of Azure Blob Storage that was started for a test and ends with it. Its data are in memory.
type AzureServer struct {
	Endpoint     string // http://127.0.0.1:port/account
	Account, Key string
}

// StartAzure starts an emulator, or skips the test if there is no program for it. It is skipped even where skips are forbidden: the driver's
// own tests have a stand-in for it, and not every machine has Node.js.
func StartAzure(t testing.TB) *AzureServer {
	t.Helper()
	folder, ok := tool("azurite-*")
	node, err := exec.LookPath("node")
	if !ok || err != nil {
		t.Skip("the emulator azurite, or Node.js, is not there: run scripts/setup.sh azure")
	}
	s := &AzureServer{Account: "pghaul", Key: base64.StdEncoding.EncodeToString([]byte("test-only-secret"))}
	s.Endpoint = "http://" + serve(t, func(port string) *exec.Cmd {
		cmd := exec.Command(node, filepath.Join(folder, "node_modules", "azurite", "dist", "src", "blob", "main.js"),
			"--blobHost", "127.0.0.1", "--blobPort", port, "--inMemoryPersistence", "--silent", "--skipApiVersionCheck", "--disableTelemetry")
		cmd.Env = append(os.Environ(), "AZURITE_ACCOUNTS="+s.Account+":"+s.Key)
		cmd.Dir = t.TempDir()
		return cmd
	}) + "/" + s.Account
	return s
}
