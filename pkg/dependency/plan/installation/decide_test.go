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
func ready(change func(*Inputs)) Inputs {
	i := Inputs{ClusterUID: "cluster", Consents: true, Approved: true, RemovalApproved: true, Delay: time.Hour, Use: Unused}
	change(&i)
	return i
}

func needed(i *Inputs) { i.Requests, i.Missing, i.Use = requests(remove), true, Used }

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

func present(i *Inputs) { i.AddOn = &Present{UID: "a", Generation: 1, Ours: true} }

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
		facts Inputs
		want  string
	}{
		"NotNeeded":         {ready(func(*Inputs) {}), "none"},
		"Needed":            {ready(needed), "Installing, install, begins"},
		"Satisfied":         {ready(func(i *Inputs) { needed(i); i.Missing = false }), "none"},
		"InstalledByOthers": {ready(func(i *Inputs) { needed(i); present(i) }), "none"},
		"NeedsConsent":      {ready(func(i *Inputs) { needed(i); i.Consents = false }), "none, NeedsConsent"},
		"Denied":            {ready(func(i *Inputs) { needed(i); i.Cluster = ClusterDenied }), "none, DeniedByPolicy"},
		"InDoubt":           {ready(func(i *Inputs) { needed(i); i.Cluster = ClusterUncertain }), "none, ClusterInDoubt"},
		"Detached":          {ready(func(i *Inputs) { needed(i); i.Cluster = ClusterDetached }), "none"},
		"Contradicts":       {ready(func(i *Inputs) { needed(i); i.Contradiction = "it does" }), "none, Contradiction"},
		"NeedsApproval":     {ready(func(i *Inputs) { needed(i); i.Approved = false }), "none, NeedsApproval"},

		"CrashBeforeInstalling": {ready(func(i *Inputs) { needed(i); i.Stored = stored(installing) }), "Installing, install"},
		"CrashAfterInstalling":  {ready(func(i *Inputs) { needed(i); present(i); i.Stored = stored(installing) }), "Installed"},
		"AnotherWriterWasFirst": {
			ready(func(i *Inputs) { needed(i); i.AddOn = &Present{UID: "b"}; i.Stored = stored(installing) }), "none",
		},
		"NeededNoMoreBeforeInstalling": {ready(func(i *Inputs) { i.Stored = stored(installing) }), "none"},
		"ConsentWithdrawnBefore": {
			ready(func(i *Inputs) { needed(i); i.Consents = false; i.Stored = stored(installing) }), "none, NeedsConsent",
		},
		"LostBefore": {
			ready(func(i *Inputs) { needed(i); i.Cluster = ClusterUncertain; i.Stored = stored(installing) }), "Installing, ClusterInDoubt",
		},
		"AnotherClusterOfTheName": {
			ready(func(i *Inputs) { needed(i); i.ClusterUID = "other"; i.Stored = stored(installing) }), "none",
		},

		"Installed": {ready(func(i *Inputs) { needed(i); present(i); i.Stored = stored(installed) }), "Installed"},
		"IsDeleted": {ready(func(i *Inputs) { needed(i); present(i); i.AddOn.Deleted = true; i.Stored = stored(installed) }), "Installed"},
		"Undone":    {ready(func(i *Inputs) { needed(i); i.Stored = stored(installed) }), "Installing undone 1"},
		"UndoneAgain": {
			ready(func(i *Inputs) { needed(i); i.Stored = stored(installed, undoneTimes(1, -time.Minute)) }),
			"GivenUp undone 2, GivenUp, again 13:00:00",
		},
		"UndoneMuchLater": {
			ready(func(i *Inputs) { needed(i); i.Stored = stored(installed, undoneTimes(2, -2*time.Hour)) }), "Installing undone 1",
		},
		"GivenUp": {
			ready(func(i *Inputs) { needed(i); i.Stored = stored(givenUp, undoneTimes(2, time.Minute)) }),
			"GivenUp undone 2, GivenUp, again 12:01:00",
		},
		"TriedAgain": {
			ready(func(i *Inputs) { needed(i); i.Stored = stored(givenUp, undoneTimes(2, -time.Second)) }),
			"Installing undone 2, install, begins",
		},
		"GivenUpAndDenied": {
			ready(func(i *Inputs) {
				needed(i)
				i.Cluster = ClusterDenied
				i.Stored = stored(givenUp, undoneTimes(2, -time.Second))
			}),
			"GivenUp undone 2, DeniedByPolicy",
		},
		"RestoredFromABackup": {
			ready(func(i *Inputs) {
				needed(i)
				i.AddOn = &Present{UID: "b", Generation: 1, Ours: true}
				i.Stored = stored(installed)
			}),
			"Installed",
		},
		"ReplacedByAnotherWriter": {
			ready(func(i *Inputs) { needed(i); i.AddOn = &Present{UID: "b"}; i.Stored = stored(installed) }), "none",
		},
		"TakenOver": {ready(func(i *Inputs) { present(i); i.AddOn.Generation = 2; i.Stored = stored(notUsed) }), "Kept"},
		"TakenOverByItsLabels": {
			ready(func(i *Inputs) {
				present(i)
				i.AddOn.TakenOver = true
				i.Stored = stored(notUsed, unusedFor(time.Hour))
			}), "Kept",
		},
		"LabelRemoved": {ready(func(i *Inputs) { present(i); i.AddOn.Ours = false; i.Stored = stored(installed) }), "Kept"},
		"CrashAfterInstallingAndTakenOver": {
			ready(func(i *Inputs) { needed(i); present(i); i.AddOn.Generation = 2; i.Stored = stored(installing) }), "Kept",
		},
		"KeptAndRestoredFromABackup": {
			ready(func(i *Inputs) { i.AddOn = &Present{UID: "b", Generation: 1, Ours: true}; i.Stored = stored(kept) }), "Kept",
		},
		"Kept":           {ready(func(i *Inputs) { present(i); i.AddOn.Generation = 2; i.Stored = stored(kept) }), "Kept"},
		"KeptAndRemoved": {ready(func(i *Inputs) { needed(i); i.Stored = stored(kept) }), "none"},

		"Unused": {ready(func(i *Inputs) { present(i); i.Stored = stored(installed) }), "Unused, again 13:00:00"},
		"UnusedForAWhile": {
			ready(func(i *Inputs) { present(i); i.Stored = stored(notUsed, unusedFor(time.Minute)) }), "Unused, again 12:59:00",
		},
		"UnusedSinceTomorrow": {
			ready(func(i *Inputs) { present(i); i.Stored = stored(notUsed, unusedFor(-24*time.Hour)) }), "Unused, again 13:00:00",
		},
		"UsedAgain": {
			ready(func(i *Inputs) { present(i); i.Use = Used; i.Stored = stored(notUsed, unusedFor(time.Minute)) }), "Installed",
		},
		"UseNotKnown": {
			ready(func(i *Inputs) { present(i); i.Use = UseUnknown; i.Stored = stored(notUsed, unusedFor(2*time.Hour)) }), "Unused",
		},
		"LostWhileUnused": {
			ready(func(i *Inputs) {
				present(i)
				i.Cluster = ClusterUncertain
				i.Stored = stored(notUsed, unusedFor(2*time.Hour))
			}), "Installed, ClusterInDoubt",
		},
		"LostWhileUsed": {
			ready(func(i *Inputs) {
				needed(i)
				present(i)
				i.Cluster = ClusterUncertain
				i.Stored = stored(installed)
			}), "Installed",
		},
		"DeniedWhileUnused": {
			ready(func(i *Inputs) { present(i); i.Cluster = ClusterDenied; i.Stored = stored(notUsed) }), "Installed, DeniedByPolicy",
		},
		"KeptByItsEdge": {ready(func(i *Inputs) { present(i); i.Keep = true; i.Stored = stored(installed) }), "Installed"},
		"KeptByItsLastRequest": {
			ready(func(i *Inputs) {
				present(i)
				i.Stored = stored(installed, func(i *Installation) { i.Requests = requests(keep) })
			}), "Installed",
		},
		"RemovalBegins": {
			ready(func(i *Inputs) { present(i); i.Stored = stored(notUsed, unusedFor(time.Hour)) }), "Removing, remove, begins",
		},
		"RemovalNeedsApproval": {
			ready(func(i *Inputs) {
				present(i)
				i.RemovalApproved = false
				i.Stored = stored(notUsed, unusedFor(time.Hour))
			}),
			"Unused, NeedsApproval",
		},
		"CrashBeforeRemoving": {
			ready(func(i *Inputs) { present(i); i.Stored = stored(removing, unusedFor(time.Hour)) }), "Removing, remove",
		},
		"UsedBeforeRemoving": {
			ready(func(i *Inputs) { needed(i); present(i); i.Stored = stored(removing, unusedFor(time.Hour)) }), "Installed",
		},
		"Removed":              {ready(func(i *Inputs) { i.Stored = stored(removing) }), "none"},
		"NeededOnceRemoved":    {ready(func(i *Inputs) { needed(i); i.Stored = stored(removing) }), "none"},
		"UnusedAndUninstalled": {ready(func(i *Inputs) { i.Stored = stored(notUsed) }), "none"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Decide(test.facts, noon).String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// eachInputs calls a function with every combination of inputs.
func eachInputs(visit func(Inputs)) {
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
		eachOf(installation, absent, func(bit func(int) bool, i *Inputs) {
			i.Missing, i.Consents, i.Approved, i.RemovalApproved = bit(0), bit(1), bit(2), true
			if bit(3) {
				i.Contradiction = "it does"
			}
		}, visit)
		eachOf(installation, present, func(bit func(int) bool, i *Inputs) {
			i.Missing, i.Consents, i.Approved, i.Keep, i.RemovalApproved = true, bit(1), true, bit(2), bit(3)
		}, visit)
	}
}

// eachOf calls a function with the stored installation and every combination of add-on, cluster, use and bits.
func eachOf(installation *Installation, addOns []*Present, set func(bit func(int) bool, i *Inputs), visit func(Inputs)) {
	for _, addOn := range addOns {
		for bits := range 1 << 5 {
			bit := func(n int) bool { return bits>>n&1 == 1 }
			for _, cluster := range []Cluster{ClusterReady, ClusterDetached, ClusterDenied, ClusterUncertain} {
				for _, use := range []Use{UseUnknown, Used, Unused} {
					i := Inputs{Stored: installation, AddOn: addOn, Cluster: cluster, ClusterUID: "cluster", Delay: time.Hour}
					set(bit, &i)
					i.Use = use
					if bit(4) {
						i.Requests = requests(remove)
					}
					visit(i)
					if addOn == nil {
						break // its use does not matter
					}
				}
			}
		}
	}
}

// For every combination of inputs: Interlock installs nothing without consent, in doubt, or over an existing add-on. It
// removes no add-on that is used, that another writer owns, or that any edge keeps. A repeated decision has the same
// result.
func TestDecideEverything(t *testing.T) {
	count := 0
	decide := func(i Inputs) {
		count++
		d := Decide(i, noon)
		if wrong := broken(i, d); wrong != "" {
			t.Fatalf("%s: %s\n%+v\nstored %+v\nadd-on %+v", wrong, d, i, i.Stored, i.AddOn)
		}
		if d.Desired == nil && i.Stored == nil {
			return
		}
		stored := i
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
			t.Fatalf("has no end: %s\n%+v\nstored %+v", d, i, i.Stored)
		}
	}
	eachInputs(func(i Inputs) {
		decide(i)
		i.ByLabel = true
		decide(i)
		i.Labeled = true
		decide(i)
	})
	t.Logf("%d combinations", count)
}

func broken(i Inputs, d Decision) string {
	acts := i.Cluster == ClusterReady && i.Consents
	switch d.Step {
	case Install:
		switch {
		case !acts || i.Contradiction != "" || !i.Approved || i.Full:
			return "installs what is blocked"
		case i.ByLabel && i.Labeled && i.Stored != nil:
			return "labels what is labeled"
		case i.AddOn != nil || len(i.Requests) == 0:
			return "installs what nobody needs"
		case d.Desired == nil || d.Desired.Phase != installing:
			return "installs what is not stored"
		}
	case Remove:
		switch {
		case !acts || i.Keep || i.Use != Unused || i.keeps(*i.Stored):
			return "removes what is kept"
		case i.ByLabel && !i.Labeled:
			return "removes what is removed"
		case i.ByLabel && i.AddOn != nil && !i.AddOn.Deleted && (i.AddOn.TakenOver || i.AddOn.Generation > i.Stored.Generation):
			return "removes what another writer has"
		case i.ByLabel:
		case i.AddOn == nil || i.AddOn.UID != i.Stored.UID || i.AddOn.Generation > i.Stored.Generation ||
			i.AddOn.Deleted || i.AddOn.TakenOver || !i.AddOn.Ours:
			return "removes what another writer has"
		case d.Desired == nil || d.Desired.Phase != removing || i.Stored.Phase != removing && i.Stored.UnusedSince.Add(i.Delay).After(noon):
			return "removes too soon"
		}
	case Rest:
	}
	if d.Begins && d.Step == Rest {
		return "begins nothing"
	}
	return ""
}
