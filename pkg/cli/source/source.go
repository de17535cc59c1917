// Package source reads a fleet for the verbs of the plugin from a hub, or from a file that
// `kubectl addon snapshot` wrote.
package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // a kubeconfig may name any of kubectl's auth providers, such as oidc
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/text"
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
	kinds.AddSpecific(dependencyv1alpha1.PolicyKind, dependencyv1alpha1.PolicyResource, dependencyv1alpha1.PolicyResource, meta.RESTScopeRoot)
	for _, version := range []string{"v1", "v1beta1"} {
		policy := schema.GroupVersionKind{Group: "admissionregistration.k8s.io", Version: version, Kind: "MutatingAdmissionPolicy"}
		kinds.Add(policy.GroupVersion().WithKind(policy.Kind+"Binding"), meta.RESTScopeRoot)
		kinds.AddSpecific(policy, policy.GroupVersion().WithResource("mutatingadmissionpolicies"),
			policy.GroupVersion().WithResource("mutatingadmissionpolicy"), meta.RESTScopeRoot)
	}
	return kinds
}

// Source is a hub or a file.
type Source struct {
	Config *genericclioptions.ConfigFlags
	// In is standard input. The file - is read from it.
	In io.Reader
	// ErrOut receives warnings about objects that could not be read and are left out. If it is nil, there are no warnings.
	ErrOut io.Writer
	file   string
}

// AddFlags adds the flag that names a file.
func (s *Source) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&s.file, "from", "", "Read this `FILE`, which kubectl addon snapshot has written, instead of a hub; - for standard input.")
}

// IsFile reports whether a file is named.
func (s *Source) IsFile() bool { return s.file != "" }

// IsStdin reports whether the file is standard input.
func (s *Source) IsStdin() bool { return s.file == "-" }

// Snapshot reads the whole fleet, or a single managed cluster. Its error has advice, and makes
// the plugin exit with cmdline.ExitHub if the hub did not respond. The additions are changes to
// try, whose inputs are read, too.
func (s *Source) Snapshot(ctx context.Context, cluster string, additions ...snapshot.Additions) (*snapshot.Snapshot, error) {
	taken, err := s.take(ctx, cluster, additions)
	if err != nil {
		return nil, err
	}
	if taken.PoliciesUnread != "" && s.ErrOut != nil {
		fmt.Fprintf(s.ErrOut, "AddOnDependencyPolicies are left out, so dependencies that they override are shown as declared: %s; %s\n",
			text.OneLine(taken.PoliciesUnread), askForRight)
	}
	// Without an error, a mistyped name would look like a healthy cluster.
	if cluster != "" && !slices.Contains(taken.Names(), cluster) {
		return nil, NoCluster(cluster)
	}
	return taken, nil
}

func (s *Source) take(ctx context.Context, cluster string, additions []snapshot.Additions) (*snapshot.Snapshot, error) {
	if s.file != "" {
		return s.read()
	}
	hub, host, err := s.Connect()
	if err != nil {
		return nil, err
	}
	taken, err := snapshot.Take(ctx, hub, cluster, additions...)
	return taken, HubError(err, host)
}

// read reads the file.
func (s *Source) read() (*snapshot.Snapshot, error) {
	taken, err := snapshot.Read(s.file, s.In)
	if err != nil {
		return nil, cmdline.UsageError(fmt.Errorf("--from: %w", err))
	}
	return taken, nil
}

// NoCluster returns the error for a managed cluster that does not exist.
func NoCluster(name string) error {
	return fmt.Errorf("no managed cluster %q on this hub: kubectl get managedclusters lists them", name)
}

// HubError adds advice to an error of the hub at that address, and makes the plugin exit
// with cmdline.ExitHub. It returns nil without an error.
func HubError(err error, host string) error {
	if err == nil {
		return nil
	}
	return cmdline.HubError(fmt.Errorf("%w (%s)", err, advice(err, host)))
}

// Registrations reads only the registered add-ons.
func (s *Source) Registrations(ctx context.Context) ([]addonv1alpha1.ClusterManagementAddOn, error) {
	if s.file != "" {
		snapshot, err := s.read()
		if err != nil {
			return nil, err
		}
		return snapshot.Registrations, nil
	}
	hub, host, err := s.Connect()
	if err != nil {
		return nil, err
	}
	registrations, err := fleet.Objects{Reader: hub, Page: page}.AddOns(ctx)
	return registrations, HubError(err, host)
}

// page is the page size of the list of registrations.
const page = 100

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

// connect returns a client with a timeout for requests, unless the limit is zero, and the hub's address. The function skip
// configures the fields that the client does not read.
func (s *Source) connect(limit time.Duration, skip func(*rest.Config) *rest.Config) (client.WithWatch, string, error) {
	config, err := s.Config.ToRESTConfig()
	if err != nil {
		return nil, "", s.configError(err)
	}
	config = skip(config)
	config.QPS, config.Burst = qps, burst
	scheme := runtime.NewScheme()
	if err := addToScheme(scheme); err != nil {
		return nil, "", err
	}
	if config.Timeout == 0 || limit == 0 {
		config.Timeout = limit
	}
	hub, err := client.NewWithWatch(config, client.Options{Scheme: scheme, Mapper: mapper()})
	if err != nil {
		return nil, config.Host, cmdline.HubError(fmt.Errorf("reach the hub: %w", err))
	}
	return discoverer{hub, config}, config.Host, nil
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

// Cluster returns the managed cluster that -n names. It is empty for all clusters, such as with -A.
func (s *Source) Cluster(allNamespaces bool) string {
	if allNamespaces {
		return ""
	}
	return *s.Config.Namespace
}

// AddOn returns the add-on that is the argument of a verb. It is empty without an argument.
// An empty argument, such as from an unset variable, is an error and does not mean all add-ons.
func AddOn(args []string) (string, error) {
	if len(args) == 0 {
		return "", nil
	}
	if args[0] == "" {
		return "", errors.New("ADDON is empty: name an add-on, or leave it out for all")
	}
	return args[0], nil
}

// CheckInstalled returns an error unless an add-on is installed on the managed cluster. If
// the cluster is empty, any managed cluster suffices.
func CheckInstalled(taken *snapshot.Snapshot, addOn, cluster string) error {
	if taken.IsInstalled(addOn, cluster) {
		return nil
	}
	place := "on any managed cluster"
	if cluster != "" {
		place = "on " + cluster
	}
	return fmt.Errorf("add-on %q is not installed %s: kubectl addon status -A lists what is", addOn, place)
}

// CheckNeeded is CheckInstalled, but it also accepts an add-on that has dependents.
func CheckNeeded(taken *snapshot.Snapshot, addOn, cluster string) error {
	if len(taken.Declared.Dependents(addOn)) > 0 {
		return nil
	}
	return CheckInstalled(taken, addOn, cluster)
}

// askForRight is the advice about a denied request. The error names the verb and the resource.
const askForRight = "ask for that right; docs/kubectl-addon.md lists the rights that the plugin needs"

// advice returns the advice about an error of the hub.
func advice(err error, host string) string {
	switch {
	case apierrors.IsUnauthorized(err):
		return "log in again, or name another user with --user or --context"
	case apierrors.IsForbidden(err):
		return askForRight
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
		return fmt.Sprintf("is %s an Open Cluster Management hub? Name another with --context", host)
	case errors.Is(err, context.Canceled):
		return "interrupted"
	default:
		return fmt.Sprintf("does %s respond? kubectl get --raw /readyz", host)
	}
}
