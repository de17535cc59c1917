package planned

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/dependency/plan/steps"
	"open-cluster-management.io/interlock/pkg/text"
)

// Role is the ClusterRole with the rights of these verbs.
const Role = "interlock-plugin-installer"

const lacksRight = "you lack the right to do that: ask for the ClusterRole " + Role

// Refused reports whether an error is a refusal of the hub. Other errors mean that the hub did not respond properly.
func Refused(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && !apierrors.IsUnauthorized(err) && !apierrors.IsTooManyRequests(err) &&
		status.Status().Code >= 400 && status.Status().Code < 500
}

// LacksRight reports whether an error means that the user lacks a right. Admission returns forbidden, too, so it requests a review of the
// access. Without a response, the error counts as a refusal of admission, whose message explains it.
func (o *Options) LacksRight(ctx context.Context, key types.NamespacedName, err error) bool {
	if !apierrors.IsForbidden(err) {
		return false
	}
	for _, verb := range o.Verbs {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: key.Namespace, Name: key.Name, Verb: verb, Group: addonv1alpha1.GroupVersion.Group, Resource: "managedclusteraddons",
			},
		}}
		if err := o.Hub.Create(ctx, review); err == nil && !review.Status.Allowed {
			return true
		}
	}
	return false
}

// maxTried is the maximal number of writes that are tried. The hub accepts about 50 a second.
const maxTried = 300

// Try tries the writes of a plan, and adds the refusals of the hub to the plan. Of a large plan, it tries some writes of each add-on.
func (o *Options) Try(
	ctx context.Context, plan *steps.Plan, writes steps.Layer, call func(context.Context, types.NamespacedName) error,
) error {
	if len(writes) == 0 {
		return nil
	}
	limit, untried := max(1, maxTried/len(writes)), sets.New[string]()
	trials := slices.Clone(writes)
	for i := range trials {
		count := min(limit, len(trials[i].Clusters))
		untried.Insert(trials[i].Clusters[count:]...)
		trials[i].Clusters = trials[i].Clusters[:count]
	}
	if len(untried) > 0 {
		plan.Findings = append(plan.Findings, steps.Finding{
			Text: "whether the hub refuses anything was not tried, because the plan is large", Clusters: sets.List(untried),
		})
	}
	return o.addRefusals(ctx, plan, each(ctx, trials, call))
}

// addRefusals adds the refusals of trials to a plan. If the user only wants the plan, a missing right is no problem.
func (o *Options) addRefusals(ctx context.Context, plan *steps.Plan, failed map[types.NamespacedName]error) error {
	sentences := map[string][]string{}
	for _, key := range sorted(failed) {
		sentence := lacksRight
		switch err := failed[key]; {
		case o.LacksRight(ctx, key, err):
		case Refused(err):
			sentence = fmt.Sprintf("the hub refuses '%s': %s", text.Name(key.Name), text.OneLine(err.Error()))
		default:
			return source.HubError(fmt.Errorf("try ManagedClusterAddOn %s: %w", key, err), o.host)
		}
		if !slices.Contains(sentences[sentence], key.Namespace) {
			sentences[sentence] = append(sentences[sentence], key.Namespace)
		}
	}
	for _, sentence := range slices.Sorted(maps.Keys(sentences)) {
		finding := steps.Finding{Text: sentence, Clusters: sentences[sentence]}
		if sentence == lacksRight && o.Only {
			plan.Findings = append(plan.Findings, finding)
		} else {
			plan.Problems = append(plan.Problems, finding)
		}
	}
	return nil
}

// failed returns the error for add-ons of a layer that could not be created or deleted. participle is such as "created", and next says how to continue.
func (o *Options) failed(ctx context.Context, layer, participle, next string, failed map[types.NamespacedName]error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: interrupted; %s", layer, next)
	}
	key := sorted(failed)[0]
	err := fmt.Errorf("%s: %s could not be %s, and no later layer was; %s: %s: %w",
		layer, text.Count(len(failed), "add-on"), participle, next, key, failed[key])
	if Refused(failed[key]) {
		return err
	}
	return source.HubError(err, o.host)
}

// sorted returns the add-ons, ordered by managed cluster and name.
func sorted(failed map[types.NamespacedName]error) []types.NamespacedName {
	return slices.SortedFunc(maps.Keys(failed), func(a, b types.NamespacedName) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
}
