// Package policy reads AddOnDependencyPolicies: what an administrator overrides of what
// add-ons declare, and on which managed clusters.
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
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/text"
)

// LongestWaiver is how far ahead a waiver may end: a year, which may be a leap year.
const LongestWaiver = 366 * 24 * time.Hour

// Override is what one policy says of one dependency, or requirement, of an add-on. It does
// not change once read.
type Override struct {
	// Policy is the name of the AddOnDependencyPolicy.
	Policy string
	// Type and Version are those that count; empty: as declared.
	Type    addonv1alpha1.DependencyType
	Version string
	// Waived: the dependency counts as satisfied until a moment. Reason is why.
	Waived bool
	Until  time.Time
	Reason string
	// Invalid is what is wrong with the override: it is not known what the administrator
	// wants. Empty: nothing.
	Invalid string

	// everywhere: the policy is for all managed clusters. Else selector selects them; nil
	// where it cannot be read.
	everywhere bool
	selector   labels.Selector
	// path is where it is declared.
	path *field.Path
	// statement is all of this as text: equal for equal overrides.
	statement string
}

// Set is what all policies of a hub override. The zero value has none. It does not change
// once read.
type Set struct {
	overrides   map[key][]*Override
	protections statements[dependencyv1alpha1.Protection]
	installs    statements[dependencyv1alpha1.Install]
}

// key names a dependency of an add-on.
type key struct{ addOn, dependency string }

// Read reads all policies of a hub, in any order. It never fails: an override that cannot be
// used is Invalid.
func Read(policies []dependencyv1alpha1.AddOnDependencyPolicy) Set {
	set := Set{overrides: map[key][]*Override{}}
	for i := range policies {
		of := &policies[i]
		Each(of, func(j int, override *Override) {
			at := key{of.Spec.Overrides[j].AddOn, of.Spec.Overrides[j].Dependency}
			set.overrides[at] = append(set.overrides[at], override)
		})
		set.addStatements(of)
	}
	for _, overrides := range set.overrides {
		slices.SortStableFunc(overrides, func(a, b *Override) int { return cmp.Compare(a.Policy, b.Policy) })
	}
	return set
}

// Each calls a function with each override of a policy.
func Each(of *dependencyv1alpha1.AddOnDependencyPolicy, call func(i int, override *Override)) {
	selector, wrong := readSelector(of)
	for i := range of.Spec.Overrides {
		override := read(&of.Spec.Overrides[i], OverridesPath.Index(i))
		override.Policy, override.selector, override.everywhere = of.Name, selector, of.Spec.ClusterSelector == nil
		override.Invalid = cmp.Or(wrong, override.Invalid)
		override.state(of.Spec.ClusterSelector)
		call(i, override)
	}
}

var (
	// OverridesPath is where overrides are declared.
	OverridesPath = field.NewPath("spec", "overrides")
	selectorPath  = field.NewPath("spec", "clusterSelector")
)

func readSelector(of *dependencyv1alpha1.AddOnDependencyPolicy) (selector labels.Selector, wrong string) {
	selector, err := metav1.LabelSelectorAsSelector(of.Spec.ClusterSelector)
	if err != nil {
		return nil, fmt.Sprintf("%s: %s", selectorPath, err)
	}
	return selector, ""
}

// read compiles an override at path. What the schema of the CRD refuses is found here too: the
// CRD that is served may be an older one.
func read(declared *dependencyv1alpha1.DependencyOverride, path *field.Path) *Override {
	override := &Override{path: path, Type: addonv1alpha1.DependencyType(declared.Type), Version: declared.Version}
	if waive := declared.Waive; waive != nil {
		override.Waived, override.Until, override.Reason = true, waive.Until.UTC(), waive.Reason
	}
	var wrong *field.Error
	switch {
	case override.Waived == (declared.Type != "" || declared.Version != ""):
		wrong = field.Invalid(path, text.Excerpt(declared.Dependency), "either waive, or version and type, must be set")
	case override.Waived && (override.Reason == "" || override.Until.IsZero()):
		wrong = field.Required(path.Child("waive"), "reason and until must be set")
	case declared.Type != "" && !slices.Contains(types, override.Type):
		wrong = field.NotSupported(path.Child("type"), override.Type, types)
	case declared.Version != "":
		if _, err := versions.ParseRange(declared.Version, nil); err != nil {
			wrong = field.Invalid(path.Child("version"), text.Excerpt(declared.Version), err.Error())
		}
	}
	if wrong != nil {
		override.Invalid = wrong.Error()
	}
	return override
}

// types are those that an override can set.
var types = []addonv1alpha1.DependencyType{
	addonv1alpha1.DependencyTypeRequired, addonv1alpha1.DependencyTypeOptional, addonv1alpha1.DependencyTypeIfInstalled,
}

func (o *Override) state(selector *metav1.LabelSelector) {
	on := "everywhere"
	if selector != nil {
		on = metav1.FormatLabelSelector(selector)
	}
	o.statement = fmt.Sprintf("%q on %q: %q %q %t %s %q %q", o.Policy, on, o.Type, o.Version, o.Waived, o.Until.Format(time.RFC3339Nano), o.Reason, o.Invalid)
}

// On returns the overrides of a dependency, or requirement, of an add-on, by the names of their
// policies.
func (s Set) On(addOn, dependency string) []*Override { return s.overrides[key{addOn, dependency}] }

// Selects reports whether the policy is for a managed cluster with these labels. It is for all
// of them where its selector cannot be read.
func (o *Override) Selects(clusterLabels map[string]string) bool {
	return o.everywhere || o.selector == nil || o.selector.Matches(labels.Set(clusterLabels))
}

// Everywhere reports whether labels of managed clusters do not matter.
func (o *Override) Everywhere() bool { return o.everywhere }

// Equal reports whether both say the same, in policies of the same name.
func (o *Override) Equal(other *Override) bool { return o.statement == other.statement }

// String is all that the override says: equal for equal overrides.
func (o *Override) String() string { return o.statement }

// Ended reports whether the override is a waiver that has ended: it says nothing any more.
func (o *Override) Ended(now time.Time) bool {
	return o.Waived && o.Invalid == "" && !now.Before(o.Until)
}

// TooLong reports whether the override is a waiver that ends too far ahead.
func (o *Override) TooLong(now time.Time) bool {
	return o.Waived && now.Add(LongestWaiver).Before(o.Until)
}
