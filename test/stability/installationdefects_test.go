package stability

import (
	"strings"
	"testing"
	"time"

	"open-cluster-management.io/interlock/pkg/dependency/plan/installation"
)

// Each defect is found, so each rule has an effect.
func TestDefectsOfInstallationsAreFound(t *testing.T) {
	labeled := func(interventions uint8) InstallationWorld {
		return InstallationWorld{Labeled: true, Removable: true, Interventions: interventions}
	}
	manual := func(interventions uint8) InstallationWorld {
		return InstallationWorld{Removable: true, OneLeader: true, Interventions: interventions}
	}
	deciding := func(change func(*installation.Inputs)) func(*installationModel) {
		return func(m *installationModel) {
			m.rule = func(facts installation.Inputs, now time.Time) installation.Decision {
				change(&facts)
				return installation.Decide(facts, now)
			}
		}
	}
	unconfirmed := func(m *installationModel) {
		m.confirmation = func(*installation.Inputs, installation.Step, installationObjects) {}
	}
	for name, test := range map[string]struct {
		world  InstallationWorld
		defect func(*installationModel)
		want   string
	}{
		"RemovesByItsCache":       {manual(2), unconfirmed, "removes an add-on that others use"},
		"InstallsByItsCache":      {labeled(1), unconfirmed, "acts without consent"},
		"ActsOnALostCluster":      {manual(1), unconfirmed, "acts on a lost cluster"},
		"RemovesWhatIsHandedOver": {manual(3), unconfirmed, "removes an add-on that was handed over"},
		"IgnoresConsent":          {manual(2), deciding(func(f *installation.Inputs) { f.Consents = true }), "acts without consent"},
		"IgnoresUsers": {
			labeled(1), deciding(func(f *installation.Inputs) { f.Use = installation.Unused }), "removes an add-on that others use",
		},
		"IgnoresOtherWriters": {manual(2), deciding(ignoreChanges), "removes an add-on that another writer has taken over"},
		"NeverRemoves": {
			manual(1), deciding(func(f *installation.Inputs) { f.Use = installation.Used }), "what no add-on uses stays",
		},
		"NeverApproved":            {labeled(0), deciding(func(f *installation.Inputs) { f.Approved = false }), "a dependent waits for ever"},
		"ForgetsEveryInstallation": {manual(0), forgetting, "an add-on has no record"},
		"AlternatesForEver":        {labeled(0), alternating, "never ends"},
		"IgnoresAnotherLeader":     {labeled(2), ignoreFormerLeader, "a label has no record"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newInstallationModel(test.world)
			test.defect(m)
			for _, problem := range m.check().problems {
				if strings.HasPrefix(problem, test.want+":") {
					return
				}
			}
			t.Errorf("%q is not found", test.want)
		})
	}
}

func ignoreChanges(facts *installation.Inputs) {
	if facts.AddOn != nil {
		unchanged := *facts.AddOn
		unchanged.Generation, unchanged.TakenOver = 1, false
		facts.AddOn = &unchanged
	}
}

// forgetting deletes the record of an add-on that is installed.
func forgetting(m *installationModel) {
	m.rule = func(facts installation.Inputs, now time.Time) installation.Decision {
		if facts.AddOn != nil && facts.Stored != nil {
			return installation.Decision{}
		}
		return installation.Decide(facts, now)
	}
}

// alternating sets the phase back again and again.
func alternating(m *installationModel) {
	m.rule = func(facts installation.Inputs, now time.Time) installation.Decision {
		decision := installation.Decide(facts, now)
		if facts.Stored != nil && decision.Desired != nil && facts.Stored.Phase == "Installed" && decision.Step == installation.Rest {
			changed := *decision.Desired
			changed.Phase = "Installing"
			decision.Desired = &changed
		}
		return decision
	}
}

// ignoreFormerLeader deletes records without looking again.
func ignoreFormerLeader(m *installationModel) {
	for i, possible := range m.steps {
		if strings.HasPrefix(possible.name, "addon-manager looks again") {
			m.steps[i].next = func(s InstallationState) InstallationState {
				if s.Write.Next == deleted {
					s.Write = installationWrite{}
				}
				return s
			}
		}
	}
}
