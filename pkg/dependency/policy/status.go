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
	// maxNamed is how many managed clusters a message names.
	maxNamed = 3
	// maxMessage is how long a message in a status can be, in characters: what the schema allows.
	maxMessage = 1024
)

// Tally counts what policies do on the managed clusters of a fleet.
type Tally struct {
	now time.Time
	// touched are the clusters of each override, by its policy.
	touched map[string]map[key]map[string]bool
	// ruled are the clusters of which a policy says something, whatever add-ons are there, by the policy.
	ruled map[string]map[string]bool
	// conflicts are the clusters on which policies contradict each other.
	conflicts map[string]map[conflict]map[string]bool
}

// conflict is a dependency on which other policies say something else, or a field that they set otherwise.
type conflict struct {
	key
	field  string
	others string
}

// NewTally returns a tally of no cluster, at a moment.
func NewTally(now time.Time) *Tally {
	return &Tally{
		now: now, touched: map[string]map[key]map[string]bool{}, ruled: map[string]map[string]bool{},
		conflicts: map[string]map[conflict]map[string]bool{},
	}
}

// Add counts a managed cluster with these labels, where the add-on is installed and declares the
// dependency. The overrides are those of that dependency.
func (t *Tally) Add(addOn, dependency, cluster string, clusterLabels map[string]string, overrides []*Override) {
	at := key{addOn, dependency}
	for _, override := range overrides {
		if override.Selects(clusterLabels) {
			add(t.touched, override.Policy, at, cluster)
		}
	}
	if effect := Together(overrides, clusterLabels, t.now); effect.Conflicting {
		t.addConflict(conflict{key: at}, cluster, effect.Policies)
	}
}

// AddCluster counts a managed cluster with these labels, for which policies say something of protection or of installations.
func (t *Tally) AddCluster(cluster string, clusterLabels map[string]string, set Set) {
	protected, installs := set.Protected(clusterLabels), set.Installs(clusterLabels)
	for _, policy := range slices.Concat(protected.Policies, installs.Policies) {
		if t.ruled[policy] == nil {
			t.ruled[policy] = map[string]bool{}
		}
		t.ruled[policy][cluster] = true
	}
	if protected.Conflicting {
		t.addConflict(conflict{field: ProtectionPath.String()}, cluster, protected.Policies)
	}
	if installs.Conflicting {
		t.addConflict(conflict{field: InstallPath.String()}, cluster, installs.Policies)
	}
}

// addConflict counts a managed cluster on which these policies contradict each other.
func (t *Tally) addConflict(at conflict, cluster string, policies []string) {
	for _, policy := range policies {
		others := slices.DeleteFunc(slices.Clone(policies), func(other string) bool { return other == policy })
		at.others = Named(others...)
		add(t.conflicts, policy, at, cluster)
	}
}

func add[K comparable](to map[string]map[K]map[string]bool, policy string, at K, cluster string) {
	if to[policy] == nil {
		to[policy] = map[K]map[string]bool{}
	}
	if to[policy][at] == nil {
		to[policy][at] = map[string]bool{}
	}
	to[policy][at][cluster] = true
}

// Status is that of a policy once all clusters are counted. The moments of transitions are those of
// the status that is stored, where the condition stays. without is why an override has no effect,
// whatever the clusters; empty: it can have one.
func (t *Tally) Status(of *dependencyv1alpha1.AddOnDependencyPolicy, without func(*dependencyv1alpha1.DependencyOverride, *Override) string) dependencyv1alpha1.AddOnDependencyPolicyStatus {
	status := dependencyv1alpha1.AddOnDependencyPolicyStatus{ObservedGeneration: of.Generation}
	for _, stored := range of.Status.Conditions {
		if stored.Type == dependencyv1alpha1.PolicyAccepted || stored.Type == dependencyv1alpha1.PolicyConflicting {
			status.Conditions = append(status.Conditions, stored)
		}
	}
	addOns, clusters := map[string]bool{}, map[string]bool{}
	maps.Copy(clusters, t.ruled[of.Name])
	Each(of, func(i int, override *Override) {
		declared := &of.Spec.Overrides[i]
		at := key{declared.AddOn, declared.Dependency}
		invalid := override.Wrong(t.now)
		on := t.touched[of.Name][at]
		if len(on) > 0 {
			addOns[at.addOn] = true
			maps.Copy(clusters, on)
		}
		status.Overrides = append(status.Overrides, dependencyv1alpha1.OverrideStatus{
			AddOn: at.addOn, Dependency: at.dependency, Clusters: number(on), Ended: invalid == "" && override.Ended(t.now),
			Message: text.Cut(cmp.Or(invalid, override.endedMessage(t.now), without(declared, override)), maxMessage),
		})
	})
	status.AddOns, status.Clusters = number(addOns), number(clusters)
	set := func(condition metav1.Condition) {
		condition.ObservedGeneration, condition.LastTransitionTime = of.Generation, metav1.NewTime(t.now)
		condition.Message = text.Cut(condition.Message, maxMessage)
		meta.SetStatusCondition(&status.Conditions, condition)
	}
	set(accepted(Wrong(of, t.now)))
	set(t.conflicting(of.Name))
	return status
}

func number[K comparable](of map[K]bool) int32 { return int32(len(of)) } //nolint:gosec // objects of a hub

func accepted(wrong []string) metav1.Condition {
	if len(wrong) == 0 {
		return metav1.Condition{
			Type: dependencyv1alpha1.PolicyAccepted, Status: metav1.ConditionTrue,
			Reason: dependencyv1alpha1.ReasonAccepted, Message: "All overrides can be used.",
		}
	}
	return metav1.Condition{
		Type: dependencyv1alpha1.PolicyAccepted, Status: metav1.ConditionFalse, Reason: dependencyv1alpha1.ReasonInvalid,
		Message: text.Cut(wrong[0], maxMessage/2) + more(len(wrong)-1) + ". Until it is corrected, verdicts on these dependencies stay as they are.",
	}
}

func more(left int) string {
	if left <= 0 {
		return ""
	}
	return fmt.Sprintf("; and %d more", left)
}

func (t *Tally) conflicting(policy string) metav1.Condition {
	conflicts := t.conflicts[policy]
	if len(conflicts) == 0 {
		return metav1.Condition{
			Type: dependencyv1alpha1.PolicyConflicting, Status: metav1.ConditionFalse,
			Reason: dependencyv1alpha1.ReasonNoConflict, Message: "No other policy contradicts this one.",
		}
	}
	all := slices.SortedFunc(maps.Keys(conflicts), func(a, b conflict) int {
		return cmp.Or(strings.Compare(a.addOn, b.addOn), strings.Compare(a.dependency, b.dependency), strings.Compare(a.field, b.field),
			strings.Compare(a.others, b.others))
	})
	first := all[0]
	return metav1.Condition{
		Type: dependencyv1alpha1.PolicyConflicting, Status: metav1.ConditionTrue, Reason: dependencyv1alpha1.ReasonStricterCounts,
		Message: fmt.Sprintf("%s: %s says something else on %s%s. The stricter counts.", first.subject(),
			text.Cut(first.others, maxMessage/2), clustersText(conflicts[first]), more(len(all)-1)),
	}
}

func (c conflict) subject() string {
	if c.field != "" {
		return c.field
	}
	return fmt.Sprintf("%s → %s", text.Name(c.addOn), text.Name(c.dependency))
}

// clustersText counts managed clusters, and names the first of them.
func clustersText(clusters map[string]bool) string {
	names := slices.Sorted(maps.Keys(clusters))
	shown := names[:min(len(names), maxNamed)]
	listed := strings.Join(shown, ", ")
	if left := len(names) - len(shown); left > 0 {
		listed += fmt.Sprintf(" and %d more", left)
	}
	return fmt.Sprintf("%s (%s)", text.Count(len(names), "cluster"), listed)
}

// Wrong are why parts of a policy cannot be used at a moment; none: all can.
func Wrong(of *dependencyv1alpha1.AddOnDependencyPolicy, now time.Time) (wrong []string) {
	_, unreadable := readSelector(of)
	for _, because := range []string{unreadable, wrongProtection(of), wrongInstall(of)} {
		if because != "" {
			wrong = append(wrong, because)
		}
	}
	Each(of, func(_ int, override *Override) {
		if because := override.Wrong(now); because != "" && !slices.Contains(wrong, because) {
			wrong = append(wrong, because)
		}
	})
	return wrong
}

// Ended are the waivers of a policy that have ended, as messages.
func Ended(of *dependencyv1alpha1.AddOnDependencyPolicy, now time.Time) (ended []string) {
	Each(of, func(i int, override *Override) {
		if message := override.endedMessage(now); message != "" {
			ended = append(ended, fmt.Sprintf("%s: %s", OverridesPath.Index(i), message))
		}
	})
	return ended
}

// Wrong is why the override cannot be used at a moment; empty: it can.
func (o *Override) Wrong(now time.Time) string {
	if o.Invalid == "" && o.TooLong(now) {
		return fmt.Sprintf("%s: %s is more than %d days from now", o.path.Child("waive", "until"), o.Until.Format(time.RFC3339), int(LongestWaiver.Hours()/24))
	}
	return o.Invalid
}

// endedMessage says that the waiver has ended; empty for one that has not, and for no waiver.
func (o *Override) endedMessage(now time.Time) string {
	if !o.Ended(now) {
		return ""
	}
	return "the waiver ended at " + o.Until.Format(time.RFC3339) + ": the dependency counts as declared"
}

// Next is the first moment after now at which an override begins or ceases to count by itself; zero:
// none does.
func (s Set) Next(now time.Time) (next time.Time) {
	for _, overrides := range s.overrides {
		for _, override := range overrides {
			if !override.Waived || override.Invalid != "" {
				continue
			}
			for _, at := range []time.Time{override.Until.Add(-LongestWaiver), override.Until} {
				if at.After(now) && (next.IsZero() || at.Before(next)) {
					next = at
				}
			}
		}
	}
	return next
}
