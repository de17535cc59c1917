package review

import (
	"strings"
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestAdvise(t *testing.T) {
	requiring := func(name, message string) addonv1alpha1.AddonDependency {
		edge := fixture.Required(name)
		edge.Message = message
		return edge
	}
	for name, test := range map[string]struct {
		edge               addonv1alpha1.AddonDependency
		impossible, advice string
	}{
		"all is said": {edge: requiring("b", "it does not work")},
		"no message":  {edge: requiring("b", ""), advice: `dependency "b" has no message: say what does not work without it`},
		"an impossible name": {
			edge: requiring("$(id)", "m"), impossible: `no add-on can have the name "$(id)", so this dependency is never satisfied`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			registration := fixture.Registration("a", test.edge)
			var impossible, advice []string
			for _, judgement := range Advise(declaration.Read(&registration)) {
				if judgement.Wrong {
					impossible = append(impossible, judgement.Message)
				} else {
					advice = append(advice, judgement.Message)
				}
			}
			if got := strings.Join(impossible, "; "); got != test.impossible {
				t.Errorf("impossible: %q", got)
			}
			if got := strings.Join(advice, "; "); got != test.advice {
				t.Errorf("advice: %q", got)
			}
		})
	}
}

// The path of an entry after a duplicate is its own, not the path of the previous entry.
func TestFieldsAfterADuplicate(t *testing.T) {
	registration := fixture.Registration("a", fixture.Optional("b"), fixture.Required("b"), fixture.Required("c"), fixture.Required("$(id)"))
	var got []string
	for _, judgement := range Advise(declaration.Read(&registration)) {
		got = append(got, string(judgement.Rule)+" "+judgement.Field)
	}
	want := "NoMessage spec.dependencies[1], NoMessage spec.dependencies[2], " +
		"ImpossibleDependency spec.dependencies[3], NoMessage spec.dependencies[3]"
	if strings.Join(got, ", ") != want {
		t.Errorf("got %q", got)
	}
}
