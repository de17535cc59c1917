package source

import (
	"context"
	"slices"

	authorizationv1 "k8s.io/api/authorization/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

// addToScheme registers the kinds that verdicts depend on, and further kinds that single verbs read.
func addToScheme(scheme *runtime.Scheme) error {
	builder := runtime.NewSchemeBuilder(fleet.AddToScheme, clusterv1beta1.Install, clusterv1beta2.Install, workv1.Install, eventsv1.AddToScheme,
		authorizationv1.AddToScheme)
	return builder.AddToScheme(scheme)
}

// Templates reads the AddOnTemplates, if any of these add-ons can be deployed from them.
func (s *Source) Templates(
	ctx context.Context, registrations ...addonv1alpha1.ClusterManagementAddOn,
) ([]addonv1alpha1.AddOnTemplate, error) {
	usesTemplates := func(addOn addonv1alpha1.ClusterManagementAddOn) bool { return declaration.UsesTemplates(&addOn) }
	if !slices.ContainsFunc(registrations, usesTemplates) {
		return nil, nil
	}
	if s.file != "" {
		fleet, err := s.read()
		if err != nil {
			return nil, err
		}
		return fleet.Templates, nil
	}
	hub, host, err := s.Connect()
	if err != nil {
		return nil, err
	}
	templates, err := snapshot.Templates(ctx, hub)
	return templates, HubError(err, host)
}

// Reader returns a client of the hub whose errors have advice. It reads objects that no snapshot
// has, and whole AddOnTemplates.
func (s *Source) Reader() (client.Reader, error) {
	hub, host, err := s.connect(timeout, fleet.SkipUnreadRegistrations)
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

// WholeReader is Reader for clients that also read whole ClusterManagementAddOns.
func (s *Source) WholeReader() (client.Reader, error) {
	hub, host, err := s.connect(timeout, func(config *rest.Config) *rest.Config { return config })
	if err != nil {
		return nil, err
	}
	return reader{hub, host}, nil
}
