package installer

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/compat/rule"
)

// probeManager is the field manager of the probe, which the hub's audit log shows.
func (i *Installer) probeManager() string { return "interlock-" + i.Rule.Controller + "-probe" }

// probe sends a dry run of a write that the rule must change. A dry run is not
// stored, triggers no watch, and needs no further permission. It uses any
// add-on of the fleet, because only an existing object has a status to write.
func (i *Installer) probe(ctx context.Context, form rule.Form) status {
	subject, err := i.anyAddOn(ctx)
	if err != nil {
		return status{phase: unproven, reason: fmt.Sprintf("find a ManagedClusterAddOn to probe the rule with: %v", err)}
	}
	if subject == nil {
		return status{phase: unproven, reason: "there is no ManagedClusterAddOn yet to probe the rule with"}
	}
	patch, err := i.probePatch(form)
	if err != nil {
		return status{phase: unproven, reason: err.Error()}
	}
	dryRun := client.NewDryRunClient(i.Client).Status()
	err = dryRun.Patch(ctx, subject, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(i.probeManager()))
	if err != nil {
		return status{phase: unproven, reason: fmt.Sprintf("probe with %s/%s: %v", subject.Namespace, subject.Name, err)}
	}
	if !i.Rule.Changed(subject.Status.Conditions) {
		return status{phase: ignored, reason: "it is installed, but the API server does not act on it"}
	}
	return status{phase: inForce}
}

// anyAddOn reads any add-on. It does not use the cache, which may have a deleted add-on.
func (i *Installer) anyAddOn(ctx context.Context) (*addonv1alpha1.ManagedClusterAddOn, error) {
	var list addonv1alpha1.ManagedClusterAddOnList
	if err := i.Live.List(ctx, &list, client.Limit(1)); err != nil || len(list.Items) == 0 {
		return nil, err
	}
	return &list.Items[0], nil
}

func (i *Installer) probePatch(form rule.Form) ([]byte, error) {
	conditions := i.Rule.Probe(form, metav1.NewTime(i.Clock.Now()))
	return json.Marshal(map[string]any{"status": map[string]any{"conditions": conditions}})
}
