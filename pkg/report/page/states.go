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
	overview.Failing: {"✗", "Dependency fails", "A Required dependency fails, so the add-on cannot work."},
	overview.Down:    {"▼", "Not available", "The add-on is not available, although no dependency of it fails."},
	overview.Stale: {
		"≠", "Stale", "The conditions do not show the current state of the dependencies: addon-manager, or the agent that sets Available, has not updated them.",
	},
	overview.Waiting:    {"…", "Waits", "The add-on is not installed yet: it waits for its dependencies, or for addon-manager, which lets it be installed."},
	overview.Held:       {"◌", "Held", "It is not known at the moment whether a dependency is satisfied, so the last conditions count."},
	overview.Unreported: {"?", "Not reported", "The agent of the add-on has not reported yet."},
	overview.Lost:       {"⌀", "Lost", "The managed cluster cannot be reached, so nothing new is known."},
	overview.Leaving:    {"→", "Leaving", "The add-on is being removed, or its managed cluster is being detached."},
	overview.Limited:    {"◐", "Optional fails", "The add-on is available, and an Optional dependency of it fails."},
	overview.Working:    {"✓", "Works", "The add-on is available, and no dependency of it fails."},
}
