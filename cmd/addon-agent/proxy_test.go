package main

import (
	"crypto/x509"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

func TestTheProxysCAIsTrustedBesideTheHubs(t *testing.T) {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	bundle, ownCA := write("bundle", string(certificate)), write("own", "the hub's own\n")
	for name, hub := range map[string]*rest.Config{
		"from the kubeconfig":      {TLSClientConfig: rest.TLSClientConfig{CAData: []byte("the hub's own\n")}},
		"from a file":              {TLSClientConfig: rest.TLSClientConfig{CAFile: ownCA}},
		"from a file that is read": {TLSClientConfig: rest.TLSClientConfig{CAFile: ownCA, CAData: []byte("the hub's own\n")}},
	} {
		if err := (&options{proxyCAFile: bundle}).trustProxy(hub); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.HasPrefix(string(hub.CAData), "the hub's own\n") || !x509.NewCertPool().AppendCertsFromPEM(hub.CAData) {
			t.Errorf("%s: trusted are %q", name, hub.CAData)
		}
	}
	t.Setenv("CA_BUNDLE_FILE_PATH", bundle)
	hub := &rest.Config{}
	if err := (&options{}).trustProxy(hub); err != nil || !x509.NewCertPool().AppendCertsFromPEM(hub.CAData) {
		t.Errorf("from the environment: error %v, trusted are %q", err, hub.CAData)
	}
	t.Setenv("CA_BUNDLE_FILE_PATH", ownCA)
	if err := (&options{}).trustProxy(&rest.Config{}); err == nil || !strings.Contains(err.Error(), "$CA_BUNDLE_FILE_PATH=") {
		t.Errorf("from the environment: %v", err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "missing"): "no such file",
		ownCA:                         "there is no certificate in it",
	} {
		err := (&options{proxyCAFile: path}).trustProxy(&rest.Config{})
		if err == nil || !strings.Contains(err.Error(), "--proxy-ca-file=") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
