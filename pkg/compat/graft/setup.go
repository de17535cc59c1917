package graft

import (
	"cmp"
	"context"
	"errors"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	"open-cluster-management.io/interlock/pkg/compat/endpoint"
	"open-cluster-management.io/interlock/pkg/kube/backoff"
	"open-cluster-management.io/interlock/pkg/kube/objectwatch"
)

var (
	crdResource           = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")
	configurationResource = admissionregistrationv1.SchemeGroupVersion.WithResource("validatingwebhookconfigurations")
)

// SetupWithManager registers the controller, which runs in the leader only.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	var err error
	if r.schemas, err = loadSchemas(); err != nil {
		return err
	}
	r.prepare()
	return objectwatch.SetupWithManager(mgr, "crd-graft", CRDName, r, func(ctx context.Context, objects *objectwatch.Watches) error {
		if !r.Settings.Enabled && !r.Settings.Keep {
			return nil
		}
		err := objects.Watch(ctx, crdResource, types.NamespacedName{Name: CRDName}, 0)
		return errors.Join(err, objects.Watch(ctx, configurationResource, types.NamespacedName{Name: endpoint.ConfigurationName}, 0))
	})
}

// prepare sets the state that all reconciles share.
func (r *Reconciler) prepare() {
	r.Settings.Interval = cmp.Or(r.Settings.Interval, defaultInterval)
	r.prober = prober{address: r.Settings.WebhookAddress}
	r.mark = mark{lease: r.Lease}
	// The API server ends all watches of a CRD's objects when the CRD changes.
	r.overwrites = backoff.Delay{Limits: &backoff.Limits{First: time.Second, Last: 10 * time.Minute, Forget: 30 * time.Minute}}
	r.attempts = backoff.Delay{Limits: &backoff.Limits{First: time.Minute, Last: time.Hour, Forget: 3 * time.Hour}}
	// A graft of an earlier process gets the whole grace period.
	r.history.confirmed = true
}
