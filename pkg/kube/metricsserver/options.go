// Package metricsserver has the options of the server for metrics.
package metricsserver

import (
	"crypto/tls"
	"fmt"
	"net/http"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"open-cluster-management.io/interlock/pkg/kube/tlsconfig"
)

// Options returns the options to serve metrics on an address, [host]:port, or "0"
// for no server. A secure server uses TLS, with a certificate that the process
// makes for itself. It admits only clients that RBAC allows to get the
// nonResourceURL /metrics. The process needs the rights to create tokenreviews
// and subjectaccessreviews.
func Options(address string, secure bool, profile tlsconfig.Profile) server.Options {
	options := server.Options{BindAddress: address, SecureServing: secure, TLSOpts: []func(*tls.Config){profile.Apply}}
	if secure {
		options.FilterProvider = newFilter
	}
	return options
}

// OptionsOn returns Options that review tokens and rights on another cluster than the
// manager's.
func OptionsOn(cluster *rest.Config, address string, secure bool) server.Options {
	options := Options(address, secure, tlsconfig.Profile{})
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
