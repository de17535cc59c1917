package source

import (
	"context"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ocmaddonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// addToScheme registers the kinds that verdicts depend on, and those that single verbs read.
func addToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(addonv1alpha1.GroupVersion, &ocmaddonv1alpha1.AddOnTemplate{}, &ocmaddonv1alpha1.AddOnTemplateList{})
	builder := runtime.NewSchemeBuilder(fleet.AddToScheme, clusterv1beta1.Install, clusterv1beta2.Install, workv1.Install, eventsv1.AddToScheme)
	return builder.AddToScheme(scheme)
}

// Reader returns a client of the hub whose errors say what to do, for objects that no snapshot
// has.
func (s *Source) Reader() (client.Reader, error) {
	hub, host, err := s.Connect()
	if err != nil {
		return nil, err
	}
	return reader{hub, host}, nil
}

type reader struct {
	client.Reader
	host string
}

// List implements client.Reader.
func (r reader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return HubError(r.Reader.List(ctx, list, options...), r.host)
}
