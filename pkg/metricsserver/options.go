// Package metricsserver says how metrics are served.
package metricsserver

import (
	"crypto/tls"
	"fmt"
	"net/http"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"open-cluster-management.io/interlock/pkg/tlsconfig"
)

// Options serve metrics on an address, [host]:port or "0" for none. Secure is
// over TLS, with a certificate that the process makes for itself, and only to
// those whom the API server knows by their token and whom RBAC lets get the
// nonResourceURL /metrics: that takes the rights to create tokenreviews and
// subjectaccessreviews.
func Options(address string, secure bool) server.Options {
	options := server.Options{BindAddress: address, SecureServing: secure, TLSOpts: []func(*tls.Config){tlsconfig.Restrict}}
	if secure {
		options.FilterProvider = newFilter
	}
	return options
}

// OptionsOn are those where tokens and rights are those of another cluster than the
// manager's.
func OptionsOn(cluster *rest.Config, address string, secure bool) server.Options {
	options := Options(address, secure)
	if secure {
		options.FilterProvider = func(*rest.Config, *http.Client) (server.Filter, error) {
			requests, err := rest.HTTPClientFor(cluster)
			if err != nil {
				return nil, fmt.Errorf("create client for reviews of tokens: %w", err)
			}
			return newFilter(cluster, requests)
		}
	}
	return options
}
