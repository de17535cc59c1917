// Package tlsconfig says how Interlock's servers use TLS.
package tlsconfig

import "crypto/tls"

// Restrict allows TLS 1.2 and later, for TLS 1.2 only ciphers with forward secrecy
// that authenticate what they encrypt, and no HTTP/2: one connection of a client must
// not carry hundreds of requests.
func Restrict(config *tls.Config) {
	config.MinVersion = tls.VersionTLS12
	config.CipherSuites = []uint16{ // those of TLS 1.3 are fixed
		tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
		tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
		tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
	}
	config.NextProtos = []string{"http/1.1"}
}
