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
	addOn.Labels = only(addOn.Labels, func(name string) bool { return keys.Labels.Has(name) || name == addonv1alpha1.InstalledByLabel })
	addOn.Annotations = only(addOn.Annotations, func(name string) bool {
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

// only returns the entries to keep, nil for none.
func only(all map[string]string, keeps func(name string) bool) (kept map[string]string) {
	for name, value := range all {
		if !keeps(name) {
			continue
		}
		if kept == nil {
			kept = map[string]string{}
		}
		kept[name] = value
	}
	return kept
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
	c.PoliciesUnread = r.text(c.PoliciesUnread)
	c.Policies = slices.Clone(c.Policies)
	for i := range c.Policies {
		spec := c.Policies[i].Spec.DeepCopy()
		for j := range spec.Overrides {
			if waive := spec.Overrides[j].Waive; waive != nil {
				waive.Reason = r.text(waive.Reason)
			}
		}
		c.Policies[i].Spec = *spec
	}
	return c
}

func (r redaction) addOns(all []addonv1alpha1.ManagedClusterAddOn) []addonv1alpha1.ManagedClusterAddOn {
	all = slices.Clone(all)
	for i := range all {
		all[i].Status.Conditions = r.conditions(all[i].Status.Conditions)
	}
	return all
}

func (r redaction) clusters(all []clusterv1.ManagedCluster) []clusterv1.ManagedCluster {
	all = slices.Clone(all)
	for i := range all {
		status := &all[i].Status
		status.Conditions, status.ClusterClaims = r.conditions(status.Conditions), slices.Clone(status.ClusterClaims)
		for j := range status.ClusterClaims {
			status.ClusterClaims[j].Value = r.text(status.ClusterClaims[j].Value)
		}
	}
	return all
}

func (r redaction) facts(all []dependencyv1alpha1.ManagedClusterFacts) []dependencyv1alpha1.ManagedClusterFacts {
	all = slices.Clone(all)
	for i := range all {
		status := &all[i].Status
		status.APIs, status.AddOns = r.apis(status.APIs), slices.Clone(status.AddOns)
		for j := range status.AddOns {
			status.AddOns[j].Message = r.text(status.AddOns[j].Message)
		}
		status.Objects = slices.Clone(status.Objects)
		for j := range status.Objects {
			status.Objects[j].Message = r.text(status.Objects[j].Message)
		}
	}
	return all
}

func (r redaction) apis(all []dependencyv1alpha1.APIFact) []dependencyv1alpha1.APIFact {
	all = slices.Clone(all)
	for i := range all {
		all[i].Message = r.text(all[i].Message)
	}
	return all
}
