package lazywatch

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata/fake"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

const patience = 10 * time.Second

func template(name, version string) *metav1.PartialObjectMetadata {
	object := &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: addonv1alpha1.GroupVersion.String(), Kind: "AddOnTemplate"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
	}
	if version != "" {
		object.Annotations = map[string]string{addonv1alpha1.AddOnVersionAnnotation: version}
	}
	return object
}

func TestLeanKeepsNameAndVersion(t *testing.T) {
	full := template("v1", "")
	full.UID, full.ResourceVersion = "uid", "7"
	full.Labels = map[string]string{addonv1alpha1.TemplateVersionLabel: "1.0.0", "large": "thing"}
	full.Annotations = map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "large"}
	full.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	want := template("v1", "1.0.0")
	want.UID, want.ResourceVersion = "uid", "7"
	once, err := templates.lean(full)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, once); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	if twice, _ := templates.lean(once); !cmp.Equal(want, twice) {
		t.Errorf("a second time changes it to %v", twice)
	}
}

func TestReader(t *testing.T) {
	g := NewWithT(t)
	ctx, cancel := context.WithCancel(t.Context())
	scheme := fake.NewTestScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	labeled := template("v2", "")
	labeled.Labels = map[string]string{addonv1alpha1.TemplateVersionLabel: "2.0.0"}
	objects := fake.NewSimpleMetadataClient(scheme, template("v1", "1.0.0"), labeled, template("none", ""))
	client := objects.Resource(templates.resource).(fake.MetadataClient)
	synced, changed, ended := make(chan bool, 1), make(chan string, 10), make(chan error, 1)
	reader := templates.newVersions(objects,
		func(context.Context) error { synced <- true; return nil },
		func(_ context.Context, template string) error { changed <- template; return nil })
	go func() { ended <- reader.Start(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })

	if reader.Ready() {
		t.Error("ready before anything was read")
	}
	reader.Enable()
	g.Eventually(synced).WithTimeout(patience).Should(Receive())
	for name, want := range map[string]string{"v1": "1.0.0", "v2": "2.0.0", "none": "", "missing": ""} {
		if got := reader.Version(name); got != want {
			t.Errorf("version of %s: %q, want %q", name, got, want)
		}
	}
	// The fake client forgets what it is given before its watch has begun.
	g.Eventually(func() (verbs []string) {
		for _, action := range objects.Actions() {
			verbs = append(verbs, action.GetVerb())
		}
		return verbs
	}).WithTimeout(patience).Should(ContainElement("watch"))

	write := func(object *metav1.PartialObjectMetadata) {
		t.Helper()
		if _, err := client.UpdateFake(object, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	same := template("v1", "1.0.0")
	same.Annotations["other"] = "annotation"
	write(same)
	write(template("none", "3.0.0"))
	var first string
	g.Eventually(changed).WithTimeout(patience).Should(Receive(&first))
	g.Expect(first).To(Equal("none"), "and not v1, whose version is the same")
	g.Expect(reader.Version("none")).To(Equal("3.0.0"))
	if err := client.Delete(ctx, "v1", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	g.Eventually(changed).WithTimeout(patience).Should(Receive(Equal("v1")))
	g.Expect(reader.Version("v1")).To(BeEmpty())
}
