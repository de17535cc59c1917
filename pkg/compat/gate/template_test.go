package gate

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"gomodules.xyz/jsonpatch/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	upgradable = "Upgradable"
	byHand     = `"annotations":{"dependency.addon.open-cluster-management.io/upgrade":"v2"}`
	config     = `{"group":"addon.open-cluster-management.io","resource":"addondeploymentconfigs","desiredConfig":{"name":"c"}}`
)

const waits = `{"type":"Upgradable","status":"False","reason":"WaitingForDependencies","message":"in any words",` +
	`"lastTransitionTime":"2026-03-01T10:00:00Z"}`

// held is an add-on of which an AddOnTemplate waits.
func held(metadata, template string, conditions ...string) string {
	return related(addOn(metadata, append([]string{waits}, conditions...)...), template)
}

// related names an AddOnTemplate among the related objects of an add-on.
func related(addOn, template string) string {
	return strings.Replace(addOn, `"status":{`, `"status":{"relatedObjects":[`+
		`{"group":"apps","resource":"deployments","namespace":"n","name":"v2"},`+
		`{"group":"addon.open-cluster-management.io","resource":"addontemplates","name":"`+template+`"}],`, 1)
}

func reference(desired, applied string) string {
	text := fmt.Sprintf(`{"group":"addon.open-cluster-management.io","resource":"addontemplates","name":%q,`+
		`"desiredConfig":{"name":%q,"specHash":"h"}`, desired, desired)
	if applied != "" {
		text += `,"lastAppliedConfig":{"name":"` + applied + `","specHash":"h"}`
	}
	return text + "}"
}

// deploying adds references to an add-on.
func deploying(addOn string, references ...string) string {
	if references == nil {
		return addOn
	}
	return strings.Replace(addOn, `"status":{`, `"status":{"configReferences":[`+strings.Join(references, ",")+`],`, 1)
}

// Both forms put the reference back to an AddOnTemplate that runs, while another one waits.
func TestTheTemplateThatRunsStays(t *testing.T) {
	runs, next := reference("v1", "v1"), reference("v2", "")
	v2 := deploying(held("", "v2"), runs)
	policy := compiled(t)
	for name, test := range map[string]struct {
		before, after string
		at            int // index of the reference that is put back; -1: none
	}{
		"Waits":              {v2, deploying(held("", "v2"), next), 0},
		"BehindAnother":      {v2, deploying(held("", "v2"), config, next), 1},
		"NothingElseChanges": {v2, deploying(held("", "v2", condition(available, "False", "")), next), 0},
		"AsItIsStored":       {v2, v2, -1},
		"AnotherTemplate":    {v2, deploying(held("", "v2"), reference("v3", "")), -1},
		"NoReference":        {v2, held("", "v2"), -1},
		"NothingRuns":        {held("", "v2"), deploying(held("", "v2"), next), -1},
		"WaitsNoMore": {
			deploying(related(addOn("", condition(upgradable, "True", "x")), "v2"), runs), deploying(addOn(""), next), -1,
		},
		"ForAnotherReason": {
			deploying(related(addOn("", condition(upgradable, "False", "x")), "v2"), runs), deploying(addOn(""), next), -1,
		},
		"NothingRelated":     {deploying(addOn("", waits), runs), deploying(addOn(""), next), -1},
		"NoCondition":        {deploying(addOn(""), runs), deploying(addOn(""), next), -1},
		"AWriteLiftsNothing": {v2, deploying(addOn(""), next), 0},
		"NorHoldsAnything":   {deploying(addOn(""), runs), deploying(held("", "v2"), next), -1},
		"ByHand":             {deploying(held(byHand, "v2"), runs), deploying(held(byHand, "v2"), next), -1},
		"ByHandForAnother":   {deploying(held(byHand, "v3"), runs), deploying(held(byHand, "v3"), reference("v3", "")), 0},
		"IsDeleted": {
			deploying(held(`"deletionTimestamp":"2026-03-01T10:00:00Z"`, "v2"), runs), deploying(addOn(""), next), -1,
		},
		"ItsBeginningOnly":    {deploying(held("", "v20"), runs), deploying(addOn(""), next), -1},
		"BehindAGateAsBefore": {deploying(held(closed, "v2"), runs), deploying(held(closed, "v2"), next), 0},
	} {
		t.Run(name, func(t *testing.T) {
			patch, err := Mutate([]byte(test.before), []byte(test.after), false)
			if err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintf(
				"/status/configReferences/%d",
				test.at,
			); (test.at < 0) != (len(patch) == 0) ||
				len(patch) > 0 && patch[0].Path != want {
				t.Errorf("patch %v, want %s", patch, want)
			}
			compareForms(t, policy, []byte(test.before), []byte(test.after))
		})
	}
}

func shapedReferences(b byte) []string {
	all := []string{config, reference("v1", "v1"), reference("v2", ""), reference("v2", "v1"), reference("other", "")}
	var references []string
	for i := range all {
		if b>>i&1 == 1 {
			references = append(references, all[i])
		}
	}
	return references
}

// putBackIn applies one operation on references.
func putBackIn(t *testing.T, to *unstructured.Unstructured, operation jsonpatch.Operation) {
	t.Helper()
	var index int
	if _, err := fmt.Sscanf(operation.Path, "/status/configReferences/%d", &index); err != nil {
		t.Fatal(err)
	}
	var value map[string]any
	if err := json.Unmarshal(operation.Value.(json.RawMessage), &value); err != nil {
		t.Fatal(err)
	}
	references, _, _ := unstructured.NestedSlice(to.Object, "status", "configReferences")
	references[index] = value
	if err := unstructured.SetNestedSlice(to.Object, references, "status", "configReferences"); err != nil {
		t.Fatal(err)
	}
}
