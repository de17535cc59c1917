// Package outcome decides all conditions of Interlock on an add-on on a managed cluster, and its gate. The inputs are the assessment of the
// add-on and the stored conditions.
package outcome

import (
	"slices"
	"time"

	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/dependency/condition/protection"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// Assessment is the evaluation of an add-on on a managed cluster, by the current declarations and the state of the cluster.
type Assessment struct {
	// Registered is the declaration in the registration of the add-on.
	Registered declaration.Declaration
	// Findings are the findings on the edges of the add-on, with the running AddOnTemplate.
	Findings []evaluation.Finding
	// Until is the time of the next assessment, because a finding ends by itself. The zero time stands for never.
	Until time.Time
	// Blockers are the platforms whose upgrade would break the add-on.
	Blockers protection.Blockers
	// Lost is true while the hub cannot reach the managed cluster, with any value of --offline.
	Lost bool
	// Bundle is true if the registration declares a bundle.
	Bundle bool
	// Acts is true if addon-manager runs the lifecycle. Otherwise, only Degraded and ReplacedDegraded are decided.
	Acts bool
	// Installing is set while the gate of the add-on is closed, once the AddOnTemplate to install is known.
	Installing *Installing
	// Upgrading is set while an AddOnTemplate waits, once its version is known.
	Upgrading *Upgrading
}

// Installing is the evaluation of an add-on behind a closed gate, with the AddOnTemplate that OCM is about to install.
type Installing struct {
	Findings []evaluation.Finding
	// Missing is the name of that AddOnTemplate, if it does not exist.
	Missing string
	// Contradiction is set if the gate is closed because the add-on contradicted installed add-ons.
	Contradiction *Contradiction
}

// Contradiction is the review of an add-on against the add-ons that are installed on its managed cluster.
type Contradiction struct {
	// Message names the contradicted add-ons. It is empty without a contradiction.
	Message string
	// Reviewed is false while the review has no result.
	Reviewed bool
}

// Upgrading is the evaluation of an add-on with the AddOnTemplate that waits.
type Upgrading struct {
	gate.Upgrade

	Findings []evaluation.Finding
	// RolledOut is true after OCM began to roll out the template. Dropped is true if OCM will never roll it out.
	RolledOut, Dropped bool
}

// Awaited returns the findings that a waiting installation or upgrade depends on.
func (a Assessment) Awaited() []evaluation.Finding {
	switch {
	case a.Upgrading != nil:
		return a.Upgrading.Findings
	case a.Installing != nil:
		return a.Installing.Findings
	}
	return a.Findings
}

// SameEdges reports whether two assessments have findings on the same edges.
func SameEdges(old, current *Assessment) bool {
	return old != nil && current != nil && slices.EqualFunc(old.Findings, current.Findings, func(a, b evaluation.Finding) bool {
		return a.Name() == b.Name() && a.Target() == b.Target() && a.Type() == b.Type()
	})
}
