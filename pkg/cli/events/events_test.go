package events

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
	"open-cluster-management.io/interlock/pkg/cli/follow"
	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/pkg/cli/table"
	"open-cluster-management.io/interlock/pkg/cli/terminal"
	about "open-cluster-management.io/interlock/pkg/events"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/test/fixture"
	"open-cluster-management.io/interlock/test/picture"
)

var update = flag.Bool("update", false, "write what the verb prints")

// golden is shown on docs/kubectl-addon.md.
const golden = "../testdata/events_cluster-gateway_-n_cluster1.txt"

// listing is a fake hub: it cannot list by watching.
type listing struct{ client.WithWatch }

// IsWatchListSemanticsUnSupported is what client-go checks.
func (listing) IsWatchListSemanticsUnSupported() bool { return true }

// after is a moment some seconds after the outage of managed-serviceaccount.
func after(seconds int) time.Time { return fixture.Earlier.Add(time.Duration(seconds) * time.Second) }

func event(kind, namespace, name, reason, note string, at time.Time) *eventsv1.Event {
	made := &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name + "." + strings.ToLower(reason)},
		EventTime:  metav1.NewMicroTime(at), Type: corev1.EventTypeWarning, Reason: reason, Note: note,
		Regarding: corev1.ObjectReference{Kind: kind, Namespace: namespace, Name: name},
	}
	if kind == about.ClusterManagementAddOn {
		made.Regarding.Namespace = ""
	}
	return made
}

func addOn(name string, conditions ...metav1.Condition) *addonv1alpha1.ManagedClusterAddOn {
	made := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: name}}
	made.Status.Conditions = conditions
	return made
}

func condition(kind string, status metav1.ConditionStatus, reason, message string, at time.Time) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(at)}
}

// hub is one on which managed-serviceaccount was killed, and cluster-gateway failed.
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
	repeated := event(about.ManagedClusterAddOn, "cluster1", "managed-serviceaccount", "LeaseRenewedInFuture", skewed, after(-600))
	repeated.Series = &eventsv1.EventSeries{Count: 3, LastObservedTime: metav1.NewMicroTime(after(-60))}
	objects := []client.Object{
		addOn("managed-serviceaccount", condition("Available", "False",
			"ManagedClusterAddOnLeaseUpdateStopped", "managed-serviceaccount add-on is not available.", after(0))),
		addOn("cluster-gateway",
			condition("Available", "False", failed, message, after(1)), condition("Degraded", "True", failed, message, after(1))),
		addOn("cluster-proxy", condition("Available", "True",
			"ManagedClusterAddOnLeaseUpdated", "cluster-proxy add-on is available.", after(-86400))),
		addOn("unrelated", condition("Available", "False", "Broken", "", after(5))),
		repeated,
		event(about.ManagedClusterAddOn, "cluster1", "cluster-gateway", failed, message, after(2)), // repeats the condition
		event(about.ManagedClusterAddOn, "cluster1", "unrelated", "Broken", "it is none of the dependencies", after(5)),
		event(about.ManagedClusterAddOn, "cluster1", "cluster-gateway", "DegradedContested", contested, after(30)),
		event(about.ClusterManagementAddOn, "default", "cluster-proxy",
			"DeclarationRestored", "The fields were restored from the record.", after(-7200)),
	}
	restored, _ := objects[len(objects)-1].(*eventsv1.Event)
	restored.Type = corev1.EventTypeNormal
	registered := fixture.Registrations(
		"cluster-gateway: managed-serviceaccount cluster-proxy?, managed-serviceaccount:, cluster-proxy:, unrelated:")
	for i := range registered {
		objects = append(objects, &registered[i])
	}
	builder := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(funcs)
	builder.WithIndex(&clusterv1.ManagedCluster{}, metav1.ObjectNameField, func(object client.Object) []string {
		return []string{object.GetName()}
	})
	builder.WithIndex(&eventsv1.Event{}, "regarding.kind", func(object client.Object) []string {
		event, _ := object.(*eventsv1.Event)
		return []string{event.Regarding.Kind}
	})
	return listing{builder.Build()}
}

// out is written and read at the same time.
type out struct {
	mutex  sync.Mutex
	buffer bytes.Buffer
}

func (o *out) Write(content []byte) (int, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.buffer.Write(content)
}

func (o *out) String() string {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.buffer.String()
}

func newOptions() (*options, *out) {
	printed := &out{}
	streams, _, _, errOut := genericiooptions.NewTestIOStreams()
	streams.Out, streams.ErrOut = printed, errOut
	return &options{
		IOStreams: streams, flags: output.NewFlags(), table: table.New(printed, heading), shown: map[report.TimelineItem]bool{},
		filter: report.Filter{Cluster: "cluster1", AddOn: "cluster-gateway"},
	}, printed
}

func TestTimeline(t *testing.T) {
	o, printed := newOptions()
	from := hub(t, interceptor.Funcs{})
	taken, err := snapshot.Take(t.Context(), from, "cluster1")
	if err != nil {
		t.Fatal(err)
	}
	happened, err := read(t.Context(), from, lists("cluster1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := o.print(taken, happened); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(golden, []byte(printed.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), printed.String()); diff != "" {
		t.Errorf("%s (-want +got), go test ./pkg/cli/events -update accepts it:\n%s", golden, diff)
	}
}

// The picture is shown on docs/kubectl-addon.md.
func TestTimelineFitsTheScreen(t *testing.T) {
	from := hub(t, interceptor.Funcs{})
	taken, err := snapshot.Take(t.Context(), from, "cluster1")
	if err != nil {
		t.Fatal(err)
	}
	happened, err := read(t.Context(), from, lists("cluster1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{80, 200} {
		o, _ := newOptions()
		screen := &picture.Screen{On: terminal.Screen{Width: width}}
		o.Out, o.table = screen, table.New(screen, heading)
		o.table.Spare = o.spare()
		if err := o.print(taken, happened); err != nil {
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

func TestWatchPrintsWhatIsNew(t *testing.T) {
	o, printed := newOptions()
	o.types, o.watch = []string{corev1.EventTypeWarning}, true
	from := hub(t, interceptor.Funcs{})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	ended := make(chan error, 1)
	first, err := snapshot.Take(ctx, from, "cluster1")
	if err != nil {
		t.Fatal(err)
	}
	go func() { ended <- o.follow(ctx, from, append(follow.What("cluster1", first), lists("cluster1")...)) }()
	eventually(t, printed, "growing intervals.\n")
	before := printed.String()
	later := event(about.ManagedClusterAddOn, "cluster1", "cluster-proxy", "AvailableContested", "later", after(60))
	if err := from.Create(ctx, later); err != nil {
		t.Fatal(err)
	}
	eventually(t, printed, "later\n")
	added := strings.TrimPrefix(printed.String(), before)
	const columns = "2026-08-01T10:01:00Z   cluster1   cluster-proxy            Warning   "
	if want := columns + "AvailableContested                      later\n"; added != want {
		t.Errorf("it added\n%s, not\n%s", added, want)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func eventually(t *testing.T, printed *out, want string) {
	t.Helper()
	for deadline := time.After(15 * time.Second); !strings.Contains(printed.String(), want); {
		select {
		case <-deadline:
			t.Fatalf("no %s in\n%s", want, printed.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func TestEventsThatMayNotBeListed(t *testing.T) {
	from := hub(t, interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
		return apierrors.NewForbidden(schema.GroupResource{Group: "events.k8s.io", Resource: "events"}, "", errors.New("may not list"))
	}})
	if _, err := read(t.Context(), from, lists("")); !apierrors.IsForbidden(err) {
		t.Errorf("%v is not recognized", err)
	}
}
