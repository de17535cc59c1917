package graph

import (
	"maps"
	"testing"
)

func TestDepths(t *testing.T) {
	for name, test := range map[string]struct {
		edges map[string][]string
		want  map[string]int
	}{
		"nothing":        {map[string][]string{"a": nil}, map[string]int{"a": 0}},
		"a chain":        {map[string][]string{"a": {"b"}, "b": {"c"}}, map[string]int{"a": 2, "b": 1, "c": 0}},
		"the longer way": {map[string][]string{"a": {"c", "b"}, "b": {"c"}}, map[string]int{"a": 2, "b": 1, "c": 0}},
		"a cycle":        {map[string][]string{"a": {"b"}, "b": {"c"}, "c": {"b", "d"}}, map[string]int{"a": 2, "b": 1, "c": 1, "d": 0}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := New(test.edges).Depths(); !maps.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
