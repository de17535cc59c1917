package snapshot

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/settings"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// refused is the reason of the condition Installed if the hub refuses a request of Interlock.
const refused = "Refused"

// installations reads the AddOnInstallations. It is no error that a user may not read them, or that a hub does not serve them, because
// they only explain.
func (t *taking) installations(ctx context.Context, declarations *catalog.Catalog) error {
	if !slices.ContainsFunc(declarations.AddOns(), declarations.Consents) {
		return nil
	}
	err := Each(ctx, t.hub, "addoninstallations", t.namespace, func(list *dependencyv1alpha1.AddOnInstallationList) {
		for i := range list.Items {
			installation := &list.Items[i]
			installation.ManagedFields, installation.UID, installation.ResourceVersion = nil, "", ""
			t.content.Installations = append(t.content.Installations, *installation)
		}
	})
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return nil
	}
	return err
}

func (s *Snapshot) addInstallation(installation *dependencyv1alpha1.AddOnInstallation) {
	target := s.objects[installation.Namespace]
	if target == nil {
		target = &cluster{}
		s.objects[installation.Namespace] = target
	}
	if target.installations == nil {
		target.installations = map[string]*dependencyv1alpha1.AddOnInstallation{}
	}
	target.installations[installation.Name] = installation
}

// InstallationOf returns the AddOnInstallation of an add-on. It is nil if there is none.
func (s *Snapshot) InstallationOf(addOn types.NamespacedName) *dependencyv1alpha1.AddOnInstallation {
	return s.cluster(addOn.Namespace).installations[addOn.Name]
}

// Installation implements fleet.Reader. It returns the wait that an AddOnInstallation has stored. Without an AddOnInstallation, only
// addon-manager knows why an installation waits.
func (s *Snapshot) Installation(_ context.Context, addOn types.NamespacedName) (evaluation.Wait, error) {
	return s.WaitOf(addOn), nil
}

// Setting implements fleet.Reader. Only addon-manager knows the outcome of requests for settings.
func (s *Snapshot) Setting(context.Context, types.NamespacedName) (settings.Outcome, error) {
	return settings.Outcome{}, nil
}

// WaitOf returns the reason why the installation of an add-on waits, as its AddOnInstallation has it.
func (s *Snapshot) WaitOf(addOn types.NamespacedName) evaluation.Wait {
	switch stored := s.InstallationOf(addOn); {
	case stored == nil:
		return evaluation.WaitUnknown
	case stored.Status.Phase == dependencyv1alpha1.PhaseGivenUp:
		return evaluation.WaitGivenUp
	case InstallationReason(stored) == refused:
		return evaluation.WaitRefused
	default:
		return evaluation.WaitForInterlock
	}
}

// InstallationReason returns the reason why an installation is in its phase, or why its next step waits.
func InstallationReason(stored *dependencyv1alpha1.AddOnInstallation) string {
	if installed := meta.FindStatusCondition(stored.Status.Conditions, dependencyv1alpha1.ConditionInstalled); installed != nil {
		return installed.Reason
	}
	return ""
}
