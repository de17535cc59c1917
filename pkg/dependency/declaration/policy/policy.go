// Package policy reads AddOnDependencyPolicies. Administrators use them to override the declarations of add-ons on
// selected managed clusters.
package policy

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/text"
)

// LongestWaiver is the longest duration of a waiver: a year, which may be a leap year.
const LongestWaiver = 366 * 24 * time.Hour

// Override is an override of one dependency or requirement of an add-on in one policy. It is immutable.
type Override struct {
	// Policy is the name of the AddOnDependencyPolicy.
	Policy string
	// Type and Version replace the declared values, unless they are empty.
	Type    addonv1alpha1.DependencyType
	Version string
	// Waived is true if the dependency counts as satisfied until the time Until, for a Reason.
	Waived bool
	Until  time.Time
	Reason string
	// Invalid describes the problem of an unusable override. It is empty for a valid override.
	Invalid string

	// everywhere is true if the policy has no selector of managed clusters.
	everywhere bool
	// selector selects managed clusters. It is nil if the policy's selector is invalid.
	selector labels.Selector
	// path is the field of the override.
	path *field.Path
	// statement is a text that is equal for equal overrides.
	statement string
}

// Set has the overrides of all policies of a hub. It is immutable, and the zero value is empty.
type Set struct {
	overrides   map[key][]*Override
	protections statements[dependencyv1alpha1.Protection]
	installs    statements[dependencyv1alpha1.Install]
}

// key identifies a dependency of an add-on.
type key struct{ addOn, dependency string }

// Read reads all policies of a hub, in any order. It never fails, because an unusable override is Invalid.
func Read(policies []dependencyv1alpha1.AddOnDependencyPolicy) Set {
	set := Set{overrides: map[key][]*Override{}}
	for i := range policies {
		policy := &policies[i]
		EachOverride(policy, func(j int, override *Override) {
			dependency := key{policy.Spec.Overrides[j].AddOn, policy.Spec.Overrides[j].Dependency}
			set.overrides[dependency] = append(set.overrides[dependency], override)
		})
		set.addStatements(policy)
	}
	for _, overrides := range set.overrides {
		slices.SortStableFunc(overrides, func(a, b *Override) int { return cmp.Compare(a.Policy, b.Policy) })
	}
	return set
}

// EachOverride calls a function with each override of a policy.
func EachOverride(policy *dependencyv1alpha1.AddOnDependencyPolicy, call func(i int, override *Override)) {
	selector, problem := readSelector(policy)
	for i := range policy.Spec.Overrides {
		override := read(&policy.Spec.Overrides[i], OverridesPath.Index(i))
		override.Policy, override.selector, override.everywhere = policy.Name, selector, policy.Spec.ClusterSelector == nil
		override.Invalid = cmp.Or(problem, override.Invalid)
		override.setStatement(policy.Spec.ClusterSelector)
		call(i, override)
	}
}

var (
	// OverridesPath is the field of the overrides.
	OverridesPath = field.NewPath("spec", "overrides")
	selectorPath  = field.NewPath("spec", "clusterSelector")
)

// readSelector returns the policy's selector of managed clusters, or the problem of an invalid selector.
func readSelector(policy *dependencyv1alpha1.AddOnDependencyPolicy) (labels.Selector, string) {
	selector, err := metav1.LabelSelectorAsSelector(policy.Spec.ClusterSelector)
	if err != nil {
		return nil, fmt.Sprintf("%s: %s", selectorPath, err)
	}
	return selector, ""
}

// read compiles the override at a path. It repeats the checks of the CRD's schema, because the served
// CRD may be older.
func read(entry *dependencyv1alpha1.DependencyOverride, path *field.Path) *Override {
	override := &Override{path: path, Type: addonv1alpha1.DependencyType(entry.Type), Version: entry.Version}
	if waive := entry.Waive; waive != nil {
		override.Waived, override.Until, override.Reason = true, waive.Until.UTC(), waive.Reason
	}
	var problem *field.Error
	switch {
	case override.Waived == (entry.Type != "" || entry.Version != ""):
		problem = field.Invalid(path, text.Excerpt(entry.Dependency), "either waive, or version and type, must be set")
	case override.Waived && (override.Reason == "" || override.Until.IsZero()):
		problem = field.Required(path.Child("waive"), "reason and until must be set")
	case entry.Type != "" && !slices.Contains(types, override.Type):
		problem = field.NotSupported(path.Child("type"), override.Type, types)
	case entry.Version != "":
		if _, err := versions.ParseRange(entry.Version, nil); err != nil {
			problem = field.Invalid(path.Child("version"), text.Excerpt(entry.Version), err.Error())
		}
	}
	if problem != nil {
		override.Invalid = problem.Error()
	}
	return override
}

// types are the types of dependencies in overrides.
var types = []addonv1alpha1.DependencyType{
	addonv1alpha1.DependencyTypeRequired, addonv1alpha1.DependencyTypeOptional, addonv1alpha1.DependencyTypeIfInstalled,
}

func (o *Override) setStatement(selector *metav1.LabelSelector) {
	clusters := "everywhere"
	if selector != nil {
		clusters = metav1.FormatLabelSelector(selector)
	}
	o.statement = fmt.Sprintf("%q on %q: %q %q %t %s %q %q", o.Policy, clusters, o.Type, o.Version, o.Waived, o.Until.Format(time.RFC3339Nano), o.Reason, o.Invalid)
}

// Overrides returns the overrides of a dependency or requirement of an add-on, ordered by policy.
func (s Set) Overrides(addOn, dependency string) []*Override {
	return s.overrides[key{addOn, dependency}]
}

// Selects reports whether the policy selects a managed cluster with these labels. An invalid selector
// selects all of them.
func (o *Override) Selects(clusterLabels map[string]string) bool {
	return o.everywhere || o.selector == nil || o.selector.Matches(labels.Set(clusterLabels))
}

// Everywhere reports whether the policy selects all managed clusters.
func (o *Override) Everywhere() bool { return o.everywhere }

// Equal reports whether both overrides have the same content and policy.
func (o *Override) Equal(b *Override) bool { return o.statement == b.statement }

// String returns the content of the override. It is equal for equal overrides.
func (o *Override) String() string { return o.statement }

// Ended reports whether the override is a waiver that has ended.
func (o *Override) Ended(now time.Time) bool {
	return o.Waived && o.Invalid == "" && !now.Before(o.Until)
}

// TooLong reports whether the override is a waiver for longer than LongestWaiver.
func (o *Override) TooLong(now time.Time) bool {
	return o.Waived && now.Add(LongestWaiver).Before(o.Until)
}
