package upgrade

import (
	"maps"
	"slices"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/verify"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/index"
	"open-cluster-management.io/interlock/pkg/report"
)

// trials are the moves as changes to try, by kind of clusters. Clusters of no kind, under an empty name, get the releases on
// which all kinds agree: a hub has each registration once.
func trials(moves []index.Move, lock *index.Lock, entries []index.Entry) map[string]report.Trial {
	by := map[string]report.Trial{"": {}}
	for _, kind := range lock.ClusterKinds {
		by[kind.Name] = report.Trial{}
	}
	for i := range moves {
		move := &moves[i]
		by[move.ClusterKind] = add(by[move.ClusterKind], move, entries)
		if moveForAll(move, lock) {
			everywhere := *move
			everywhere.OldVersion = move.NewVersion // nothing is installed there for it
			by[""] = add(by[""], &everywhere, entries)
		}
	}
	return by
}

// moveForAll reports whether all kinds that have an add-on have it in the version that it moves to.
func moveForAll(move *index.Move, lock *index.Lock) bool {
	return move.NewVersion != "" && !slices.ContainsFunc(lock.ClusterKinds, func(kind index.LockedKind) bool {
		return slices.ContainsFunc(kind.AddOns, func(one index.LockedAddOn) bool {
			return one.Name == move.AddOn && one.Version != move.NewVersion
		})
	})
}

// add adds a move to what is tried.
func add(trial report.Trial, move *index.Move, entries []index.Entry) report.Trial {
	if move.NewVersion == "" {
		trial.Remove = append(trial.Remove, move.AddOn)
		return trial
	}
	release := index.Find(entries, move.AddOn, move.NewVersion)
	if release == nil || slices.ContainsFunc(trial.Registrations, func(of addonv1alpha1.ClusterManagementAddOn) bool { return of.Name == move.AddOn }) {
		return trial
	}
	if move.OldVersion == "" {
		trial.Install = append(trial.Install, move.AddOn)
	}
	trial.Registrations = append(trial.Registrations, release.Input.Registration)
	trial.Versions = with(trial.Versions, move.AddOn, move.NewVersion)
	if template := release.Input.Template; template != nil && declaration.UsesTemplates(&release.Input.Registration) {
		trial.Templates = append(trial.Templates, *template)
		trial.Change.Templates = with(trial.Change.Templates, move.AddOn, template.Name)
	}
	return trial
}

func with(values map[string]string, key, value string) map[string]string {
	values = maps.Clone(values)
	if values == nil {
		values = map[string]string{}
	}
	values[key] = value
	return values
}

// also is what a snapshot needs to have for all trials.
func also(of map[string]report.Trial) snapshot.Also {
	var all snapshot.Also
	for _, kind := range slices.Sorted(maps.Keys(of)) {
		all.Registrations = append(all.Registrations, of[kind].Registrations...)
		all.Templates = append(all.Templates, of[kind].Templates...)
	}
	return all
}

// try adds what moves would do to the clusters of a fleet, each with those of its kind.
func (u *Upgrade) try(fleet *snapshot.Snapshot, lock *index.Lock, by map[string]report.Trial) {
	clusters := map[string][]string{}
	for _, name := range fleet.Names() {
		on := fleet.Whole(name)
		kind := ""
		if found := verify.KindOf(lock, &on.Cluster); found != nil {
			kind = found.Name
		}
		clusters[kind] = append(clusters[kind], name)
	}
	u.NotLocked = len(clusters[""])
	for _, kind := range slices.Sorted(maps.Keys(clusters)) {
		trial := by[kind]
		trial.Placement = &report.Placed{Clusters: clusters[kind]}
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
