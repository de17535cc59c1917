package snapshot

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/kube/apidiscovery"
	"open-cluster-management.io/interlock/test/fixture"
)

// discovering is a hub whose APIs can be discovered at an address.
type discovering struct {
	client.Reader
	address string
}

func (d discovering) Discovery() (apidiscovery.API, error) {
	documents, err := discovery.NewDiscoveryClientForConfig(&rest.Config{Host: d.address})
	return apidiscovery.API{REST: documents.RESTClient(), Client: "the test"}, err
}

// reader returns a fake hub with x on cluster1, whose agent runs on hub-east, and with further objects.
func reader(t *testing.T, spec string, objects ...client.Object) client.Reader {
	t.Helper()
	registered := fixture.Specified(t, "x", spec)
	x := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{
		Namespace: "cluster1", Name: "x", Annotations: map[string]string{ocmv1alpha1.HostingClusterNameAnnotationKey: "hub-east"},
	}}
	scheme := runtime.NewScheme()
	if err := fleet.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(append(objects, &registered, x)...).
		WithIndex(&clusterv1.ManagedCluster{}, metav1.ObjectNameField, func(object client.Object) []string {
			return []string{object.GetName()}
		}).Build()
}

func joined(name string) *clusterv1.ManagedCluster {
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
	cluster.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue}}
	return cluster
}

func verdictOf(t *testing.T, snapshot *Snapshot) (evaluation.Verdict, string) {
	t.Helper()
	findings := snapshot.Evaluated("cluster1")("x")
	if len(findings) != 1 {
		t.Fatalf("x has %v", findings)
	}
	if findings[0].Unsatisfied() {
		return findings[0].Verdict, findings[0].Reason()
	}
	return findings[0].Verdict, findings[0].HeldBecause()
}

// reread writes the snapshot to a file and reads the file.
func reread(t *testing.T, snapshot *Snapshot) *Snapshot {
	t.Helper()
	var text strings.Builder
	if err := snapshot.Write(&text); err != nil {
		t.Fatal(err)
	}
	read, err := Read("-", strings.NewReader(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func TestTakeReadsAPIsOfHub(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/apis/g.io":
			_, _ = w.Write([]byte(`{"kind":"APIGroup","apiVersion":"v1","name":"g.io","versions":[{"groupVersion":"g.io/v1","version":"v1"}]}`))
		case "/apis/g.io/v1":
			_, _ = w.Write([]byte(`{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"g.io/v1",` +
				`"resources":[{"name":"things","kind":"Thing"}]}`))
		case "/apis/broken.io":
			http.Error(w, "password=secret", http.StatusInternalServerError)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	for name, test := range map[string]struct {
		reason, api string
		hub         func(client.Reader) client.Reader
		want        evaluation.Verdict
		because     string
	}{
		"Served":    {"discovery has it", "group: g.io, kind: Thing", nil, evaluation.Satisfied, ""},
		"OtherKind": {"its group has others", "group: g.io, kind: Other", nil, evaluation.APINotServed, "not served"},
		"NoGroup":   {"nothing defines it", "group: none.io, kind: Thing", nil, evaluation.APINotServed, "not served"},
		"Broken": {
			"the hub could not respond", "group: broken.io, kind: Thing", nil, evaluation.Held,
			"whether the hub serves the API Thing.broken.io is not known: ",
		},
		"NoDiscovery": {
			"the client has none", "group: g.io, kind: Thing", func(r client.Reader) client.Reader { return r.(discovering).Reader },
			evaluation.Held, "whether the hub serves the API Thing.g.io is not known yet",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var hub client.Reader = discovering{reader(t, "dependencies: [{name: a, api: {servedBy: Hub, "+test.api+"}}]"), server.URL}
			if test.hub != nil {
				hub = test.hub(hub)
			}
			original, err := Take(t.Context(), hub, "")
			if err != nil {
				t.Fatal(err)
			}
			for _, snapshot := range []*Snapshot{original, reread(t, original)} {
				verdict, because := verdictOf(t, snapshot)
				if verdict != test.want || !strings.HasPrefix(because, test.because) || strings.Contains(because, "secret") && snapshot != original {
					t.Errorf("%s: got %s, %q, want %s, %q", test.reason, verdict, because, test.want, test.because)
				}
			}
		})
	}
}

func TestTakeReadsHostingClusters(t *testing.T) {
	const spec = "dependencies: [{name: a, api: {kind: Thing, servedBy: HostingCluster}}]"
	facts := &dependencyv1alpha1.ManagedClusterFacts{ObjectMeta: metav1.ObjectMeta{Namespace: "hub-east", Name: "hub-east"}}
	facts.Spec.APIs = []dependencyv1alpha1.APIRequest{{API: dependencyv1alpha1.API{Kind: "Thing"}}}
	facts.Status.APIs = []dependencyv1alpha1.APIFact{{API: dependencyv1alpha1.API{Kind: "Thing"}, Served: metav1.ConditionTrue}}
	for name, test := range map[string]struct {
		reason string
		hub    []client.Object
		want   evaluation.Verdict
	}{
		"Served":   {"its agent reports so", []client.Object{joined("cluster1"), joined("hub-east"), facts}, evaluation.Satisfied},
		"Missing":  {"no such cluster", []client.Object{joined("cluster1"), facts}, evaluation.APINotServed},
		"Awaiting": {"it was not requested yet", []client.Object{joined("cluster1"), joined("hub-east")}, evaluation.Held},
	} {
		t.Run(name, func(t *testing.T) {
			for _, cluster := range []string{"", "cluster1"} {
				original, err := Take(t.Context(), reader(t, spec, test.hub...), cluster)
				if err != nil {
					t.Fatal(err)
				}
				if cluster != "" && len(original.Names()) != 1 {
					t.Errorf("a snapshot of one cluster has %v", original.Names())
				}
				for _, snapshot := range []*Snapshot{original, reread(t, original)} {
					if verdict, because := verdictOf(t, snapshot); verdict != test.want {
						t.Errorf("%s: of cluster %q: got %s (%s), want %s", test.reason, cluster, verdict, because, test.want)
					}
				}
			}
		})
	}
}

// TestTakeAcceptsAnyHostingCluster tests annotations with texts that are no names of clusters, and no paths of an API.
func TestTakeAcceptsAnyHostingCluster(t *testing.T) {
	for _, name := range []string{"../../apis", "a,b", "Ü", " ", strings.Repeat("a", 300)} {
		hub := reader(t, "dependencies: [{name: a, api: {kind: Thing, servedBy: HostingCluster}}]", joined("cluster1"))
		writer := hub.(client.Client)
		x := &addonv1alpha1.ManagedClusterAddOn{}
		if err := writer.Get(t.Context(), client.ObjectKey{Namespace: "cluster1", Name: "x"}, x); err != nil {
			t.Fatal(err)
		}
		x.Annotations[ocmv1alpha1.HostingClusterNameAnnotationKey] = name
		if err := writer.Update(t.Context(), x); err != nil {
			t.Fatal(err)
		}
		snapshot, err := Take(t.Context(), hub, "cluster1")
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		long := len(name) > fleet.MaxAnnotation
		if verdict, because := verdictOf(t, snapshot); (verdict == evaluation.APINotServed) == long {
			t.Errorf("%q: %s: %s", name, verdict, because)
		}
	}
}
