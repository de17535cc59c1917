package tlsconfig

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestRestrict(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.EnableHTTP2 = true
	server.TLS = &tls.Config{}
	server.StartTLS()
	defer server.Close()
	Restrict(server.TLS)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", server.TLS)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { _ = connection.(*tls.Conn).Handshake() }()
		}
	}()
	for _, test := range []struct {
		name    string
		client  *tls.Config
		refused bool
	}{
		{"TLS 1.3", &tls.Config{MinVersion: tls.VersionTLS13}, false},
		{"TLS 1.2", &tls.Config{MaxVersion: tls.VersionTLS12}, false},                              //nolint:gosec // the test needs it
		{"TLS 1.1", &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}, true}, //nolint:gosec // weak
		{
			"a cipher without authenticated encryption",
			&tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA}}, true, //nolint:gosec // weak
		},
		{
			"a cipher without forward secrecy",
			&tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_RSA_WITH_AES_128_GCM_SHA256}}, true, //nolint:gosec // weak
		},
		{"HTTP/2 only", &tls.Config{NextProtos: []string{"h2"}}, true},
		{"HTTP/2 or 1.1", &tls.Config{NextProtos: []string{"h2", "http/1.1"}}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.client.InsecureSkipVerify = true
			connection, err := tls.Dial("tcp", listener.Addr().String(), test.client)
			if (err != nil) != test.refused {
				t.Fatalf("refused: %v, want %t", err, test.refused)
			}
			if err == nil {
				if protocol := connection.ConnectionState().NegotiatedProtocol; protocol == "h2" {
					t.Error("HTTP/2 is served")
				}
				_ = connection.Close()
			}
		})
	}
}
