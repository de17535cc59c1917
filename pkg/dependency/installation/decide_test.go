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
	taken      = dependencyv1alpha1.PhaseKept
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
	for _, each := range change {
		each(i)
	}
	return i
}

func present(f *Facts) { f.AddOn = &Present{UID: "a", Generation: 1, Ours: true} }

func unusedFor(d time.Duration) func(*Installation) {
	return func(i *Installation) { i.UnusedSince = noon.Add(-d) }
}

func undoneTimes(count int, again time.Duration) func(*Installation) {
	return func(i *Installation) {
		i.Undone = Undone{Count: count, Last: noon.Add(-time.Minute), Again: noon.Add(again)}
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
	if !d.Again.IsZero() {
		text += ", again " + d.Again.Format(time.TimeOnly)
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
		"TakenOver":      {ready(func(f *Facts) { present(f); f.AddOn.Generation = 2; f.Stored = stored(notUsed) }), "Kept"},
		"Kept":           {ready(func(f *Facts) { present(f); f.AddOn.Generation = 2; f.Stored = stored(taken) }), "Kept"},
		"KeptAndRemoved": {ready(func(f *Facts) { needed(f); f.Stored = stored(taken) }), "none"},

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
			ready(func(f *Facts) { present(f); f.RemovalApproved = false; f.Stored = stored(notUsed, unusedFor(time.Hour)) }),
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

// each calls a function with every combination of facts.
func each(visit func(Facts)) {
	var all []*Installation
	for _, phase := range []dependencyv1alpha1.InstallationPhase{"", installing, installed, notUsed, removing, taken, givenUp} {
		for _, unused := range []time.Duration{0, time.Minute, 2 * time.Hour} {
			for _, count := range []int{0, 1, 2} {
				for _, removal := range []addonv1alpha1.DependencyRemoval{keep, remove} {
					one := stored(phase, func(i *Installation) { i.Requests = requests(removal) })
					if unused > 0 {
						unusedFor(unused)(one)
					}
					if count > 0 {
						undoneTimes(count, time.Duration(count-2)*time.Hour)(one)
					}
					all = append(all, one)
				}
			}
		}
	}
	addOns := []*Present{nil}
	for _, uid := range []types.UID{"a", "b"} {
		for _, of := range []bool{false, true} {
			for _, deleted := range []bool{false, true} {
				for _, generation := range []int64{1, 2} {
					addOns = append(addOns, &Present{UID: uid, Generation: generation, Ours: of, Deleted: deleted})
				}
			}
		}
	}
	for _, of := range append(all, nil) {
		for _, addOn := range addOns {
			for bits := range 1 << 7 {
				bit := func(n int) bool { return bits>>n&1 == 1 }
				for _, cluster := range []Cluster{ClusterReady, ClusterDetached, ClusterDenied, ClusterDoubtful} {
					for _, use := range []Use{UseUnknown, Used, Unused} {
						f := Facts{
							Stored: of, AddOn: addOn, Cluster: cluster, ClusterUID: "cluster", Use: use, Delay: time.Hour,
							Missing: bit(0), Consents: bit(1), Keep: bit(2), Approved: bit(3), RemovalApproved: bit(4),
						}
						if bit(5) {
							f.Contradiction = "it does"
						}
						if bit(6) {
							f.Requests = requests(remove)
						}
						visit(f)
					}
				}
			}
		}
	}
}

// Whatever is stored and found: nothing is installed without consent, on doubt, or beside what is there. Nothing is removed that is used,
// that another writer has, or that anybody wants to keep. What was decided is not decided again, with another end.
func TestDecideEverything(t *testing.T) {
	count := 0
	each(func(f Facts) {
		count++
		d := Decide(f, noon)
		if wrong := broken(f, d); wrong != "" {
			t.Fatalf("%s: %s\n%+v\nstored %+v\nadd-on %+v", wrong, d, f, f.Stored, f.AddOn)
		}
		if d.Desired == nil && f.Stored == nil {
			return
		}
		after := f
		after.Stored = d.Desired
		again := Decide(after, noon)
		for range 2 { // what is undone or deleted may begin anew
			if reflect.DeepEqual(again.Desired, after.Stored) {
				return
			}
			after.Stored = again.Desired
			again = Decide(after, noon)
		}
		if !reflect.DeepEqual(again.Desired, after.Stored) {
			t.Fatalf("has no end: %s\n%+v\nstored %+v", d, f, f.Stored)
		}
	})
	t.Logf("%d combinations", count)
}

func broken(f Facts, d Decision) string {
	acts := f.Cluster == ClusterReady && f.Consents
	switch d.Step {
	case Install:
		switch {
		case !acts || f.Contradiction != "" || !f.Approved:
			return "installs what is blocked"
		case f.AddOn != nil || len(f.Requests) == 0:
			return "installs what nobody needs"
		case d.Desired == nil || d.Desired.Phase != installing:
			return "installs what is not stored"
		}
	case Remove:
		switch {
		case !acts || f.Keep || f.Use != Unused || f.keeps(*f.Stored):
			return "removes what is kept"
		case f.AddOn == nil || f.AddOn.UID != f.Stored.UID || f.AddOn.Generation > f.Stored.Generation || f.AddOn.Deleted:
			return "removes what another writer has"
		case d.Desired == nil || d.Desired.Phase != removing || f.Stored.Phase != removing && f.Stored.UnusedSince.Add(f.Delay).After(noon):
			return "removes too soon"
		}
	}
	if d.Begins && d.Step == Rest {
		return "begins nothing"
	}
	return ""
}
