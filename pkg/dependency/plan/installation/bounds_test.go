package installation

import "testing"

func TestApproved(t *testing.T) {
	for name, test := range map[string]struct {
		clusters, fleet, approved int
		want                      bool
	}{
		"Twenty":                      {20, 20, 0, true},
		"TwentyOfAThousand":           {20, 1000, 0, true},
		"MoreThanTwentyOfFewClusters": {21, 40, 0, false},
		"HalfOfTheFleet":              {50, 100, 0, true},
		"MoreThanHalf":                {51, 100, 0, false},
		"ApprovedForAll":              {100, 100, 100, true},
		"ApprovedForFewer":            {100, 100, 99, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Approved(test.clusters, test.fleet, test.approved); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}
