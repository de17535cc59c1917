// Package source is where the verbs of the plugin read a fleet from: a hub, or a file
// that `kubectl addon snapshot` wrote.
package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"time"

	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cmdline"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/text"
)

// Limits of the rate of requests, as kubectl has them: lists of a large fleet do not wait.
const (
	qps   = 50
	burst = 300
)

// timeout of a request, unless --request-timeout names another one: a page of a list takes
// a second.
const timeout = 30 * time.Second

// mapper has all that the plugin reads. Discovery would find the same, with more requests,
// and is not interrupted by Ctrl-C.
func mapper() meta.RESTMapper {
	const addOns, clusters = "addon.open-cluster-management.io/v1alpha1", "cluster.open-cluster-management.io"
	const rbac = "rbac.authorization.k8s.io/v1"
	known := meta.NewDefaultRESTMapper(nil)
	for kind, of := range map[string][]string{
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
		if of[1] != "" {
			scope = meta.RESTScopeNamespace
		}
		known.Add(schema.FromAPIVersionAndKind(of[0], kind), scope)
	}
	// The plural of this one cannot be guessed: it is its singular.
	facts := dependencyv1alpha1.GroupVersion.WithResource("managedclusterfacts")
	known.AddSpecific(dependencyv1alpha1.GroupVersion.WithKind("ManagedClusterFacts"), facts, facts, meta.RESTScopeNamespace)
	known.Add(dependencyv1alpha1.InstallationKind, meta.RESTScopeNamespace)
	known.AddSpecific(dependencyv1alpha1.PolicyKind, dependencyv1alpha1.PolicyResource, dependencyv1alpha1.PolicyResource, meta.RESTScopeRoot)
	for _, version := range []string{"v1", "v1beta1"} {
		policy := schema.GroupVersionKind{Group: "admissionregistration.k8s.io", Version: version, Kind: "MutatingAdmissionPolicy"}
		known.Add(policy.GroupVersion().WithKind(policy.Kind+"Binding"), meta.RESTScopeRoot)
		known.AddSpecific(policy, policy.GroupVersion().WithResource("mutatingadmissionpolicies"),
			policy.GroupVersion().WithResource("mutatingadmissionpolicy"), meta.RESTScopeRoot)
	}
	return known
}

// Source is a hub or a file.
type Source struct {
	Config *genericclioptions.ConfigFlags
	// In is standard input, from which the file - is read.
	In io.Reader
	// ErrOut is told of what could not be read and may be left out; nil: nobody is.
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

// Snapshot reads the fleet, or one managed cluster of it. Its error says what to do, and
// makes the plugin exit with cmdline.ExitHub where a hub did not respond. also are further
// registrations, whose inputs are read too.
func (s *Source) Snapshot(ctx context.Context, cluster string, also ...snapshot.Also) (*snapshot.Snapshot, error) {
	taken, err := s.take(ctx, cluster, also)
	if err != nil {
		return nil, err
	}
	if taken.PoliciesUnread != "" && s.ErrOut != nil {
		fmt.Fprintf(s.ErrOut, "AddOnDependencyPolicies are left out, so dependencies that they override are shown as declared: %s; %s\n",
			text.OneLine(taken.PoliciesUnread), askForRight("list"))
	}
	// Without an error, a mistyped name would look like a healthy cluster.
	if cluster != "" && !slices.Contains(taken.Names(), cluster) {
		return nil, NoCluster(cluster)
	}
	return taken, nil
}

func (s *Source) take(ctx context.Context, cluster string, also []snapshot.Also) (*snapshot.Snapshot, error) {
	if s.file != "" {
		return s.read()
	}
	hub, host, err := s.Connect()
	if err != nil {
		return nil, err
	}
	taken, err := snapshot.Take(ctx, hub, cluster, also...)
	return taken, HubError(err, host)
}

// read reads the file.
func (s *Source) read() (*snapshot.Snapshot, error) {
	read, err := snapshot.Read(s.file, s.In)
	if err != nil {
		return nil, cmdline.UsageError(fmt.Errorf("--from: %w", err))
	}
	return read, nil
}

// NoCluster is the error for a managed cluster that does not exist.
func NoCluster(name string) error {
	return fmt.Errorf("no managed cluster %q on this hub: kubectl get managedclusters lists them", name)
}

// HubError says what to do about an error of the hub at that address, and makes the plugin
// exit with cmdline.ExitHub. It is nil for no error.
func HubError(err error, host string) error {
	if err == nil {
		return nil
	}
	return cmdline.HubError(fmt.Errorf("%w (%s)", err, advice(err, host)))
}

// Registrations reads what is registered, and nothing else.
func (s *Source) Registrations(ctx context.Context) ([]addonv1alpha1.ClusterManagementAddOn, error) {
	if s.file != "" {
		read, err := s.read()
		if err != nil {
			return nil, err
		}
		return read.Registrations, nil
	}
	hub, host, err := s.Connect()
	if err != nil {
		return nil, err
	}
	all, err := fleet.Objects{Reader: hub, Page: page}.AddOns(ctx)
	return all, HubError(err, host)
}

// page is how many registrations are read at once.
const page = 100

// Connect returns a client of the hub, and its address.
func (s *Source) Connect() (hub client.WithWatch, host string, err error) {
	return s.connect(timeout, fleet.SkipUnread)
}

// ConnectToWrite is Connect for a client that writes. What the hub warns of, such as that a deletion breaks other add-ons, is
// shown, unless it is known already; known may be nil.
func (s *Source) ConnectToWrite(known func(warning string) bool) (hub client.WithWatch, host string, err error) {
	return s.connect(timeout, func(config *rest.Config) *rest.Config {
		config = fleet.SkipUnread(config)
		if s.ErrOut != nil {
			config.WarningHandler = unknown{rest.NewWarningWriter(s.ErrOut, rest.WarningWriterOptions{Deduplicate: true}), known}
		}
		return config
	})
}

// unknown shows the warnings that are not known.
type unknown struct {
	rest.WarningHandler
	known func(warning string) bool
}

// HandleWarningHeader implements rest.WarningHandler.
func (u unknown) HandleWarningHeader(code int, agent, text string) {
	if u.known == nil || !u.known(text) {
		u.WarningHandler.HandleWarningHeader(code, agent, text)
	}
}

// ConnectToWatch is Connect for requests that last.
func (s *Source) ConnectToWatch() (hub client.WithWatch, host string, err error) {
	return s.connect(0, fleet.SkipUnread)
}

// connect limits each request to the time, unless it is zero. skip leaves out what is not read.
func (s *Source) connect(limit time.Duration, skip func(*rest.Config) *rest.Config) (hub client.WithWatch, host string, err error) {
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
	hub, err = client.NewWithWatch(config, client.Options{Scheme: scheme, Mapper: mapper()})
	if err != nil {
		return nil, config.Host, cmdline.HubError(fmt.Errorf("reach the hub: %w", err))
	}
	return discoverer{hub, config}, config.Host, nil
}

// configError is a wrong call where a flag chose what cannot be used, else one of the hub.
func (s *Source) configError(err error) error {
	err = fmt.Errorf("read kubeconfig: %w", err)
	for _, flag := range []*string{s.Config.KubeConfig, s.Config.Context, s.Config.ClusterName, s.Config.AuthInfoName, s.Config.CertFile, s.Config.KeyFile, s.Config.CAFile} {
		if *flag != "" {
			return cmdline.UsageError(err)
		}
	}
	if *s.Config.Timeout != "0" {
		return cmdline.UsageError(err)
	}
	return cmdline.HubError(err)
}

// Cluster returns the managed cluster that -n names; empty for all, as with -A.
func (s *Source) Cluster(all bool) string {
	if all {
		return ""
	}
	return *s.Config.Namespace
}

// AddOn returns the add-on that is the argument of a verb, empty without one. An empty
// argument, as of a variable that is not set, does not mean all add-ons.
func AddOn(args []string) (string, error) {
	if len(args) == 0 {
		return "", nil
	}
	if args[0] == "" {
		return "", errors.New("ADDON is empty: name an add-on, or leave it out for all")
	}
	return args[0], nil
}

// CheckInstalled returns an error unless an add-on is installed on the managed cluster, or
// on any.
func CheckInstalled(on *snapshot.Snapshot, addOn, cluster string) error {
	if on.IsInstalled(addOn, cluster) {
		return nil
	}
	where := "on any managed cluster"
	if cluster != "" {
		where = "on " + cluster
	}
	return fmt.Errorf("add-on %q is not installed %s: kubectl addon status -A lists what is", addOn, where)
}

// CheckNeeded is CheckInstalled that accepts an add-on, too, that others depend on.
func CheckNeeded(on *snapshot.Snapshot, addOn, cluster string) error {
	if len(on.Declared.Dependents(addOn)) > 0 {
		return nil
	}
	return CheckInstalled(on, addOn, cluster)
}

var deniedVerb = regexp.MustCompile(` cannot (get|watch) resource `)

// denied is the verb of the API that an error denies, for advice. Only the message has it: see NewForbidden in
// pkg/api/errors of apimachinery. The details have a name for get, but also for a list of one name.
func denied(err error) string {
	if verb := deniedVerb.FindStringSubmatch(err.Error()); verb != nil {
		return verb[1]
	}
	return "list"
}

func askForRight(to string) string {
	return "ask for the right to " + to + " that; docs/kubectl-addon.md lists the rights that the plugin needs"
}

// advice says what to do about an error of the hub.
func advice(err error, host string) string {
	switch {
	case apierrors.IsUnauthorized(err):
		return "log in again, or name another user with --user or --context"
	case apierrors.IsForbidden(err):
		return askForRight(denied(err))
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
		return fmt.Sprintf("is %s an Open Cluster Management hub? Name another with --context", host)
	case errors.Is(err, context.Canceled):
		return "interrupted"
	default:
		return fmt.Sprintf("does %s respond? kubectl get --raw /readyz", host)
	}
}
