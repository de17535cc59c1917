package facts

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"open-cluster-management.io/interlock/pkg/announce"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/factsinformer"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
)

// EventNotServed is the reason of the event on a ClusterManagementAddOn that
// says that its dependencies on APIs and running versions cannot be answered.
const EventNotServed = "ManagedClusterFactsNotServed"

// notServedNote says what is missing, in events and in verdicts.
const notServedNote = "the hub does not serve the CRD " + dependencyv1alpha1.CRDName + ": install it, and let addon-manager use it"

// tellAnswers wakes the add-ons of a cluster that asked what is answered
// differently now.
func (r *Reconciler) tellAnswers(
	ctx context.Context, cluster string, catalog *evaluation.Evaluator, addOns []types.NamespacedName, current told,
) error {
	r.mutex.Lock()
	before := r.told[cluster]
	r.mutex.Unlock()
	if before == current {
		return nil
	}
	was, is := answersOf(before.object), answersOf(current.object)
	var concerned []types.NamespacedName
	for _, addOn := range addOns {
		questions := catalog.Requests(addOn.Name)
		if !questions.Empty() && (before.state != current.state || before.ended != current.ended || differ(was, is, questions)) {
			concerned = append(concerned, addOn)
		}
	}
	if len(concerned) > 0 {
		if err := r.Wake(ctx, concerned); err != nil {
			return err
		}
		log.FromContext(ctx).V(1).Info("A cluster has answered", "cluster", cluster, "concerned", names(concerned))
	}
	r.keepTold(cluster, current)
	return nil
}

func (r *Reconciler) keepTold(cluster string, current told) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.told == nil {
		r.told = map[string]told{}
	}
	if current.object == nil && current.state == factsinformer.Served {
		delete(r.told, cluster) // as if it had never been asked
		return
	}
	r.told[cluster] = current
}

// standing is how far the questions to a cluster are answered.
func standing(current told, all questions) metrics.Standing {
	object := current.object
	switch {
	case all.Empty():
		return metrics.StandingNone
	case current.state == factsinformer.Absent:
		return metrics.StandingNotServed
	case object != nil && object.Status.ObservedGeneration == object.Generation && current.ended == "":
		return metrics.StandingAnswered
	default:
		return metrics.StandingWaiting
	}
}

// tellAbsent tells the authors of add-ons that nobody can be asked, once as
// long as that lasts.
func (r *Reconciler) tellAbsent(ctx context.Context, catalog *evaluation.Evaluator, addOns []types.NamespacedName) error {
	var news []string
	r.mutex.Lock()
	for _, addOn := range addOns {
		if !r.announced[addOn.Name] && !catalog.Requests(addOn.Name).Empty() {
			news = append(news, addOn.Name)
		}
	}
	r.mutex.Unlock()
	if len(news) == 0 {
		return nil
	}
	registered, err := r.Fleet.AddOns(ctx)
	if err != nil {
		return err
	}
	for i := range registered {
		if name := registered[i].Name; slices.Contains(news, name) && r.announce(name) {
			r.Recorder.Eventf(announce.About(announce.ClusterManagementAddOn, &registered[i]), nil, corev1.EventTypeWarning,
				EventNotServed, "AskManagedClusters", "%s",
				"Dependencies on APIs and on the versions that run cannot be answered: "+notServedNote)
		}
	}
	return nil
}

// announce reports whether an add-on's author is to be told, which is so once.
func (r *Reconciler) announce(addOn string) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.announced[addOn] {
		return false
	}
	if r.announced == nil {
		r.announced = map[string]bool{}
	}
	r.announced[addOn] = true
	return true
}

// served forgets whom was told that nobody can be asked.
func (r *Reconciler) served() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	clear(r.announced)
}
