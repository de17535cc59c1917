package fleet

import (
	"maps"
	"net/http"
	"slices"

	"k8s.io/client-go/rest"

	"open-cluster-management.io/interlock/pkg/jsonprune"
)

// Registrations is the resource of registered add-ons.
const Registrations = "clustermanagementaddons"

// UnreadTemplate is what no client behind SkipUnread reads of an AddOnTemplate: all that it
// deploys.
var UnreadTemplate = &jsonprune.Drop{Members: map[string]*jsonprune.Drop{
	"metadata": {Members: map[string]*jsonprune.Drop{"managedFields": nil}},
	"spec":     {Members: map[string]*jsonprune.Drop{"agentSpec": nil, "registration": nil}},
}}

// ofTemplates keeps configs that are AddOnTemplates.
var ofTemplates = &jsonprune.Drop{Keep: [][]byte{[]byte(`"resource":"` + ResourceTemplate + `"`)}}

// ofTemplatesAndConfigs also keeps those that are AddOnDeploymentConfigs: plans read whether an add-on takes them.
var ofTemplatesAndConfigs = &jsonprune.Drop{Keep: [][]byte{[]byte(`"resource":"` + ResourceTemplate + `"`), []byte(`"resource":"` + ResourceConfig + `"`)}}

// UnreadRegistration is what no client behind SkipUnread reads of a registered add-on.
// Its numbers may be too large for OCM's types, because the schema of the CRD accepts
// them. Then no registration could be decoded.
var UnreadRegistration = &jsonprune.Drop{Members: map[string]*jsonprune.Drop{
	"metadata": {Members: map[string]*jsonprune.Drop{"managedFields": nil}},
	"spec": {Members: map[string]*jsonprune.Drop{
		"addOnMeta": nil, "addOnConfiguration": nil,
		"supportedConfigs": ofTemplatesAndConfigs,
		// The plugin reads which placements install an add-on.
		"installStrategy": {Members: map[string]*jsonprune.Drop{
			"placements": {Elements: &jsonprune.Drop{Members: map[string]*jsonprune.Drop{"configs": ofTemplates, "rolloutStrategy": nil}}},
		}},
	}},
	"status": {Members: map[string]*jsonprune.Drop{"defaultconfigReferences": nil, "installProgressions": nil}},
}}

// SkipUnread returns a config whose clients list and watch registered add-ons and
// AddOnTemplates without what only OCM reads of them.
func SkipUnread(config *rest.Config) *rest.Config {
	return skip(config, map[string]*jsonprune.Drop{Registrations: UnreadRegistration, ResourceTemplate: UnreadTemplate})
}

// SkipUnreadRegistrations is SkipUnread for clients that read what AddOnTemplates deploy.
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
