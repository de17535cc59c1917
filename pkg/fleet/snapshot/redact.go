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
	"open-cluster-management.io/interlock/pkg/dependency/declaration/expression"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// unread removes labels, annotations and variables from a snapshot that no declaration on the
// hub reads. They may be secret, such as a password in a variable, and they take memory.
type unread struct {
	evaluator *evaluation.Evaluator
	keys      map[string]expression.Keys
	// variables has the variables that conditions read, by AddOnDeploymentConfig.
	variables map[types.NamespacedName]expression.Keys
}

func newUnread(evaluator *evaluation.Evaluator) *unread {
	return &unread{evaluator: evaluator, keys: map[string]expression.Keys{}, variables: map[types.NamespacedName]expression.Keys{}}
}

// keptAnnotations are the hosting cluster of an add-on, and its gate.
var keptAnnotations = []string{
	ocmv1alpha1.HostingClusterNameAnnotationKey, addonv1alpha1.GateAnnotation, addonv1alpha1.GateCauseAnnotation,
}

// removeFrom removes all labels and annotations from an add-on but these: its versions, its hosting
// cluster, its gate, its installer, and those that conditions of its dependencies read.
func (u *unread) removeFrom(addOn *addonv1alpha1.ManagedClusterAddOn) {
	keys := u.keysOf(addOn.Name)
	addOn.UID, addOn.ResourceVersion = "", ""
	addOn.Labels = fleet.OnlyNamed(addOn.Labels, func(name string) bool {
		return keys.Labels.Has(name) || name == addonv1alpha1.InstalledByLabel
	})
	addOn.Annotations = fleet.OnlyNamed(addOn.Annotations, func(name string) bool {
		return keys.Annotations.Has(name) || slices.Contains(versions.Annotations, name) || slices.Contains(keptAnnotations, name)
	})
}

// keysOf returns the keys that conditions of the dependencies of an add-on read.
func (u *unread) keysOf(addOn string) expression.Keys {
	keys, ok := u.keys[addOn]
	if !ok {
		keys = u.evaluator.Keys(addOn)
		u.keys[addOn] = keys
	}
	return keys
}

// keepVariables keeps the variables of the config of an add-on that conditions of its dependencies read.
func (u *unread) keepVariables(addOn *addonv1alpha1.ManagedClusterAddOn) {
	if keys := u.keysOf(addOn.Name); keys.Config.Any() {
		if config, refers := fleet.ConfigOf(addOn); refers {
			u.variables[config] = u.variables[config].With(keys)
		}
	}
}

// removeFromConfig removes all variables from a config but those that conditions read, and reports
// whether there are any. Call keepVariables for all add-ons before.
func (u *unread) removeFromConfig(config *addonv1alpha1.AddOnDeploymentConfig) bool {
	keys := u.variables[types.NamespacedName{Namespace: config.Namespace, Name: config.Name}]
	config.UID, config.ResourceVersion = "", ""
	config.Spec.CustomizedVariables = slices.DeleteFunc(slices.Clone(config.Spec.CustomizedVariables),
		func(variable ocmv1alpha1.CustomizedVariable) bool { return !keys.Config.Has(variable.Name) })
	return keys.Config.Any()
}

// Removed replaces a string that looks like a credential in a file.
const Removed = "REMOVED"

// credentials has the forms in which texts of other components contain credentials: the user of
// a URL, the value after a name such as password, a JSON Web Token, and a private key.
var credentials = []struct {
	form        *regexp.Regexp
	replacement string
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
	replaced, ok := r[text]
	if !ok {
		replaced = text
		for _, credential := range credentials {
			replaced = credential.form.ReplaceAllString(replaced, credential.replacement)
		}
		r[text] = replaced
	}
	return replaced
}

// conditions returns the conditions with redacted messages. It returns the same slice if no message changes.
func (r redaction) conditions(conditions []metav1.Condition) []metav1.Condition {
	replaced := conditions
	for i := range conditions {
		message := r.text(conditions[i].Message)
		if message == conditions[i].Message {
			continue
		}
		if &replaced[0] == &conditions[0] {
			replaced = slices.Clone(conditions)
		}
		replaced[i].Message = message
	}
	return replaced
}

// redacted returns the content without credentials in the texts that other components wrote.
// These are messages of conditions, claims, messages in facts, and the reasons of waivers.
func (c Content) redacted() Content {
	r := redaction{}
	c.Clusters, c.AddOns, c.Facts = r.clusters(c.Clusters), r.addOns(c.AddOns), r.facts(c.Facts)
	c.Hosting = Hosting{r.clusters(c.Hosting.Clusters), r.addOns(c.Hosting.AddOns), r.facts(c.Hosting.Facts)}
	c.HubAPIs = r.apis(c.HubAPIs)
	c.Installations = changed(c.Installations, func(installation *dependencyv1alpha1.AddOnInstallation) {
		installation.Status.Conditions = r.conditions(installation.Status.Conditions)
	})
	c.PoliciesUnread = r.text(c.PoliciesUnread)
	c.Policies = changed(c.Policies, func(policy *dependencyv1alpha1.AddOnDependencyPolicy) {
		policy.Spec = *policy.Spec.DeepCopy()
		for _, override := range policy.Spec.Overrides {
			if override.Waive != nil {
				override.Waive.Reason = r.text(override.Waive.Reason)
			}
		}
	})
	return c
}

func (r redaction) addOns(addOns []*addonv1alpha1.ManagedClusterAddOn) []*addonv1alpha1.ManagedClusterAddOn {
	return changed(addOns, func(addOn **addonv1alpha1.ManagedClusterAddOn) {
		redacted := **addOn
		redacted.Status.Conditions = r.conditions(redacted.Status.Conditions)
		*addOn = &redacted
	})
}

func (r redaction) clusters(clusters []clusterv1.ManagedCluster) []clusterv1.ManagedCluster {
	return changed(clusters, func(cluster *clusterv1.ManagedCluster) {
		cluster.Status.Conditions = r.conditions(cluster.Status.Conditions)
		cluster.Status.ClusterClaims = changed(cluster.Status.ClusterClaims, func(claim *clusterv1.ManagedClusterClaim) {
			claim.Value = r.text(claim.Value)
		})
	})
}

func (r redaction) facts(objects []dependencyv1alpha1.ManagedClusterFacts) []dependencyv1alpha1.ManagedClusterFacts {
	return changed(objects, func(facts *dependencyv1alpha1.ManagedClusterFacts) {
		facts.Status.APIs = r.apis(facts.Status.APIs)
		facts.Status.AddOns = changed(facts.Status.AddOns, func(fact *dependencyv1alpha1.AddOnFact) { fact.Message = r.text(fact.Message) })
		facts.Status.Objects = changed(facts.Status.Objects, func(fact *dependencyv1alpha1.ObjectsFact) { fact.Message = r.text(fact.Message) })
	})
}

func (r redaction) apis(facts []dependencyv1alpha1.APIFact) []dependencyv1alpha1.APIFact {
	return changed(facts, func(fact *dependencyv1alpha1.APIFact) { fact.Message = r.text(fact.Message) })
}

// changed returns a copy of the slice with each element changed.
func changed[T any](elements []T, change func(*T)) []T {
	elements = slices.Clone(elements)
	for i := range elements {
		change(&elements[i])
	}
	return elements
}
