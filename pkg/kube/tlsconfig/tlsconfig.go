// Package tlsconfig restricts the TLS of Interlock's servers.
package tlsconfig

import (
	"crypto/tls"
	"slices"
)

// ciphers are those for TLS 1.2. TLS 1.3 has a fixed list.
var ciphers = []uint16{
	tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
	tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
	tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
}

// Restrict allows only TLS 1.2 and later. For TLS 1.2, it allows only authenticated
// ciphers with forward secrecy. It disables HTTP/2, so that a single connection of a
// client cannot carry hundreds of requests.
func Restrict(config *tls.Config) {
	config.MinVersion = tls.VersionTLS12
	config.CipherSuites = slices.Clone(ciphers)
	config.NextProtos = []string{"http/1.1"}
}
