package snapshot

import (
	"regexp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/expression"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// unread removes from a snapshot what no declaration on the hub reads. It may be secret, such
// as a password in a variable, and it takes memory.
type unread struct {
	declared *evaluation.Evaluator
	keys     map[string]expression.Keys
	// variables are those that conditions read, by the AddOnDeploymentConfig.
	variables map[types.NamespacedName]expression.Keys
}

func newUnread(declared *evaluation.Evaluator) *unread {
	return &unread{declared: declared, keys: map[string]expression.Keys{}, variables: map[types.NamespacedName]expression.Keys{}}
}

// removeFrom reduces an add-on to its conditions, references, versions and where its agent runs,
// what installed it, and the labels and annotations that conditions of its dependencies read.
func (u *unread) removeFrom(addOn *addonv1alpha1.ManagedClusterAddOn) {
	keys, known := u.keys[addOn.Name]
	if !known {
		keys = u.declared.Keys(addOn.Name)
		u.keys[addOn.Name] = keys
	}
	addOn.UID, addOn.ResourceVersion = "", ""
	addOn.Labels = fleet.OnlyNamed(addOn.Labels, func(name string) bool { return keys.Labels.Has(name) || name == addonv1alpha1.InstalledByLabel })
	addOn.Annotations = fleet.OnlyNamed(addOn.Annotations, func(name string) bool {
		return keys.Annotations.Has(name) || slices.Contains(versions.Annotations, name) || name == ocmv1alpha1.HostingClusterNameAnnotationKey
	})
	if config, refers := fleet.ConfigOf(addOn); refers && keys.Config.Any() {
		u.variables[config] = u.variables[config].With(keys)
	}
}

// removeFromConfig reduces a config to the variables that conditions read, and reports whether
// there is any. The add-ons come first.
func (u *unread) removeFromConfig(config *addonv1alpha1.AddOnDeploymentConfig) (isRead bool) {
	keys := u.variables[types.NamespacedName{Namespace: config.Namespace, Name: config.Name}]
	config.UID, config.ResourceVersion = "", ""
	config.Spec.CustomizedVariables = slices.DeleteFunc(slices.Clone(config.Spec.CustomizedVariables),
		func(variable ocmv1alpha1.CustomizedVariable) bool { return !keys.Config.Has(variable.Name) })
	return keys.Config.Any()
}

// Removed stands for what looked like a credential in a file.
const Removed = "REMOVED"

// credentials are the forms in which texts of other components carry credentials: the user of
// a URL, what follows a name such as password, a JSON Web Token, and a private key.
var credentials = []struct {
	form *regexp.Regexp
	by   string
}{
	{regexp.MustCompile(`://[^/\s@"']+@`), "://" + Removed + "@"},
	{regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9+/_.~=-]{8,}`), "$1 " + Removed},
	{regexp.MustCompile(`(?i)((?:password|passwd|secret|token|api[-_]?key|access[-_]?key|credentials?)["']?\s*[:=]\s*)("[^"]*"|'[^']*'|[^\s"',;]+)`), "${1}" + Removed},
	{regexp.MustCompile(`\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*`), Removed},
	{regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|$)`), Removed},
}

// redaction replaces credentials in texts. Most texts are the same on all clusters.
type redaction map[string]string

func (r redaction) text(text string) string {
	if text == "" {
		return ""
	}
	replaced, known := r[text]
	if !known {
		replaced = text
		for _, one := range credentials {
			replaced = one.form.ReplaceAllString(replaced, one.by)
		}
		r[text] = replaced
	}
	return replaced
}

// conditions returns conditions with other messages; the same where nothing was replaced.
func (r redaction) conditions(all []metav1.Condition) []metav1.Condition {
	replaced := all
	for i := range all {
		message := r.text(all[i].Message)
		if message == all[i].Message {
			continue
		}
		if &replaced[0] == &all[0] {
			replaced = slices.Clone(all)
		}
		replaced[i].Message = message
	}
	return replaced
}

// redacted is the content without credentials in the texts that other components wrote:
// messages of conditions, claims, what agents report of APIs and versions, and the reasons of waivers.
func (c Content) redacted() Content {
	r := redaction{}
	c.Clusters, c.AddOns, c.Facts = r.clusters(c.Clusters), r.addOns(c.AddOns), r.facts(c.Facts)
	c.Hosting = Hosting{r.clusters(c.Hosting.Clusters), r.addOns(c.Hosting.AddOns), r.facts(c.Hosting.Facts)}
	c.HubAPIs = r.apis(c.HubAPIs)
	c.Installations = changed(c.Installations, func(one *dependencyv1alpha1.AddOnInstallation) {
		one.Status.Conditions = r.conditions(one.Status.Conditions)
	})
	c.PoliciesUnread = r.text(c.PoliciesUnread)
	c.Policies = changed(c.Policies, func(one *dependencyv1alpha1.AddOnDependencyPolicy) {
		one.Spec = *one.Spec.DeepCopy()
		for _, override := range one.Spec.Overrides {
			if override.Waive != nil {
				override.Waive.Reason = r.text(override.Waive.Reason)
			}
		}
	})
	return c
}

func (r redaction) addOns(all []addonv1alpha1.ManagedClusterAddOn) []addonv1alpha1.ManagedClusterAddOn {
	return changed(all, func(one *addonv1alpha1.ManagedClusterAddOn) {
		one.Status.Conditions = r.conditions(one.Status.Conditions)
	})
}

func (r redaction) clusters(all []clusterv1.ManagedCluster) []clusterv1.ManagedCluster {
	return changed(all, func(one *clusterv1.ManagedCluster) {
		one.Status.Conditions = r.conditions(one.Status.Conditions)
		one.Status.ClusterClaims = changed(one.Status.ClusterClaims, func(claim *clusterv1.ManagedClusterClaim) { claim.Value = r.text(claim.Value) })
	})
}

func (r redaction) facts(all []dependencyv1alpha1.ManagedClusterFacts) []dependencyv1alpha1.ManagedClusterFacts {
	return changed(all, func(one *dependencyv1alpha1.ManagedClusterFacts) {
		one.Status.APIs = r.apis(one.Status.APIs)
		one.Status.AddOns = changed(one.Status.AddOns, func(fact *dependencyv1alpha1.AddOnFact) { fact.Message = r.text(fact.Message) })
		one.Status.Objects = changed(one.Status.Objects, func(fact *dependencyv1alpha1.ObjectsFact) { fact.Message = r.text(fact.Message) })
	})
}

func (r redaction) apis(all []dependencyv1alpha1.APIFact) []dependencyv1alpha1.APIFact {
	return changed(all, func(one *dependencyv1alpha1.APIFact) { one.Message = r.text(one.Message) })
}

// changed returns a copy with each one changed.
func changed[T any](all []T, change func(*T)) []T {
	all = slices.Clone(all)
	for i := range all {
		change(&all[i])
	}
	return all
}
