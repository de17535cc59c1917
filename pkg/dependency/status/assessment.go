// Package status decides all conditions of Interlock on an add-on on a managed cluster, and its gate, from what was found of the
// add-on and what is stored.
package status

import (
	"slices"
	"time"

	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
	"open-cluster-management.io/interlock/pkg/dependency/protection"
)

// Assessment is what was found of an add-on on a managed cluster.
type Assessment struct {
	// Registered is what the registration of the add-on declares.
	Registered declaration.Declaration
	// Findings are those on the edges of the add-on as it runs.
	Findings []evaluation.Finding
	// Until is when to assess the add-on again, because a finding ends by itself; zero: never.
	Until time.Time
	// Blockers are the platforms whose upgrade would break the add-on.
	Blockers protection.Blockers
	// Lost: nothing new can be known of the managed cluster.
	Lost bool
	// Bundle: the registration says that the add-on is a bundle.
	Bundle bool
	// Acts: addon-manager runs the lifecycle. Without, only Degraded is decided.
	Acts bool
	// Installing is set while the gate of the add-on is closed, unless it is not known what is to be installed.
	Installing *Installing
	// Upgrading is set while an AddOnTemplate waits, once its version is known.
	Upgrading *Upgrading
}

// Installing is what was found of an add-on behind a closed gate, with the AddOnTemplate that OCM is about to install.
type Installing struct {
	Findings []evaluation.Finding
	// Missing is the AddOnTemplate that is to be installed, if it does not exist; empty: it does, or there is none.
	Missing string
	// Contradiction is set where the gate is closed because the add-on contradicted installed add-ons.
	Contradiction *Contradiction
}

// Contradiction is what an add-on contradicts.
type Contradiction struct {
	// Message says what it contradicts now; empty: nothing.
	Message string
	// Known is false where that cannot be said.
	Known bool
}

// Upgrading is what was found of an add-on with the AddOnTemplate that waits.
type Upgrading struct {
	gate.Upgrade

	Findings []evaluation.Finding
	// RolledOut: OCM rolls the template out, or has done so. Dropped: it is not to be rolled out any more.
	RolledOut, Dropped bool
}

// Awaited are the findings on what the add-on waits for: with the AddOnTemplate that is to be installed, or else as it runs.
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
func SameEdges(a, b *Assessment) bool {
	return a != nil && b != nil && slices.EqualFunc(a.Findings, b.Findings, func(one, other evaluation.Finding) bool {
		return one.Name() == other.Name() && one.Target() == other.Target() && one.Type() == other.Type()
	})
}
