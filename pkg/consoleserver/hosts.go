package consoleserver

import (
	"net"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// ServiceHosts returns the names under which browsers of the cluster, and those that a port is forwarded to, reach a Service.
func ServiceHosts(service, namespace string) []string {
	return []string{
		"localhost", "127.0.0.1", "::1",
		service, service + "." + namespace, service + "." + namespace + ".svc", service + "." + namespace + ".svc.cluster.local",
	}
}

// IsHost reports whether a text is a name or an address, with or without a port.
func IsHost(text string) bool {
	name := withoutPort(text)
	if _, port, err := net.SplitHostPort(text); err == nil {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return false
		}
	}
	return net.ParseIP(name) != nil || len(validation.IsDNS1123Subdomain(strings.ToLower(name))) == 0
}

// hosts are the names under which a server is reached. A name with a port is reached at this port only.
type hosts []string

// has reports whether the header Host of a request has one of the names.
func (h hosts) has(host string) bool {
	return slices.ContainsFunc(h, func(name string) bool {
		return strings.EqualFold(name, host) || strings.EqualFold(name, withoutPort(host))
	})
}

// withoutPort returns a host without its port, and an IPv6 address without brackets.
func withoutPort(host string) string {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	return name
}
