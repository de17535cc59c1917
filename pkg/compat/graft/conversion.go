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
	// firstUse is how long the API server may fail to use a conversion that it
	// has never used yet before the CRD is given back.
	firstUse = 30 * time.Second
	// retryInterval is how often a conversion that fails is checked, if not
	// all of them are checked more often.
	retryInterval = 2 * time.Second
)

func (r *Reconciler) soon() time.Duration { return min(retryInterval, r.Settings.Interval) }

// errUnused: the webhook answers here, and does not answer the API server.
var errUnused = errors.New("the API server cannot use the conversion")

// history is what has happened as far as this process knows.
type history struct {
	// written is the conversion of the last graft; nil if the last write gave
	// the CRD back, or there was none.
	written map[string]any
	// failing is since when this process has seen the conversion fail, zero
	// while it serves, and confirmed that it has served the API server since
	// it was written.
	failing   time.Time
	confirmed bool
	// lastProbe is when, and with which stanza, the webhook last answered.
	lastProbe time.Time
	probed    map[string]any
	// caChanged is when the CA was seen to differ from that of the CRD.
	caChanged time.Time
}

// decideConverted grafts once the webhook answers as it should, and gives the
// CRD back when it has failed to for too long.
func (r *Reconciler) decideConverted(ctx context.Context, crd *unstructured.Unstructured,
	survey crdgraft.Survey, unknown crdgraft.Unknown,
) decision {
	stanza, err := r.servedStanza(ctx, crd, survey, unknown)
	if err != nil {
		return r.conversionFails(crd, err)
	}
	decided := r.put(crd, survey, stanza)
	decided.again = r.Settings.Interval
	if decided.desired == nil {
		return decided
	}
	if !equal(crd.Object, decided.desired) {
		if wait := r.attempts.wait(r.Clock.Now()); wait > 0 && !crdgraft.Grafted(crd.Object) {
			return decision{reason: ReasonNotServed, again: wait, message: fmt.Sprintf(
				"%s; the webhook answers addon-manager, so the next try is in %s", errUnused, wait.Round(time.Second))}
		}
		return decided
	}
	if err := r.usedByAPIServer(ctx, survey); err != nil {
		return r.conversionFails(crd, err)
	}
	r.history.failing, r.history.confirmed = time.Time{}, true
	return decided
}

// conversionFails keeps a graft for the grace period, and gives it back then.
// What counts is how long it was seen to fail: a replica that has only now come
// to lead, or could not read the hub for long, knows nothing of before.
func (r *Reconciler) conversionFails(crd *unstructured.Unstructured, cause error) decision {
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
			"Requests for the versions that are not stored fail; the CRD is given back at %s unless conversion is served by then: %s",
			now.Add(left).UTC().Format(time.RFC3339), cause)}
	}
	if errors.Is(cause, errUnused) {
		r.attempts.did(now)
	}
	decided := giveBack(crd, ReasonNotServed, "Given back because conversion is not served: "+cause.Error())
	decided.again = r.soon()
	return decided
}

// servedStanza returns the conversion stanza of Interlock's webhook, if that
// converts as it should.
func (r *Reconciler) servedStanza(ctx context.Context, crd *unstructured.Unstructured,
	survey crdgraft.Survey, unknown crdgraft.Unknown,
) (map[string]any, error) {
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
		return stanza, nil // whoever overwrites the graft has it back at once
	}
	r.history.probed = nil
	question, err := questionFor(survey.Original, r.schemas.properties, unknown)
	if err != nil {
		return nil, err
	}
	if err := r.prober.probe(ctx, config, question); err != nil {
		return nil, err
	}
	r.history.probed, r.history.lastProbe = stanza, now
	return stanza, nil
}

// usedByAPIServer has the API server convert a registered add-on, if there is
// any. It reads one object rather than a list, because lists are answered from
// what was converted before.
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

// stanzaOf points a CRD to the webhook.
func stanzaOf(config *apiextensionsv1.WebhookClientConfig) (map[string]any, error) {
	return runtime.DefaultUnstructuredConverter.ToUnstructured(&apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{
			ClientConfig: config, ConversionReviewVersions: []string{"v1"},
		},
	})
}
