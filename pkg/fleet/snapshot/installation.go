package snapshot

import (
	"context"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// refused is the reason of the condition Installed where the hub refuses what Interlock does.
const refused = "Refused"

// installations reads what Interlock has installed of add-ons with the install strategy Manual. It only explains: it is no error that a user
// may not read it, or that a hub does not serve it.
func (t *taking) installations(ctx context.Context, declared *evaluation.Evaluator) error {
	consents := func(addOn string) bool { return declared.Consent(addOn) == catalog.ByAnnotation }
	if !slices.ContainsFunc(declared.AddOns(), consents) {
		return nil
	}
	err := Each(ctx, t.hub, "addoninstallations", t.namespace, func(list *dependencyv1alpha1.AddOnInstallationList) {
		for i := range list.Items {
			one := &list.Items[i]
			one.ManagedFields, one.UID, one.ResourceVersion = nil, "", ""
			t.into.Installations = append(t.into.Installations, *one)
		}
	})
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return nil
	}
	return err
}

func (s *Snapshot) addInstallation(one *dependencyv1alpha1.AddOnInstallation) {
	on := s.objects[one.Namespace]
	if on == nil {
		on = &cluster{addOns: map[string]*addonv1alpha1.ManagedClusterAddOn{}}
		s.objects[one.Namespace] = on
	}
	if on.installations == nil {
		on.installations = map[string]*dependencyv1alpha1.AddOnInstallation{}
	}
	on.installations[one.Name] = one
}

// InstallationOf returns the AddOnInstallation of an add-on; nil: there is none.
func (s *Snapshot) InstallationOf(addOn types.NamespacedName) *dependencyv1alpha1.AddOnInstallation {
	return s.has(addOn.Namespace).installations[addOn.Name]
}

// Installation implements fleet.Reader, by the AddOnInstallation. Other waits are in no object, so the messages of dependents are all that
// shows them. They are read for people only: the plugin shows it, and nothing is decided on it.
func (s *Snapshot) Installation(_ context.Context, addOn types.NamespacedName) (evaluation.Wait, error) {
	if stored := s.InstallationOf(addOn); stored != nil {
		switch {
		case stored.Status.Phase == dependencyv1alpha1.PhaseGivenUp:
			return evaluation.WaitGivenUp, nil
		case InstallationReason(stored) == refused:
			return evaluation.WaitRefused, nil
		}
	}
	for _, dependent := range s.has(addOn.Namespace).addOns {
		degraded := fleet.Degraded(dependent)
		if degraded == nil {
			continue
		}
		for _, wait := range []evaluation.Wait{
			evaluation.WaitForInterlock, evaluation.WaitForApproval, evaluation.WaitContradiction, evaluation.WaitGivenUp,
		} {
			if strings.Contains(degraded.Message, wait.Explanation(addOn.Name)) {
				return wait, nil
			}
		}
	}
	return evaluation.NoWait, nil
}

// InstallationReason returns why an installation is in its phase, or what its next step waits for.
func InstallationReason(stored *dependencyv1alpha1.AddOnInstallation) string {
	if installed := meta.FindStatusCondition(stored.Status.Conditions, dependencyv1alpha1.ConditionInstalled); installed != nil {
		return installed.Reason
	}
	return ""
}
