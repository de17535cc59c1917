package versioncmd

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"open-cluster-management.io/interlock/pkg/cli/components"
	"open-cluster-management.io/interlock/pkg/report"
)

func deployment(name, image string) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "interlock-system", Name: name},
		Spec:       appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Image: image}}}}},
	}
}

// TestComponentsOfHub tests a hub with addon-manager and the console, without a webhook, and with a kind that the user may not read.
func TestComponentsOfHub(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := appsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	hub := fake.NewClientBuilder().WithScheme(scheme).
		WithObjects(deployment("interlock-addon-manager", "registry.example.com:5000/interlock-addon-manager:v0.2.0@sha256:00"),
			deployment("interlock-console", "registry.example.com:5000/interlock-addon-manager:v0.1.0")).
		WithInterceptorFuncs(interceptor.Funcs{
			Get: func(ctx context.Context, reader client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
				if object.GetObjectKind().GroupVersionKind().Kind == "CustomResourceDefinition" {
					return apierrors.NewForbidden(schema.GroupResource{Resource: "customresourcedefinitions"}, key.Name, errors.New("no right"))
				}
				return reader.Get(ctx, key, object, options...)
			},
		}).Build()
	got := read(t.Context(), components.Hub{Reader: hub, Namespace: "interlock-system"})
	want := []report.Component{
		{
			Name: "Open Cluster Management", Status: report.ComponentUnknown, Message: "customresourcedefinitions " +
				`"managedclusters.cluster.open-cluster-management.io" is forbidden: no right`,
		},
		{Name: "interlock-addon-manager", Status: report.ComponentInstalled, Version: "0.2.0"},
		{Name: "interlock-webhook", Status: report.ComponentNotInstalled},
		{Name: "interlock-console", Status: report.ComponentInstalled, Version: "0.1.0"},
		{Name: "addon-agent, as OCM deploys it", Status: report.ComponentNotInstalled},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestVersionsForPeople(t *testing.T) {
	var out bytes.Buffer
	o := &options{IOStreams: genericiooptions.IOStreams{Out: &out}}
	versions := report.NewComponentVersions(report.ClientVersion{Version: "v0.1.0"})
	versions.Hub = &report.HubVersions{Address: "https://hub", Components: []report.Component{
		{Name: "a", Status: report.ComponentInstalled, Version: "1"},
		{Name: "b", Status: report.ComponentInstalled},
		{Name: "c", Status: report.ComponentNotInstalled},
		{Name: "d", Status: report.ComponentUnknown, Message: "it is\nforbidden"},
	}}
	if err := o.print(versions); err != nil {
		t.Fatal(err)
	}
	want := `Client Version: v0.1.0
Hub: https://hub
  a: 1
  b: installed, in a version that is not known
  c: not installed
  d: not known: it is forbidden
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
