package installer

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/compat/guard"
)

// probeManager names the probe in the hub's audit log.
const probeManager = "interlock-guard-probe"

// probe asks the API server what would become of a write that the guard is
// there to change, and does not make it: a dry run is stored nowhere and wakes
// nobody. It needs one add-on of the fleet, no matter which, as only the status
// of what exists can be written; it needs no right that addon-manager lacks.
func (i *Installer) probe(ctx context.Context, message string) finding {
	subject, err := i.anyAddOn(ctx)
	if err != nil {
		return finding{standing: unproven, why: fmt.Sprintf("look for a ManagedClusterAddOn to probe the guard with: %v", err)}
	}
	if subject == nil {
		return finding{standing: unproven, why: "there is no ManagedClusterAddOn yet to probe the guard with"}
	}
	patch, err := probePatch(message, i.Clock.Now())
	if err != nil {
		return finding{standing: unproven, why: err.Error()}
	}
	err = client.NewDryRunClient(i.Client).Status().Patch(ctx, subject, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(probeManager))
	if err != nil {
		return finding{standing: unproven, why: fmt.Sprintf("probe with %s/%s: %v", subject.Namespace, subject.Name, err)}
	}
	if meta.IsStatusConditionTrue(subject.Status.Conditions, guard.TypeAvailable) {
		return finding{standing: unheeded, why: "it is installed, and the API server does not act on it"}
	}
	return finding{standing: inForce}
}

// anyAddOn reads one add-on live: what is cached may be gone.
func (i *Installer) anyAddOn(ctx context.Context) (*addonv1alpha1.ManagedClusterAddOn, error) {
	var list addonv1alpha1.ManagedClusterAddOnList
	if err := i.Live.List(ctx, &list, client.Limit(1)); err != nil || len(list.Items) == 0 {
		return nil, err
	}
	return &list.Items[0], nil
}

func probePatch(message string, now time.Time) ([]byte, error) {
	at := metav1.NewTime(now)
	return json.Marshal(map[string]any{"status": map[string]any{"conditions": []metav1.Condition{
		{Type: guard.TypeDegraded, Status: metav1.ConditionTrue, Reason: guard.Reason, Message: message, LastTransitionTime: at},
		{Type: guard.TypeAvailable, Status: metav1.ConditionTrue, Reason: "Probe", Message: message, LastTransitionTime: at},
	}}})
}
