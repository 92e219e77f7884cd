package pg

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// tlsOptions are the ssl… options of libpq, checked; the files are read by config when a connection is made.
type tlsOptions struct {
	mode, negotiation, certMode string
	rootCert, crl, crlDir       string
	cert, key, password, keyLog string
	certGiven, keyGiven, sni    bool
	rootGiven, crlGiven         bool
	minVersion, maxVersion      uint16
}

var tlsVersions = map[string]uint16{
	"tlsv1": tls.VersionTLS10, "tlsv1.1": tls.VersionTLS11, "tlsv1.2": tls.VersionTLS12, "tlsv1.3": tls.VersionTLS13,
}

// readTLS checks the options (pqConnectOptions2) and finds the default files in ~/.postgresql.
func readTLS(s settings, e environment) (*tlsOptions, error) {
	or := func(keyword, def string) string {
		if s[keyword] == "" {
			return def
		}
		return s[keyword]
	}
	t := &tlsOptions{
		mode: or("sslmode", "prefer"), negotiation: or("sslnegotiation", "postgres"), certMode: or("sslcertmode", "allow"),
		password: s["sslpassword"], keyLog: s["sslkeylogfile"], sni: !strings.HasPrefix(or("sslsni", "1"), "0"),
		crlDir: s["sslcrldir"],
	}
	for _, v := range []struct {
		keyword, value string
		allowed        []string
	}{
		{"sslmode", t.mode, []string{"disable", "allow", "prefer", "require", "verify-ca", "verify-full"}},
		{"sslnegotiation", t.negotiation, []string{"postgres", "direct"}},
		{"sslcertmode", t.certMode, []string{"disable", "allow", "require"}},
	} {
		if !slices.Contains(v.allowed, v.value) {
			return nil, invalidValue(v.keyword, v.value)
		}
	}
	if t.negotiation == "direct" && !t.required() {
		return nil, fmt.Errorf("weak sslmode %q may not be used with sslnegotiation=direct (use \"require\", \"verify-ca\", or \"verify-full\")", t.mode)
	}
	if s["sslrootcert"] == "system" && t.mode != "verify-full" {
		return nil, fmt.Errorf("weak sslmode %q may not be used with sslrootcert=system (use \"verify-full\")", t.mode)
	}
	for _, v := range []struct {
		keyword string
		into    *uint16
	}{{"ssl_min_protocol_version", &t.minVersion}, {"ssl_max_protocol_version", &t.maxVersion}} {
		if s[v.keyword] == "" {
			continue
		}
		n, ok := tlsVersions[strings.ToLower(s[v.keyword])]
		if !ok {
			return nil, fmt.Errorf("invalid %q value: %q", v.keyword, s[v.keyword])
		}
		*v.into = n
	}
	if t.minVersion != 0 && t.maxVersion != 0 && t.minVersion > t.maxVersion {
		return nil, errors.New("invalid SSL protocol version range")
	}

	file := func(keyword, def string) (path string, given bool) {
		if s[keyword] != "" {
			return s[keyword], true
		}
		if home := e.home(); home != "" {
			return filepath.Join(home, ".postgresql", def), false
		}
		return "", false
	}
	t.rootCert, t.rootGiven = file("sslrootcert", "root.crt")
	t.crl, t.crlGiven = file("sslcrl", "root.crl")
	if !t.crlGiven && t.crlDir != "" {
		t.crl = ""
	}
	t.cert, t.certGiven = file("sslcert", "postgresql.crt")
	t.key, t.keyGiven = file("sslkey", "postgresql.key")
	return t, nil
}

// required says that a connection without encryption will not do.
func (t *tlsOptions) required() bool {
	return t.mode == "require" || t.mode == "verify-ca" || t.mode == "verify-full"
}

// certUse records what happened to the client certificate during a handshake, for sslcertmode=require.
type certUse struct{ requested, sent bool }

// config makes the settings of one handshake with a host (initialize_SSL in fe-secure-openssl.c). The server's certificate is
// checked against the root certificates whenever there are any, whatever the mode; its name only with verify-full.
func (t *tlsOptions) config(host Host) (*tls.Config, *certUse, error) {
	c := &tls.Config{
		MinVersion:         t.minVersion,
		MaxVersion:         t.maxVersion,
		InsecureSkipVerify: true, // verify does it, by libpq's rules
	}
	if t.negotiation == "direct" {
		c.NextProtos = []string{"postgresql"}
	}
	if t.sni && host.Name != "" && net.ParseIP(host.Name) == nil {
		c.ServerName = host.Name
	}
	if t.keyLog != "" {
		f, err := openKeyLog(t.keyLog)
		if err != nil {
			return nil, nil, fmt.Errorf("could not open SSL key logging file: %w", err)
		}
		c.KeyLogWriter = f
	}

	v := &verifier{name: host.Name, checkName: t.mode == "verify-full"}
	if v.checkName && host.Name == "" {
		return nil, nil, errors.New("host name must be specified for a verified SSL connection")
	}
	if err := t.loadRoots(v); err != nil {
		return nil, nil, err
	}
	if v.roots != nil {
		c.VerifyConnection = v.verify
	}

	use := &certUse{}
	cert, err := t.clientCertificate()
	if err != nil {
		return nil, nil, err
	}
	c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		use.requested = true
		if cert == nil {
			return new(tls.Certificate), nil
		}
		use.sent = true
		return cert, nil
	}
	return c, use, nil
}

// keyLogs are the open files of sslkeylogfile, one for all connections of the process.
var keyLogs struct {
	sync.Mutex
	files map[string]*os.File
}

func openKeyLog(path string) (*os.File, error) {
	keyLogs.Lock()
	defer keyLogs.Unlock()
	if f := keyLogs.files[path]; f != nil {
		return f, nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	if keyLogs.files == nil {
		keyLogs.files = map[string]*os.File{}
	}
	keyLogs.files[path] = f
	return f, nil
}

func (t *tlsOptions) loadRoots(v *verifier) error {
	if t.rootGiven && t.rootCert == "system" {
		pool, err := x509.SystemCertPool()
		if err != nil {
			return fmt.Errorf("could not load system root certificate paths: %w", err)
		}
		v.roots = pool
		return t.loadCRLs(v)
	}
	pemBytes, err := readIfThere(t.rootCert)
	if err != nil {
		return fmt.Errorf("could not read root certificate file %q: %w", t.rootCert, err)
	}
	if pemBytes == nil {
		if t.mode == "verify-ca" || t.mode == "verify-full" {
			if t.rootCert == "" {
				return errors.New("could not get home directory to locate root certificate file\n" +
					"Either provide the file, use the system's trusted roots with sslrootcert=system, or change sslmode to disable server certificate verification.")
			}
			return fmt.Errorf("root certificate file %q does not exist\n"+
				"Either provide the file, use the system's trusted roots with sslrootcert=system, or change sslmode to disable server certificate verification.", t.rootCert)
		}
		return nil
	}
	v.roots = x509.NewCertPool()
	if !v.roots.AppendCertsFromPEM(pemBytes) {
		return fmt.Errorf("could not read root certificate file %q: no certificate found", t.rootCert)
	}
	return t.loadCRLs(v)
}

// loadCRLs reads the revocation lists of sslcrl and of every file in sslcrldir. OpenSSL finds the files in the folder by
// the hash in their name; we take them all.
func (t *tlsOptions) loadCRLs(v *verifier) error {
	files := []string{t.crl}
	if t.crlDir != "" {
		entries, err := os.ReadDir(t.crlDir)
		if err != nil {
			return fmt.Errorf("could not read certificate revocation lists: %w", err)
		}
		for _, e := range entries {
			if !e.IsDir() {
				files = append(files, filepath.Join(t.crlDir, e.Name()))
			}
		}
	}
	for _, f := range files {
		data, err := readIfThere(f)
		if err != nil {
			return fmt.Errorf("could not read certificate revocation list %q: %w", f, err)
		}
		for data != nil {
			var block *pem.Block
			if block, data = pem.Decode(data); block == nil {
				break
			}
			list, err := x509.ParseRevocationList(block.Bytes)
			if err != nil {
				return fmt.Errorf("could not read certificate revocation list %q: %w", f, err)
			}
			v.crls = append(v.crls, list)
		}
	}
	return nil
}

// readIfThere returns nil without an error for a file that does not exist.
func readIfThere(file string) ([]byte, error) {
	if file == "" {
		return nil, nil
	}
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// clientCertificate loads the client's certificate and key, nil if there is none.
func (t *tlsOptions) clientCertificate() (*tls.Certificate, error) {
	if t.certMode == "disable" {
		return nil, nil
	}
	certPEM, err := readIfThere(t.cert)
	if err != nil {
		return nil, fmt.Errorf("could not read certificate file %q: %w", t.cert, err)
	}
	if certPEM == nil {
		return nil, nil
	}
	st, err := os.Stat(t.key)
	if err != nil {
		return nil, fmt.Errorf("certificate present, but not private key file %q", t.key)
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("private key file %q is not a regular file", t.key)
	}
	if runtime.GOOS != "windows" {
		allowed := fs.FileMode(0o700)
		if ownedByRoot(st) {
			allowed = 0o740
		}
		if st.Mode().Perm()&^allowed != 0 {
			return nil, fmt.Errorf("private key file %q has group or world access; file must have permissions u=rw (0600) or less if owned by the current user, or permissions u=rw,g=r (0640) or less if owned by root", t.key)
		}
	}
	keyPEM, err := os.ReadFile(t.key)
	if err != nil {
		return nil, fmt.Errorf("could not load private key file %q: %w", t.key, err)
	}
	if keyPEM, err = decryptKey(keyPEM, t.password); err != nil {
		return nil, fmt.Errorf("could not load private key file %q: %w", t.key, err)
	}
	cert, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, fmt.Errorf("certificate does not match private key file %q: %w", t.key, err)
	}
	return &cert, nil
}

// decryptKey decrypts a key in OpenSSL's old PEM encryption. The newer PKCS #8 encryption is not in Go's library.
func decryptKey(keyPEM []byte, password string) ([]byte, error) {
	block, _ := pem.Decode(keyPEM)
	if block == nil {
		return nil, errors.New("no private key found")
	}
	if block.Type == "ENCRYPTED PRIVATE KEY" {
		return nil, errors.New("keys encrypted as PKCS #8 are not supported, decrypt it with openssl pkey")
	}
	//lint:ignore SA1019 the format is weak, but it is what users of sslpassword have
	if !x509.IsEncryptedPEMBlock(block) {
		return keyPEM, nil
	}
	if password == "" {
		return nil, errors.New("the key is encrypted and sslpassword is not set")
	}
	//lint:ignore SA1019 as above
	der, err := x509.DecryptPEMBlock(block, []byte(password))
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: der}), nil
}

// verifier checks a server's certificate chain.
type verifier struct {
	roots     *x509.CertPool
	crls      []*x509.RevocationList
	name      string
	checkName bool
}

func (v *verifier) verify(cs tls.ConnectionState) error {
	if len(cs.PeerCertificates) == 0 {
		return errors.New("certificate could not be obtained")
	}
	opts := x509.VerifyOptions{Roots: v.roots, Intermediates: x509.NewCertPool()}
	for _, c := range cs.PeerCertificates[1:] {
		opts.Intermediates.AddCert(c)
	}
	leaf := cs.PeerCertificates[0]
	chains, err := leaf.Verify(opts)
	if err != nil {
		return fmt.Errorf("certificate verify failed: %w", err)
	}
	if err := v.checkRevoked(chains[0]); err != nil {
		return err
	}
	if v.checkName {
		return checkServerName(leaf, v.name)
	}
	return nil
}

// checkRevoked looks each certificate of the chain but the root up in the lists of its issuer.
func (v *verifier) checkRevoked(chain []*x509.Certificate) error {
	for i := 0; i+1 < len(chain); i++ {
		for _, list := range v.crls {
			if list.CheckSignatureFrom(chain[i+1]) != nil {
				continue
			}
			for _, r := range list.RevokedCertificateEntries {
				if r.SerialNumber.Cmp(chain[i].SerialNumber) == 0 {
					return errors.New("certificate verify failed: certificate revoked")
				}
			}
		}
	}
	return nil
}

// checkServerName matches the host's name with the certificate's alternative names, and with its common name when it
// has none, which Go's own check does not (pq_verify_peer_name_matches_certificate in fe-secure-common.c).
func checkServerName(leaf *x509.Certificate, host string) error {
	if leaf.VerifyHostname(host) == nil {
		return nil
	}
	names := leaf.DNSNames
	if len(names) == 0 && len(leaf.IPAddresses) == 0 {
		names = []string{leaf.Subject.CommonName}
		if matchName(leaf.Subject.CommonName, host) {
			return nil
		}
	}
	first := ""
	if len(names) > 0 {
		first = names[0]
	}
	return &serverNameError{first, host}
}

type serverNameError struct{ cert, host string }

func (e *serverNameError) Error() string {
	return fmt.Sprintf("server certificate for %q does not match host name %q", e.cert, e.host)
}

// matchName allows "*" as the whole first label.
func matchName(pattern, host string) bool {
	pattern, host = strings.ToLower(pattern), strings.ToLower(host)
	if pattern == host {
		return pattern != ""
	}
	rest, ok := strings.CutPrefix(pattern, "*")
	if !ok || !strings.HasPrefix(rest, ".") || len(rest) < 2 || net.ParseIP(host) != nil {
		return false
	}
	label, domain, ok := strings.Cut(host, ".")
	return ok && label != "" && "."+domain == rest
}
