package evaluation

import (
	"encoding/json"
	"maps"
	"slices"
	"sort"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
)

// State has all inputs of the verdicts on the edges of one add-on on one managed cluster. It is a plain value: it can be
// printed, and a round trip through JSON does not change its findings.
type State struct {
	Cluster Cluster `json:"cluster"`
	AddOns  AddOns  `json:"addOns,omitempty"`
}

// String prints the state as JSON, from which it can be replayed.
func (s State) String() string {
	encoded, err := json.Marshal(s)
	if err != nil {
		return err.Error()
	}
	return string(encoded)
}

// AddOns are observations of add-ons on one cluster, ascending by name.
type AddOns []Observation

var notInstalled Observation

// Named returns the observation of an add-on. An add-on without one is not installed.
func (a AddOns) Named(name string) *Observation {
	i := sort.Search(len(a), func(i int) bool { return a[i].Name >= name })
	if i < len(a) && a[i].Name == name {
		return &a[i]
	}
	return &notInstalled
}

// State returns the inputs of the verdicts of the named add-on. It calls observe for each of the add-on's needs.
func (e *Evaluator) State(addOn string, cluster Cluster, observe func(addOn string) Observation) State {
	needs := e.Needs(addOn)
	state := State{Cluster: cluster, AddOns: make(AddOns, len(needs))}
	for i, need := range needs {
		state.AddOns[i] = observe(need.Name)
		state.AddOns[i].Name = need.Name
	}
	return state
}

// UsesOCM reports whether the version of any add-on is the version of Open Cluster Management.
func (s *State) UsesOCM(c *catalog.Catalog) bool {
	return slices.ContainsFunc(s.AddOns, func(o Observation) bool {
		return s.Cluster.VersionSources(&o, c.Version(o.Name)).UseOCM()
	})
}

// APIFacts has the reports of an agent on APIs. In JSON it is a list.
type APIFacts map[addonv1alpha1.AddonAPI]APIFact

// apiFact is an entry of the list.
type apiFact struct {
	API  addonv1alpha1.AddonAPI `json:"api"`
	Fact APIFact                `json:"fact"`
}

// MarshalJSON implements json.Marshaler.
func (f APIFacts) MarshalJSON() ([]byte, error) {
	list := make([]apiFact, 0, len(f))
	for _, api := range slices.SortedFunc(maps.Keys(f), catalog.CompareAPIs) {
		list = append(list, apiFact{api, f[api]})
	}
	return json.Marshal(list)
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *APIFacts) UnmarshalJSON(raw []byte) error {
	var list []apiFact
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	*f = make(APIFacts, len(list))
	for _, entry := range list {
		(*f)[entry.API] = entry.Fact
	}
	return nil
}
