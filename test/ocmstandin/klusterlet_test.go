package ocmstandin

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestWhatAnotherWorkOwnsStays(t *testing.T) {
	orphaning := &workv1.DeleteOption{
		PropagationPolicy: workv1.DeletePropagationPolicyTypeSelectivelyOrphan,
		SelectivelyOrphan: &workv1.SelectivelyOrphan{OrphaningRules: []workv1.OrphaningRule{{Resource: "namespaces", Name: "shared"}}},
	}
	for _, test := range []struct {
		name                  string
		deleted, other        *workv1.DeleteOption
		stays, staysAfterBoth bool
	}{
		{name: "both own it: it goes with the last one", stays: true},
		{name: "the other one is to orphan it, and so does not own it", other: orphaning},
		{name: "the deleted one is to orphan it", deleted: orphaning, stays: true},
		{name: "nobody owns it", deleted: orphaning, other: orphaning, stays: true, staysAfterBoth: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			k := klusterletWith(t, workWith("deleted", test.deleted), workWith("other", test.other))
			k.look(t)
			k.mark(t)
			k.delete(t, "deleted")
			if stays := k.marked(t); stays != test.stays {
				t.Fatalf("the namespace stays: %t", stays)
			}
			k.delete(t, "other")
			if stays := k.marked(t); stays != test.staysAfterBoth {
				t.Errorf("the namespace stays after the other was deleted too: %t", stays)
			}
		})
	}
}

func workWith(name string, option *workv1.DeleteOption) *workv1.ManifestWork {
	work := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: name}}
	work.Spec.DeleteOption = option
	work.Spec.Workload.Manifests = []workv1.Manifest{{RawExtension: runtime.RawExtension{
		Raw: []byte(`{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shared"}}`),
	}}}
	return work
}

type testedKlusterlet struct{ *Klusterlet }

func klusterletWith(t *testing.T, works ...client.Object) testedKlusterlet {
	t.Helper()
	scheme, err := hubScheme()
	if err != nil {
		t.Fatal(err)
	}
	return testedKlusterlet{&Klusterlet{
		Cluster: "cluster1",
		hub:     fake.NewClientBuilder().WithScheme(scheme).WithObjects(works...).WithStatusSubresource(&workv1.ManifestWork{}).Build(),
		managed: fake.NewClientBuilder().WithScheme(scheme).Build(),
		applied: map[string][]*unstructured.Unstructured{},
	}}
}

func (k testedKlusterlet) look(t *testing.T) {
	t.Helper()
	if err := k.work(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (k testedKlusterlet) delete(t *testing.T, name string) {
	t.Helper()
	if err := k.hub.Delete(t.Context(), workWith(name, nil)); err != nil {
		t.Fatal(err)
	}
	k.look(t)
}

// mark tells the namespace from one that is made again.
func (k testedKlusterlet) mark(t *testing.T) {
	t.Helper()
	shared := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shared"}}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"labels": {"marked": ""}}}`))
	if err := k.managed.Patch(t.Context(), shared, patch); err != nil {
		t.Fatal(err)
	}
}

func (k testedKlusterlet) marked(t *testing.T) bool {
	t.Helper()
	shared := &corev1.Namespace{}
	if err := k.managed.Get(t.Context(), client.ObjectKey{Name: "shared"}, shared); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	_, marked := shared.Labels["marked"]
	return marked
}
