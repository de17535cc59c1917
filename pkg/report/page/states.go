package page

import "open-cluster-management.io/interlock/pkg/report/overview"

// StateText are the texts about a state of add-ons. Each state has a symbol of its own, because not all readers see colors.
type StateText struct {
	State   overview.State `json:"state"`
	Symbol  string         `json:"symbol"`
	Word    string         `json:"word"`
	Meaning string         `json:"meaning"`
}

// Legend returns the texts about all states, worst first.
func Legend() []StateText {
	legend := make([]StateText, 0, len(overview.States))
	for _, state := range overview.States {
		legend = append(legend, StateText{state, states[state].symbol, states[state].word, states[state].meaning})
	}
	return legend
}

var states = map[overview.State]struct{ symbol, word, meaning string }{
	overview.Failing: {"✗", "dependency fails", "A Required dependency fails, so the add-on cannot work."},
	overview.Down:    {"▼", "not available", "The add-on is not available, although no dependency of it fails."},
	overview.Stale: {
		"≠", "stale", "The conditions do not show the current verdicts: addon-manager, or the agent that sets Available, has not updated them.",
	},
	overview.Waiting:    {"…", "waits", "The add-on is not installed yet, because its gate is closed until its dependencies are satisfied."},
	overview.Held:       {"◌", "held", "The verdict on a dependency is held, because its input is not known at the moment."},
	overview.Unreported: {"?", "not reported", "The agent of the add-on has not reported yet."},
	overview.Lost:       {"⌀", "lost", "The managed cluster cannot be reached, so nothing new is known."},
	overview.Leaving:    {"→", "leaving", "The add-on is being removed, or its managed cluster is being detached."},
	overview.Limited:    {"◐", "Optional fails", "The add-on is available, and an Optional dependency of it fails."},
	overview.Working:    {"✓", "works", "The add-on is available, and no dependency of it fails."},
}
