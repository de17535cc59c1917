package fleet

import (
	"net/http"

	"k8s.io/client-go/rest"

	"open-cluster-management.io/interlock/pkg/jsonprune"
)

// Registrations is the resource of registered add-ons.
const Registrations = "clustermanagementaddons"

// UnreadRegistration is what no client behind SkipUnread reads of a registered add-on.
// Its numbers may be too large for OCM's types, because the schema of the CRD accepts
// them. Then no registration could be decoded.
var UnreadRegistration = &jsonprune.Drop{Members: map[string]*jsonprune.Drop{
	"metadata": {Members: map[string]*jsonprune.Drop{"managedFields": nil}},
	"spec": {Members: map[string]*jsonprune.Drop{
		"addOnMeta": nil, "addOnConfiguration": nil, "supportedConfigs": nil,
		// The plugin reads which placements install an add-on.
		"installStrategy": {Members: map[string]*jsonprune.Drop{
			"placements": {Elements: &jsonprune.Drop{Members: map[string]*jsonprune.Drop{"configs": nil, "rolloutStrategy": nil}}},
		}},
	}},
	"status": {Members: map[string]*jsonprune.Drop{"defaultconfigReferences": nil, "installProgressions": nil}},
}}

// SkipUnread returns a config whose clients list and watch registered add-ons without
// what only OCM reads of them.
func SkipUnread(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &jsonprune.Transport{
			Next: next, Drop: map[string]*jsonprune.Drop{Registrations: UnreadRegistration}, Lists: []string{Registrations},
		}
	})
	return config
}
