package upgrade

import (
	"maps"
	"slices"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/verify"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/offline/index"
	"open-cluster-management.io/interlock/pkg/report"
)

// trials returns the changes to try, by the kind of clusters. Clusters without a kind have an empty name. They get the releases on
// which all kinds agree, because a hub has each registration once.
func trials(moves []index.Move, lock *index.Lock, entries []index.Entry) map[string]report.Trial {
	trials := map[string]report.Trial{"": {}}
	for _, kind := range lock.ClusterKinds {
		trials[kind.Name] = report.Trial{}
	}
	for i := range moves {
		move := &moves[i]
		trials[move.ClusterKind] = addMove(trials[move.ClusterKind], move, entries)
		if allKindsAgree(move, lock) {
			registeredMove := *move
			registeredMove.OldVersion = move.NewVersion // The registration changes, and the add-on is not installed for it.
			trials[""] = addMove(trials[""], &registeredMove, entries)
		}
	}
	return trials
}

// allKindsAgree reports whether all kinds that have an add-on have it in the version that it moves to.
func allKindsAgree(move *index.Move, lock *index.Lock) bool {
	return move.NewVersion != "" && !slices.ContainsFunc(lock.ClusterKinds, func(kind index.LockedKind) bool {
		return slices.ContainsFunc(kind.AddOns, func(addOn index.LockedAddOn) bool {
			return addOn.Name == move.AddOn && addOn.Version != move.NewVersion
		})
	})
}

// addMove adds a move to a trial.
func addMove(trial report.Trial, move *index.Move, entries []index.Entry) report.Trial {
	if move.NewVersion == "" {
		trial.Remove = append(trial.Remove, move.AddOn)
		return trial
	}
	release := index.Find(entries, move.AddOn, move.NewVersion)
	isRegistered := func(addOn addonv1alpha1.ClusterManagementAddOn) bool { return addOn.Name == move.AddOn }
	if release == nil || slices.ContainsFunc(trial.Registrations, isRegistered) {
		return trial
	}
	if move.OldVersion == "" {
		trial.Install = append(trial.Install, move.AddOn)
	}
	trial.Registrations = append(trial.Registrations, release.Input.Registration)
	trial.Versions = cloneWith(trial.Versions, move.AddOn, move.NewVersion)
	if template := release.Input.Template; template != nil && declaration.UsesTemplates(&release.Input.Registration) {
		trial.Templates = append(trial.Templates, *template)
		trial.Change.Templates = cloneWith(trial.Change.Templates, move.AddOn, template.Name)
	}
	return trial
}

func cloneWith(values map[string]string, key, value string) map[string]string {
	values = maps.Clone(values)
	if values == nil {
		values = map[string]string{}
	}
	values[key] = value
	return values
}

// newObjects returns the registrations and templates of all trials, which a snapshot needs besides the objects on the hub.
func newObjects(trials map[string]report.Trial) snapshot.Additions {
	var objects snapshot.Additions
	for _, kind := range slices.Sorted(maps.Keys(trials)) {
		objects.Registrations = append(objects.Registrations, trials[kind].Registrations...)
		objects.Templates = append(objects.Templates, trials[kind].Templates...)
	}
	return objects
}

// try adds the effects that the moves would have on a fleet. Each cluster gets the moves of its kind.
func (u *Upgrade) try(fleet *snapshot.Snapshot, lock *index.Lock, trials map[string]report.Trial) {
	clusters := map[string][]string{}
	for _, name := range fleet.Names() {
		cluster := fleet.Whole(name)
		kind := ""
		if locked := verify.KindOf(lock, &cluster.Cluster); locked != nil {
			kind = locked.Name
		}
		clusters[kind] = append(clusters[kind], name)
	}
	u.NotLocked = len(clusters[""])
	for _, kind := range slices.Sorted(maps.Keys(clusters)) {
		trial := trials[kind]
		trial.Placement = &report.Selection{Clusters: clusters[kind]}
		impact := report.FindImpact(fleet, "", trial)
		u.Clusters += impact.Clusters
		u.NotReached += impact.Lost
		for _, item := range impact.Items {
			u.Items = append(u.Items, Affected{ClusterKind: kind, Affected: item})
		}
	}
	slices.SortStableFunc(u.Items, func(a, b Affected) int {
		switch {
		case a.Breaks == b.Breaks:
			return 0
		case a.Breaks:
			return -1
		default:
			return 1
		}
	})
}
