package admission

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestARangeOnAnAddOnWithoutAVersionIsWarnedOf(t *testing.T) {
	const (
		ranged  = `,"spec":{"dependencies":[{"name":"tunnel","version":">= 0.6.0"}]}`
		plain   = `,"spec":{"dependencies":[{"name":"tunnel"}]}`
		unknown = `,"spec":{"dependencies":[{"name":"other","version":">= 0.6.0"}]}`
		warning = `no version of "tunnel" is set on its ClusterManagementAddOn or an AddOnTemplate, so a dependency on version ">= 0.6.0" ` +
			"fails where neither the lease of its agent nor its ManagedClusterAddOn reports one; to set it: kubectl annotate " +
			"clustermanagementaddon tunnel dependency.addon.open-cluster-management.io/version=VERSION"
	)
	annotated := bytes.Replace(written("v1alpha1", `,"spec":{}`), []byte(`"metadata":{`), []byte(`"metadata":{"annotations":{`+
		`"addon.open-cluster-management.io/dependencies":"[{name: tunnel, version: '>= 0.6.0'}]"},`), 1)
	tunnel := fixture.Registration("tunnel")
	templated := fixture.Deployed(fixture.Registration("tunnel"))
	versioned := fixture.Versioned(fixture.Registration("tunnel"), "0.9.0")
	template := fixture.Template("tunnel", "tunnel-0.9.0", "")
	template.Labels = map[string]string{addonv1alpha1.TemplateVersionLabel: "0.9.0"}
	for name, test := range map[string]struct {
		old, updated []byte
		cached       []client.Object
		templates    error // why AddOnTemplates cannot be listed
		want         []string
	}{
		"Declared": {
			updated: written("v1alpha1", ranged), cached: []client.Object{&tunnel}, want: []string{"spec.dependencies[0]: " + warning},
		},
		"DeclaredByV1": {
			updated: written("v1beta1", ranged), cached: []client.Object{&tunnel}, want: []string{"spec.dependencies[0]: " + warning},
		},
		"ByAnnotation": {updated: annotated, cached: []client.Object{&tunnel}, want: []string{annotationEntry + warning}},
		"Added": {
			old: written("v1alpha1", plain), updated: written("v1alpha1", ranged),
			cached: []client.Object{&tunnel},
			want:   []string{"spec.dependencies[0]: " + warning},
		},
		"ThereBefore":   {old: written("v1alpha1", ranged), updated: written("v1alpha1", ranged), cached: []client.Object{&tunnel}},
		"NoRange":       {updated: written("v1alpha1", plain), cached: []client.Object{&tunnel}},
		"NotRegistered": {updated: written("v1alpha1", unknown), cached: []client.Object{&tunnel}},
		"Versioned":     {updated: written("v1alpha1", ranged), cached: []client.Object{&versioned}},
		"ByItsTemplate": {updated: written("v1alpha1", ranged), cached: []client.Object{&templated, &template}},
		"NoTemplatesHere": {
			updated: written("v1alpha1", ranged),
			cached:  []client.Object{&templated}, templates: &meta.NoKindMatchError{},
			want: []string{"spec.dependencies[0]: " + warning},
		},
		"TemplatesUnread": {updated: written("v1alpha1", ranged), cached: []client.Object{&templated}, templates: errors.New("not synced")},
		"NoAddOnUsesTemplates": {
			updated: written("v1alpha1", ranged), cached: []client.Object{&tunnel}, templates: errors.New("not served"),
			want: []string{"spec.dependencies[0]: " + warning},
		},
	} {
		t.Run(name, func(t *testing.T) {
			scheme := runtime.NewScheme()
			if err := addonv1alpha1.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			cache := fake.NewClientBuilder().WithScheme(scheme).WithObjects(test.cached...).WithInterceptorFuncs(interceptor.Funcs{
				List: func(ctx context.Context, reader client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
					if _, ok := list.(*addonv1alpha1.AddOnTemplateList); ok && test.templates != nil {
						return test.templates
					}
					return reader.List(ctx, list, options...)
				},
			}).Build()
			request := admissionv1.AdmissionRequest{Name: "gateway", Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: test.updated}}
			if test.old != nil {
				request.Operation, request.OldObject.Raw = admissionv1.Update, test.old
			}
			response := NewValidator(hub(t, nil), cache).Handle(t.Context(), admission.Request{AdmissionRequest: request})
			got := slices.DeleteFunc(response.Warnings, func(warning string) bool {
				return !bytes.Contains([]byte(warning),
					[]byte("no version of"))
			})
			if !response.Allowed || !slices.Equal(got, test.want) {
				t.Errorf("allowed %t, warnings %q", response.Allowed, response.Warnings)
			}
		})
	}
}

const annotationEntry = "metadata.annotations[addon.open-cluster-management.io/dependencies]: "
