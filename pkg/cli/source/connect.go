package source

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // a kubeconfig may name any of kubectl's auth providers, such as oidc
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
)

// The rate limits of requests. They are the limits of kubectl, so that lists of a large fleet
// do not wait.
const (
	qps   = 50
	burst = 300
)

// timeout is the default timeout of a request. --request-timeout overrides it. A page of a
// list takes a second.
const timeout = 30 * time.Second

// mapper returns a mapper with all kinds that the plugin reads. Discovery would need more
// requests, and Ctrl-C does not interrupt it.
func mapper() meta.RESTMapper {
	const addOns, clusters = "addon.open-cluster-management.io/v1alpha1", "cluster.open-cluster-management.io"
	const rbac = "rbac.authorization.k8s.io/v1"
	kinds := meta.NewDefaultRESTMapper(nil)
	for kind, version := range map[string][]string{
		"ClusterManagementAddOn": {addOns, ""}, "AddOnTemplate": {addOns, ""}, "ManagedClusterAddOn": {addOns, "namespaced"},
		"AddOnDeploymentConfig": {addOns, "namespaced"},
		"Event":                 {"events.k8s.io/v1", "namespaced"},
		"Placement":             {clusters + "/v1beta1", "namespaced"}, "PlacementDecision": {clusters + "/v1beta1", "namespaced"},
		"ManagedClusterSet": {clusters + "/v1beta2", ""}, "ManagedClusterSetBinding": {clusters + "/v1beta2", "namespaced"},
		"ManifestWork":   {"work.open-cluster-management.io/v1", "namespaced"},
		"ManagedCluster": {clusters + "/v1", ""}, "CustomResourceDefinition": {"apiextensions.k8s.io/v1", ""},
		"Deployment": {"apps/v1", "namespaced"}, "Lease": {"coordination.k8s.io/v1", "namespaced"},
		"ValidatingWebhookConfiguration": {"admissionregistration.k8s.io/v1", ""},
		"MutatingWebhookConfiguration":   {"admissionregistration.k8s.io/v1", ""},
		"EndpointSlice":                  {"discovery.k8s.io/v1", "namespaced"},
		"ClusterRole":                    {rbac, ""}, "ClusterRoleBinding": {rbac, ""},
		"Role": {rbac, "namespaced"}, "RoleBinding": {rbac, "namespaced"},
		"SelfSubjectAccessReview": {"authorization.k8s.io/v1", ""},
	} {
		scope := meta.RESTScopeRoot
		if version[1] != "" {
			scope = meta.RESTScopeNamespace
		}
		kinds.Add(schema.FromAPIVersionAndKind(version[0], kind), scope)
	}
	// The mapper cannot guess this plural, which is the same as the singular.
	facts := dependencyv1alpha1.GroupVersion.WithResource("managedclusterfacts")
	kinds.AddSpecific(dependencyv1alpha1.GroupVersion.WithKind("ManagedClusterFacts"), facts, facts, meta.RESTScopeNamespace)
	kinds.Add(dependencyv1alpha1.InstallationKind, meta.RESTScopeNamespace)
	kinds.Add(dependencyv1alpha1.FleetReportKind, meta.RESTScopeRoot)
	kinds.AddSpecific(dependencyv1alpha1.PolicyKind, dependencyv1alpha1.PolicyResource, dependencyv1alpha1.PolicyResource, meta.RESTScopeRoot)
	for _, version := range []string{"v1", "v1beta1"} {
		policy := schema.GroupVersionKind{Group: "admissionregistration.k8s.io", Version: version, Kind: "MutatingAdmissionPolicy"}
		kinds.Add(policy.GroupVersion().WithKind(policy.Kind+"Binding"), meta.RESTScopeRoot)
		kinds.AddSpecific(policy, policy.GroupVersion().WithResource("mutatingadmissionpolicies"),
			policy.GroupVersion().WithResource("mutatingadmissionpolicy"), meta.RESTScopeRoot)
	}
	return kinds
}

// Connect returns a client of the hub, and its address.
func (s *Source) Connect() (client.WithWatch, string, error) {
	return s.connect(timeout, fleet.SkipUnread)
}

// ConnectToWrite is Connect for a client that writes. It prints the hub's warnings, such as that a deletion breaks other add-ons,
// unless isKnown reports that people know them already. The function may be nil.
func (s *Source) ConnectToWrite(isKnown func(warning string) bool) (client.WithWatch, string, error) {
	return s.connect(timeout, func(config *rest.Config) *rest.Config {
		config = fleet.SkipUnread(config)
		if s.ErrOut != nil {
			writer := rest.NewWarningWriter(s.ErrOut, rest.WarningWriterOptions{Deduplicate: true})
			config.WarningHandler = newWarnings{writer, isKnown}
		}
		return config
	})
}

// newWarnings handles only warnings that people do not know already.
type newWarnings struct {
	rest.WarningHandler
	isKnown func(warning string) bool
}

// HandleWarningHeader implements rest.WarningHandler.
func (w newWarnings) HandleWarningHeader(code int, agent, text string) {
	if w.isKnown == nil || !w.isKnown(text) {
		w.WarningHandler.HandleWarningHeader(code, agent, text)
	}
}

// ConnectToWatch is Connect for requests without a timeout.
func (s *Source) ConnectToWatch() (client.WithWatch, string, error) {
	return s.connect(0, fleet.SkipUnread)
}

// connect is dial without the type of the client.
func (s *Source) connect(limit time.Duration, skip func(*rest.Config) *rest.Config) (client.WithWatch, string, error) {
	hub, host, err := s.dial(limit, skip)
	if err != nil {
		return nil, host, err
	}
	return hub, host, nil
}

// dial returns a client with a timeout for requests, unless the limit is zero, and the hub's address. The function skip
// configures the fields that the client does not read.
func (s *Source) dial(limit time.Duration, skip func(*rest.Config) *rest.Config) (discoverer, string, error) {
	config, err := s.Config.ToRESTConfig()
	if err != nil {
		return discoverer{}, "", s.configError(err)
	}
	config = skip(config)
	config.QPS, config.Burst = qps, burst
	scheme := runtime.NewScheme()
	if err := addToScheme(scheme); err != nil {
		return discoverer{}, "", err
	}
	if config.Timeout == 0 || limit == 0 {
		config.Timeout = limit
	}
	hub, err := client.NewWithWatch(config, client.Options{Scheme: scheme, Mapper: mapper()})
	if err != nil {
		return discoverer{}, config.Host, cmdline.HubError(fmt.Errorf("reach the hub: %w", err))
	}
	return discoverer{newProgressClient(hub, s.messages()), config}, config.Host, nil
}

// configError returns a usage error if a flag has selected the configuration. Otherwise it returns an error of the hub.
func (s *Source) configError(err error) error {
	err = fmt.Errorf("read kubeconfig: %w", err)
	config := s.Config
	for _, flag := range []*string{
		config.KubeConfig, config.Context, config.ClusterName, config.AuthInfoName, config.CertFile, config.KeyFile, config.CAFile,
	} {
		if *flag != "" {
			return cmdline.UsageError(err)
		}
	}
	if *s.Config.Timeout != "0" {
		return cmdline.UsageError(err)
	}
	return cmdline.HubError(err)
}
