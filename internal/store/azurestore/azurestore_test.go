package azurestore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/pghaul/pghaul/internal/store/azurestore"
	"github.com/pghaul/pghaul/internal/store/driver"
	"github.com/pghaul/pghaul/internal/store/faultproxy"
	"github.com/pghaul/pghaul/internal/store/storetest"
)

// server is a service under test.
type server struct {
	account, key, endpoint string
	newContainer           func(t testing.TB) string
}

const (
	part  = 64 << 10
	large = 2*part + 5000
	key   = "bm8gc2VjcmV0" // no secret
)

func testServer(t *testing.T, s *server) {
	t.Run("conformance", func(t *testing.T) { testConformance(t, s) })
	t.Run("refusals", func(t *testing.T) { testRefusals(t, s) })
	t.Run("two writers", func(t *testing.T) { testTwoWriters(t, s) })
}

func TestFake(t *testing.T) {
	f, address := startFake(t)
	testServer(t, &server{"account", key, address, f.newContainer})
}

func TestEmulator(t *testing.T) {
	e := storetest.StartAzure(t)
	var n atomic.Int32
	testServer(t, &server{e.Account, e.Key, e.Endpoint, func(t testing.TB) string {
		name := fmt.Sprintf("container-%d", n.Add(1))
		makeContainer(t, e, name)
		return name
	}})
}

func makeContainer(t testing.TB, e *storetest.AzureServer, name string) {
	t.Helper()
	k, err := container.NewSharedKeyCredential(e.Account, e.Key)
	if err != nil {
		t.Fatal(err)
	}
	c, err := container.NewClientWithSharedKeyCredential(e.Endpoint+"/"+name, k, &container.ClientOptions{ClientOptions: policy.ClientOptions{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Create(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

func options(s *server) azurestore.Options {
	return azurestore.Options{
		Endpoint: s.endpoint, Key: s.key, PartSize: part,
		Retry: driver.Backoff{Tries: 4, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }},
	}
}

func open(t *testing.T, account, name string, o azurestore.Options) *azurestore.Store {
	t.Helper()
	b, err := azurestore.Open(account, name, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func testConformance(t *testing.T, s *server) {
	storetest.Run(t, storetest.Harness{Large: large, New: func(t *testing.T) driver.Store {
		return open(t, s.account, s.newContainer(t), options(s))
	}})
}

func testRefusals(t *testing.T, s *server) {
	b := open(t, s.account, "no-such-container", options(s))
	_, lerr := b.List(t.Context(), driver.ListRequest{})
	for _, err := range []error{
		b.Put(t.Context(), "x", strings.NewReader("x"), driver.PutOptions{}), lerr,
		b.Put(t.Context(), "x", bytes.NewReader(storetest.Bytes(1, large)), driver.PutOptions{}),
	} {
		if !driver.IsPermanent(err) || !strings.Contains(err.Error(), "no-such-container does not exist") {
			t.Errorf("%v", err)
		}
	}
	if s.key == key {
		return // the fake lets everybody in
	}
	o := options(s)
	o.Key = "d3Jvbmc="
	err := open(t, s.account, s.newContainer(t), o).Put(t.Context(), "x", strings.NewReader("x"), driver.PutOptions{})
	if !errors.Is(err, driver.ErrDenied) {
		t.Errorf("with a wrong key: %v", err)
	}
}

// Two uploads of one key at a time: one is there in the end, whole, and a conditional one that lost knows it.
func testTwoWriters(t *testing.T, s *server) {
	b := open(t, s.account, s.newContainer(t), options(s))
	data := [2][]byte{storetest.Bytes(1, large), storetest.Bytes(2, large)}
	// The second is put when all of the first has been read.
	var second error
	body := &atEnd{r: bytes.NewReader(data[0]), f: func() {
		second = b.Put(t.Context(), "x", bytes.NewReader(data[1]), driver.PutOptions{IfAbsent: true})
	}}
	first := b.Put(t.Context(), "x", body, driver.PutOptions{IfAbsent: true})
	if second != nil || !errors.Is(first, driver.ErrExists) {
		t.Errorf("second: %v, first: %v", second, first)
	}
	if got, err := storetest.Get(t.Context(), b, "x", 0, -1); err != nil || !bytes.Equal(got, data[1]) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// atEnd does something before the end of a body is seen.
type atEnd struct {
	r *bytes.Reader
	f func()
}

func (a *atEnd) Read(p []byte) (int, error) {
	if a.r.Len() == 0 && a.f != nil {
		a.f()
		a.f = nil
	}
	return a.r.Read(p)
}

func TestFaults(t *testing.T) {
	f, address := startFake(t)
	host := strings.TrimSuffix(address, "/account")
	storetest.RunFaults(t, storetest.FaultHarness{
		Endpoint: host, Retry: options(&server{}).Retry, Part: part, Every: 2, Seeds: 40,
		Open: func(t *testing.T, endpoint string) driver.Store {
			return open(t, "account", f.newContainer(t), options(&server{endpoint: endpoint + "/account", key: key}))
		},
		Faults: []faultproxy.Fault{
			{Kind: faultproxy.CutBody, After: 1 << 14}, {Kind: faultproxy.CutReply, After: 50}, {Kind: faultproxy.Flip, After: 99},
		},
	})
}

// Every kind of credential goes with the requests, and none into an error.
func TestCredentials(t *testing.T) {
	f, address := startFake(t)
	name := f.newContainer(t)
	for kind, c := range map[string]struct {
		o    azurestore.Options
		want string
	}{
		"key":                   {azurestore.Options{Endpoint: address, Key: key}, "SharedKey account:"},
		"SAS":                   {azurestore.Options{Endpoint: address, SAS: "?sv=2024-01-01&sig=hunter2"}, "hunter2"},
		"connection string":     {azurestore.Options{ConnectionString: "AccountName=account;AccountKey=" + key + ";BlobEndpoint=" + address}, "SharedKey account:"},
		"connection string SAS": {azurestore.Options{ConnectionString: "SharedAccessSignature=sv=2024-01-01&sig=hunter2;BlobEndpoint=" + address}, "hunter2"},
	} {
		f.auth = nil
		if err := open(t, "account", name, c.o).Put(t.Context(), "x", strings.NewReader("x"), driver.PutOptions{}); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if len(f.auth) != 1 || !strings.HasPrefix(f.auth[0], c.want) {
			t.Errorf("%s: authorized by %q, want %q", kind, f.auth, c.want)
		}
	}
	// Nothing listens there.
	o := azurestore.Options{Endpoint: "http://127.0.0.1:1/account", SAS: "sv=2024-01-01&sig=hunter2", Retry: driver.Backoff{Tries: 1}}
	b := open(t, "account", name, o)
	for _, err := range []error{b.Delete(t.Context(), "x"), b.Put(t.Context(), "x", strings.NewReader("x"), driver.PutOptions{})} {
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("without a server: %v", err)
		}
	}
	o = azurestore.Options{Endpoint: address, SAS: "sv=2024-01-01&sig=hunter2"}
	if _, err := open(t, "account", "missing", o).Stat(t.Context(), "x"); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("without a container: %v", err)
	}
	for text, o := range map[string]azurestore.Options{
		"for the account other":           {ConnectionString: "AccountName=other;AccountKey=" + key},
		"connection string is not valid":  {ConnectionString: "hunter2"},
		"account's key is not valid":      {Key: "hunter2%"},
		"endpoint is not the URL of a se": {Endpoint: "example", Key: key},
	} {
		if _, err := azurestore.Open("account", "c", o); err == nil || !strings.Contains(err.Error(), text) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("want %q: %v", text, err)
		}
	}
}
