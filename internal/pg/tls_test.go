package pg

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// authority signs certificates for tests.
type authority struct {
	t      *testing.T
	cert   *x509.Certificate
	key    crypto.Signer
	serial int64
}

func newAuthority(t *testing.T) *authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign, SubjectKeyId: []byte{1}}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{t, cert, key, 1}
}

// issue makes a certificate for a common name and alternative names.
func (a *authority) issue(cn string, sans ...string) tls.Certificate {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	a.serial++
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(a.serial), Subject: pkix.Name{CommonName: cn}, NotAfter: time.Now().Add(time.Hour), DNSNames: sans}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, a.cert, key.Public(), a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func pemFile(t *testing.T, path, kind string, der []byte) string {
	t.Helper()
	write(t, path, 0o600, string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})))
	return path
}

// tlsServer takes connections and lets everybody in. Its host is localhost.
func tlsServer(t *testing.T, conf *tls.Config, plainToo bool) (port int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	welcome := wire([]frame{{'R', []byte{0, 0, 0, 0}}, {'S', []byte("server_version\x0018.6\x00")}, {'K', make([]byte, 8)}, {'Z', []byte("I")}})
	serve := func(c net.Conn) {
		defer c.Close()
		first := make([]byte, 8)
		if _, err := io.ReadFull(c, first); err != nil {
			return
		}
		switch {
		case first[0] == 0x16: // a ClientHello
			c = tls.Server(&unread{c, first}, conf)
			startup(c)
		case first[3] == 8:
			c.Write([]byte("S"))
			c = tls.Server(c, conf)
			startup(c)
		case !plainToo:
			c.Write(wire([]frame{{'E', []byte("SFATAL\x00VFATAL\x00C28000\x00Mno encryption\x00\x00")}}))
			return
		default:
			startup(&unread{c, first})
		}
		c.Write(welcome)
		io.Copy(io.Discard, c)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serve(c)
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

// unread gives bytes that were read already once more.
type unread struct {
	net.Conn
	data []byte
}

func (u *unread) Read(p []byte) (int, error) {
	if len(u.data) > 0 {
		n := copy(p, u.data)
		u.data = u.data[n:]
		return n, nil
	}
	return u.Conn.Read(p)
}

func TestTLS(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	dir := t.TempDir()
	caFile := pemFile(t, filepath.Join(dir, "ca.crt"), "CERTIFICATE", ca.cert.Raw)
	otherFile := pemFile(t, filepath.Join(dir, "other.crt"), "CERTIFICATE", other.cert.Raw)

	good := ca.issue("ignored", "localhost")
	byCN := ca.issue("localhost")
	stranger := ca.issue("elsewhere", "elsewhere.example")
	revoked := ca.issue("localhost")
	leaf, err := x509.ParseCertificate(revoked.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	crl, err := x509.CreateRevocationList(rand.Reader, &x509.RevocationList{Number: big.NewInt(1), NextUpdate: time.Now().Add(time.Hour),
		RevokedCertificateEntries: []x509.RevocationListEntry{{SerialNumber: leaf.SerialNumber, RevocationTime: time.Now()}}}, ca.cert, ca.key)
	if err != nil {
		t.Fatal(err)
	}
	crlFile := pemFile(t, filepath.Join(dir, "crls/root.crl"), "X509 CRL", crl)

	client := ca.issue("app")
	clientFile := pemFile(t, filepath.Join(dir, "client.crt"), "CERTIFICATE", client.Certificate[0])
	keyDER, err := x509.MarshalECPrivateKey(client.PrivateKey.(*ecdsa.PrivateKey))
	if err != nil {
		t.Fatal(err)
	}
	keyFile := pemFile(t, filepath.Join(dir, "client.key"), "EC PRIVATE KEY", keyDER)
	openKey := pemFile(t, filepath.Join(dir, "open.key"), "EC PRIVATE KEY", keyDER)
	if err := os.Chmod(openKey, 0o644); err != nil {
		t.Fatal(err)
	}
	//lint:ignore SA1019 it is what sslpassword is for
	lockedPEM, err := x509.EncryptPEMBlock(rand.Reader, "EC PRIVATE KEY", keyDER, []byte("sesame"), x509.PEMCipherAES256)
	if err != nil {
		t.Fatal(err)
	}
	lockedKey := filepath.Join(dir, "locked.key")
	write(t, lockedKey, 0o600, string(pem.EncodeToMemory(lockedPEM)))

	tests := []struct {
		name    string
		server  tls.Certificate
		conf    *tls.Config
		plain   bool
		options string
		want    string // error
		isPlain bool
	}{
		{name: "prefer", server: stranger, options: "sslmode=prefer"},
		{name: "require", server: stranger, options: "sslmode=require"},
		{name: "disable", server: good, plain: true, options: "sslmode=disable", isPlain: true},
		{name: "disable, server wants it", server: good, options: "sslmode=disable", want: "FATAL:  no encryption"},
		{name: "allow", server: good, plain: true, options: "sslmode=allow", isPlain: true},
		{name: "allow, server wants it", server: good, options: "sslmode=allow"},
		{name: "require with roots checks the chain", server: good, options: "sslmode=require sslrootcert=" + otherFile, want: "SSL error: certificate verify failed: "},
		{name: "prefer with roots falls back", server: good, plain: true, options: "sslmode=prefer sslrootcert=" + otherFile, isPlain: true},
		{name: "verify-ca", server: stranger, options: "sslmode=verify-ca sslrootcert=" + caFile},
		{name: "verify-ca, no roots", server: good, options: "sslmode=verify-ca sslrootcert=/nowhere", want: "root certificate file \"/nowhere\" does not exist\nEither provide the file"},
		{name: "verify-full", server: good, options: "sslmode=verify-full sslrootcert=" + caFile},
		{name: "verify-full by common name", server: byCN, options: "sslmode=verify-full sslrootcert=" + caFile},
		{name: "verify-full, other name", server: stranger, options: "sslmode=verify-full sslrootcert=" + caFile, want: `server certificate for "elsewhere.example" does not match host name "localhost"`},
		{name: "revoked", server: revoked, options: "sslmode=verify-ca sslrootcert=" + caFile + " sslcrl=" + crlFile, want: "SSL error: certificate verify failed: certificate revoked"},
		{name: "revoked, folder", server: revoked, options: "sslmode=verify-ca sslrootcert=" + caFile + " sslcrldir=" + filepath.Dir(crlFile), want: "SSL error: certificate verify failed: certificate revoked"},
		{name: "not revoked", server: good, options: "sslmode=verify-full sslrootcert=" + caFile + " sslcrl=" + crlFile},
		{name: "version too old", server: good, conf: &tls.Config{MaxVersion: tls.VersionTLS12}, options: "sslmode=require ssl_min_protocol_version=TLSv1.3", want: "SSL error: "},
		{name: "direct", server: good, conf: &tls.Config{NextProtos: []string{"postgresql"}}, options: "sslmode=require sslnegotiation=direct"},
		{name: "direct, no ALPN", server: good, options: "sslmode=require sslnegotiation=direct", want: "direct SSL connection was established without ALPN protocol negotiation extension"},
		{name: "client certificate", server: good, conf: &tls.Config{ClientAuth: tls.RequireAnyClientCert}, options: "sslmode=require sslcertmode=require sslcert=" + clientFile + " sslkey=" + keyFile},
		{name: "client certificate, locked key", server: good, conf: &tls.Config{ClientAuth: tls.RequireAnyClientCert}, options: "sslmode=require sslpassword=sesame sslcert=" + clientFile + " sslkey=" + lockedKey},
		{name: "locked key, no password", server: good, options: "sslmode=require sslcert=" + clientFile + " sslkey=" + lockedKey, want: "could not load private key file \"" + lockedKey + "\": the key is encrypted and sslpassword is not set"},
		{name: "key for everybody", server: good, options: "sslmode=require sslcert=" + clientFile + " sslkey=" + openKey, want: "private key file \"" + openKey + "\" has group or world access"},
		{name: "no key", server: good, options: "sslmode=require sslcert=" + clientFile + " sslkey=/nowhere", want: `certificate present, but not private key file "/nowhere"`},
		{name: "certificate required, not asked for", server: good, options: "sslmode=require sslcertmode=require sslcert=" + clientFile + " sslkey=" + keyFile, want: "server did not request an SSL certificate"},
		{name: "certificate required, there is none", server: good, conf: &tls.Config{ClientAuth: tls.RequestClientCert}, options: "sslmode=require sslcertmode=require", want: "server accepted connection without a valid SSL certificate"},
		{name: "certificate not to be shown", server: good, conf: &tls.Config{ClientAuth: tls.RequireAnyClientCert}, options: "sslmode=require sslcertmode=disable sslcert=" + clientFile + " sslkey=" + keyFile, want: ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			conf := tt.conf.Clone()
			if conf == nil {
				conf = &tls.Config{}
			}
			conf.Certificates = []tls.Certificate{tt.server}
			port := tlsServer(t, conf, tt.plain)
			env, _ := testEnv(t, nil)
			c, err := parseConfig(fmt.Sprintf("host=localhost hostaddr=127.0.0.1 port=%d user=u %s", port, tt.options), Overrides{}, env)
			if err != nil {
				t.Fatal(err)
			}
			conn, err := Connect(t.Context(), c)
			if tt.name == "certificate not to be shown" {
				if err == nil {
					t.Error("a certificate was shown")
				}
				return
			}
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), "failed: "+tt.want) {
					t.Errorf("got  %v\nwant %s", err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(t.Context())
			if _, enc := conn.pg.Conn().(*tls.Conn); enc == tt.isPlain {
				t.Errorf("encrypted: %v", enc)
			}
			if conn.Version() != 180006 {
				t.Errorf("version %d", conn.Version())
			}
		})
	}
}

func TestDecryptKey(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Skip("the library makes no small keys: ", err)
	}
	der := x509.MarshalPKCS1PrivateKey(key)
	plainPEM := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: der})
	if got, err := decryptKey(plainPEM, ""); err != nil || string(got) != string(plainPEM) {
		t.Errorf("a key that is not locked: %v", err)
	}
	for in, want := range map[string]string{
		"": "no private key found",
		string(pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte("x")})): "keys encrypted as PKCS #8 are not supported, decrypt it with openssl pkey",
	} {
		if _, err := decryptKey([]byte(in), "x"); text(err) != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestMatchName(t *testing.T) {
	for _, tt := range []struct {
		pattern, host string
		want          bool
	}{
		{"db.example.com", "DB.example.com", true},
		{"*.example.com", "db.example.com", true},
		{"*.example.com", "a.db.example.com", false},
		{"*.example.com", "example.com", false},
		{"*", "localhost", false},
		{"d*.example.com", "db.example.com", false},
		{"*.0.0.1", "127.0.0.1", false},
		{"", "", false},
	} {
		if got := matchName(tt.pattern, tt.host); got != tt.want {
			t.Errorf("%q matches %q: %v", tt.pattern, tt.host, got)
		}
	}
}

// However the stream is cut, the reader must find the same request for a password.
func FuzzSessionReader(f *testing.F) {
	f.Add(wire([]frame{{'R', []byte{0, 0, 0, 3}}}), uint8(1))
	f.Add(wire([]frame{{'v', make([]byte, 12)}, {'R', append([]byte{0, 0, 0, 10}, "SCRAM-SHA-256\x00\x00"...)}}), uint8(3))
	f.Add(wire([]frame{{'R', []byte{0, 0, 0, 0}}, {'R', []byte{0, 0, 0, 3}}}), uint8(2))
	f.Add([]byte{'R', 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 3}, uint8(2))
	f.Fuzz(func(t *testing.T, data []byte, cut uint8) {
		find := func(sizes []int) error {
			_, err := io.Copy(io.Discard, struct{ io.Reader }{newSessionReader(&splitReader{data, sizes}, false)})
			return err
		}
		var ones []int
		for range data {
			ones = append(ones, int(cut)%7+1)
		}
		if a, b := find(nil), find(ones); (a == nil) != (b == nil) {
			t.Fatalf("%v at once, %v in pieces", a, b)
		}
	})
}
