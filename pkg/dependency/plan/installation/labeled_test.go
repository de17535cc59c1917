package installation

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// labeled is a managed cluster that has the label.
func labeled(change func(*Inputs)) Inputs {
	return ready(func(i *Inputs) { i.ByLabel, i.Labeled = true, true; change(i) })
}

// unlabeled is a managed cluster that does not.
func unlabeled(change func(*Inputs)) Inputs {
	return ready(func(i *Inputs) { i.ByLabel = true; change(i) })
}

// placed is an add-on that Open Cluster Management has installed.
func placed(i *Inputs) { i.AddOn = &Present{UID: "a", Generation: 1} }

func TestDecideByLabel(t *testing.T) {
	for name, test := range map[string]struct {
		facts Inputs
		want  string
	}{
		"Needed":       {unlabeled(needed), "Installing, install, begins"},
		"NeedsConsent": {unlabeled(func(i *Inputs) { needed(i); i.Consents = false }), "none, NeedsConsent"},
		"Full":         {unlabeled(func(i *Inputs) { needed(i); i.Full = true }), "none, NeedsPlacement"},

		"CrashBeforeLabeling": {unlabeled(func(i *Inputs) { needed(i); i.Stored = stored(installing) }), "Installing, install"},
		"CrashAfterLabeling":  {labeled(func(i *Inputs) { needed(i); i.Stored = stored(installing) }), "Installing"},
		"NeededNoMoreBeforeLabeling": {
			unlabeled(func(i *Inputs) { i.Stored = stored(installing) }), "none",
		},
		"NeededNoMoreBeforeOCMInstalls": {
			labeled(func(i *Inputs) { i.Stored = stored(installing) }), "Unused, again 13:00:00",
		},
		"NeverInstalledAndUnused": {
			labeled(func(i *Inputs) { i.Stored = stored(notUsed, unusedFor(time.Hour)) }), "Removing, remove, begins",
		},
		"NeededByOneThatLeavesBeforeOCMInstalls": {
			labeled(func(i *Inputs) { i.Use = Used; i.Stored = stored(installing) }), "Installing",
		},
		"PausedBeforeOCMInstalls": {
			labeled(func(i *Inputs) { i.Consents = false; i.Stored = stored(installing) }), "Installing",
		},
		"NeededNoMoreAndLost": {
			labeled(func(i *Inputs) { i.Stored = stored(installing); i.Cluster = ClusterUncertain }), "Installing",
		},
		"Installed": {labeled(func(i *Inputs) { needed(i); placed(i); i.Stored = stored(installing) }), "Installed"},
		"AlsoInstalledByAnotherPlacement": {
			unlabeled(func(i *Inputs) { needed(i); placed(i); i.Stored = stored(installing) }), "none",
		},

		"RegistrationReplaced": {labeled(func(i *Inputs) { needed(i); i.Stored = stored(installed) }), "Installed"},
		"MadeAgain": {
			labeled(func(i *Inputs) { needed(i); i.AddOn = &Present{UID: "b", Generation: 1}; i.Stored = stored(installed) }), "Installed",
		},
		"Paused": {
			labeled(func(i *Inputs) { needed(i); placed(i); i.Consents = false; i.Stored = stored(installed) }), "Installed",
		},
		"PausedWhileUnused": {
			labeled(func(i *Inputs) { placed(i); i.Consents = false; i.Stored = stored(notUsed, unusedFor(2*time.Hour)) }),
			"Installed, NeedsConsent",
		},
		"LabelTakenAway": {unlabeled(func(i *Inputs) { needed(i); i.Stored = stored(installed) }), "Installing undone 1"},
		"LabelTakenAwayAndNotRemovedYet": {
			unlabeled(func(i *Inputs) { needed(i); placed(i); i.Stored = stored(installed) }), "Installing undone 1",
		},
		"NotRemovedYet": {
			unlabeled(func(i *Inputs) {
				needed(i)
				placed(i)
				i.Stored = stored(installing, undoneTimes(1, -time.Second), func(i *Installation) { i.Since = noon.Add(-time.Second) })
			}), "Installing undone 1, again 12:59:59",
		},
		"NotRemovedForMinutes": {
			unlabeled(func(i *Inputs) {
				needed(i)
				placed(i)
				i.Stored = stored(installing, undoneTimes(1, -5*time.Minute), func(i *Installation) { i.Since = noon.Add(-5 * time.Minute) })
			}), "Installing undone 1, again 12:55:00",
		},
		"AlsoInstalledByAnotherPlacementForAnHour": {
			unlabeled(func(i *Inputs) {
				needed(i)
				placed(i)
				i.Stored = stored(installing, undoneTimes(1, -time.Hour), func(i *Installation) { i.Since = noon.Add(-time.Hour) })
			}), "none",
		},
		"LabelTakenAwayAgain": {
			unlabeled(func(i *Inputs) { needed(i); i.Stored = stored(installed, undoneTimes(1, -time.Minute)) }),
			"GivenUp undone 2, GivenUp, again 13:00:00",
		},
		"GivenUp": {
			unlabeled(func(i *Inputs) { needed(i); i.Stored = stored(givenUp, undoneTimes(2, time.Minute)) }),
			"GivenUp undone 2, GivenUp, again 12:01:00",
		},
		"LabelBroughtBack": {
			labeled(func(i *Inputs) { needed(i); i.Stored = stored(givenUp, undoneTimes(2, time.Minute)) }), "Installing undone 2",
		},
		"LabelTakenAwayAndUnused": {unlabeled(func(i *Inputs) { placed(i); i.Stored = stored(notUsed) }), "none"},

		"TakenOver": {labeled(func(i *Inputs) { placed(i); i.AddOn.Generation = 2; i.Stored = stored(notUsed) }), "Kept"},
		"TakenOverByItsConfiguration": {
			labeled(func(i *Inputs) { placed(i); i.AddOn.TakenOver = true; i.Stored = stored(notUsed, unusedFor(time.Hour)) }), "Kept",
		},
		"Kept":             {labeled(func(i *Inputs) { placed(i); i.Stored = stored(kept) }), "Kept"},
		"KeptAndUnlabeled": {unlabeled(func(i *Inputs) { needed(i); i.Stored = stored(kept) }), "none"},

		"Unused": {labeled(func(i *Inputs) { placed(i); i.Stored = stored(installed) }), "Unused, again 13:00:00"},
		"RemovalBegins": {
			labeled(func(i *Inputs) { placed(i); i.Stored = stored(notUsed, unusedFor(time.Hour)) }), "Removing, remove, begins",
		},
		"CrashBeforeWithdrawing": {
			labeled(func(i *Inputs) { placed(i); i.Stored = stored(removing, unusedFor(time.Hour)) }), "Removing, remove",
		},
		"CrashAfterWithdrawing": {
			unlabeled(func(i *Inputs) { placed(i); i.Stored = stored(removing, unusedFor(time.Hour)) }), "none",
		},
		"KeptByItsEdge": {
			labeled(func(i *Inputs) { placed(i); i.Keep = true; i.Stored = stored(notUsed, unusedFor(2*time.Hour)) }), "Installed",
		},

		"LabelOfAnotherWriter": {labeled(func(i *Inputs) { needed(i); placed(i) }), "none"},
		"LabelOfNobody":        {labeled(placed), "none"},
		"LabelSetBefore":       {labeled(needed), "Installing, install, begins"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Decide(test.facts, noon).String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
