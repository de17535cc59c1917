package report

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation/cause"
	"open-cluster-management.io/interlock/pkg/dependency/graph"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/kube/events"
)

// duplicateWindow is the time after a transition in which an event with the same reason reports the same change. Events are emitted a
// second later, and clocks differ.
const duplicateWindow = 10 * time.Second

// Timeline has the events and transitions of add-ons, in order of time.
type Timeline struct {
	metav1.TypeMeta `json:",inline"`
	// Taken is when the hub was read.
	Taken time.Time      `json:"taken"`
	Items []TimelineItem `json:"items"`
}

// TimelineItem is an event, or the last transition of a condition.
type TimelineItem struct {
	// Time is the time at which it was observed last.
	Time time.Time `json:"time"`
	// Cluster is empty for an event on a registration.
	Cluster string `json:"cluster,omitempty"`
	AddOn   string `json:"addOn"`
	// Source is Event, Available or Degraded.
	Source string `json:"source"`
	// Type is Normal or Warning.
	Type    string `json:"type"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Count is the number of times that an event was observed. It is 0 if that is not known.
	Count int32 `json:"count,omitempty"`
	// RootCause is whether other add-ons of the timeline do not work because of this add-on.
	RootCause bool `json:"rootCause,omitempty"`
}

// FindTimeline merges events with the conditions of add-ons. If the filter has an add-on, the timeline has this add-on and all of its
// direct and indirect dependencies. itemTypes are the types of its items. Without them, it has items of all types.
func FindTimeline(hub *snapshot.Snapshot, eventList []eventsv1.Event, filter Filter, itemTypes ...string) *Timeline {
	f := &timeline{
		hub: hub, filter: filter, types: itemTypes, causes: map[types.NamespacedName]bool{},
		changes: map[types.NamespacedName][]change{}, messages: map[parts]string{},
	}
	for i := range eventList {
		f.changes[subject(&eventList[i])] = nil
	}
	if filter.AddOn != "" {
		f.concerned = concerned(hub, filter.AddOn)
	}
	for _, cluster := range hub.Names() {
		if cmp.Or(filter.Cluster, cluster) == cluster {
			f.addCluster(cluster)
		}
	}
	for i := range eventList {
		f.addEvent(&eventList[i])
	}
	result := &Timeline{TypeMeta: metav1.TypeMeta{APIVersion: APIVersion, Kind: "Timeline"}, Taken: hub.Taken, Items: f.items}
	if result.Items == nil {
		result.Items = []TimelineItem{}
	}
	for i := range result.Items {
		item := &result.Items[i]
		item.RootCause = item.Type == corev1.EventTypeWarning && f.causes[types.NamespacedName{Namespace: item.Cluster, Name: item.AddOn}]
	}
	slices.SortFunc(result.Items, func(a, b TimelineItem) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.AddOn, b.AddOn),
			-cmp.Compare(a.Source, b.Source), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Message, b.Message))
	})
	return result
}

// concerned returns an add-on and all of its direct and indirect dependencies.
func concerned(hub *snapshot.Snapshot, addOn string) map[string]bool {
	edges := map[string][]string{}
	for _, dependent := range hub.Declared.AddOns() {
		for _, need := range hub.Declared.Needs(dependent) {
			edges[dependent] = append(edges[dependent], need.Name)
		}
	}
	names := map[string]bool{addOn: true}
	for _, name := range graph.New(edges).Reachable(addOn) {
		names[name] = true
	}
	return names
}

// timeline collects the items of a Timeline.
type timeline struct {
	hub    *snapshot.Snapshot
	filter Filter
	// concerned are the add-ons of the timeline. It is nil if all are.
	concerned map[string]bool
	// types are the types of items. It is empty if all types count.
	types  []string
	causes map[types.NamespacedName]bool
	items  []TimelineItem
	// changes are the transitions of objects that have events.
	changes map[types.NamespacedName][]change
	// messages caches the messages of conditions, because most are the same on all clusters.
	messages map[parts]string
}

// change is the last transition of a condition.
type change struct {
	reason string
	time   time.Time
}

// parts are the parts of the message of an item.
type parts struct {
	kind   string
	status metav1.ConditionStatus
	text   string
}

// wants reports whether items of a type count.
func (t *timeline) wants(itemType string) bool {
	return len(t.types) == 0 || slices.Contains(t.types, itemType)
}

// subject returns the key of the object that an event regards: an add-on on a managed cluster, or a registration.
func subject(event *eventsv1.Event) types.NamespacedName {
	return types.NamespacedName{Namespace: event.Regarding.Namespace, Name: event.Regarding.Name}
}

// addCluster adds the conditions and the root causes of a cluster.
func (t *timeline) addCluster(cluster string) {
	findings := t.hub.Evaluated(cluster)
	for _, addOn := range t.hub.Installed(cluster) {
		if t.concerned != nil && !t.concerned[addOn.Name] {
			continue
		}
		t.addConditions(addOn)
		if cmp.Or(t.filter.AddOn, addOn.Name) != addOn.Name {
			continue
		}
		for _, path := range cause.Paths(addOn.Name, findings) {
			t.causes[types.NamespacedName{Namespace: cluster, Name: path.Root().Cause().AddOn}] = true
		}
	}
}

func (t *timeline) addConditions(addOn *addonv1alpha1.ManagedClusterAddOn) {
	degraded, available := fleet.Degraded(addOn), fleet.Available(addOn)
	if degraded != nil {
		t.addCondition(addOn, degraded, degraded.Status == metav1.ConditionTrue, degraded.Message)
	}
	if available == nil {
		return
	}
	cause := available.Message
	if degraded != nil && available.Reason == degraded.Reason && available.Message == degraded.Message {
		cause = becauseOfDegraded
	}
	t.addCondition(addOn, available, available.Status != metav1.ConditionTrue, cause)
}

// becauseOfDegraded replaces a message of Available that Degraded has too.
const becauseOfDegraded = "\x00"

// addCondition adds the last transition of a condition.
func (t *timeline) addCondition(addOn *addonv1alpha1.ManagedClusterAddOn, condition *metav1.Condition, isBad bool, text string) {
	if condition.LastTransitionTime.IsZero() {
		return
	}
	key, changedAt := types.NamespacedName{Namespace: addOn.Namespace, Name: addOn.Name}, condition.LastTransitionTime.UTC()
	if changes, hasEvents := t.changes[key]; hasEvents {
		t.changes[key] = append(changes, change{condition.Reason, changedAt})
	}
	itemType := corev1.EventTypeNormal
	if isBad {
		itemType = corev1.EventTypeWarning
	}
	if t.wants(itemType) {
		t.items = append(t.items, TimelineItem{
			Time: changedAt, Cluster: addOn.Namespace, AddOn: addOn.Name, Source: condition.Type,
			Type: itemType, Reason: condition.Reason, Message: t.message(parts{condition.Type, condition.Status, text}),
		})
	}
}

func (t *timeline) message(message parts) string {
	written, ok := t.messages[message]
	if !ok {
		written = message.kind + "=" + string(message.status)
		switch message.text {
		case "":
		case becauseOfDegraded:
			written += ", because of Degraded"
		default:
			written += ": " + message.text
		}
		t.messages[message] = written
	}
	return written
}

// addEvent adds an event on a registration or an add-on, unless a condition shows the same change.
func (t *timeline) addEvent(event *eventsv1.Event) {
	object := event.Regarding
	isAddOn := object.Kind == events.ManagedClusterAddOn && object.Namespace == cmp.Or(t.filter.Cluster, object.Namespace)
	if !isAddOn && object.Kind != events.ClusterManagementAddOn || t.concerned != nil && !t.concerned[object.Name] || !t.wants(event.Type) {
		return
	}
	item := TimelineItem{
		Cluster: object.Namespace, AddOn: object.Name, Source: "Event", Type: event.Type, Reason: event.Reason, Message: event.Note,
	}
	item.Time, item.Count = lastSeen(event)
	isShown := func(transition change) bool {
		delay := item.Time.Sub(transition.time)
		return transition.reason == item.Reason && delay > -time.Second && delay < duplicateWindow
	}
	if !slices.ContainsFunc(t.changes[subject(event)], isShown) {
		t.items = append(t.items, item)
	}
}

// lastSeen returns the time at which an event was observed last, and the number of observations. The number is 0 if it is not known.
func lastSeen(event *eventsv1.Event) (time.Time, int32) {
	switch {
	case event.Series != nil:
		return event.Series.LastObservedTime.UTC(), event.Series.Count
	case !event.DeprecatedLastTimestamp.IsZero():
		return event.DeprecatedLastTimestamp.UTC(), event.DeprecatedCount
	case !event.EventTime.IsZero():
		return event.EventTime.UTC(), 0
	default:
		return event.CreationTimestamp.UTC(), 0
	}
}
