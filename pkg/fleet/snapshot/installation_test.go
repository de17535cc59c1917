package snapshot

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// TestInstallationReadsTheStoredObject tests the wait of an installation. No message is read.
func TestInstallationReadsTheStoredObject(t *testing.T) {
	stored := func(phase dependencyv1alpha1.InstallationPhase, reason string) []dependencyv1alpha1.AddOnInstallation {
		installation := dependencyv1alpha1.AddOnInstallation{ObjectMeta: metav1.ObjectMeta{Namespace: "c1", Name: "base"}}
		installation.Status.Phase = phase
		installation.Status.Conditions = []metav1.Condition{{Type: dependencyv1alpha1.ConditionInstalled, Reason: reason}}
		return []dependencyv1alpha1.AddOnInstallation{installation}
	}
	for name, test := range map[string]struct {
		installations []dependencyv1alpha1.AddOnInstallation
		want          evaluation.Wait
	}{
		"None":       {nil, evaluation.WaitUnknown},
		"GivenUp":    {stored(dependencyv1alpha1.PhaseGivenUp, "GivenUp"), evaluation.WaitGivenUp},
		"Refused":    {stored(dependencyv1alpha1.PhaseInstalling, "Refused"), evaluation.WaitRefused},
		"Installing": {stored(dependencyv1alpha1.PhaseInstalling, "Installing"), evaluation.WaitForInterlock},
	} {
		snapshot := New(Content{Installations: test.installations})
		got, err := snapshot.Installation(t.Context(), types.NamespacedName{Namespace: "c1", Name: "base"})
		if err != nil || got != test.want {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}
