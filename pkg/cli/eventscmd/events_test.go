package eventscmd

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/cli/table"
	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/follow"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	kinds "open-cluster-management.io/interlock/pkg/kube/events"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/test/fixture"
	"open-cluster-management.io/interlock/test/picture"
)

var update = flag.Bool("update", false, "write what the verb prints")

// golden is a file that docs/kubectl-addon.md shows.
const golden = "../testdata/events_cluster-gateway_-n_cluster1.txt"

// listingHub is a fake hub that cannot list by watching.
type listingHub struct{ client.WithWatch }

// IsWatchListSemanticsUnSupported makes client-go list before it watches.
func (listingHub) IsWatchListSemanticsUnSupported() bool { return true }

// afterOutage returns a time some seconds after the outage of managed-serviceaccount.
func afterOutage(seconds int) time.Time {
	return fixture.Earlier.Add(time.Duration(seconds) * time.Second)
}

func event(kind, namespace, name, reason, note string, eventTime time.Time) *eventsv1.Event {
	event := &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name + "." + strings.ToLower(reason)},
		EventTime:  metav1.NewMicroTime(eventTime), Type: corev1.EventTypeWarning, Reason: reason, Note: note,
		Regarding: corev1.ObjectReference{Kind: kind, Namespace: namespace, Name: name},
	}
	if kind == kinds.ClusterManagementAddOn {
		event.Regarding.Namespace = ""
	}
	return event
}

func addOn(name string, conditions ...metav1.Condition) *addonv1alpha1.ManagedClusterAddOn {
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: name}}
	addOn.Status.Conditions = conditions
	return addOn
}

func condition(kind string, status metav1.ConditionStatus, reason, message string, transition time.Time) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(transition)}
}

// hub returns a hub on which managed-serviceaccount was killed, and cluster-gateway failed.
func hub(t *testing.T, funcs interceptor.Funcs) client.WithWatch {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(fleet.AddToScheme(scheme), eventsv1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	const (
		failed  = addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied
		message = "Required addon 'managed-serviceaccount' is not installed or not available. " +
			"(Available=False, ManagedClusterAddOnLeaseUpdateStopped, since 2026-08-01T10:00:00Z)"
		skewed    = "The add-on's lease was renewed 7m0s in the future: the add-on's clock or addon-agent's is wrong."
		contested = "Another writer keeps overwriting the condition Degraded; metadata.managedFields names it. " +
			"It is written again at growing intervals."
	)
	repeated := event(kinds.ManagedClusterAddOn, "cluster1", "managed-serviceaccount", "LeaseRenewedInFuture", skewed, afterOutage(-600))
	repeated.Series = &eventsv1.EventSeries{Count: 3, LastObservedTime: metav1.NewMicroTime(afterOutage(-60))}
	objects := []client.Object{
		addOn("managed-serviceaccount", condition("Available", "False",
			"ManagedClusterAddOnLeaseUpdateStopped", "managed-serviceaccount add-on is not available.", afterOutage(0))),
		addOn("cluster-gateway",
			condition("Available", "False", failed, message, afterOutage(1)), condition("Degraded", "True", failed, message, afterOutage(1))),
		addOn("cluster-proxy", condition("Available", "True",
			"ManagedClusterAddOnLeaseUpdated", "cluster-proxy add-on is available.", afterOutage(-86400))),
		addOn("unrelated", condition("Available", "False", "Broken", "", afterOutage(5))),
		repeated,
		event(kinds.ManagedClusterAddOn, "cluster1", "cluster-gateway", failed, message, afterOutage(2)), // repeats the condition
		event(kinds.ManagedClusterAddOn, "cluster1", "unrelated", "Broken", "it is none of the dependencies", afterOutage(5)),
		event(kinds.ManagedClusterAddOn, "cluster1", "cluster-gateway", "DegradedContested", contested, afterOutage(30)),
		event(kinds.ClusterManagementAddOn, "default", "cluster-proxy",
			"DeclarationRestored", "The fields were restored from the record.", afterOutage(-7200)),
	}
	restored, _ := objects[len(objects)-1].(*eventsv1.Event)
	restored.Type = corev1.EventTypeNormal
	registrations := fixture.Registrations(
		"cluster-gateway: managed-serviceaccount cluster-proxy?, managed-serviceaccount:, cluster-proxy:, unrelated:")
	for i := range registrations {
		objects = append(objects, &registrations[i])
	}
	builder := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(funcs)
	builder.WithIndex(&clusterv1.ManagedCluster{}, metav1.ObjectNameField, func(object client.Object) []string {
		return []string{object.GetName()}
	})
	builder.WithIndex(&eventsv1.Event{}, "regarding.kind", func(object client.Object) []string {
		event, _ := object.(*eventsv1.Event)
		return []string{event.Regarding.Kind}
	})
	return listingHub{builder.Build()}
}

// syncedOutput is an output that a test reads while it is written.
type syncedOutput struct {
	mutex  sync.Mutex
	buffer bytes.Buffer
}

func (o *syncedOutput) Write(content []byte) (int, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.buffer.Write(content)
}

func (o *syncedOutput) String() string {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.buffer.String()
}

func newOptions() (*options, *syncedOutput) {
	out := &syncedOutput{}
	streams, _, _, errOut := genericiooptions.NewTestIOStreams()
	streams.Out, streams.ErrOut = out, errOut
	return &options{
		source:    &source.Source{},
		IOStreams: streams, flags: output.NewFlags(), table: table.New(out, heading), printed: map[report.TimelineItem]bool{},
		filter: report.Filter{Cluster: "cluster1", AddOn: "cluster-gateway"},
	}, out
}

func TestTimeline(t *testing.T) {
	o, out := newOptions()
	fakeHub := hub(t, interceptor.Funcs{})
	state, err := snapshot.Take(t.Context(), fakeHub, "cluster1")
	if err != nil {
		t.Fatal(err)
	}
	events, err := read(t.Context(), fakeHub, lists("cluster1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := o.print(state, events); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(golden, []byte(out.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Errorf("%s (-want +got), go test ./pkg/cli/eventscmd -update accepts it:\n%s", golden, diff)
	}
}

// The picture is shown on docs/kubectl-addon.md.
func TestTimelineFitsTheScreen(t *testing.T) {
	fakeHub := hub(t, interceptor.Funcs{})
	state, err := snapshot.Take(t.Context(), fakeHub, "cluster1")
	if err != nil {
		t.Fatal(err)
	}
	events, err := read(t.Context(), fakeHub, lists("cluster1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{80, 200} {
		o, _ := newOptions()
		screen := &picture.Screen{Terminal: terminal.Screen{Width: width}}
		o.Out, o.table = screen, table.New(screen, heading)
		o.table.Spare = o.spareColumns()
		if err := o.print(state, events); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(screen.String()) {
			if utf8.RuneCountInString(strings.TrimSpace(line)) > width {
				t.Errorf("on %d columns: %s", width, line)
			}
		}
		picture.Compare(t, fmt.Sprintf("../testdata/screens/events_cluster-gateway_-n_cluster1_%d.txt", width), screen.String())
		picture.Compare(t, fmt.Sprintf("../../../docs/terminal/events-%d.svg", width),
			picture.SVG("kubectl addon events cluster-gateway -n cluster1", screen.String(), width))
	}
}

func TestWatchPrintsNewItems(t *testing.T) {
	o, out := newOptions()
	o.types, o.watch = []string{corev1.EventTypeWarning}, true
	fakeHub := hub(t, interceptor.Funcs{})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	ended := make(chan error, 1)
	first, err := snapshot.Take(ctx, fakeHub, "cluster1")
	if err != nil {
		t.Fatal(err)
	}
	go func() { ended <- o.follow(ctx, fakeHub, append(follow.Lists("cluster1", first), lists("cluster1")...)) }()
	eventually(t, out, "growing intervals.\n")
	firstOutput := out.String()
	laterEvent := event(kinds.ManagedClusterAddOn, "cluster1", "cluster-proxy", "AvailableContested", "later", afterOutage(60))
	if err := fakeHub.Create(ctx, laterEvent); err != nil {
		t.Fatal(err)
	}
	eventually(t, out, "later\n")
	added := strings.TrimPrefix(out.String(), firstOutput)
	const columns = "2026-08-01T10:01:00Z   cluster1   cluster-proxy            Warning   "
	if want := columns + "AvailableContested                      later\n"; added != want {
		t.Errorf("it added\n%s, not\n%s", added, want)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func eventually(t *testing.T, out *syncedOutput, want string) {
	t.Helper()
	for deadline := time.After(15 * time.Second); !strings.Contains(out.String(), want); {
		select {
		case <-deadline:
			t.Fatalf("no %s in\n%s", want, out.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func TestForbiddenLists(t *testing.T) {
	fakeHub := hub(t, interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
		return apierrors.NewForbidden(schema.GroupResource{Group: "events.k8s.io", Resource: "events"}, "", errors.New("may not list"))
	}})
	if _, err := read(t.Context(), fakeHub, lists("")); !apierrors.IsForbidden(err) {
		t.Errorf("%v is not recognized", err)
	}
}
