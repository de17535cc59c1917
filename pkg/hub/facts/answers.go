package facts

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/factsinformer"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/fleet"
)

// Answers is what evaluation knows of the answers of all clusters.
type Answers struct {
	Clock        clock.PassiveClock
	Fleet        fleet.Reader
	Declarations *declarations.Store
	Informer     Informer
	Signs        SignsOfLife

	mutex sync.Mutex
	// waiting is since when a cluster is to be asked something that its object
	// does not ask yet.
	waiting map[string]time.Time
}

// Facts returns what the agent of a cluster has answered to what the add-ons
// there ask.
func (a *Answers) Facts(cluster string) evaluation.Facts {
	catalog := a.Declarations.Current()
	// The cache answers from memory; it fails only before it has synced, and
	// then there is nobody to evaluate.
	ctx := context.Background()
	addOns, err := a.Fleet.OnCluster(ctx, cluster)
	object := a.Informer.Get(keyOf(cluster))
	sign, signErr := a.Signs.of(ctx, cluster, object)
	if catalog == nil || err != nil || signErr != nil {
		return evaluation.Facts{Asked: a.waitingSince(cluster)}
	}
	found := a.facts(cluster, object, sign, askable(catalog.Requests(names(addOns)...)))
	found.HeldUntil = sign.heldUntil
	return found
}

// facts returns what is answered to these questions.
func (a *Answers) facts(cluster string, object *facts, sign signOfLife, asking questions) evaluation.Facts {
	if asking.Empty() {
		return evaluation.Facts{}
	}
	if a.Informer.State() == factsinformer.Absent {
		a.asked(cluster)
		return unknown(asking, notServedNote)
	}
	if sign.ended != "" {
		a.asked(cluster)
		return unknown(asking, sign.ended)
	}
	found := factsOf(answersOf(object), asking)
	if object != nil {
		leftOut(object.Spec, asking, found)
	}
	switch {
	case answered(found, asking):
		a.asked(cluster)
	case object != nil && asks(object.Spec, asking):
		a.asked(cluster)
		found.Asked = askedAt(object)
	default:
		found.Asked = a.waitingSince(cluster)
	}
	return found
}

// factsOf picks the answers to these questions.
func factsOf(known answers, asking questions) evaluation.Facts {
	found := evaluation.Facts{
		APIs:     make(map[dependencyAPI]evaluation.APIFact, len(asking.APIs)),
		Versions: make(map[string]evaluation.VersionFact, len(asking.AddOns)),
	}
	for _, api := range asking.APIs {
		if fact := known.apis[apiOf(api)]; fact != nil {
			found.APIs[api] = evaluation.APIFact{Served: fact.Served, Versions: fact.Versions, Message: fact.Message}
		}
	}
	for _, addOn := range asking.AddOns {
		if fact := known.addOns[addOn]; fact != nil {
			found.Versions[addOn] = evaluation.VersionFact{
				Version: fact.Version, Former: fact.FormerAnnotation, Message: fact.Message,
			}
		}
	}
	return found
}

// unknown are facts of which nothing is known, with the reason.
func unknown(asking questions, why string) evaluation.Facts {
	found := evaluation.Facts{
		APIs:     make(map[dependencyAPI]evaluation.APIFact, len(asking.APIs)),
		Versions: make(map[string]evaluation.VersionFact, len(asking.AddOns)),
	}
	for _, api := range asking.APIs {
		found.APIs[api] = evaluation.APIFact{Served: metav1.ConditionUnknown, Message: why}
	}
	for _, addOn := range asking.AddOns {
		found.Versions[addOn] = evaluation.VersionFact{Message: why}
	}
	return found
}

// leftOut answers the questions that an object has no room for.
func leftOut(spec asked, asking questions, found evaluation.Facts) {
	const why = "a managed cluster is asked about at most %d %s"
	if len(spec.APIs) == dependencyv1alpha1.MaxQuestions {
		for _, api := range asking.APIs {
			if !slices.Contains(spec.APIs, apiOf(api)) {
				message := fmt.Sprintf(why, dependencyv1alpha1.MaxQuestions, "APIs")
				found.APIs[api] = evaluation.APIFact{Served: metav1.ConditionUnknown, Message: message}
			}
		}
	}
	if len(spec.AddOns) == dependencyv1alpha1.MaxQuestions {
		for _, addOn := range asking.AddOns {
			if !slices.Contains(spec.AddOns, dependencyv1alpha1.AddOn{Name: addOn}) {
				found.Versions[addOn] = evaluation.VersionFact{Message: fmt.Sprintf(why, dependencyv1alpha1.MaxQuestions, "add-ons")}
			}
		}
	}
}

func answered(found evaluation.Facts, asking questions) bool {
	return len(found.APIs) == len(asking.APIs) && len(found.Versions) == len(asking.AddOns)
}

// asks reports whether the object has all of the questions.
func asks(spec asked, asking questions) bool {
	for _, api := range asking.APIs {
		if !slices.Contains(spec.APIs, apiOf(api)) {
			return false
		}
	}
	for _, addOn := range asking.AddOns {
		if !slices.Contains(spec.AddOns, dependencyv1alpha1.AddOn{Name: addOn}) {
			return false
		}
	}
	return true
}

// askedAt is when the questions of an object were last changed by addon-manager.
func askedAt(object *facts) time.Time {
	at := object.CreationTimestamp.Time
	for _, entry := range object.ManagedFields {
		if entry.Manager == FieldManager && entry.Time != nil && entry.Time.After(at) {
			at = entry.Time.Time
		}
	}
	return at
}

func (a *Answers) waitingSince(cluster string) time.Time {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	since, waits := a.waiting[cluster]
	if !waits {
		since = a.Clock.Now()
		if a.waiting == nil {
			a.waiting = map[string]time.Time{}
		}
		a.waiting[cluster] = since
	}
	return since
}

// Forget drops what is remembered of a cluster of which nothing is asked.
func (a *Answers) Forget(cluster string) {
	a.asked(cluster)
	a.Signs.Silent.Forget(cluster)
}

// asked forgets that a cluster is still to be asked.
func (a *Answers) asked(cluster string) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	delete(a.waiting, cluster)
}

// lean keeps of an object what is needed, and of who manages its fields when
// addon-manager last asked.
func lean(full *facts) *facts {
	object := &facts{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: full.Namespace, Name: full.Name, UID: full.UID, ResourceVersion: full.ResourceVersion,
			Generation: full.Generation, CreationTimestamp: full.CreationTimestamp,
		},
		Spec: full.Spec, Status: full.Status,
	}
	for _, entry := range full.ManagedFields {
		if entry.Manager == FieldManager && entry.Subresource == "" {
			object.ManagedFields = append(object.ManagedFields, metav1.ManagedFieldsEntry{Manager: entry.Manager, Time: entry.Time})
		}
	}
	return object
}
