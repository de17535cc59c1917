package fleet

import (
	"maps"
	"net/http"
	"slices"

	"k8s.io/client-go/rest"

	"open-cluster-management.io/interlock/pkg/kube/jsonprune"
)

// Registrations is the resource of registered add-ons.
const Registrations = "clustermanagementaddons"

// UnreadTemplate has the fields of an AddOnTemplate that no client behind SkipUnread reads:
// the manifests that it deploys.
var UnreadTemplate = &jsonprune.Drop{Members: map[string]*jsonprune.Drop{
	"metadata": {Members: map[string]*jsonprune.Drop{"managedFields": nil}},
	"spec":     {Members: map[string]*jsonprune.Drop{"agentSpec": nil, "registration": nil}},
}}

// keepTemplates drops all configs but AddOnTemplates.
var keepTemplates = &jsonprune.Drop{Keep: [][]byte{[]byte(`"resource":"` + ResourceTemplate + `"`)}}

// keepTemplatesAndConfigs also keeps AddOnDeploymentConfigs. Plans read whether an add-on takes them.
var keepTemplatesAndConfigs = &jsonprune.Drop{Keep: [][]byte{
	[]byte(`"resource":"` + ResourceTemplate + `"`),
	[]byte(`"resource":"` + ResourceConfig + `"`),
}}

// UnreadRegistration has the fields of a registered add-on that no client behind SkipUnread
// reads. The schema of the CRD accepts numbers there that are too large for OCM's types.
// With such a number, no list of registrations could be decoded.
var UnreadRegistration = &jsonprune.Drop{Members: map[string]*jsonprune.Drop{
	"metadata": {Members: map[string]*jsonprune.Drop{"managedFields": nil}},
	"spec": {Members: map[string]*jsonprune.Drop{
		"addOnMeta": nil, "addOnConfiguration": nil,
		"supportedConfigs": keepTemplatesAndConfigs,
		// The plugin reads which placements install an add-on.
		"installStrategy": {Members: map[string]*jsonprune.Drop{
			"placements": {Elements: &jsonprune.Drop{Members: map[string]*jsonprune.Drop{"configs": keepTemplates, "rolloutStrategy": nil}}},
		}},
	}},
	"status": {Members: map[string]*jsonprune.Drop{"defaultconfigReferences": nil, "installProgressions": nil}},
}}

// SkipUnread returns a config whose clients list and watch registered add-ons and
// AddOnTemplates without the fields that only OCM reads.
func SkipUnread(config *rest.Config) *rest.Config {
	return skip(config, map[string]*jsonprune.Drop{Registrations: UnreadRegistration, ResourceTemplate: UnreadTemplate})
}

// SkipUnreadRegistrations is SkipUnread for clients that read the manifests of AddOnTemplates.
func SkipUnreadRegistrations(config *rest.Config) *rest.Config {
	return skip(config, map[string]*jsonprune.Drop{Registrations: UnreadRegistration})
}

func skip(config *rest.Config, unread map[string]*jsonprune.Drop) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &jsonprune.Transport{Next: next, Drop: unread, Lists: slices.Collect(maps.Keys(unread))}
	})
	return config
}
