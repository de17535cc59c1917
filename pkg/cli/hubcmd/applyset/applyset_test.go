package applyset

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func newSet(objects ...client.Object) *Set {
	return setWith(interceptor.Funcs{}, objects...)
}

func setWith(funcs interceptor.Funcs, objects ...client.Object) *Set {
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{corev1.SchemeGroupVersion, rbacv1.SchemeGroupVersion})
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Secret"), meta.RESTScopeNamespace)
	mapper.Add(rbacv1.SchemeGroupVersion.WithKind("ClusterRole"), meta.RESTScopeRoot)
	hub := fake.NewClientBuilder().WithRESTMapper(mapper).WithObjects(objects...).WithInterceptorFuncs(funcs).Build()
	return &Set{Client: hub, Parent: types.NamespacedName{Namespace: "n", Name: "parent"}}
}

func object(t *testing.T, typed client.Object, kind schema.GroupVersionKind) *unstructured.Unstructured {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		t.Fatal(err)
	}
	o := &unstructured.Unstructured{Object: content}
	unstructured.RemoveNestedField(o.Object, "metadata", "creationTimestamp")
	o.SetGroupVersionKind(kind)
	return o
}

func configMap(t *testing.T, name string, labels, annotations map[string]string) *unstructured.Unstructured {
	t.Helper()
	typed := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name, Labels: labels, Annotations: annotations}, Data: map[string]string{"a": "b"},
	}
	return object(t, typed, corev1.SchemeGroupVersion.WithKind("ConfigMap"))
}

func clusterRole(t *testing.T, name string) *unstructured.Unstructured {
	t.Helper()
	return object(t, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}}, rbacv1.SchemeGroupVersion.WithKind("ClusterRole"))
}

// printf parent.n.Secret. | openssl dgst -sha256 -binary | base64 | tr +/ -_
func TestIDIsThatOfTheSpecification(t *testing.T) {
	if got, want := newSet().ID(), "applyset-b_35vGP_xoaG4tgZR4ENYliy5o-bCjNXqh-UN-yYUJ8-v1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestParentIsReadAsItWasWritten(t *testing.T) {
	set := newSet()
	kinds := []schema.GroupKind{{Kind: "ConfigMap"}, {Group: "apps", Kind: "Deployment"}}
	if parent, err := set.Read(t.Context()); parent != nil || err != nil {
		t.Fatalf("%v, %v", parent, err)
	}
	if err := set.Write(t.Context(), kinds, map[string][]byte{"state": []byte("Applying")}); err != nil {
		t.Fatal(err)
	}
	parent, err := set.Read(t.Context())
	if err != nil || string(parent.Data["state"]) != "Applying" || !slices.Equal(Kinds(parent), kinds) {
		t.Errorf("%v, %v", parent, err)
	}
}

func TestForeignParentIsRefused(t *testing.T) {
	theirs := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: "n", Name: "parent", Annotations: map[string]string{toolAnnotation: "kubectl/v1.35"},
	}}
	if _, err := newSet(theirs).Read(t.Context()); err == nil || !strings.Contains(err.Error(), `"kubectl/v1.35"`) {
		t.Errorf("%v", err)
	}
}

// The API server of the suite hubinstall tests that a dry run stores nothing; the client of this test ignores it.
func TestTry(t *testing.T) {
	helms := map[string]string{"meta.helm.sh/release-name": "r", "meta.helm.sh/release-namespace": "s"}
	desired := []*unstructured.Unstructured{
		configMap(t, "mine", nil, nil), configMap(t, "changed", nil, nil), configMap(t, "theirs", nil, nil), configMap(t, "helms", nil, nil),
		configMap(t, "new", nil, nil),
	}
	for _, test := range []struct {
		take    bool
		steps   []Step
		foreign []string
	}{
		{
			false,
			[]Step{{Keep, "ConfigMap n/mine"}, {Change, "ConfigMap n/changed"}, {Create, "ConfigMap n/new"}},
			[]string{"ConfigMap n/theirs", "ConfigMap n/helms"},
		},
		{
			true,
			[]Step{{Keep, "ConfigMap n/mine"}, {Change, "ConfigMap n/changed"}, {Change, "ConfigMap n/theirs"}, {Create, "ConfigMap n/new"}},
			[]string{"ConfigMap n/helms"},
		},
	} {
		set := newSet()
		mine := set.member(configMap(t, "mine", nil, nil))
		changed := set.member(configMap(t, "changed", nil, nil))
		unstructured.RemoveNestedField(changed.Object, "data")
		set = newSet(mine, changed, configMap(t, "theirs", nil, nil), configMap(t, "helms", nil, helms))
		plan, err := set.Try(t.Context(), desired, true, test.take)
		if err != nil {
			t.Fatal(err)
		}
		var foreign []string
		for _, problem := range plan.Problems {
			if problem.Cause != Foreign {
				t.Errorf("take %t: %+v", test.take, problem)
			}
			foreign = append(foreign, problem.Object)
		}
		if !slices.Equal(plan.Steps, test.steps) || !slices.Equal(foreign, test.foreign) {
			t.Errorf("take %t: %+v", test.take, plan)
		}
	}
}

func TestTryReportsRefusals(t *testing.T) {
	resource := schema.GroupResource{Resource: "configmaps"}
	for cause, refusal := range map[Cause]error{
		Forbidden: apierrors.NewForbidden(resource, "a", errors.New("no right")),
		Refused:   apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "a", nil),
		Unknown:   apierrors.NewNotFound(resource, "a"),
		"":        apierrors.NewInternalError(errors.New("etcd is away")),
	} {
		set := setWith(interceptor.Funcs{
			Apply: func(context.Context, client.WithWatch, runtime.ApplyConfiguration, ...client.ApplyOption) error {
				return refusal
			},
		})
		plan, err := set.Try(t.Context(), []*unstructured.Unstructured{configMap(t, "a", nil, nil)}, true, false)
		switch {
		case cause == "" && err == nil:
			t.Errorf("%v is no error", refusal)
		case cause != "" && (err != nil || len(plan.Problems) != 1 || plan.Problems[0].Cause != cause):
			t.Errorf("%v: %+v, %v", refusal, plan, err)
		}
	}
}

// What a dry run cannot try is left for other checks.
func TestUntried(t *testing.T) {
	kind := schema.GroupVersionKind{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingAdmissionPolicyBinding"}
	binding := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"policyName": "new"}}}
	binding.SetGroupVersionKind(kind)
	binding.SetName("bound")
	plan := &Plan{Steps: []Step{{Create, "ValidatingAdmissionPolicy new"}}}
	if !plan.bindsNewPolicy(binding) || (&Plan{}).bindsNewPolicy(binding) || plan.bindsNewPolicy(clusterRole(t, "new")) {
		t.Error("a binding is untried if its policy is new, and nothing else")
	}
	plan, err := newSet().Try(t.Context(), []*unstructured.Unstructured{configMap(t, "a", nil, nil), clusterRole(t, "b")}, false, false)
	if err != nil || len(plan.Untried) != 1 || plan.Count(Create) != 2 {
		t.Errorf("%+v, %v", plan, err)
	}
}

func TestObsolete(t *testing.T) {
	set := newSet()
	var objects []client.Object
	for _, o := range []*unstructured.Unstructured{
		configMap(t, "current", nil, nil), configMap(t, "old", nil, nil), configMap(t, "kept", nil, map[string]string{keepAnnotation: "keep"}),
		clusterRole(t, "role"),
	} {
		objects = append(objects, set.member(o))
	}
	set = newSet(append(objects, configMap(t, "theirs", nil, nil))...)
	kinds := []schema.GroupKind{{Kind: "ConfigMap"}, {Group: rbacv1.GroupName, Kind: "ClusterRole"}, {Group: "no.such", Kind: "Kind"}}
	members, err := set.Members(t.Context(), kinds)
	if err != nil || len(members) != 4 {
		t.Fatalf("%v, %v", members, err)
	}
	if members[0].Kind != "ClusterRole" {
		t.Errorf("Helm deletes roles first, and not %s", members[0])
	}
	obsolete, kept := Obsolete(members, []*unstructured.Unstructured{configMap(t, "current", nil, nil), clusterRole(t, "role")})
	if len(obsolete) != 1 || obsolete[0].Name != "old" || !slices.Equal(kept, kinds[:1]) {
		t.Errorf("obsolete %v, kept %v", obsolete, kept)
	}
	if err := set.Delete(t.Context(), obsolete[0]); err != nil {
		t.Fatal(err)
	}
	if left, err := set.Members(t.Context(), kinds); err != nil || len(left) != 3 {
		t.Errorf("%v, %v", left, err)
	}
}

func TestOwnerOf(t *testing.T) {
	written := configMap(t, "a", nil, nil)
	written.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "first"}, {Manager: "last"}})
	helms := map[string]string{"meta.helm.sh/release-name": "r", "meta.helm.sh/release-namespace": "s"}
	for want, o := range map[string]*unstructured.Unstructured{
		"the Helm release r in s":           configMap(t, "a", nil, helms),
		"the ApplySet other":                configMap(t, "a", map[string]string{partOfLabel: "other"}, nil),
		"the field manager last":            written,
		"the field manager of another tool": configMap(t, "a", nil, nil),
	} {
		if got := OwnerOf(o).String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
