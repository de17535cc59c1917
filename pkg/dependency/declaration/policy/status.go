package policy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/text"
)

const (
	// maxNamed is the maximum number of managed clusters in a message.
	maxNamed = 3
	// maxMessage is the length of a message in the schema of the status, in characters.
	maxMessage = 1024
)

// Tally counts the managed clusters on which policies have an effect.
type Tally struct {
	now time.Time
	// clustersByOverride has the clusters of each override, by policy.
	clustersByOverride map[string]map[key]map[string]bool
	// clustersByPolicy has the clusters of fields that concern all add-ons, by policy.
	clustersByPolicy map[string]map[string]bool
	// conflicts has the clusters on which policies contradict each other, by policy.
	conflicts map[string]map[conflict]map[string]bool
}

// conflict is a dependency or a field for which policies have different values.
type conflict struct {
	key
	field  string
	others string
}

// NewTally returns an empty tally for a time.
func NewTally(now time.Time) *Tally {
	return &Tally{
		now: now, clustersByOverride: map[string]map[key]map[string]bool{}, clustersByPolicy: map[string]map[string]bool{},
		conflicts: map[string]map[conflict]map[string]bool{},
	}
}

// Add counts a managed cluster with these labels, where the add-on is installed and declares the
// dependency. overrides has the overrides of that dependency.
func (t *Tally) Add(addOn, dependency, cluster string, clusterLabels map[string]string, overrides []*Override) {
	target := key{addOn, dependency}
	for _, override := range overrides {
		if override.Selects(clusterLabels) {
			add(t.clustersByOverride, override.Policy, target, cluster)
		}
	}
	if effect := Combine(overrides, clusterLabels, t.now); effect.Conflicting {
		t.addConflict(conflict{key: target}, cluster, effect.Policies)
	}
}

// AddCluster counts a managed cluster with these labels for the policies that set its protection or deny installations.
func (t *Tally) AddCluster(cluster string, clusterLabels map[string]string, set Set) {
	protected, installs := set.Protected(clusterLabels), set.Installs(clusterLabels)
	for _, policy := range slices.Concat(protected.Policies, installs.Policies) {
		if t.clustersByPolicy[policy] == nil {
			t.clustersByPolicy[policy] = map[string]bool{}
		}
		t.clustersByPolicy[policy][cluster] = true
	}
	if protected.Conflicting {
		t.addConflict(conflict{field: ProtectionPath.String()}, cluster, protected.Policies)
	}
	if installs.Conflicting {
		t.addConflict(conflict{field: InstallPath.String()}, cluster, installs.Policies)
	}
}

// addConflict counts a managed cluster on which these policies contradict each other.
func (t *Tally) addConflict(c conflict, cluster string, policies []string) {
	for _, policy := range policies {
		others := slices.DeleteFunc(slices.Clone(policies), func(name string) bool { return name == policy })
		c.others = Named(others...)
		add(t.conflicts, policy, c, cluster)
	}
}

func add[K comparable](clusters map[string]map[K]map[string]bool, policy string, subject K, cluster string) {
	if clusters[policy] == nil {
		clusters[policy] = map[K]map[string]bool{}
	}
	if clusters[policy][subject] == nil {
		clusters[policy][subject] = map[string]bool{}
	}
	clusters[policy][subject][cluster] = true
}

// Status returns the status of a policy after all clusters are counted. An unchanged condition keeps its transition time.
// whyWithout returns the reason why an override has no effect on any cluster, or an empty string.
func (t *Tally) Status(
	policy *dependencyv1alpha1.AddOnDependencyPolicy, whyWithout func(*dependencyv1alpha1.DependencyOverride, *Override) string,
) dependencyv1alpha1.AddOnDependencyPolicyStatus {
	status := dependencyv1alpha1.AddOnDependencyPolicyStatus{ObservedGeneration: policy.Generation}
	for _, stored := range policy.Status.Conditions {
		if stored.Type == dependencyv1alpha1.PolicyAccepted || stored.Type == dependencyv1alpha1.PolicyConflicting {
			status.Conditions = append(status.Conditions, stored)
		}
	}
	addOns, clusters := map[string]bool{}, map[string]bool{}
	maps.Copy(clusters, t.clustersByPolicy[policy.Name])
	EachOverride(policy, func(i int, override *Override) {
		entry := &policy.Spec.Overrides[i]
		dependency := key{entry.AddOn, entry.Dependency}
		problem := override.Wrong(t.now)
		affected := t.clustersByOverride[policy.Name][dependency]
		if len(affected) > 0 {
			addOns[dependency.addOn] = true
			maps.Copy(clusters, affected)
		}
		status.Overrides = append(status.Overrides, dependencyv1alpha1.OverrideStatus{
			AddOn:      dependency.addOn,
			Dependency: dependency.dependency,
			Clusters:   number(affected),
			Ended:      problem == "" && override.Ended(t.now),
			Message:    text.Cut(cmp.Or(problem, override.endedMessage(t.now), whyWithout(entry, override)), maxMessage),
		})
	})
	status.AddOns, status.Clusters = number(addOns), number(clusters)
	set := func(condition metav1.Condition) {
		condition.ObservedGeneration, condition.LastTransitionTime = policy.Generation, metav1.NewTime(t.now)
		condition.Message = text.Cut(condition.Message, maxMessage)
		meta.SetStatusCondition(&status.Conditions, condition)
	}
	set(accepted(Wrong(policy, t.now)))
	set(t.conflicting(policy.Name))
	return status
}

func number[K comparable](set map[K]bool) int32 { return int32(len(set)) } //nolint:gosec // objects of a hub

func accepted(problems []string) metav1.Condition {
	if len(problems) == 0 {
		return metav1.Condition{
			Type: dependencyv1alpha1.PolicyAccepted, Status: metav1.ConditionTrue,
			Reason: dependencyv1alpha1.ReasonAccepted, Message: "All overrides can be used.",
		}
	}
	return metav1.Condition{
		Type: dependencyv1alpha1.PolicyAccepted, Status: metav1.ConditionFalse, Reason: dependencyv1alpha1.ReasonInvalid,
		Message: text.Cut(problems[0], maxMessage/2) + moreText(len(problems)-1) +
			". Until it is corrected, verdicts on these dependencies stay as they are.",
	}
}

func moreText(count int) string {
	if count <= 0 {
		return ""
	}
	return fmt.Sprintf("; and %d more", count)
}

func (t *Tally) conflicting(policy string) metav1.Condition {
	conflicts := t.conflicts[policy]
	if len(conflicts) == 0 {
		return metav1.Condition{
			Type: dependencyv1alpha1.PolicyConflicting, Status: metav1.ConditionFalse,
			Reason: dependencyv1alpha1.ReasonNoConflict, Message: "No other policy contradicts this one.",
		}
	}
	sorted := slices.SortedFunc(maps.Keys(conflicts), func(a, b conflict) int {
		return cmp.Or(strings.Compare(a.addOn, b.addOn), strings.Compare(a.dependency, b.dependency), strings.Compare(a.field, b.field),
			strings.Compare(a.others, b.others))
	})
	first := sorted[0]
	return metav1.Condition{
		Type: dependencyv1alpha1.PolicyConflicting, Status: metav1.ConditionTrue, Reason: dependencyv1alpha1.ReasonStricterCounts,
		Message: fmt.Sprintf("%s: %s says something else on %s%s. The stricter counts.", first.subject(),
			text.Cut(first.others, maxMessage/2), clustersText(conflicts[first]), moreText(len(sorted)-1)),
	}
}

func (c conflict) subject() string {
	if c.field != "" {
		return c.field
	}
	return fmt.Sprintf("%s → %s", text.Name(c.addOn), text.Name(c.dependency))
}

// clustersText returns the number of managed clusters, and the names of the first of them.
func clustersText(clusters map[string]bool) string {
	names := slices.Sorted(maps.Keys(clusters))
	named := names[:min(len(names), maxNamed)]
	list := strings.Join(named, ", ")
	if remaining := len(names) - len(named); remaining > 0 {
		list += fmt.Sprintf(" and %d more", remaining)
	}
	return fmt.Sprintf("%s (%s)", text.Count(len(names), "cluster"), list)
}

// Wrong returns the problems of a policy at a time.
func Wrong(policy *dependencyv1alpha1.AddOnDependencyPolicy, now time.Time) []string {
	_, selectorProblem := readSelector(policy)
	var problems []string
	for _, problem := range []string{selectorProblem, protectionProblem(policy), installProblem(policy)} {
		if problem != "" {
			problems = append(problems, problem)
		}
	}
	EachOverride(policy, func(_ int, override *Override) {
		if problem := override.Wrong(now); problem != "" && !slices.Contains(problems, problem) {
			problems = append(problems, problem)
		}
	})
	return problems
}

// Ended returns a message for each waiver of a policy that has ended.
func Ended(policy *dependencyv1alpha1.AddOnDependencyPolicy, now time.Time) []string {
	var messages []string
	EachOverride(policy, func(i int, override *Override) {
		if message := override.endedMessage(now); message != "" {
			messages = append(messages, fmt.Sprintf("%s: %s", OverridesPath.Index(i), message))
		}
	})
	return messages
}

// Wrong returns the problem of an override that is unusable at a time, or an empty string.
func (o *Override) Wrong(now time.Time) string {
	if o.Invalid == "" && o.TooLong(now) {
		return fmt.Sprintf("%s: %s is more than %d days from now", o.path.Child("waive", "until"), o.Until.Format(time.RFC3339), int(LongestWaiver.Hours()/24))
	}
	return o.Invalid
}

// endedMessage returns a message for a waiver that has ended, and otherwise an empty string.
func (o *Override) endedMessage(now time.Time) string {
	if !o.Ended(now) {
		return ""
	}
	return "the waiver ended at " + o.Until.Format(time.RFC3339) + ": the dependency counts as declared"
}

// Next returns the first time after now at which a waiver begins or ends by itself. It is zero without
// such a waiver.
func (s Set) Next(now time.Time) time.Time {
	var next time.Time
	for _, overrides := range s.overrides {
		for _, override := range overrides {
			if !override.Waived || override.Invalid != "" {
				continue
			}
			for _, boundary := range []time.Time{override.Until.Add(-LongestWaiver), override.Until} {
				if boundary.After(now) && (next.IsZero() || boundary.Before(next)) {
					next = boundary
				}
			}
		}
	}
	return next
}
