package gcsstore_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/store/driver"
	"github.com/pghaul/pghaul/internal/store/httpline"
	"github.com/pghaul/pghaul/internal/store/storetest"
)

// account writes the file of a service account that gets its tokens from the address.
func account(t *testing.T, tokens string) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "test", "client_email": "backup@test.example", "private_key_id": "1", "token_uri": tokens,
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "account.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A service account's file gives a token, which goes with every request but those to a session.
func TestCredentials(t *testing.T) {
	f, address := startFake(t)
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"access_token":"a-token","token_type":"Bearer","expires_in":3600}`)
	}))
	defer tokens.Close()
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", account(t, tokens.URL))
	o := options("")
	o.Transport = redirect{address, httpline.New(0)}
	b := open(t, f.newBucket(t), o)
	if err := b.Put(t.Context(), "x", bytes.NewReader(storetest.Bytes(1, large)), driver.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"Bearer a-token", "", "", ""}; fmt.Sprint(f.tokens) != fmt.Sprint(want) {
		t.Errorf("tokens: %q, want %q", f.tokens, want)
	}
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", filepath.Join(t.TempDir(), "missing.json"))
	_, err := open(t, "x", options("")).Stat(t.Context(), "x")
	if !errors.Is(err, driver.ErrDenied) || !strings.Contains(err.Error(), "GOOGLE_APPLICATION_CREDENTIALS") {
		t.Errorf("without credentials: %v", err)
	}
}

// redirect sends requests to Google's service elsewhere.
type redirect struct {
	address string
	http.RoundTripper
}

func (r redirect) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.URL.Scheme, req.URL.Host, req.Host = "http", strings.TrimPrefix(r.address, "http://"), ""
	return r.RoundTripper.RoundTrip(req)
}
