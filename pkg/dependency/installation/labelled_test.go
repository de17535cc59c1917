package installation

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// labelled is a managed cluster that has the label.
func labelled(change func(*Facts)) Facts {
	return ready(func(f *Facts) { f.ByLabel, f.Labelled = true, true; change(f) })
}

// unlabelled is a managed cluster that does not.
func unlabelled(change func(*Facts)) Facts {
	return ready(func(f *Facts) { f.ByLabel = true; change(f) })
}

// placed is an add-on that Open Cluster Management has installed.
func placed(f *Facts) { f.AddOn = &Present{UID: "a", Generation: 1} }

func TestDecideByLabel(t *testing.T) {
	for name, test := range map[string]struct {
		facts Facts
		want  string
	}{
		"Needed":       {unlabelled(needed), "Installing, install, begins"},
		"NeedsConsent": {unlabelled(func(f *Facts) { needed(f); f.Consents = false }), "none, NeedsConsent"},
		"Full":         {unlabelled(func(f *Facts) { needed(f); f.Full = true }), "none, NeedsPlacement"},

		"CrashBeforeLabelling": {unlabelled(func(f *Facts) { needed(f); f.Stored = stored(installing) }), "Installing, install"},
		"CrashAfterLabelling":  {labelled(func(f *Facts) { needed(f); f.Stored = stored(installing) }), "Installing"},
		"NeededNoMoreBeforeLabelling": {
			unlabelled(func(f *Facts) { f.Stored = stored(installing) }), "none",
		},
		"NeededNoMoreBeforeOCMInstalls": {
			labelled(func(f *Facts) { f.Stored = stored(installing) }), "Unused, again 13:00:00",
		},
		"NeverInstalledAndUnused": {
			labelled(func(f *Facts) { f.Stored = stored(notUsed, unusedFor(time.Hour)) }), "Removing, remove, begins",
		},
		"NeededByOneThatLeavesBeforeOCMInstalls": {
			labelled(func(f *Facts) { f.Use = Used; f.Stored = stored(installing) }), "Installing",
		},
		"PausedBeforeOCMInstalls": {
			labelled(func(f *Facts) { f.Consents = false; f.Stored = stored(installing) }), "Installing",
		},
		"NeededNoMoreAndLost": {
			labelled(func(f *Facts) { f.Stored = stored(installing); f.Cluster = ClusterDoubtful }), "Installing",
		},
		"Installed": {labelled(func(f *Facts) { needed(f); placed(f); f.Stored = stored(installing) }), "Installed"},
		"AlsoInstalledByAnotherPlacement": {
			unlabelled(func(f *Facts) { needed(f); placed(f); f.Stored = stored(installing) }), "none",
		},

		"RegistrationReplaced": {labelled(func(f *Facts) { needed(f); f.Stored = stored(installed) }), "Installed"},
		"MadeAgain": {
			labelled(func(f *Facts) { needed(f); f.AddOn = &Present{UID: "b", Generation: 1}; f.Stored = stored(installed) }), "Installed",
		},
		"Paused": {
			labelled(func(f *Facts) { needed(f); placed(f); f.Consents = false; f.Stored = stored(installed) }), "Installed",
		},
		"PausedWhileUnused": {
			labelled(func(f *Facts) { placed(f); f.Consents = false; f.Stored = stored(notUsed, unusedFor(2*time.Hour)) }), "Installed",
		},
		"LabelTakenAway": {unlabelled(func(f *Facts) { needed(f); f.Stored = stored(installed) }), "Installing undone 1"},
		"LabelTakenAwayAndNotRemovedYet": {
			unlabelled(func(f *Facts) { needed(f); placed(f); f.Stored = stored(installed) }), "Installing undone 1",
		},
		"NotRemovedYet": {
			unlabelled(func(f *Facts) {
				needed(f)
				placed(f)
				f.Stored = stored(installing, undoneTimes(1, -time.Second), func(i *Installation) { i.Since = noon.Add(-time.Second) })
			}), "Installing undone 1, again 12:00:59",
		},
		"LabelTakenAwayAgain": {
			unlabelled(func(f *Facts) { needed(f); f.Stored = stored(installed, undoneTimes(1, -time.Minute)) }),
			"GivenUp undone 2, GivenUp, again 13:00:00",
		},
		"GivenUp": {
			unlabelled(func(f *Facts) { needed(f); f.Stored = stored(givenUp, undoneTimes(2, time.Minute)) }),
			"GivenUp undone 2, GivenUp, again 12:01:00",
		},
		"LabelBroughtBack": {
			labelled(func(f *Facts) { needed(f); f.Stored = stored(givenUp, undoneTimes(2, time.Minute)) }), "Installing undone 2",
		},
		"LabelTakenAwayAndUnused": {unlabelled(func(f *Facts) { placed(f); f.Stored = stored(notUsed) }), "none"},

		"TakenOver": {labelled(func(f *Facts) { placed(f); f.AddOn.Generation = 2; f.Stored = stored(notUsed) }), "Kept"},
		"TakenOverByItsConfiguration": {
			labelled(func(f *Facts) { placed(f); f.AddOn.TakenOver = true; f.Stored = stored(notUsed, unusedFor(time.Hour)) }), "Kept",
		},
		"Kept":              {labelled(func(f *Facts) { placed(f); f.Stored = stored(taken) }), "Kept"},
		"KeptAndUnlabelled": {unlabelled(func(f *Facts) { needed(f); f.Stored = stored(taken) }), "none"},

		"Unused": {labelled(func(f *Facts) { placed(f); f.Stored = stored(installed) }), "Unused, again 13:00:00"},
		"RemovalBegins": {
			labelled(func(f *Facts) { placed(f); f.Stored = stored(notUsed, unusedFor(time.Hour)) }), "Removing, remove, begins",
		},
		"CrashBeforeWithdrawing": {
			labelled(func(f *Facts) { placed(f); f.Stored = stored(removing, unusedFor(time.Hour)) }), "Removing, remove",
		},
		"CrashAfterWithdrawing": {
			unlabelled(func(f *Facts) { placed(f); f.Stored = stored(removing, unusedFor(time.Hour)) }), "none",
		},
		"KeptByItsEdge": {
			labelled(func(f *Facts) { placed(f); f.Keep = true; f.Stored = stored(notUsed, unusedFor(2*time.Hour)) }), "Installed",
		},

		"LabelOfAnotherWriter": {labelled(func(f *Facts) { needed(f); placed(f) }), "none"},
		"LabelOfNobody":        {labelled(placed), "none"},
		"LabelSetBefore":       {labelled(needed), "Installing, install, begins"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Decide(test.facts, noon).String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
