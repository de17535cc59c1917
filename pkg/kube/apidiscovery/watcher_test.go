package apidiscovery

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"

	"open-cluster-management.io/interlock/test/runnable"
)

const patience = time.Minute

type bench struct {
	*Watcher
	server  *apiServer
	cluster *fake.FakeMetadataClient
	changed chan struct{}
}

func newBench(t *testing.T) *bench {
	t.Helper()
	scheme := fake.NewTestScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	b := &bench{server: newAPIServer(t), cluster: fake.NewSimpleMetadataClient(scheme), changed: make(chan struct{}, 1000)}
	b.Watcher = New(b.cluster, API{b.server.client(t), "addon-agent"}, func() { b.changed <- struct{}{} })
	runnable.Start(t, b.Start)
	return b
}

// serveThings makes the server serve the kind Thing in a.io/v1.
func (b *bench) serveThings() {
	b.server.set("/apis/a.io", groupOf("v1"))
	b.server.set("/apis/a.io/v1", resources("Thing"))
}

// expect waits until the watcher has this result for the group.
func (b *bench) expect(t *testing.T, group string, want Group) {
	t.Helper()
	deadline := time.After(patience)
	for {
		got := b.Group(group)
		if cmp.Equal(want, got) {
			return
		}
		select {
		case <-b.changed:
		case <-deadline:
			t.Fatalf("%s (-want +got):\n%s", group, cmp.Diff(want, got))
		}
	}
}

// define creates a CRD.
func (b *bench) define(t *testing.T, name string) {
	t.Helper()
	object := &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: "7"},
	}
	err := b.cluster.Tracker().Create(definitions[1], object, "")
	if err != nil {
		t.Fatal(err)
	}
}

var things = Group{Discovered: true, Kinds: map[string][]string{"Thing": {"v1"}}, Resources: map[string]string{"Thing": "Things"}}

func TestWatchReplacesGroups(t *testing.T) {
	b := newBench(t)
	if len(b.cluster.Actions()) != 0 {
		t.Error("watches without a group")
	}
	b.serveThings()
	b.Watch(map[string]Fields{"a.io": nil})
	b.expect(t, "a.io", things)
	if got := b.Group("b.io"); got.Discovered {
		t.Errorf("knows %+v of a group that is not watched", got)
	}
	b.Watch(map[string]Fields{"a.io": nil, "b.io": nil})
	b.expect(t, "b.io", Group{Discovered: true})
	b.Watch(map[string]Fields{"b.io": nil})
	if got := b.Group("a.io"); got.Discovered {
		t.Errorf("keeps %+v of a group that is no longer watched", got)
	}
	if b.server.count("/apis") > 0 {
		t.Error("read the list of all groups")
	}
	b.Watch(nil)
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.session != nil {
		t.Error("still watches without a group")
	}
}

func TestWatcherDiscoversAfterDefinitionChanges(t *testing.T) {
	b := newBench(t)
	b.Watch(map[string]Fields{"a.io": nil, "b.io": nil})
	b.expect(t, "a.io", Group{Discovered: true})
	b.expect(t, "b.io", Group{Discovered: true})
	// The document may change a moment after the event.
	b.define(t, "things.a.io")
	b.serveThings()
	b.expect(t, "a.io", things)
}

func TestGroupKeepsItsValueWhileTheClusterDoesNotRespond(t *testing.T) {
	b := newBench(t)
	b.serveThings()
	b.Watch(map[string]Fields{"a.io": nil})
	b.expect(t, "a.io", things)
	b.server.set("/apis/a.io", apierrors.NewServiceUnavailable("starting"))
	count := b.server.count("/apis/a.io")
	b.define(t, "things.a.io")
	NewWithT(t).Eventually(b.server.count).WithArguments("/apis/a.io").WithTimeout(patience).Should(BeNumerically(">=", count+2))
	b.expect(t, "a.io", things)
}

func TestMissingRightIsReported(t *testing.T) {
	b := newBench(t)
	resource := schema.GroupResource{Group: "apiregistration.k8s.io", Resource: "apiservices"}
	allowed := make(chan struct{})
	refusal := func() error {
		select {
		case <-allowed:
			return nil
		default:
			return apierrors.NewForbidden(resource, "", nil)
		}
	}
	b.cluster.PrependReactor("list", "apiservices", func(clienttesting.Action) (bool, runtime.Object, error) {
		err := refusal()
		return err != nil, nil, err
	})
	b.cluster.PrependWatchReactor("apiservices", func(clienttesting.Action) (bool, watch.Interface, error) {
		err := refusal()
		return err != nil, nil, err
	})
	b.serveThings()
	b.Watch(map[string]Fields{"a.io": nil})
	b.expect(t, "a.io", Group{Discovered: true, Forbidden: "addon-agent may not list and watch apiservices.apiregistration.k8s.io"})
	close(allowed)
	b.expect(t, "a.io", things)
}

func TestSessionDropsResultOfUnwatchedGroup(t *testing.T) {
	current := newSession(nil, API{}, func() {})
	if changed, delay := current.discovered("a.io", things, nil); changed || delay != 0 || current.group("a.io").Discovered {
		t.Errorf("kept, again after %s", delay)
	}
	current.watch(map[string]Fields{"a.io": nil})
	if changed, delay := current.discovered("a.io", things, nil); !changed || delay == 0 || !current.group("a.io").Discovered {
		t.Errorf("of a watched group: again after %s", delay)
	}
}

func TestSessionEnqueuesGroupsAfterAllDefinitionsAreWatched(t *testing.T) {
	current := newSession(nil, API{}, func() {})
	defer current.queue.ShutDown()
	current.watch(map[string]Fields{"a.io": nil})
	for i, want := range []int{0, 1} {
		current.setDefinitions(definitions[i], true, "")
		if got := current.queue.Len(); got != want {
			t.Errorf("%d groups are enqueued with %d resources watched", got, i+1)
		}
	}
}

func TestSessionReportsRefusedDefinitions(t *testing.T) {
	changes := 0
	current := newSession(nil, API{}, func() { changes++ })
	defer current.queue.ShutDown()
	current.watch(map[string]Fields{"a.io": nil})
	for _, step := range []struct {
		refused string
		changes int
	}{{"no right", 1}, {"no right", 1}, {"", 2}} {
		current.setDefinitions(definitions[0], step.refused == "", step.refused)
		if got := current.group("a.io").Forbidden; got != step.refused || changes != step.changes {
			t.Errorf("%q after %d changes, want %q after %d", got, changes, step.refused, step.changes)
		}
	}
}
