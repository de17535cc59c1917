package cause

import (
	"testing"
	"time"

	"open-cluster-management.io/interlock/test/fixture"
)

func TestOnset(t *testing.T) {
	at := func(cluster string, minute int) Moment {
		return Moment{Cluster: cluster, Time: fixture.Earlier.Add(time.Duration(minute) * time.Minute)}
	}
	for name, test := range map[string]struct {
		moments  []Moment
		affected int
		minute   int
		want     string
	}{
		"nothing is known":                  {[]Moment{{Cluster: "a"}}, 1, 0, ""},
		"one cluster":                       {[]Moment{at("a", 3)}, 1, 3, "on a"},
		"one cluster with two add-ons":      {[]Moment{at("a", 5), at("a", 3), at("a", 3)}, 1, 3, "on a"},
		"one is first":                      {[]Moment{at("a", 3), at("b", 2), at("c", 4)}, 3, 2, "first on b"},
		"one is first, and is counted once": {[]Moment{at("a", 2), at("a", 2), at("b", 3)}, 2, 2, "first on a"},
		"several are first": {
			[]Moment{at("a", 3), at("b", 2), at("c", 2), at("c", 2)}, 3, 2, "first on 2 managed clusters at once",
		},
		"all at once":                            {[]Moment{at("a", 2), at("b", 2)}, 2, 2, "on all at once"},
		"two at once, and one that is not known": {[]Moment{at("a", 2), at("b", 2), {Cluster: "c"}}, 3, 2, "first on 2 managed clusters at once"},
	} {
		onset := FindOnset(test.moments)
		if got := onset.Place(test.affected); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
		if want := at("", test.minute).Time; test.want != "" && !onset.Since.Equal(want) {
			t.Errorf("%s: since %s, want %s", name, onset.Since, want)
		}
	}
}
