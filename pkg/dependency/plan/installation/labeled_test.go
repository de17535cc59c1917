package installation

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// labeled is a managed cluster that has the label.
func labeled(change func(*Facts)) Facts {
	return ready(func(f *Facts) { f.ByLabel, f.Labeled = true, true; change(f) })
}

// unlabeled is a managed cluster that does not.
func unlabeled(change func(*Facts)) Facts {
	return ready(func(f *Facts) { f.ByLabel = true; change(f) })
}

// placed is an add-on that Open Cluster Management has installed.
func placed(f *Facts) { f.AddOn = &Present{UID: "a", Generation: 1} }

func TestDecideByLabel(t *testing.T) {
	for name, test := range map[string]struct {
		facts Facts
		want  string
	}{
		"Needed":       {unlabeled(needed), "Installing, install, begins"},
		"NeedsConsent": {unlabeled(func(f *Facts) { needed(f); f.Consents = false }), "none, NeedsConsent"},
		"Full":         {unlabeled(func(f *Facts) { needed(f); f.Full = true }), "none, NeedsPlacement"},

		"CrashBeforeLabeling": {unlabeled(func(f *Facts) { needed(f); f.Stored = stored(installing) }), "Installing, install"},
		"CrashAfterLabeling":  {labeled(func(f *Facts) { needed(f); f.Stored = stored(installing) }), "Installing"},
		"NeededNoMoreBeforeLabeling": {
			unlabeled(func(f *Facts) { f.Stored = stored(installing) }), "none",
		},
		"NeededNoMoreBeforeOCMInstalls": {
			labeled(func(f *Facts) { f.Stored = stored(installing) }), "Unused, again 13:00:00",
		},
		"NeverInstalledAndUnused": {
			labeled(func(f *Facts) { f.Stored = stored(notUsed, unusedFor(time.Hour)) }), "Removing, remove, begins",
		},
		"NeededByOneThatLeavesBeforeOCMInstalls": {
			labeled(func(f *Facts) { f.Use = Used; f.Stored = stored(installing) }), "Installing",
		},
		"PausedBeforeOCMInstalls": {
			labeled(func(f *Facts) { f.Consents = false; f.Stored = stored(installing) }), "Installing",
		},
		"NeededNoMoreAndLost": {
			labeled(func(f *Facts) { f.Stored = stored(installing); f.Cluster = ClusterDoubtful }), "Installing",
		},
		"Installed": {labeled(func(f *Facts) { needed(f); placed(f); f.Stored = stored(installing) }), "Installed"},
		"AlsoInstalledByAnotherPlacement": {
			unlabeled(func(f *Facts) { needed(f); placed(f); f.Stored = stored(installing) }), "none",
		},

		"RegistrationReplaced": {labeled(func(f *Facts) { needed(f); f.Stored = stored(installed) }), "Installed"},
		"MadeAgain": {
			labeled(func(f *Facts) { needed(f); f.AddOn = &Present{UID: "b", Generation: 1}; f.Stored = stored(installed) }), "Installed",
		},
		"Paused": {
			labeled(func(f *Facts) { needed(f); placed(f); f.Consents = false; f.Stored = stored(installed) }), "Installed",
		},
		"PausedWhileUnused": {
			labeled(func(f *Facts) { placed(f); f.Consents = false; f.Stored = stored(notUsed, unusedFor(2*time.Hour)) }), "Installed",
		},
		"LabelTakenAway": {unlabeled(func(f *Facts) { needed(f); f.Stored = stored(installed) }), "Installing undone 1"},
		"LabelTakenAwayAndNotRemovedYet": {
			unlabeled(func(f *Facts) { needed(f); placed(f); f.Stored = stored(installed) }), "Installing undone 1",
		},
		"NotRemovedYet": {
			unlabeled(func(f *Facts) {
				needed(f)
				placed(f)
				f.Stored = stored(installing, undoneTimes(1, -time.Second), func(i *Installation) { i.Since = noon.Add(-time.Second) })
			}), "Installing undone 1, again 12:59:59",
		},
		"NotRemovedForMinutes": {
			unlabeled(func(f *Facts) {
				needed(f)
				placed(f)
				f.Stored = stored(installing, undoneTimes(1, -5*time.Minute), func(i *Installation) { i.Since = noon.Add(-5 * time.Minute) })
			}), "Installing undone 1, again 12:55:00",
		},
		"AlsoInstalledByAnotherPlacementForAnHour": {
			unlabeled(func(f *Facts) {
				needed(f)
				placed(f)
				f.Stored = stored(installing, undoneTimes(1, -time.Hour), func(i *Installation) { i.Since = noon.Add(-time.Hour) })
			}), "none",
		},
		"LabelTakenAwayAgain": {
			unlabeled(func(f *Facts) { needed(f); f.Stored = stored(installed, undoneTimes(1, -time.Minute)) }),
			"GivenUp undone 2, GivenUp, again 13:00:00",
		},
		"GivenUp": {
			unlabeled(func(f *Facts) { needed(f); f.Stored = stored(givenUp, undoneTimes(2, time.Minute)) }),
			"GivenUp undone 2, GivenUp, again 12:01:00",
		},
		"LabelBroughtBack": {
			labeled(func(f *Facts) { needed(f); f.Stored = stored(givenUp, undoneTimes(2, time.Minute)) }), "Installing undone 2",
		},
		"LabelTakenAwayAndUnused": {unlabeled(func(f *Facts) { placed(f); f.Stored = stored(notUsed) }), "none"},

		"TakenOver": {labeled(func(f *Facts) { placed(f); f.AddOn.Generation = 2; f.Stored = stored(notUsed) }), "Kept"},
		"TakenOverByItsConfiguration": {
			labeled(func(f *Facts) { placed(f); f.AddOn.TakenOver = true; f.Stored = stored(notUsed, unusedFor(time.Hour)) }), "Kept",
		},
		"Kept":             {labeled(func(f *Facts) { placed(f); f.Stored = stored(kept) }), "Kept"},
		"KeptAndUnlabeled": {unlabeled(func(f *Facts) { needed(f); f.Stored = stored(kept) }), "none"},

		"Unused": {labeled(func(f *Facts) { placed(f); f.Stored = stored(installed) }), "Unused, again 13:00:00"},
		"RemovalBegins": {
			labeled(func(f *Facts) { placed(f); f.Stored = stored(notUsed, unusedFor(time.Hour)) }), "Removing, remove, begins",
		},
		"CrashBeforeWithdrawing": {
			labeled(func(f *Facts) { placed(f); f.Stored = stored(removing, unusedFor(time.Hour)) }), "Removing, remove",
		},
		"CrashAfterWithdrawing": {
			unlabeled(func(f *Facts) { placed(f); f.Stored = stored(removing, unusedFor(time.Hour)) }), "none",
		},
		"KeptByItsEdge": {
			labeled(func(f *Facts) { placed(f); f.Keep = true; f.Stored = stored(notUsed, unusedFor(2*time.Hour)) }), "Installed",
		},

		"LabelOfAnotherWriter": {labeled(func(f *Facts) { needed(f); placed(f) }), "none"},
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
