package installation

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

const (
	keep   = addonv1alpha1.DependencyRemovalKeep
	remove = addonv1alpha1.DependencyRemovalWithLastDependent

	installing = dependencyv1alpha1.PhaseInstalling
	installed  = dependencyv1alpha1.PhaseInstalled
	notUsed    = dependencyv1alpha1.PhaseUnused
	removing   = dependencyv1alpha1.PhaseRemoving
	kept       = dependencyv1alpha1.PhaseKept
	givenUp    = dependencyv1alpha1.PhaseGivenUp
)

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

func requests(removal addonv1alpha1.DependencyRemoval) []dependencyv1alpha1.InstallationRequest {
	return []dependencyv1alpha1.InstallationRequest{{AddOn: "leaf", Removal: removal}}
}

// ready is a managed cluster with nothing in the way.
func ready(change func(*Facts)) Facts {
	f := Facts{ClusterUID: "cluster", Consents: true, Approved: true, RemovalApproved: true, Delay: time.Hour, Use: Unused}
	change(&f)
	return f
}

func needed(f *Facts) { f.Requests, f.Missing, f.Use = requests(remove), true, Used }

func stored(phase dependencyv1alpha1.InstallationPhase, change ...func(*Installation)) *Installation {
	i := &Installation{Requests: requests(remove), Phase: phase, Since: noon.Add(-time.Minute), ClusterUID: "cluster"}
	if phase != installing && phase != givenUp {
		i.UID, i.Generation = "a", 1
	}
	for _, option := range change {
		option(i)
	}
	return i
}

func present(f *Facts) { f.AddOn = &Present{UID: "a", Generation: 1, Ours: true} }

func unusedFor(d time.Duration) func(*Installation) {
	return func(i *Installation) { i.UnusedSince = noon.Add(-d) }
}

func undoneTimes(count int, retry time.Duration) func(*Installation) {
	return func(i *Installation) {
		i.Undone = Undone{Count: count, Last: noon.Add(-time.Minute), Retry: noon.Add(retry)}
	}
}

func (d Decision) String() string {
	text := "none"
	if d.Desired != nil {
		text = string(d.Desired.Phase)
		if d.Desired.Undone.Count > 0 {
			text += fmt.Sprintf(" undone %d", d.Desired.Undone.Count)
		}
	}
	text += map[Step]string{Rest: "", Install: ", install", Remove: ", remove"}[d.Step]
	if d.Begins {
		text += ", begins"
	}
	if d.Blocker != NotBlocked {
		text += ", " + string(d.Blocker)
	}
	if !d.NextCheck.IsZero() {
		text += ", again " + d.NextCheck.Format(time.TimeOnly)
	}
	return text
}

func TestDecide(t *testing.T) {
	for name, test := range map[string]struct {
		facts Facts
		want  string
	}{
		"NotNeeded":         {ready(func(*Facts) {}), "none"},
		"Needed":            {ready(needed), "Installing, install, begins"},
		"Satisfied":         {ready(func(f *Facts) { needed(f); f.Missing = false }), "none"},
		"InstalledByOthers": {ready(func(f *Facts) { needed(f); present(f) }), "none"},
		"NeedsConsent":      {ready(func(f *Facts) { needed(f); f.Consents = false }), "none, NeedsConsent"},
		"Denied":            {ready(func(f *Facts) { needed(f); f.Cluster = ClusterDenied }), "none, DeniedByPolicy"},
		"InDoubt":           {ready(func(f *Facts) { needed(f); f.Cluster = ClusterDoubtful }), "none, ClusterInDoubt"},
		"Detached":          {ready(func(f *Facts) { needed(f); f.Cluster = ClusterDetached }), "none"},
		"Contradicts":       {ready(func(f *Facts) { needed(f); f.Contradiction = "it does" }), "none, Contradiction"},
		"NeedsApproval":     {ready(func(f *Facts) { needed(f); f.Approved = false }), "none, NeedsApproval"},

		"CrashBeforeInstalling": {ready(func(f *Facts) { needed(f); f.Stored = stored(installing) }), "Installing, install"},
		"CrashAfterInstalling":  {ready(func(f *Facts) { needed(f); present(f); f.Stored = stored(installing) }), "Installed"},
		"AnotherWriterWasFirst": {
			ready(func(f *Facts) { needed(f); f.AddOn = &Present{UID: "b"}; f.Stored = stored(installing) }), "none",
		},
		"NeededNoMoreBeforeInstalling": {ready(func(f *Facts) { f.Stored = stored(installing) }), "none"},
		"ConsentWithdrawnBefore": {
			ready(func(f *Facts) { needed(f); f.Consents = false; f.Stored = stored(installing) }), "none, NeedsConsent",
		},
		"LostBefore": {
			ready(func(f *Facts) { needed(f); f.Cluster = ClusterDoubtful; f.Stored = stored(installing) }), "Installing, ClusterInDoubt",
		},
		"AnotherClusterOfTheName": {
			ready(func(f *Facts) { needed(f); f.ClusterUID = "other"; f.Stored = stored(installing) }), "none",
		},

		"Installed": {ready(func(f *Facts) { needed(f); present(f); f.Stored = stored(installed) }), "Installed"},
		"IsDeleted": {ready(func(f *Facts) { needed(f); present(f); f.AddOn.Deleted = true; f.Stored = stored(installed) }), "Installed"},
		"Undone":    {ready(func(f *Facts) { needed(f); f.Stored = stored(installed) }), "Installing undone 1"},
		"UndoneAgain": {
			ready(func(f *Facts) { needed(f); f.Stored = stored(installed, undoneTimes(1, -time.Minute)) }),
			"GivenUp undone 2, GivenUp, again 13:00:00",
		},
		"UndoneMuchLater": {
			ready(func(f *Facts) { needed(f); f.Stored = stored(installed, undoneTimes(2, -2*time.Hour)) }), "Installing undone 1",
		},
		"GivenUp": {
			ready(func(f *Facts) { needed(f); f.Stored = stored(givenUp, undoneTimes(2, time.Minute)) }),
			"GivenUp undone 2, GivenUp, again 12:01:00",
		},
		"TriedAgain": {
			ready(func(f *Facts) { needed(f); f.Stored = stored(givenUp, undoneTimes(2, -time.Second)) }),
			"Installing undone 2, install, begins",
		},
		"GivenUpAndDenied": {
			ready(func(f *Facts) {
				needed(f)
				f.Cluster = ClusterDenied
				f.Stored = stored(givenUp, undoneTimes(2, -time.Second))
			}),
			"GivenUp undone 2, DeniedByPolicy",
		},
		"RestoredFromABackup": {
			ready(func(f *Facts) {
				needed(f)
				f.AddOn = &Present{UID: "b", Generation: 1, Ours: true}
				f.Stored = stored(installed)
			}),
			"Installed",
		},
		"ReplacedByAnotherWriter": {
			ready(func(f *Facts) { needed(f); f.AddOn = &Present{UID: "b"}; f.Stored = stored(installed) }), "none",
		},
		"TakenOver": {ready(func(f *Facts) { present(f); f.AddOn.Generation = 2; f.Stored = stored(notUsed) }), "Kept"},
		"TakenOverByItsLabels": {
			ready(func(f *Facts) { present(f); f.AddOn.TakenOver = true; f.Stored = stored(notUsed, unusedFor(time.Hour)) }), "Kept",
		},
		"LabelRemoved": {ready(func(f *Facts) { present(f); f.AddOn.Ours = false; f.Stored = stored(installed) }), "Kept"},
		"CrashAfterInstallingAndTakenOver": {
			ready(func(f *Facts) { needed(f); present(f); f.AddOn.Generation = 2; f.Stored = stored(installing) }), "Kept",
		},
		"KeptAndRestoredFromABackup": {
			ready(func(f *Facts) { f.AddOn = &Present{UID: "b", Generation: 1, Ours: true}; f.Stored = stored(kept) }), "Kept",
		},
		"Kept":           {ready(func(f *Facts) { present(f); f.AddOn.Generation = 2; f.Stored = stored(kept) }), "Kept"},
		"KeptAndRemoved": {ready(func(f *Facts) { needed(f); f.Stored = stored(kept) }), "none"},

		"Unused": {ready(func(f *Facts) { present(f); f.Stored = stored(installed) }), "Unused, again 13:00:00"},
		"UnusedForAWhile": {
			ready(func(f *Facts) { present(f); f.Stored = stored(notUsed, unusedFor(time.Minute)) }), "Unused, again 12:59:00",
		},
		"UnusedSinceTomorrow": {
			ready(func(f *Facts) { present(f); f.Stored = stored(notUsed, unusedFor(-24*time.Hour)) }), "Unused, again 13:00:00",
		},
		"UsedAgain": {
			ready(func(f *Facts) { present(f); f.Use = Used; f.Stored = stored(notUsed, unusedFor(time.Minute)) }), "Installed",
		},
		"UseNotKnown": {
			ready(func(f *Facts) { present(f); f.Use = UseUnknown; f.Stored = stored(notUsed, unusedFor(2*time.Hour)) }), "Unused",
		},
		"LostWhileUnused": {
			ready(func(f *Facts) {
				present(f)
				f.Cluster = ClusterDoubtful
				f.Stored = stored(notUsed, unusedFor(2*time.Hour))
			}), "Installed",
		},
		"KeptByItsEdge": {ready(func(f *Facts) { present(f); f.Keep = true; f.Stored = stored(installed) }), "Installed"},
		"KeptByItsLastRequest": {
			ready(func(f *Facts) {
				present(f)
				f.Stored = stored(installed, func(i *Installation) { i.Requests = requests(keep) })
			}), "Installed",
		},
		"RemovalBegins": {
			ready(func(f *Facts) { present(f); f.Stored = stored(notUsed, unusedFor(time.Hour)) }), "Removing, remove, begins",
		},
		"RemovalNeedsApproval": {
			ready(func(f *Facts) {
				present(f)
				f.RemovalApproved = false
				f.Stored = stored(notUsed, unusedFor(time.Hour))
			}),
			"Unused, NeedsApproval",
		},
		"CrashBeforeRemoving": {
			ready(func(f *Facts) { present(f); f.Stored = stored(removing, unusedFor(time.Hour)) }), "Removing, remove",
		},
		"UsedBeforeRemoving": {
			ready(func(f *Facts) { needed(f); present(f); f.Stored = stored(removing, unusedFor(time.Hour)) }), "Installed",
		},
		"Removed":              {ready(func(f *Facts) { f.Stored = stored(removing) }), "none"},
		"NeededOnceRemoved":    {ready(func(f *Facts) { needed(f); f.Stored = stored(removing) }), "none"},
		"UnusedAndUninstalled": {ready(func(f *Facts) { f.Stored = stored(notUsed) }), "none"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Decide(test.facts, noon).String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// eachFacts calls a function with every combination of facts.
func eachFacts(visit func(Facts)) {
	var installations []*Installation
	for _, phase := range []dependencyv1alpha1.InstallationPhase{"", installing, installed, notUsed, removing, kept, givenUp} {
		for _, unused := range []time.Duration{0, time.Minute, 2 * time.Hour} {
			for _, count := range []int{0, 1, 2} {
				for _, removal := range []addonv1alpha1.DependencyRemoval{keep, remove} {
					installation := stored(phase, func(i *Installation) { i.Requests = requests(removal) })
					if unused > 0 {
						unusedFor(unused)(installation)
					}
					if count > 0 {
						undoneTimes(count, time.Duration(count-2)*time.Hour)(installation)
					}
					installations = append(installations, installation)
				}
			}
		}
	}
	absent, present := []*Present{nil}, []*Present{}
	for _, uid := range []types.UID{"a", "b"} {
		for bits := range 1 << 4 {
			bit := func(n int) bool { return bits>>n&1 == 1 }
			addOn := &Present{UID: uid, Generation: 1, Ours: bit(0), Deleted: bit(1), TakenOver: bit(2)}
			if bit(3) {
				addOn.Generation = 2
			}
			present = append(present, addOn)
		}
	}
	for _, installation := range append(installations, nil) {
		eachOf(installation, absent, func(bit func(int) bool, f *Facts) {
			f.Missing, f.Consents, f.Approved, f.RemovalApproved = bit(0), bit(1), bit(2), true
			if bit(3) {
				f.Contradiction = "it does"
			}
		}, visit)
		eachOf(installation, present, func(bit func(int) bool, f *Facts) {
			f.Missing, f.Consents, f.Approved, f.Keep, f.RemovalApproved = true, bit(1), true, bit(2), bit(3)
		}, visit)
	}
}

// eachOf calls a function with the stored installation and every combination of add-on, cluster, use and bits.
func eachOf(installation *Installation, addOns []*Present, set func(bit func(int) bool, f *Facts), visit func(Facts)) {
	for _, addOn := range addOns {
		for bits := range 1 << 5 {
			bit := func(n int) bool { return bits>>n&1 == 1 }
			for _, cluster := range []Cluster{ClusterReady, ClusterDetached, ClusterDenied, ClusterDoubtful} {
				for _, use := range []Use{UseUnknown, Used, Unused} {
					f := Facts{Stored: installation, AddOn: addOn, Cluster: cluster, ClusterUID: "cluster", Delay: time.Hour}
					set(bit, &f)
					f.Use = use
					if bit(4) {
						f.Requests = requests(remove)
					}
					visit(f)
					if addOn == nil {
						break // its use does not matter
					}
				}
			}
		}
	}
}

// For every combination of facts: Interlock installs nothing without consent, in doubt, or over an existing add-on. It
// removes no add-on that is used, that another writer owns, or that any edge keeps. A repeated decision has the same
// result.
func TestDecideEverything(t *testing.T) {
	count := 0
	decide := func(f Facts) {
		count++
		d := Decide(f, noon)
		if wrong := broken(f, d); wrong != "" {
			t.Fatalf("%s: %s\n%+v\nstored %+v\nadd-on %+v", wrong, d, f, f.Stored, f.AddOn)
		}
		if d.Desired == nil && f.Stored == nil {
			return
		}
		stored := f
		stored.Stored = d.Desired
		second := Decide(stored, noon)
		for range 2 { // an undone or deleted installation may begin anew
			if reflect.DeepEqual(second.Desired, stored.Stored) {
				return
			}
			stored.Stored = second.Desired
			second = Decide(stored, noon)
		}
		if !reflect.DeepEqual(second.Desired, stored.Stored) {
			t.Fatalf("has no end: %s\n%+v\nstored %+v", d, f, f.Stored)
		}
	}
	eachFacts(func(f Facts) {
		decide(f)
		f.ByLabel = true
		decide(f)
		f.Labeled = true
		decide(f)
	})
	t.Logf("%d combinations", count)
}

func broken(f Facts, d Decision) string {
	acts := f.Cluster == ClusterReady && f.Consents
	switch d.Step {
	case Install:
		switch {
		case !acts || f.Contradiction != "" || !f.Approved || f.Full:
			return "installs what is blocked"
		case f.ByLabel && f.Labeled && f.Stored != nil:
			return "labels what is labeled"
		case f.AddOn != nil || len(f.Requests) == 0:
			return "installs what nobody needs"
		case d.Desired == nil || d.Desired.Phase != installing:
			return "installs what is not stored"
		}
	case Remove:
		switch {
		case !acts || f.Keep || f.Use != Unused || f.keeps(*f.Stored):
			return "removes what is kept"
		case f.ByLabel && !f.Labeled:
			return "removes what is removed"
		case f.ByLabel && f.AddOn != nil && !f.AddOn.Deleted && (f.AddOn.TakenOver || f.AddOn.Generation > f.Stored.Generation):
			return "removes what another writer has"
		case f.ByLabel:
		case f.AddOn == nil || f.AddOn.UID != f.Stored.UID || f.AddOn.Generation > f.Stored.Generation ||
			f.AddOn.Deleted || f.AddOn.TakenOver || !f.AddOn.Ours:
			return "removes what another writer has"
		case d.Desired == nil || d.Desired.Phase != removing || f.Stored.Phase != removing && f.Stored.UnusedSince.Add(f.Delay).After(noon):
			return "removes too soon"
		}
	case Rest:
	}
	if d.Begins && d.Step == Rest {
		return "begins nothing"
	}
	return ""
}
