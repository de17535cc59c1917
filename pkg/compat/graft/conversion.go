package graft

import (
	"context"
	"errors"
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/compat/crdgraft"
)

const (
	// firstUse is the grace period of a conversion that the API server has never used.
	firstUse = 30 * time.Second
	// retryInterval is the interval between checks of a failing conversion, unless
	// Settings.Interval is shorter.
	retryInterval = 2 * time.Second
)

func (r *Reconciler) retryInterval() time.Duration { return min(retryInterval, r.Settings.Interval) }

// errUnused is the error of a webhook that responds to addon-manager, but not to the API server.
var errUnused = errors.New("the API server cannot use the conversion")

// history has the writes and observations of this process.
type history struct {
	// written is the conversion of the last graft. It is nil before the first
	// write, and after a write that gave the CRD back.
	written map[string]any
	// failingSince is the time of the first observed failure of the conversion. It is zero while conversion
	// is served.
	failingSince time.Time
	// confirmed is true if the API server has used the conversion since it was written.
	confirmed bool
	// lastProbe is the time of the last successful probe, and probed its stanza.
	lastProbe time.Time
	probed    map[string]any
	// caChanged is the time since when the CA differs from the CA in the CRD.
	caChanged time.Time
}

// decideConverted decides to graft if the webhook converts correctly, and to give the CRD
// back after the webhook has failed for too long.
func (r *Reconciler) decideConverted(ctx context.Context, crd *unstructured.Unstructured, survey crdgraft.Survey) decision {
	stanza, err := r.servedStanza(ctx, crd, survey)
	if err != nil {
		return r.conversionFails(ctx, crd, err)
	}
	decided := r.graft(crd, survey, stanza)
	decided.requeueAfter = r.Settings.Interval
	if decided.desired == nil {
		return decided
	}
	if !equal(crd.Object, decided.desired) {
		if wait := r.attempts.Wait(r.Clock.Now()); wait > 0 && !crdgraft.Grafted(crd.Object) {
			return decision{reason: ReasonNotServed, requeueAfter: wait, message: fmt.Sprintf(
				"%s, although the webhook responds to addon-manager. The next attempt is in %s", errUnused, wait.Round(time.Second))}
		}
		return decided
	}
	if err := r.checkUse(ctx, survey); err != nil {
		return r.conversionFails(ctx, crd, err)
	}
	r.history.failingSince, r.history.confirmed = time.Time{}, true
	return decided
}

// conversionFails decides to keep a graft for the grace period, and then to give the CRD back.
// The period starts when this process first observes the failure. A new leader,
// or a leader that could not read the hub, has no earlier observations.
func (r *Reconciler) conversionFails(ctx context.Context, crd *unstructured.Unstructured, cause error) decision {
	if !crdgraft.Grafted(crd.Object) {
		return decision{
			reason:       ReasonNotServed,
			message:      "Not grafted until conversion is served: " + cause.Error(),
			requeueAfter: r.retryInterval(),
		}
	}
	now, grace := r.Clock.Now(), r.Settings.Grace
	if !r.history.confirmed {
		grace = min(grace, firstUse)
	}
	if r.history.failingSince.IsZero() {
		r.history.failingSince = now
	}
	if remaining := r.history.failingSince.Add(grace).Sub(now); remaining > 0 {
		return decision{reason: ReasonNotServed, requeueAfter: min(remaining, r.retryInterval()), message: fmt.Sprintf(
			"Requests for the versions that are not stored fail. The CRD is given back at %s unless conversion is served by then: %s",
			now.Add(remaining).UTC().Format(time.RFC3339), cause)}
	}
	if errors.Is(cause, errUnused) {
		r.attempts.Record(now)
	}
	decided := giveBack(crd, ReasonNotServed, "Given back because conversion is not served: "+cause.Error())
	// The CRD is given back even without records: Open Cluster Management does not work before.
	if err := r.checkRecords(ctx, crd); err != nil {
		decided.message += ". " + err.Error()
	}
	decided.requeueAfter = r.retryInterval()
	return decided
}

// servedStanza returns the conversion stanza that points to Interlock's
// webhook, if a probe shows that the webhook converts correctly.
func (r *Reconciler) servedStanza(ctx context.Context, crd *unstructured.Unstructured, survey crdgraft.Survey) (map[string]any, error) {
	config, err := readWebhook(ctx, r.Client)
	if err != nil {
		return nil, err
	}
	config.CABundle = r.overlap(config.CABundle, trusted(crd, config))
	stanza, err := stanzaOf(config)
	if err != nil {
		return nil, err
	}
	now := r.Clock.Now()
	if equal(stanza, r.history.probed) && now.Sub(r.history.lastProbe) < r.Settings.Interval {
		return stanza, nil // without a new probe, an overwritten graft is restored immediately
	}
	r.history.probed = nil
	probe, err := newProbe(survey.Original, r.schemas.properties)
	if err != nil {
		return nil, err
	}
	if err := r.prober.run(ctx, config, probe); err != nil {
		return nil, err
	}
	r.history.probed, r.history.lastProbe = stanza, now
	return stanza, nil
}

// checkUse makes the API server convert a registered add-on, if there is any. It
// reads an object rather than a list, because the API server serves lists from
// objects that it has converted before. An error always means that the API server cannot use the
// webhook: the webhook refuses no object between versions that a probe has converted.
func (r *Reconciler) checkUse(ctx context.Context, survey crdgraft.Survey) error {
	versions, err := crdgraft.ActiveVersions(survey.Original)
	if err != nil {
		return err
	}
	kind := addonv1alpha1.GroupVersion.WithKind("ClusterManagementAddOn")
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: kind.Group, Version: versions[0], Kind: kind.Kind + "List"})
	if err := r.Client.List(ctx, list, client.Limit(1)); err != nil {
		return fmt.Errorf("list registered add-ons of %s: %w", versions[0], err)
	}
	if len(list.Items) == 0 {
		return nil
	}
	for _, version := range versions[1:] {
		addOn := &unstructured.Unstructured{}
		addOn.SetGroupVersionKind(schema.GroupVersionKind{Group: kind.Group, Version: version, Kind: kind.Kind})
		err := r.Client.Get(ctx, client.ObjectKeyFromObject(&list.Items[0]), addOn)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("%w: read %s of %s: %w", errUnused, list.Items[0].GetName(), version, err)
		}
	}
	return nil
}

// stanzaOf returns the conversion stanza that points a CRD to the webhook.
func stanzaOf(config *apiextensionsv1.WebhookClientConfig) (map[string]any, error) {
	return runtime.DefaultUnstructuredConverter.ToUnstructured(&apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{
			ClientConfig: config, ConversionReviewVersions: []string{"v1"},
		},
	})
}
