package cli

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

// requestingInstallation returns a fleet where add-on a requests the installation of b, whose owner consents.
func requestingInstallation() snapshot.Content {
	content := small("a: b, b", "a")
	content.Registrations[0].Spec.Dependencies[0].Install = addonv1alpha1.DependencyInstallAuto
	content.Registrations[1].Annotations = map[string]string{addonv1alpha1.InstallOnDemandAnnotation: "true"}
	content.Registrations[1].Spec.InstallStrategy.Type = ocmv1alpha1.AddonInstallStrategyManual
	return content
}

// waitingInstallation is requestingInstallation after addon-manager has reported the reason why the installation waits.
func waitingInstallation(wait evaluation.Wait) snapshot.Content {
	content := requestingInstallation()
	content.AddOns[0].Status.Conditions = []metav1.Condition{{
		Type: addonv1alpha1.ManagedClusterAddOnConditionDegraded, Status: metav1.ConditionTrue,
		Reason: addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied,
		Message: "Required addon 'b' is not installed or not available. (not installed: its install strategy is Manual; " +
			wait.Explanation("b", "c1") + ")",
	}}
	return content
}

// deniedInstallation is requestingInstallation with a policy that denies it.
func deniedInstallation() snapshot.Content {
	content := requestingInstallation()
	policy := dependencyv1alpha1.AddOnDependencyPolicy{ObjectMeta: metav1.ObjectMeta{Name: "frozen"}}
	policy.Spec.Install = dependencyv1alpha1.InstallDeny
	content.Policies = append(content.Policies, policy)
	return content
}

// unsetInstallation is requestingInstallation with a required setting that has no value.
func unsetInstallation() snapshot.Content {
	content := requestingInstallation()
	content.Registrations[0].Spec.Dependencies[0].Settings = &addonv1alpha1.DependencySettings{Variables: []addonv1alpha1.SettingVariable{
		{Name: "REGION", ValueFrom: "cluster.labels[?'region']", Required: true},
	}}
	return content
}

// TestReasonOfStoppedInstallationIsShown tests that the plugin shows the reason why an installation by an edge is stopped. The reason
// of a wait is only in the stored condition, which is shown as it is.
func TestReasonOfStoppedInstallationIsShown(t *testing.T) {
	const (
		denies = "installations on this cluster are denied by AddOnDependencyPolicy 'frozen'"
		waits  = "install: Auto waits for an approval"
	)
	waiting := waitingInstallation(evaluation.WaitForApproval)
	for name, test := range map[string]struct {
		content snapshot.Content
		want    string
	}{"denied": {deniedInstallation(), denies}, "waiting": {waiting, waits}} {
		for _, command := range []string{"why", "why a -n c1"} {
			got := strings.Join(strings.Fields(run(t, append(strings.Fields(command), "--from", file(t, test.content))...)), " ")
			if !strings.Contains(strings.ReplaceAll(got, " │ ", " "), test.want) {
				t.Errorf("%s, %s: no %q in\n%s", name, command, test.want, got)
			}
		}
	}
}

// TestWhyDoesNotEnableWhatTheHubRefuses tests that why recommends no installation by hand where the installation by an edge waits, and that
// the reason of the wait comes before the next step.
func TestWhyDoesNotEnableWhatTheHubRefuses(t *testing.T) {
	const (
		note = "note install: Auto requests its installation, so do not enable it by hand: the message and the plan show what is known " +
			"to prevent it "
		plan   = note + "run kubectl addon install b --cluster c1 --plan --from "
		around = "note installations by Interlock are denied there by AddOnDependencyPolicy 'frozen': this command goes around that, " +
			"so ask the administrator first "
		enable = "run clusteradm addon enable --names b --clusters c1"
	)
	unsetWithoutConsent := unsetInstallation()
	unsetWithoutConsent.Registrations[1].Annotations = nil
	refused := requestingInstallation()
	installation := dependencyv1alpha1.AddOnInstallation{ObjectMeta: metav1.ObjectMeta{Namespace: "c1", Name: "b"}}
	installation.Status.Phase = dependencyv1alpha1.PhaseInstalling
	installation.Status.Conditions = []metav1.Condition{{Type: dependencyv1alpha1.ConditionInstalled, Reason: "Refused"}}
	refused.Installations = append(refused.Installations, installation)
	givenUp := requestingInstallation()
	undone := dependencyv1alpha1.AddOnInstallation{ObjectMeta: metav1.ObjectMeta{Namespace: "c1", Name: "b"}}
	undone.Status.Phase = dependencyv1alpha1.PhaseGivenUp
	givenUp.Installations = append(givenUp.Installations, undone)
	for name, test := range map[string]struct {
		content      snapshot.Content
		reason, want string
	}{
		"another writer removes it": {
			givenUp, "was removed from this cluster again and again",
			"note another writer has removed b again and again: find out who, before you enable it. status.undone.again is when Interlock tries " +
				"again run kubectl get addoninstallation b -n c1 -o yaml",
		},
		"a contradiction":        {waitingInstallation(evaluation.WaitContradiction), "would contradict or break", plan},
		"an approval":            {waitingInstallation(evaluation.WaitForApproval), "waits for an approval", plan},
		"the hub refuses it":     {refused, "AddOnInstallation b: Installing (Refused)", "run kubectl get addoninstallation b -n c1 -o yaml"},
		"nothing is known":       {requestingInstallation(), "b is not installed", enable},
		"a policy denies it":     {deniedInstallation(), "denied by AddOnDependencyPolicy 'frozen'", around + enable},
		"a setting has no value": {unsetInstallation(), "setting 'REGION' is required and has no value", plan},
		"a setting has no value, and there is no consent": {
			unsetWithoutConsent, "setting 'REGION' is required and has no value", plan,
		},
		"no edge installs it": {small("a: b, b", "a"), "b is not installed", enable},
	} {
		for _, command := range []string{"why", "why a -n c1"} {
			t.Run(name+", "+command, func(t *testing.T) {
				got := strings.Join(strings.Fields(run(t, append(strings.Fields(command), "--from", file(t, test.content))...)), " ")
				reason, step := strings.Index(got, test.reason), strings.Index(got, test.want)
				if command == "why a -n c1" && test.reason == "b is not installed" {
					reason = 0 // the tree names the verdict instead
				}
				if reason < 0 || step < reason {
					t.Errorf("%q is not followed by %q in\n%s", test.reason, test.want, got)
				}
				if strings.Contains(got, "enable --names") != strings.Contains(test.want, "enable --names") {
					t.Errorf("it is to be enabled by hand:\n%s", got)
				}
			})
		}
	}
}

// TestThePlanThatWhyRecommends tests that the plan refuses an add-on whose required setting has no value, although the add-on that requests
// it is installed already.
func TestThePlanThatWhyRecommends(t *testing.T) {
	got := run(t, "install", "b", "--cluster", "c1", "--plan", "--from", file(t, unsetInstallation()))
	const want = "'b' cannot be installed for 'a': setting 'REGION' is required and has no value: valueFrom has none on this cluster"
	if !strings.Contains(strings.Join(strings.Fields(got), " "), want) || !strings.Contains(got, "exit code 1") {
		t.Errorf("no %q in\n%s", want, got)
	}
}

// TestInstallationsThatWaitAreNoted tests that status --waiting names what waits for something else than dependencies.
func TestInstallationsThatWaitAreNoted(t *testing.T) {
	content := requestingInstallation()
	for name, reason := range map[string]string{"b": "Refused", "c": "NeedsApproval", "d": "NeedsApproval", "e": "Installed"} {
		stored := dependencyv1alpha1.AddOnInstallation{ObjectMeta: metav1.ObjectMeta{Namespace: "c1", Name: name}}
		stored.Status.Phase = dependencyv1alpha1.PhaseInstalled
		stored.Status.Conditions = []metav1.Condition{{Type: dependencyv1alpha1.ConditionInstalled, Reason: reason}}
		content.Installations = append(content.Installations, stored)
	}
	const note = "The next step of 3 add-ons of Interlock waits: NeedsApproval (2), Refused (1). kubectl get addoninstallations -A shows them."
	for args, want := range map[string]bool{
		"status --waiting": true, "status --waiting -n c1": true, "status": false, "status --waiting -o json": false,
		"status --waiting -n none": false,
	} {
		if got := run(t, append(strings.Fields(args), "--from", file(t, content))...); strings.Contains(got, note) != want {
			t.Errorf("%s prints\n%s", args, got)
		}
	}
}
