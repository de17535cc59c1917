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
	// firstUse replaces the grace period for a conversion that the API server
	// has never used.
	firstUse = 30 * time.Second
	// retryInterval is how often a failing conversion is checked, unless
	// Settings.Interval is shorter.
	retryInterval = 2 * time.Second
)

func (r *Reconciler) soon() time.Duration { return min(retryInterval, r.Settings.Interval) }

// errUnused means that the webhook responds to addon-manager, but not to the API server.
var errUnused = errors.New("the API server cannot use the conversion")

// history is what this process has done and observed.
type history struct {
	// written is the conversion of the last graft. It is nil before the first
	// write, and after a write that gave the CRD back.
	written map[string]any
	// failing is when the conversion was first observed to fail; zero while it
	// is served.
	failing time.Time
	// confirmed means that the API server has used the conversion since it was written.
	confirmed bool
	// lastProbe is when a probe last succeeded, and probed its stanza.
	lastProbe time.Time
	probed    map[string]any
	// caChanged is when the CA was first observed to differ from that of the CRD.
	caChanged time.Time
}

// decideConverted grafts once the webhook converts correctly, and gives the CRD
// back after it has failed for too long.
func (r *Reconciler) decideConverted(ctx context.Context, crd *unstructured.Unstructured, survey crdgraft.Survey) decision {
	stanza, err := r.servedStanza(ctx, crd, survey)
	if err != nil {
		return r.conversionFails(ctx, crd, err)
	}
	decided := r.put(crd, survey, stanza)
	decided.again = r.Settings.Interval
	if decided.desired == nil {
		return decided
	}
	if !equal(crd.Object, decided.desired) {
		if wait := r.attempts.Wait(r.Clock.Now()); wait > 0 && !crdgraft.Grafted(crd.Object) {
			return decision{reason: ReasonNotServed, again: wait, message: fmt.Sprintf(
				"%s, although the webhook responds to addon-manager. The next attempt is in %s", errUnused, wait.Round(time.Second))}
		}
		return decided
	}
	if err := r.usedByAPIServer(ctx, survey); err != nil {
		return r.conversionFails(ctx, crd, err)
	}
	r.history.failing, r.history.confirmed = time.Time{}, true
	return decided
}

// conversionFails keeps a graft for the grace period, and then gives it back.
// The period starts when this process first observes the failure. A new leader,
// or one that could not read the hub, does not know what happened before.
func (r *Reconciler) conversionFails(ctx context.Context, crd *unstructured.Unstructured, cause error) decision {
	if !crdgraft.Grafted(crd.Object) {
		return decision{reason: ReasonNotServed, message: "Not grafted until conversion is served: " + cause.Error(), again: r.soon()}
	}
	now, grace := r.Clock.Now(), r.Settings.Grace
	if !r.history.confirmed {
		grace = min(grace, firstUse)
	}
	if r.history.failing.IsZero() {
		r.history.failing = now
	}
	if left := r.history.failing.Add(grace).Sub(now); left > 0 {
		return decision{reason: ReasonNotServed, again: min(left, r.soon()), message: fmt.Sprintf(
			"Requests for the versions that are not stored fail. The CRD is given back at %s unless conversion is served by then: %s",
			now.Add(left).UTC().Format(time.RFC3339), cause)}
	}
	if errors.Is(cause, errUnused) {
		r.attempts.Record(now)
	}
	decided := giveBack(crd, ReasonNotServed, "Given back because conversion is not served: "+cause.Error())
	if err := r.recorded(ctx, crd); err != nil { // Open Cluster Management does not work until it is given back
		decided.message += ". " + err.Error()
	}
	decided.again = r.soon()
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
		return stanza, nil // so that an overwritten graft is restored at once
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

// usedByAPIServer makes the API server convert one registered add-on, if there
// is any. It reads one object rather than a list, because the API server serves
// lists from objects that it has converted before. An error always means that it
// cannot: the webhook refuses no object between versions that a probe has converted.
func (r *Reconciler) usedByAPIServer(ctx context.Context, survey crdgraft.Survey) error {
	versions, err := crdgraft.ActiveVersions(survey.Original)
	if err != nil {
		return err
	}
	kind := addonv1alpha1.GroupVersion.WithKind("ClusterManagementAddOn")
	some := &unstructured.UnstructuredList{}
	some.SetGroupVersionKind(schema.GroupVersionKind{Group: kind.Group, Version: versions[0], Kind: kind.Kind + "List"})
	if err := r.Client.List(ctx, some, client.Limit(1)); err != nil {
		return fmt.Errorf("list registered add-ons of %s: %w", versions[0], err)
	}
	if len(some.Items) == 0 {
		return nil
	}
	for _, version := range versions[1:] {
		one := &unstructured.Unstructured{}
		one.SetGroupVersionKind(schema.GroupVersionKind{Group: kind.Group, Version: version, Kind: kind.Kind})
		err := r.Client.Get(ctx, client.ObjectKeyFromObject(&some.Items[0]), one)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("%w: read %s of %s: %w", errUnused, some.Items[0].GetName(), version, err)
		}
	}
	return nil
}

// stanzaOf returns the stanza that points a CRD to the webhook.
func stanzaOf(config *apiextensionsv1.WebhookClientConfig) (map[string]any, error) {
	return runtime.DefaultUnstructuredConverter.ToUnstructured(&apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{
			ClientConfig: config, ConversionReviewVersions: []string{"v1"},
		},
	})
}
