package settings

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func set(name, value string) Variable { return Variable{Name: name, Value: value} }
func sealed(value string) Variable    { return Variable{Name: "mode", Value: value, Sealed: true} }

func TestAgree(t *testing.T) {
	empty := Variable{Name: "region", Required: true, Problem: "has no value"}
	for name, test := range map[string]struct {
		reason string
		wishes []Request
		want   Agreed
	}{
		"Nothing": {reason: "no dependent wishes anything"},
		"KUDOParentSetsItsChild": {
			reason: "Kafka sets what ZooKeeper needs, as a KUDO operator does by a parameter file",
			wishes: []Request{{"kafka", []Variable{set("NODE_COUNT", "3"), set("MEMORY", "1Gi")}}},
			want:   Agreed{Variables: []Variable{set("MEMORY", "1Gi"), set("NODE_COUNT", "3")}},
		},
		"KUDORequiredParameterIsEmpty": {
			reason: "KUDO's USERNAME, which is required and empty by default: nothing is guessed",
			wishes: []Request{{"parent", []Variable{empty}}},
			want:   Agreed{Unknown: []Variable{{Name: "region", Required: true}}},
		},
		"OptionalWithoutAValue": {
			reason: "a variable that is not required may be removed",
			wishes: []Request{{"a", []Variable{{Name: "region", Problem: "has no value"}}}},
		},
		"RequiredAndSealedByTwo": {
			reason: "who seals wins",
			wishes: []Request{{"a", []Variable{empty}}, {"b", []Variable{{Name: "region", Required: true, Sealed: true, Problem: "fails"}}}},
			want:   Agreed{Unknown: []Variable{{Name: "region", Required: true, Sealed: true}}},
		},
		"HelmTwoParentsOfOneSubchart": {
			reason: "each Helm chart has a subchart of its own; here one add-on serves both, and equal values agree",
			wishes: []Request{{"a", []Variable{set("mode", "grpc")}}, {"b", []Variable{set("mode", "grpc")}}},
			want:   Agreed{Variables: []Variable{set("mode", "grpc")}},
		},
		"Conflict": {
			reason: "different values: none is written, and all are named; other variables are written",
			wishes: []Request{
				{"c", []Variable{set("mode", "grpc"), set("size", "1")}}, {"a", []Variable{set("mode", "http")}}, {"b", []Variable{set("mode",
					"http")}},
			},
			want: Agreed{Variables: []Variable{set("size", "1")}, Conflicts: []Conflict{{"mode", []string{"a", "b", "c"}}}},
		},
		"CarvelOverrideBeatsADefault": {
			reason: "as an override of a PackageInstall: who seals wins against who only suggests",
			wishes: []Request{{"a", []Variable{set("mode", "http")}}, {"b", []Variable{sealed("grpc")}}},
			want:   Agreed{Variables: []Variable{sealed("grpc")}},
		},
		"SealsConflict": {
			reason: "two seals are a conflict of those two; who only suggests is not part of it",
			wishes: []Request{
				{"a", []Variable{sealed("http")}}, {"b", []Variable{sealed("grpc")}}, {"c", []Variable{set("mode", "ftp")}},
			},
			want: Agreed{Conflicts: []Conflict{{"mode", []string{"a", "b"}}}},
		},
		"TwoEdgesOfOne": {
			reason: "a dependent can contradict itself by two edges, and is named once",
			wishes: []Request{{"a", []Variable{set("mode", "http")}}, {"a", []Variable{set("mode", "grpc")}}},
			want:   Agreed{Conflicts: []Conflict{{"mode", []string{"a"}}}},
		},
		"WithoutAValueNoConflict": {
			reason: "what has no value contradicts nothing",
			wishes: []Request{{"a", []Variable{empty}}, {"b", []Variable{set("region", "north")}}},
			want:   Agreed{Variables: []Variable{set("region", "north")}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Agree(test.wishes)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", test.reason, diff)
			}
		})
	}
}

func TestLacking(t *testing.T) {
	got := Lacking([]Variable{{Name: "a", Problem: "has no value"}, {Name: "b", Problem: "has no value", Required: true}, {
		Name:     "c",
		Required: true, Value: "d",
	}})
	if want := "setting 'b' is required and has no value"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
